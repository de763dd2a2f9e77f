//! What a policy has found out: how far back it looks, how much channels share, and which servers are slow.

use crate::{PolicyOutcome, RunOutcome, Spread};
use esdp::model::Cluster;
use esdp::sim::InsightPoint;
use esdp::stats::{Insight, ServerInsight};
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Cell, Column, Section, Table};

const TERMS: &str = "Memory is the number of slots over which outcomes count: it grows with the \
                     run where speeds stay as they are, and stays short where they drift. Shared \
                     is the part of an estimate that comes from other channels of the same port, \
                     label or server. The factor of a server is its speed as a multiple of others \
                     of its kind, over all ports; servers are those of the first seed.";

/// How many of the slowest and of the fastest servers are shown.
const SHOWN: usize = 5;

/// The part of the report; none if no policy finds out anything beside speeds.
pub(super) fn section(outcome: &RunOutcome, cluster: &Cluster, bands: &str) -> Option<Section> {
    let policies: Vec<&PolicyOutcome> =
        outcome.policies.iter().filter(|policy| last(policy).is_some()).collect();
    let first = *policies.first()?;
    let curve = |id: &str, title: &str, y: Axis, value: fn(&Insight) -> f64| {
        let figure = Figure::new(id, title, Axis::new("slot"), y.including(0.0)).caption(bands);
        policies.iter().fold(figure, |figure, policy| {
            figure.with(Series::line(&policy.label).points(over_time(policy, value)))
        })
    };
    let mut section = Section::new("What was found out")
        .text(TERMS)
        .figure(curve("memory", "Memory", Axis::new("memory").unit("slots"), |insight| insight.memory))
        .figure(curve("shared", "Shared between channels", Axis::new("share of an estimate"), |insight| {
            insight.shared
        }));
    let extremes = extremes(first);
    if !extremes.is_empty() {
        section =
            section.figure(factors(first, cluster, &extremes)).table(servers(first, cluster, &extremes));
    }
    Some(section)
}

/// The same in a line, for a terminal; empty if there is nothing to tell.
pub(super) fn sentence(outcome: &RunOutcome) -> String {
    let Some(policy) = outcome.policies.iter().find(|policy| last(policy).is_some()) else {
        return String::new();
    };
    let mean = |value: fn(&Insight) -> f64| {
        Spread::of(
            policy.runs.iter().filter_map(|run| run.insights.last()).map(|point| value(&point.insight)),
        )
        .mean
    };
    format!(
        "{}: remembers {:.0} of {} slots; {:.0} % of an estimate is shared\n",
        policy.label,
        mean(|insight| insight.memory),
        outcome.slots,
        100.0 * mean(|insight| insight.shared)
    )
}

/// What a policy knew at the end, under the first seed.
fn last(policy: &PolicyOutcome) -> Option<&Insight> {
    Some(&policy.runs.first()?.insights.last()?.insight)
}

/// A curve over the slots: slot, mean, standard error.
fn over_time(policy: &PolicyOutcome, value: fn(&Insight) -> f64) -> Vec<(f64, f64, f64)> {
    let points = policy.runs.iter().map(|run| run.insights.len()).min().unwrap_or(0);
    let at = |point: usize| {
        let Spread { mean, stderr, .. } =
            Spread::of(policy.runs.iter().map(|run| value(&run.insights[point].insight)));
        (policy.runs[0].insights[point].slot as f64, mean, stderr)
    };
    (0..points).map(at).collect()
}

/// The slowest servers and the fastest, in the order of their factors.
fn extremes(policy: &PolicyOutcome) -> Vec<usize> {
    let Some(insight) = last(policy) else { return Vec::new() };
    let mut order: Vec<usize> = (0..insight.servers.len()).collect();
    order.sort_by(|&a, &b| insight.servers[a].factor.total_cmp(&insight.servers[b].factor));
    if order.len() > 2 * SHOWN {
        order.drain(SHOWN..order.len() - SHOWN);
    }
    order
}

fn factors(policy: &PolicyOutcome, cluster: &Cluster, servers: &[usize]) -> Figure {
    let y = Axis::new("factor").including(1.0);
    let figure = Figure::new("factors", "Learned factors of servers", Axis::new("slot"), y)
        .caption(format!("{}, first seed: the slowest and the fastest servers by the end.", policy.label));
    let of = |server: usize| {
        let points = policy.runs[0].insights.iter();
        points.map(move |InsightPoint { slot, insight }| (*slot as f64, insight.servers[server].factor, 0.0))
    };
    servers.iter().fold(figure, |figure, &server| {
        figure.with(Series::line(&cluster.servers()[server]).points(of(server).collect::<Vec<_>>()))
    })
}

fn servers(policy: &PolicyOutcome, cluster: &Cluster, servers: &[usize]) -> Table {
    let columns = vec![Column::text("Server"), Column::number("Factor"), Column::number("Memory")];
    let mut table = Table::new(format!("{}, first seed, at the end", policy.label), columns);
    for &server in servers {
        if let Some(ServerInsight { factor, memory }) = last(policy).map(|insight| insight.servers[server]) {
            table.row(vec![
                Cell::text(&cluster.servers()[server]),
                Cell::number(format!("{factor:.3}"), factor),
                Cell::number(format!("{memory:.0}"), memory),
            ]);
        }
    }
    table
}
