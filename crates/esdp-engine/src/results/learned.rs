//! What policies have learned of speeds, beside the truth: `estimates.csv`, figures, the fastest and slowest
//! servers.

use super::seeds::cell;
use crate::{PolicyOutcome, PolicyRun, RunOutcome};
use esdp::model::{ChannelId, Cluster, PortId, ServerId};
use esdp::scenario::Scenario;
use esdp::sim::ChannelEstimate;
use esdp::stats::{ServerFactor, server_factors_beside};
use esdp_report::csv;
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Cell, Column, Section, Table};
use esdp_report::table::NONE;
use std::sync::Arc;

const TERMS: &str = "Every dot is a channel: a port on a server, under one seed. Horizontal: its true mean \
                     net utility in the last slot; vertical: what the policy learned. A dot on the line is \
                     an exact estimate; the larger and stronger a dot, the more often the channel was used. \
                     A policy need not know what it does not use: the large dots matter. An estimate is as \
                     old as the channel's last uses: a \
                     change that few of them have seen is in neither the dot nor its interval.";

/// How many of the fastest and of the slowest servers are shown, of all ports together and of one.
const SHOWN: usize = 6;
const SHOWN_OF_PORT: usize = 2;
/// So many ports are told one by one, those that come first.
const MOST_PORTS: usize = 12;
/// More dots than this make a smear: then only the first seeds are drawn, and of one the most used channels.
const MOST_DOTS: usize = 1000;

const COLUMNS: [&str; 13] = [
    "policy",
    "seed",
    "port",
    "server",
    "uses",
    "estimate",
    "low",
    "high",
    "true_mean",
    "channel",
    "group",
    "last_used",
    "labels",
];

/// A server as a policy has learned it.
pub(super) struct LearnedServer {
    pub(super) name: String,
    /// What it is labelled with, its kind and rack.
    labels: String,
    pub(super) factor: f64,
    pub(super) interval: (f64, f64),
    pub(super) truth: f64,
    pub(super) uses: u64,
}

/// One row per policy that learns, seed and channel; of large clusters, the first seeds only.
pub(super) fn csv(scenario: &Scenario, outcome: &RunOutcome) -> String {
    let mut text = csv::line(COLUMNS);
    let clusters: Vec<Option<Arc<Cluster>>> = (0..outcome.seeds.len())
        .map(|at| {
            let kept = outcome.policies.iter().any(|policy| !policy.runs[at].estimates.is_empty());
            kept.then(|| scenario.setting(outcome.seeds[at]).ok()).flatten()
        })
        .map(|setting| setting.map(|setting| Arc::clone(setting.cluster())))
        .collect();
    for policy in learners(outcome) {
        for ((run, seed), cluster) in policy.runs.iter().zip(&outcome.seeds).zip(&clusters) {
            let Some(cluster) = cluster else { continue };
            for (at, found) in run.estimates.iter().enumerate() {
                let key = cluster.channel_key(ChannelId::at(at));
                let (low, high) = found.interval().unzip();
                text += &csv::line([
                    policy.label.clone(),
                    seed.to_string(),
                    key.port,
                    key.server,
                    found.uses.to_string(),
                    found.estimate.to_string(),
                    cell(low),
                    cell(high),
                    found.truth.to_string(),
                    at.to_string(),
                    key.group,
                    found.last_used.map(|slot| slot.to_string()).unwrap_or_default(),
                    cluster.labels(cluster.channels()[at].server).join(" "),
                ]);
            }
        }
    }
    text
}

/// The part of the report; none if no policy learns. `cluster` is that of the first seed.
pub(super) fn section(outcome: &RunOutcome, cluster: &Cluster) -> Option<Section> {
    let first = learners(outcome).next()?;
    let figures = learners(outcome).map(|policy| figure(policy, outcome, cluster)).collect();
    let figures = of_one_range(figures);
    let section = Section::new("Learned speeds").text(TERMS).figures(figures);
    let servers = ranked(&first.runs[0], cluster, None);
    if servers.is_empty() {
        return Some(section);
    }
    let by_port = by_port(first, outcome.seeds[0], cluster);
    let table = table(first, outcome.seeds[0], &servers);
    Some(super::tables::explained(section.table(by_port), table))
}

/// The policies that learn.
pub(super) fn learners(outcome: &RunOutcome) -> impl Iterator<Item = &PolicyOutcome> {
    outcome.policies.iter().filter(|policy| policy.runs.first().is_some_and(|run| !run.estimates.is_empty()))
}

/// Figures side by side are compared by the eye, so all of them have the same axes.
fn of_one_range(mut figures: Vec<Figure>) -> Vec<Figure> {
    let values = figures.iter().flat_map(|figure| &figure.series).flat_map(|series| &series.points);
    let values = values.flat_map(|point| [point.x, point.y]).filter(|value| value.is_finite());
    let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), at| (low.min(at), high.max(at)));
    for figure in &mut figures {
        for axis in [&mut figure.x, &mut figure.y] {
            axis.include.extend([low, high]);
        }
        // The line on which learned is true goes as far.
        if let Some(end) = figure.series.last_mut().and_then(|guide| guide.points.last_mut()) {
            (end.x, end.y) = (high, high);
        }
    }
    figures
}

/// Learned against true: one dot per channel.
fn figure(policy: &PolicyOutcome, outcome: &RunOutcome, cluster: &Cluster) -> Figure {
    let most = policy.runs.iter().flat_map(|run| &run.estimates).map(|found| found.uses).max().unwrap_or(0);
    let (mut dots, mut seeds, mut end) = (Series::scatter(&policy.label), 0, 0.0_f64);
    for (run, seed) in policy.runs.iter().zip(&outcome.seeds) {
        let drawn = most_used(&run.estimates);
        if drawn.is_empty() || seeds > 0 && dots.points.len() + run.estimates.len() > MOST_DOTS {
            break;
        }
        seeds += 1;
        for at in drawn {
            let found = &run.estimates[at];
            // Another seed has another graph, with names of its own.
            let key = (*seed == outcome.seeds[0]).then(|| cluster.channel_key(ChannelId::at(at)));
            let name =
                key.map_or_else(|| format!("channel {at}"), |key| format!("{} on {}", key.port, key.server));
            let name = format!("{name}, seed {seed}, used {} times", found.uses);
            let place = (found.truth, found.estimate, found.error.unwrap_or(0.0));
            dots = dots.dot(place, name, found.uses as f64 / most.max(1) as f64);
            end = end.max(found.truth).max(found.estimate);
        }
    }
    let learned = Axis::new("learned net utility").including(0.0);
    let caption = match (seeds, policy.runs[0].estimates.len() > MOST_DOTS) {
        (_, true) => format!("Seed {}, the {MOST_DOTS} channels that were used most.", outcome.seeds[0]),
        (1, false) => format!("Seed {}.", outcome.seeds[0]),
        (_, false) => format!("{seeds} seeds."),
    };
    Figure::new(
        format!("learned-{}", policy.label),
        policy.label.clone(),
        Axis::new("true mean net utility").including(0.0),
        learned,
    )
    .caption(caption)
    .with(dots)
    .with(Series::guide("learned = true").point(0.0, 0.0, 0.0).point(end, end, 0.0))
}

/// The positions of the channels that are drawn, in their order: those that were used most if there are many.
fn most_used(estimates: &[ChannelEstimate]) -> Vec<usize> {
    let mut drawn: Vec<usize> = (0..estimates.len()).collect();
    if drawn.len() > MOST_DOTS {
        drawn.sort_by_key(|&at| std::cmp::Reverse(estimates[at].uses));
        drawn.truncate(MOST_DOTS);
        drawn.sort_unstable();
    }
    drawn
}

/// The servers of which a policy has seen enough, by the jobs of one port or of all, the fastest first.
pub(super) fn ranked(run: &PolicyRun, cluster: &Cluster, port: Option<PortId>) -> Vec<LearnedServer> {
    if run.estimates.len() != cluster.channels().len() {
        return Vec::new();
    }
    let of = |channel: ChannelId| (&run.estimates[channel.index()], cluster.cost(channel));
    let counts = |own: PortId| port.is_none_or(|port| port == own);
    let learned = |channel: ChannelId| {
        let seen = of(channel).0.learned_speed(of(channel).1);
        seen.filter(|_| counts(cluster.channel(channel).port))
    };
    let factors = server_factors_beside(cluster, learned, |channel| of(channel).0.true_speed(of(channel).1));
    let mut uses = vec![0; cluster.servers().len()];
    for (channel, found) in cluster.channels().iter().zip(&run.estimates) {
        uses[channel.server.index()] += if counts(channel.port) { found.uses } else { 0 };
    }
    let server = |(at, (learned, truth)): (usize, (ServerFactor, Option<f64>))| {
        let (factor, interval) = learned.is_known().then_some(learned.factor?).zip(learned.interval)?;
        let labels = cluster.labels(ServerId::at(at)).join(" ");
        let name = cluster.servers()[at].clone();
        Some(LearnedServer { name, labels, factor, interval, truth: truth?, uses: uses[at] })
    };
    let mut servers: Vec<LearnedServer> = factors.into_iter().enumerate().filter_map(server).collect();
    servers.sort_by(|one, other| other.factor.total_cmp(&one.factor));
    servers
}

/// The first and the last of them.
fn extremes(servers: &[LearnedServer], shown: usize) -> impl Iterator<Item = &LearnedServer> {
    let cut = move |at: usize| at < shown || at + shown >= servers.len();
    servers.iter().enumerate().filter(move |(at, _)| cut(*at)).map(|(_, server)| server)
}

/// The fastest and the slowest servers for every port.
fn by_port(policy: &PolicyOutcome, seed: u64, cluster: &Cluster) -> Table {
    let mut columns = columns();
    columns.insert(0, Column::text("Port"));
    let caption = format!(
        "The fastest and the slowest servers for each job type, of those with enough outcomes under {}, seed \
         {seed}",
        policy.label
    );
    let mut table = Table::new(caption, columns);
    for (at, port) in cluster.ports().iter().enumerate().take(MOST_PORTS) {
        for server in extremes(&ranked(&policy.runs[0], cluster, Some(PortId::at(at))), SHOWN_OF_PORT) {
            table.row(std::iter::once(Cell::text(port)).chain(cells(server)).collect());
        }
    }
    table
}

fn table(policy: &PolicyOutcome, seed: u64, servers: &[LearnedServer]) -> Table {
    let shown = extremes(servers, SHOWN).count();
    let which = match shown < servers.len() {
        true => format!("{SHOWN} fastest and {SHOWN} slowest of the {} servers", servers.len()),
        false => format!("{shown} servers"),
    };
    let caption = format!(
        "The {which} with enough outcomes under {}, all job types together, seed {seed}",
        policy.label
    );
    let mut table = Table::new(caption, columns());
    extremes(servers, SHOWN).for_each(|server| table.row(cells(server)));
    table
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("Server"),
        Column::text("Labels"),
        Column::number("Learned").about(
            "The learned speed as a multiple of what is usual: the median over the servers that were tried, \
             port by port (and by task group, where jobs are gangs), weighted by outcomes.",
        ),
        Column::number("95 % interval").about(
            "From the scatter of the server's own outcomes, as many as still count. It does not cover a \
             change that few outcomes have seen. last_used in estimates.csv shows how old an estimate is.",
        ),
        Column::number("True").about(
            "The true speed in the last slot as a multiple of the same medians, with the same weights.",
        ),
        Column::number("Uses").about("How often its channels were chosen."),
    ]
}

fn cells(server: &LearnedServer) -> Vec<Cell> {
    let (low, high) = server.interval;
    let interval = if low.is_finite() { format!("{low:.2} to {high:.2}") } else { NONE.to_owned() };
    vec![
        Cell::text(&server.name),
        Cell::text(&server.labels),
        Cell::number(format!("{:.2}", server.factor), server.factor),
        Cell::number(interval, high - low),
        Cell::number(format!("{:.2}", server.truth), server.truth),
        Cell::number(server.uses.to_string(), server.uses as f64),
    ]
}
