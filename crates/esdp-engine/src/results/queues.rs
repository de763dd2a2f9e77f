//! What is said of queues, where jobs wait and hold their devices: the load, who is stable, who waits.

use crate::rows::Row;
use crate::{RunOutcome, verdict};
use esdp::scenario::Scenario;
use esdp::sim::SystemLoad;
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Cell, Column, Section, Table};
use esdp_report::table::{NONE, percent};
use serde::Serialize;

/// The load of so many seeds is enough: a large cluster takes a while.
const MOST_SEEDS: usize = 10;

/// How much of the capacity the jobs need, and how soon they can be done at best: means over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoadReport {
    /// The share of the capacity that any rule needs; none if a port has no server, or the linear program is
    /// too large.
    pub load_mean: Option<f64>,
    /// The smallest and the largest of a seed.
    pub load_min: Option<f64>,
    /// See above.
    pub load_max: Option<f64>,
    /// No rule has a smaller mean completion time in the long run; none from a load of 1 on.
    pub least_jct_mean: Option<f64>,
    /// Of how many seeds, from the first on.
    pub seeds: usize,
}

impl LoadReport {
    /// The load of a run; none where jobs do not wait.
    pub(super) fn new(scenario: &Scenario, outcome: &RunOutcome) -> Option<Self> {
        if !scenario.holds_devices() {
            return None;
        }
        let mut loads: Vec<SystemLoad> = Vec::new();
        for &seed in outcome.seeds.iter().take(MOST_SEEDS) {
            match scenario.setting(seed).ok().and_then(|setting| setting.load(outcome.slots)) {
                Some(load) if load.load.is_finite() => loads.push(load),
                // What is too large under one seed is so under all.
                _ => break,
            }
        }
        let mean = |values: Option<Vec<f64>>| {
            let values = values.filter(|values| !values.is_empty())?;
            Some(values.iter().sum::<f64>() / values.len() as f64)
        };
        let each = || loads.iter().map(|load| load.load);
        Some(Self {
            load_mean: mean(Some(each().collect())),
            load_min: each().reduce(f64::min),
            load_max: each().reduce(f64::max),
            least_jct_mean: mean(loads.iter().map(|load| load.least_completion).collect()),
            seeds: loads.len(),
        })
    }

    /// In one line.
    pub(super) fn sentence(&self) -> String {
        let Some(load) = self.load_mean else {
            return "load: unknown, the linear program is too large or a port has no server".to_owned();
        };
        let range = match (self.load_min, self.load_max) {
            (Some(min), Some(max)) if max - min >= 0.01 => format!(" ({min:.2} to {max:.2} by seed)"),
            _ => String::new(),
        };
        let least = match self.least_jct_mean {
            Some(least) => format!("; no rule completes jobs in less than {least:.1} slots on average"),
            None => "; no rule can keep up".to_owned(),
        };
        format!("load {load:.2} of capacity{range}{least}")
    }
}

/// One sentence for every policy whose queue grows.
pub(super) fn notes(
    scenario: &Scenario,
    outcome: &RunOutcome,
    load: Option<&LoadReport>,
    ports: &[String],
) -> Vec<String> {
    if !scenario.holds_devices() {
        return Vec::new();
    }
    let possible = match load.and_then(|load| load.load_mean) {
        Some(load) if load < 1.0 => format!(", although the load is {load:.2} of capacity"),
        _ => String::new(),
    };
    let note = |policy: &crate::PolicyOutcome| {
        let verdict =
            verdict(policy, outcome.slots).filter(|found| found.stability.is_unstable() == Some(true))?;
        let label = &policy.label;
        Some(match verdict.port.and_then(|port| ports.get(port)) {
            Some(port) => format!(
                "`{label}` starves port `{port}`: its queue grows as long as jobs come, and so do their waits"
            ),
            None => format!(
                "`{label}` is unstable: {:.1} % of the jobs that come pile up{possible}; its mean completion \
                 and wait grow with the length of the run",
                100.0 * verdict.slope
            ),
        })
    };
    outcome.policies.iter().filter_map(note).collect()
}

/// The number of waiting jobs over time.
pub(super) fn figure(outcome: &RunOutcome, caption: String) -> Figure {
    let y = Axis::new("waiting jobs").including(0.0).or_log();
    let figure = Figure::new("queue-length", "Queue length", Axis::new("slot"), y).caption(caption);
    outcome.policies.iter().fold(figure, |figure, policy| {
        let points = policy.queue().into_iter();
        let points = points.map(|(slot, queue)| (slot as f64, queue.mean, queue.stderr));
        figure.with(Series::line(&policy.label).points(points))
    })
}

/// Mean completion and wait by port: one table per number.
pub(super) fn by_port(section: Section, rows: &[Row]) -> Section {
    let Some(first) = rows.iter().find(|row| !row.ports.is_empty()) else { return section };
    let columns = || {
        let ports = first.ports.iter().map(|port| Column::number(&port.port));
        [Column::text("Policy")].into_iter().chain(ports).collect::<Vec<_>>()
    };
    type Number = fn(&crate::rows::PortRow) -> Option<f64>;
    let numbers: [(&str, Number); 3] = [
        ("Mean completion by port, in slots", |port| port.jct_mean),
        ("Mean wait by port, in slots", |port| port.wait_mean),
        ("Oldest job of each port that never started: slots waited in the worst seed", |port| {
            Some(port.oldest_waiting as f64)
        }),
    ];
    numbers.into_iter().fold(section, |section, (caption, number)| {
        let mut table = Table::new(caption, columns());
        for row in rows {
            let cell = |port| match number(port) {
                Some(value) => Cell::number(format!("{value:.1}"), value),
                None => Cell::text(NONE),
            };
            table.row([Cell::text(&row.name)].into_iter().chain(row.ports.iter().map(cell)).collect());
        }
        section.table(table)
    })
}

/// Who waits for what, in the worst case.
pub(super) fn worst(rows: &[Row]) -> Table {
    let columns = vec![
        Column::text("Policy"),
        Column::number("Median seed").about("The mean completion time under the seed in the middle."),
        Column::number("Worst seed").about("The mean completion time under the worst seed."),
        Column::number("Longest completion").about("Of all jobs and seeds, in slots."),
        Column::number("Longest wait").about("Of all jobs and seeds, in slots."),
        Column::number("Never started").about("Jobs that still waited at the end: the mean over the seeds."),
        Column::number("Oldest of them").about("How long the oldest of these had waited, in the worst seed."),
        Column::number("Done").about("The jobs that were done, as a share of those that came."),
        Column::number("Piling up")
            .about("The share of the arrivals that pile up: the slope of the queue over the last 80 % of the run."),
        Column::number("Lost to reservations").about(
            "The share of the device time that was withheld for a job with a reservation while others waited.",
        ),
        Column::number("Lost to holds")
            .about("The share that stayed free because the server is slow and the queue was short."),
    ];
    let mut table = Table::new("What means hide", columns);
    for row in rows {
        let slots = |value: Option<f64>, digits: usize| match value {
            Some(value) => Cell::number(format!("{value:.digits$}"), value),
            None => Cell::text(NONE),
        };
        let share = |value: Option<f64>| match value {
            Some(value) => Cell::number(percent(value), value),
            None => Cell::text(NONE),
        };
        table.row(vec![
            Cell::text(&row.name),
            slots(row.jct_median_seed, 1),
            slots(row.jct_worst_seed, 1),
            slots(row.jct_max, 0),
            slots(row.wait_max, 0),
            slots(row.never_started_mean, 1),
            slots(row.oldest_waiting, 0),
            share(row.throughput),
            share(row.backlog_slope),
            share(row.lost_to_reservations),
            share(row.lost_to_holds),
        ]);
    }
    table
}

/// The verdict as a cell.
pub(crate) fn verdict_cell(row: &Row) -> Cell {
    match (row.queue, row.unstable) {
        (Some(word), Some(true)) => Cell::bad(word),
        (Some(word), Some(false)) => Cell::good(word),
        (Some(word), None) => Cell::neutral(word),
        (None, _) => Cell::text(NONE),
    }
}
