//! The scenario as TOML. What the format has no key for (names, units) stands in comments.

use super::{Draft, Edges};
use esdp::scenario::{NumberedChannel, Spec};
use esdp::sim::ArrivalSpec;
use std::fmt::Write;

/// The text of a draft's scenario; lines of arrivals are slots.
pub(super) fn write(draft: &Draft, spec: &Spec) -> String {
    let Draft { plan, units, .. } = draft;
    let Spec { graph, devices, speeds, arrivals, .. } = spec;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(&mut out, draft, spec);
    for (device, name) in units.names().enumerate() {
        let _ = writeln!(out, "# device {device}: {name}, a unit is {}", units.unit(device));
    }
    for port in 0..units.ports() {
        let _ = writeln!(out, "# port {port}: {} for each instance", units.words(port));
    }
    let _ = writeln!(out, "\n[graph]\nports = {}\nservers = {}\nchannels = [", graph.ports, graph.servers);
    for NumberedChannel { port, server, request, .. } in graph.channels.iter().flatten() {
        let request = request.as_deref().unwrap_or_default();
        let _ = writeln!(out, "  {{ port = {port}, server = {server}, request = {request:?} }},");
    }
    let ((least, most), amounts) = (devices.request, devices.amounts.as_deref().unwrap_or_default());
    let _ = writeln!(
        out,
        "]\n\n[devices]\ncount = {}\nrequest = [{least}, {most}]\namounts = {amounts:?}",
        devices.count
    );
    if draft.spread.is_some() {
        let _ = writeln!(
            out,
            "\n# How the instances of a task differ in this trace: the median coefficient of variation.\n\
             [speeds]\nlaw = \"log-normal\"\ndeviation = {:.4}",
            speeds.deviation
        );
    }
    let slot = plan.window.slot;
    let _ = writeln!(
        out,
        "\n[arrivals]\nlaw = \"list\"\njobs = [ # one row a slot of {slot} s, one number a port"
    );
    if let ArrivalSpec::List { jobs, .. } = arrivals {
        for row in jobs {
            let _ = writeln!(out, "  {row:?},");
        }
    }
    out.push_str("]\n");
    out
}

fn head(out: &mut String, draft: &Draft, spec: &Spec) -> std::fmt::Result {
    let Draft { plan, servers, .. } = draft;
    let share = draft.covered * 100.0;
    writeln!(
        out,
        "# Made by `esdp trace scenario`. Seed {}, from {} s after the first arrival.",
        plan.window.seed, plan.window.start
    )?;
    writeln!(
        out,
        "# The ports are the {} most frequent request vectors, {share:.1} % of all tasks.",
        draft.ports.len()
    )?;
    if plan.rho < 1.0 {
        writeln!(out, "# Each arrival was kept with probability {}.", plan.rho)?;
    }
    match plan.scale {
        _ if servers.total().is_empty() => writeln!(
            out,
            "# There was no machine table: capacities are mean demand over {}.",
            plan.contention
        )?,
        Some(scale) => writeln!(out, "# Capacities are {scale} times what the servers have.")?,
        None => writeln!(
            out,
            "# Capacities are in the proportions of the servers' own, scaled so that mean demand for the \
             scarcest is\n\
             # {} times what there is of it.",
            plan.contention
        )?,
    }
    let rule = match plan.edges {
        Edges::Probability(probability) => format!("drawn with probability {probability}"),
        Edges::Fit => "wherever a request fits".to_owned(),
        Edges::Domain(count) => format!("in {count} failure domains a port"),
        Edges::Kind(count) => format!("on {count} kinds of machine a port"),
    };
    writeln!(out, "# Channels are {rule}.")?;
    writeln!(out, "name = \"{}\"", spec.name)?;
    writeln!(out, "description = \"{}\"", spec.description)?;
    writeln!(out, "slots = {}\n", spec.slots)
}
