//! Every feasible set, one by one: the truth for small problems.
//!
//! Depth-first over channels, cutting only where the capacity is exceeded, so that no
//! cleverness can be wrong; whether jobs are whole is asked of complete sets alone. Cost: the
//! number of feasible sets, at most `2^n`, or the product of all uses with gangs.

use super::problem::Room;
use super::{Guarantee, Problem, Solution, SolveError, Solver};

/// Tries every feasible set of channels.
#[derive(Debug, Clone)]
pub struct Exhaustive {
    /// The binary logarithm of the most sets.
    limit: u32,
}

impl Default for Exhaustive {
    /// As many sets as 24 channels have that are used once or not: 16 million.
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
            let is_whole = || self.problem.gangs().is_none_or(|gangs| gangs.are_whole(&self.current));
            if value > self.best_value && is_whole() {
                self.best_value = value;
                self.best.clone_from(&self.current);
            }
            return;
        };
        let position = channel as usize;
        let (mut mean, mut width) = (mean, width);
        self.descend(depth + 1, mean, width);
        let mut taken = 0;
        while taken < self.problem.most(position) && self.room.take(self.problem, position) {
            taken += 1;
            mean += self.problem.mean()[position];
            width += self.problem.width()[position];
            self.current.push(channel);
            self.descend(depth + 1, mean, width);
        }
        for _ in 0..taken {
            self.current.pop();
            self.room.give(self.problem, position);
        }
    }
}

impl Solver for Exhaustive {
    fn name(&self) -> &'static str {
        "exhaustive"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let candidates: Vec<u32> = (0..problem.len() as u32)
            .filter(|&e| problem.fits_alone(e as usize) && problem.most(e as usize) > 0)
            .collect();
        let sets = |all: u128, &channel: &u32| all.saturating_mul(u128::from(problem.most(channel as usize)) + 1);
        let (needed, limit) = (candidates.iter().fold(1, sets), 1 << self.limit);
        if needed > limit {
            return Err(SolveError::TooLarge { solver: self.name(), needed, limit, unit: "sets" });
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
