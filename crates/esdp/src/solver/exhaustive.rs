//! Every feasible set, one by one: the truth for small problems.
//!
//! Depth-first over channels, cutting only where the capacity is exceeded, so that no
//! cleverness can be wrong. Cost: the number of feasible sets, at most `2^n`.

use super::problem::Room;
use super::{Guarantee, Problem, Solution, SolveError, Solver};

/// Tries every feasible set of channels.
#[derive(Debug, Clone)]
pub struct Exhaustive {
    limit: usize,
}

impl Default for Exhaustive {
    /// Up to 24 channels that fit: at most 16 million sets.
    fn default() -> Self {
        Self { limit: 24 }
    }
}

struct Search<'a, 'p> {
    problem: &'a Problem<'p>,
    candidates: &'a [u32],
    room: Room,
    current: Vec<u32>,
    best: Vec<u32>,
    best_value: f64,
}

impl Search<'_, '_> {
    fn descend(&mut self, depth: usize, mean: f64, width: f64) {
        let Some(&channel) = self.candidates.get(depth) else {
            let value = mean + width.sqrt();
            if value > self.best_value {
                self.best_value = value;
                self.best.clone_from(&self.current);
            }
            return;
        };
        let position = channel as usize;
        if self.room.take(self.problem, position) {
            self.current.push(channel);
            self.descend(depth + 1, mean + self.problem.mean()[position], width + self.problem.width()[position]);
            self.current.pop();
            self.room.give(self.problem, position);
        }
        self.descend(depth + 1, mean, width);
    }
}

impl Solver for Exhaustive {
    fn name(&self) -> &'static str {
        "exhaustive"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let candidates: Vec<u32> =
            (0..problem.len() as u32).filter(|&channel| problem.fits_alone(channel as usize)).collect();
        if candidates.len() > self.limit {
            let (needed, limit) = (candidates.len() as u128, self.limit as u128);
            return Err(SolveError::TooLarge { solver: self.name(), needed, limit, unit: "channels" });
        }
        let mut search = Search {
            problem,
            candidates: &candidates,
            room: Room::of(problem),
            current: Vec::new(),
            best: Vec::new(),
            best_value: 0.0,
        };
        search.descend(0, 0.0, 0.0);
        solution.chosen.clone_from(&search.best);
        solution.seal(problem, search.best_value, Guarantee::Optimal, self.name());
        Ok(())
    }
}
