//! The decision, as JSON and as a table.

use crate::table::{self, Table};
use esdp::model::Amount;
use esdp::solver::{Guarantee, Problem, Solution};
use serde::Serialize;
use std::time::Duration;

/// How much of a long list a table shows; JSON shows all of it.
const SHOWN: usize = 200;
const LINE: usize = 80;

/// The answer to a problem. The fields that other programs rely on, in their order; what
/// only the table shows is not part of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The chosen channels' positions, ascending.
    pub chosen: Vec<u32>,
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
    #[serde(skip)]
    gap: f64,
    #[serde(skip)]
    channels: usize,
    #[serde(skip)]
    devices: Vec<Use>,
}

/// What is used of a device.
#[derive(Debug, Clone, PartialEq)]
struct Use {
    used: u128,
    capacity: Amount,
}

impl Answer {
    /// Of a solution that took this long.
    pub fn new(problem: &Problem<'_>, solution: Solution, elapsed: Duration) -> Self {
        let used = |device: usize| {
            let requests = solution.chosen.iter().map(|&channel| problem.request(channel as usize)[device]);
            Use { used: requests.map(u128::from).sum(), capacity: problem.capacity()[device] }
        };
        let devices = (0..problem.devices()).map(used).collect();
        // Everything good at once is a bound too, and a finite one where a solver's overflows:
        // JSON has no infinity.
        let good = problem.mean().iter().map(|mean| mean.max(0.0)).sum::<f64>();
        let everything = good + problem.width().iter().sum::<f64>().sqrt();
        let bound = solution.bound.min(everything).max(solution.value);
        let gap = Solution { bound, ..solution.clone() }.gap();
        let Solution { chosen, value, guarantee, method: solver, .. } = solution;
        let (micros, channels) = (elapsed.as_nanos() as f64 / 1e3, problem.len());
        Self { chosen, value, bound, guarantee, solver, micros, gap, channels, devices }
    }

    /// The table of `--format table`.
    pub(super) fn table(&self) -> String {
        let guarantee = match self.guarantee {
            Guarantee::Optimal => "optimal",
            Guarantee::Bounded => "bounded",
        };
        let mut text = String::new();
        let facts = [
            ("value", self.value.to_string()),
            ("bound", self.bound.to_string()),
            ("gap", if self.gap > 0.0 { format!("{:.2e}", self.gap) } else { "0".to_owned() }),
            ("guarantee", guarantee.to_owned()),
            ("solver", format!("{}, {}", self.solver, table::duration(self.micros))),
        ];
        for (key, value) in facts {
            text.push_str(&format!("{key:<10} {value}\n"));
        }
        text.push_str(&format!("{:<10} {} of {} channels\n", "chosen", self.chosen.len(), self.channels));
        text.push_str(&wrapped(&self.chosen));
        if !self.devices.is_empty() {
            text.push('\n');
            text.push_str(&self.device_table());
        }
        text
    }

    fn device_table(&self) -> String {
        let mut devices = Table::new(&["device", "used", "capacity", "share"]);
        for (device, Use { used, capacity }) in self.devices.iter().enumerate().take(SHOWN) {
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
