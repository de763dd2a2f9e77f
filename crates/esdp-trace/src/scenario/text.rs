//! The scenario as TOML. What the format has no key for (names, units) stands in comments.

use super::{Draft, Edges};
use std::fmt::Write;

/// The text; lines of arrivals are slots.
pub(super) fn write(draft: &Draft, capacities: &[u64], slots: usize) -> String {
    let Draft { plan, units, servers, channels, .. } = draft;
    let ports = draft.ports.len();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(&mut out, draft, slots);
    for device in 0..units.count() {
        let name = units.names().nth(device).unwrap_or_default();
        let _ = writeln!(out, "# device {device}: {name}, a unit is {}", units.unit(device));
    }
    for port in 0..ports {
        let _ = writeln!(out, "# port {port}: {} for each instance", units.words(port));
    }
    let _ = writeln!(out, "\n[graph]\nports = {ports}\nservers = {}\nchannels = [", servers.count());
    for (port, server) in channels {
        let _ = writeln!(out, "  {{ port = {port}, server = {server}, request = {:?} }},", units.request(*port));
    }
    let all = (0..ports).flat_map(|port| units.request(port)).copied();
    let (least, most) = (all.clone().min().unwrap_or(0), all.max().unwrap_or(1));
    let _ = writeln!(
        out,
        "]\n\n[devices]\ncount = {}\nrequest = [{least}, {most}]\namounts = {capacities:?}",
        units.count()
    );
    if let Some(variation) = draft.spread {
        let _ = writeln!(
            out,
            "\n# How the instances of a task differ in this trace: the median coefficient of variation.\n\
             [speeds]\nlaw = \"log-normal\"\ndeviation = {variation:.4}"
        );
    }
    let _ =
        writeln!(out, "\n[arrivals]\nlaw = \"list\"\njobs = [ # one row a slot of {} s, one number a port", plan.slot);
    for row in draft.jobs.chunks(ports) {
        let _ = writeln!(out, "  {row:?},");
    }
    out.push_str("]\n");
    out
}

fn head(out: &mut String, draft: &Draft, slots: usize) -> std::fmt::Result {
    let Draft { plan, servers, .. } = draft;
    let quoted: String =
        plan.name.chars().map(|c| if c.is_control() || matches!(c, '"' | '\\') { '-' } else { c }).collect();
    let share = draft.covered * 100.0;
    writeln!(
        out,
        "# Made by `esdp trace scenario`. Seed {}, from {} s after the first arrival.",
        plan.seed, plan.start
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
        _ if servers.total().is_empty() => {
            writeln!(out, "# There was no machine table: capacities are mean demand over {}.", plan.contention)?
        }
        Some(scale) => writeln!(out, "# Capacities are {scale} times what the servers have.")?,
        None => writeln!(
            out,
            "# Capacities are in the proportions of the servers' own, scaled so that mean demand for the scarcest is\n\
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
    writeln!(out, "name = \"{quoted}\"")?;
    writeln!(out, "description = \"{slots} slots of {} s of a trace\"", plan.slot)?;
    writeln!(out, "slots = {slots}\n")
}
