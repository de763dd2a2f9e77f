//! The decision, as JSON and as a table.

use super::gangs::Origin;
use esdp::model::Amount;
use esdp::solver::{Guarantee, Problem, Solution, Stopped, Use, Uses};
use esdp_report::table::{self, TextTable};
use serde::Serialize;
use std::time::Duration;

/// How much of a long list a table shows; JSON shows all of it.
const SHOWN: usize = 200;
const LINE: usize = 80;

/// The answer to a problem. The fields that other programs rely on, in their order; what
/// only the table shows is not part of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was chosen: `chosen` or `placements`.
    #[serde(flatten)]
    pub choice: AnswerChoice,
    /// The objective there.
    pub value: f64,
    /// Never below the optimum.
    pub bound: f64,
    /// Whether the optimum is proved.
    pub guarantee: Guarantee,
    /// The method that gave the answer.
    pub solver: &'static str,
    /// How long the solver took, in microseconds.
    pub micros: f64,
    /// Why it stopped there: `proved`, `budget` or `gap`.
    pub stopped: Stopped,
    #[serde(skip)]
    gap: f64,
    #[serde(skip)]
    channels: usize,
    #[serde(skip)]
    devices: Vec<Load>,
}

/// What was chosen, in the terms of the input.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerChoice {
    /// The chosen channels' positions, ascending.
    Chosen(Vec<u32>),
    /// Where tasks run, by job, group of tasks and server.
    Placements(Vec<Placed>),
}

/// How many tasks of a group run on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// The job's position in `jobs`.
    pub job: u32,
    /// The group's position in the job's `tasks`.
    pub task: u32,
    /// The server's position in `servers`.
    pub server: u32,
    /// How many tasks.
    pub count: u32,
}

/// What is used of a device.
#[derive(Debug, Clone, PartialEq)]
struct Load {
    used: u128,
    capacity: u128,
}

impl Answer {
    /// Of a solution that took this long.
    pub fn new(
        problem: &Problem<'_>,
        origins: Option<&[Origin]>,
        solution: Solution,
        elapsed: Duration,
    ) -> Self {
        let used = |device: usize| {
            let asked = |Use { channel, count }| {
                u128::from(problem.request(channel as usize)[device]) * u128::from(count)
            };
            let servers = |row: &[Amount]| {
                row.iter().skip(device).step_by(problem.devices()).map(|&c| u128::from(c)).sum()
            };
            let all = problem.servers().map_or(u128::MAX, |servers_| servers(servers_.capacity));
            Load {
                used: solution.chosen.iter().map(asked).sum(),
                capacity: all.min(u128::from(problem.capacity()[device])),
            }
        };
        let devices = (0..problem.devices()).map(used).collect();
        // Everything good at once is a bound too, and a finite one where a solver's overflows:
        // JSON has no infinity.
        let most = |channel: usize| problem.most(channel) as f64;
        let good = problem
            .mean()
            .iter()
            .enumerate()
            .map(|(channel, mean)| mean.max(0.0) * most(channel))
            .sum::<f64>();
        let wide =
            problem.width().iter().enumerate().map(|(channel, width)| width * most(channel)).sum::<f64>();
        let everything = good + wide.sqrt();
        let bound = solution.bound.min(everything).max(solution.value);
        let gap = Solution { bound, ..solution.clone() }.gap();
        let Solution { chosen, value, guarantee, stopped, method: solver, .. } = solution;
        let (micros, channels) = (elapsed.as_nanos() as f64 / 1e3, problem.len());
        let choice = origins.map_or_else(
            || AnswerChoice::Chosen(chosen.channels().collect()),
            |origins| placements(problem, origins, &chosen),
        );
        Self { choice, value, bound, guarantee, solver, micros, stopped, gap, channels, devices }
    }

    /// The chosen channels' positions; nothing in the gang form.
    pub fn chosen(&self) -> &[u32] {
        match &self.choice {
            AnswerChoice::Chosen(chosen) => chosen,
            AnswerChoice::Placements(_) => &[],
        }
    }

    /// Where tasks run; nothing in the plain form.
    pub fn placements(&self) -> &[Placed] {
        match &self.choice {
            AnswerChoice::Chosen(_) => &[],
            AnswerChoice::Placements(placements) => placements,
        }
    }

    /// The table of `--format table`.
    pub(super) fn table(&self) -> String {
        let guarantee = match self.guarantee {
            Guarantee::Optimal => "optimal",
            Guarantee::Bounded => "bounded",
        };
        let stopped = match self.stopped {
            Stopped::Proved => "proved: the optimum",
            Stopped::Budget => "budget: more work may find better or prove more",
            Stopped::Gap => "gap: the method finds and proves no more",
        };
        let mut text = String::new();
        let facts = [
            ("value", self.value.to_string()),
            ("bound", self.bound.to_string()),
            ("gap", if self.gap > 0.0 { format!("{:.2e}", self.gap) } else { "0".to_owned() }),
            ("guarantee", guarantee.to_owned()),
            ("stopped", stopped.to_owned()),
            ("solver", format!("{}, {}", self.solver, table::duration(self.micros))),
        ];
        for (key, value) in facts {
            text.push_str(&format!("{key:<10} {value}\n"));
        }
        match &self.choice {
            AnswerChoice::Chosen(chosen) => {
                text.push_str(&format!("{:<10} {} of {} channels\n", "chosen", chosen.len(), self.channels));
                text.push_str(&wrapped(chosen));
            }
            AnswerChoice::Placements(placements) => text.push_str(&placement_table(placements)),
        }
        if !self.devices.is_empty() {
            text.push('\n');
            text.push_str(&self.device_table());
        }
        text
    }

    fn device_table(&self) -> String {
        let mut devices = TextTable::new(&["device", "used", "capacity", "share"]);
        for (device, Load { used, capacity }) in self.devices.iter().enumerate().take(SHOWN) {
            let share = if *capacity == 0 { 0.0 } else { *used as f64 / *capacity as f64 };
            devices.row([device.to_string(), used.to_string(), capacity.to_string(), table::percent(share)]);
        }
        let mut text = devices.render();
        if self.devices.len() > SHOWN {
            text.push_str(&format!("... and {} more devices\n", self.devices.len() - SHOWN));
        }
        text
    }
}

/// Adds up the tasks of each group on each server. Several channels of a group may lead to the same
/// server; they are one placement.
fn placements(problem: &Problem<'_>, origins: &[Origin], chosen: &Uses) -> AnswerChoice {
    let mut placed: Vec<Placed> = Vec::new();
    for Use { channel, count } in chosen.iter() {
        let Origin { job, task } = origins[channel as usize];
        let server = problem.servers().map_or(0, |servers| servers.of[channel as usize]);
        placed.push(Placed { job, task, server, count });
    }
    placed.sort_unstable_by_key(|placed| (placed.job, placed.task, placed.server));
    placed.dedup_by(|next, first| {
        let same = (next.job, next.task, next.server) == (first.job, first.task, first.server);
        first.count += if same { next.count } else { 0 };
        same
    });
    AnswerChoice::Placements(placed)
}

fn placement_table(placements: &[Placed]) -> String {
    let tasks: u64 = placements.iter().map(|placed| u64::from(placed.count)).sum();
    let mut jobs: Vec<u32> = placements.iter().map(|placed| placed.job).collect();
    jobs.dedup();
    let mut text = format!("{:<10} {tasks} tasks of {} jobs\n\n", "placed", jobs.len());
    let mut table = TextTable::new(&["job", "task", "server", "count"]);
    for placed in placements.iter().take(SHOWN) {
        table.row([placed.job, placed.task, placed.server, placed.count].map(|number| number.to_string()));
    }
    text.push_str(&table.render());
    if placements.len() > SHOWN {
        text.push_str(&format!(
            "... and {} more, `--format json` lists them all\n",
            placements.len() - SHOWN
        ));
    }
    text
}

/// The first positions, in lines of at most 80 characters.
fn wrapped(chosen: &[u32]) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for position in chosen.iter().take(SHOWN) {
        let word = format!(" {position}");
        if line.len() + word.len() > LINE {
            text.push_str(&line);
            text.push('\n');
            line.clear();
        }
        line.push_str(&word);
    }
    if !line.is_empty() {
        text.push_str(&line);
        text.push('\n');
    }
    if chosen.len() > SHOWN {
        text.push_str(&format!(" ... and {} more, `--format json` lists them all\n", chosen.len() - SHOWN));
    }
    text
}
