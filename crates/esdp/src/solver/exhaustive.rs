//! Every feasible set, one by one: the truth for small problems.
//!
//! Depth-first over channels, cutting only where the capacity is exceeded, so that no
//! cleverness can be wrong; whether jobs are whole is asked of complete sets alone. Cost: the
//! number of feasible sets, at most `2^n`, or the product of all uses with gangs.
//!
//! Channels that can never be used are left out first. At most 24 others make up 2^24 sets, so the search is
//! at most that deep, however many channels a problem has.

use super::{Guarantee, Problem, Solution, SolveError, Solver};
use crate::model::{FewestJobs, Room};

/// Tries every feasible set of channels.
#[derive(Debug, Clone)]
pub struct Exhaustive {
    /// The binary logarithm of the most sets.
    limit: u32,
}

/// A set is checked against so many devices in about the time that everything else takes: more of them count
/// as more sets.
const DEVICES_PER_SET: usize = 16;

impl Default for Exhaustive {
    /// As many sets as 24 channels have that are used once or not: 16 million.
    fn default() -> Self {
        Self { limit: 24 }
    }
}

/// A channel that can be used.
struct Candidate {
    channel: u32,
    most: u64,
    /// The place of its group in [`Search::groups`].
    group: usize,
}

/// The groups of the candidates, those with a minimum, and how many of their tasks are placed.
struct Group {
    position: u32,
    job: u32,
    uses: u64,
}

struct Search<'a, 'p> {
    problem: &'a Problem<'p>,
    candidates: &'a [Candidate],
    /// By job.
    groups: Vec<Group>,
    room: Room,
    current: Vec<u32>,
    best: Vec<u32>,
    best_value: f64,
    sets: u64,
}

impl Search<'_, '_> {
    fn descend(&mut self, depth: usize, mean: f64, variance: f64) {
        let Some(&Candidate { channel, most, group }) = self.candidates.get(depth) else {
            self.sets += 1;
            let value = mean + variance.sqrt();
            if value > self.best_value && self.is_whole() {
                self.best_value = value;
                self.best.clone_from(&self.current);
            }
            return;
        };
        let position = channel as usize;
        self.descend(depth + 1, mean, variance);
        let mut taken = 0u32;
        while u64::from(taken) < most && self.problem.take(&mut self.room, position, 1) {
            taken += 1;
            self.current[depth] = taken;
            if let Some(group) = self.groups.get_mut(group) {
                group.uses += 1;
            }
            let times = f64::from(taken);
            let (v, w) = (self.problem.mean()[position], self.problem.width()[position]);
            self.descend(depth + 1, mean + times * v, variance + times * w);
        }
        self.current[depth] = 0;
        if let Some(group) = self.groups.get_mut(group) {
            group.uses -= u64::from(taken);
        }
        for _ in 0..taken {
            self.problem.give(&mut self.room, position);
        }
    }

    /// Whether the placed tasks make up whole jobs; jobs without a candidate have none.
    fn is_whole(&self) -> bool {
        let Some(gangs) = self.problem.gangs() else { return true };
        self.groups.chunk_by(|a, b| a.job == b.job).all(|groups| {
            let mut fewest = FewestJobs::NONE;
            groups
                .iter()
                .for_each(|group| fewest.add(group.uses, gangs.groups[group.position as usize].count));
            let job = gangs.jobs[groups[0].job as usize];
            let reaches = |group: &Group| {
                let minimum = u64::from(gangs.groups[group.position as usize].minimum);
                group.uses >= fewest.jobs.saturating_mul(minimum)
            };
            fewest.jobs <= u64::from(job.copies) && fewest.reaches(job.minimum) && groups.iter().all(reaches)
        })
    }
}

/// The channels that can be used, and the groups they belong to.
fn candidates(problem: &Problem<'_>) -> (Vec<Candidate>, Vec<Group>) {
    let usable = |channel: u32| {
        let most = problem.most(channel as usize);
        (most > 0).then_some(Candidate { channel, most, group: usize::MAX })
    };
    let mut candidates: Vec<Candidate> = (0..problem.len() as u32).filter_map(usable).collect();
    let Some(gangs) = problem.gangs() else { return (candidates, Vec::new()) };
    let key = |candidate: &Candidate| {
        let position = gangs.group[candidate.channel as usize];
        (gangs.groups[position as usize].job, position)
    };
    let mut keys: Vec<(u32, u32)> = candidates.iter().map(key).collect();
    // A group that cannot run keeps its job from running if it has a minimum.
    let needed = gangs.groups.iter().enumerate().filter(|(_, group)| group.minimum > 0);
    keys.extend(needed.map(|(position, group)| (group.job, position as u32)));
    keys.sort_unstable();
    keys.dedup();
    for candidate in &mut candidates {
        candidate.group = keys.binary_search(&key(candidate)).unwrap_or(usize::MAX);
    }
    (candidates, keys.into_iter().map(|(job, position)| Group { position, job, uses: 0 }).collect())
}

impl Solver for Exhaustive {
    fn name(&self) -> &'static str {
        "exhaustive"
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        let (candidates, groups) = candidates(problem);
        let sets = candidates
            .iter()
            .fold(1u128, |all, candidate| all.saturating_mul(u128::from(candidate.most) + 1));
        let needed = sets.saturating_mul(problem.devices().div_ceil(DEVICES_PER_SET).max(1) as u128);
        let limit = 1 << self.limit;
        if needed > limit {
            return Err(SolveError::TooLarge { solver: self.name(), needed, limit, unit: "sets" });
        }
        let mut room = Room::default();
        problem.fill(&mut room);
        let mut search = Search {
            problem,
            candidates: &candidates,
            groups,
            room,
            current: vec![0; candidates.len()],
            best: vec![0; candidates.len()],
            best_value: 0.0,
            sets: 0,
        };
        search.descend(0, 0.0, 0.0);
        solution.chosen.clear();
        for (candidate, &count) in candidates.iter().zip(&search.best) {
            solution.chosen.push(candidate.channel, count);
        }
        solution.work = search.sets;
        solution.complete(problem, search.best_value, Guarantee::Optimal, self.name());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Gang, Group, Instance, Uses};
    use super::*;

    #[test]
    fn channels_that_cannot_be_used_cost_nothing() {
        let mut instance = Instance::new(vec![3]);
        for channel in 0..100_000 {
            instance.push(&[if channel == 70_000 { 1 } else { 4 }], 0.5, 0.0);
        }
        let alone = Exhaustive::default().solve(&instance.problem().unwrap()).unwrap();
        assert_eq!((alone.chosen, alone.work), (Uses::from([70_000]), 2));
        // The same by jobs of which there are none.
        instance.requests.fill(1);
        instance.group = (0..100_000).collect();
        instance.groups = (0..100_000).map(|job| Group { job, count: 2, minimum: 0 }).collect();
        instance.jobs = vec![Gang { minimum: 2, copies: 0 }; 100_000];
        instance.jobs[70_000].copies = 1;
        let whole = Exhaustive::default().solve(&instance.problem().unwrap()).unwrap();
        assert_eq!((whole.chosen, whole.work), (Uses::from([70_000, 70_000]), 3));
    }

    #[test]
    fn many_devices_count_as_many_sets() {
        let mut instance = Instance::new(vec![30; 17]);
        (0..24).for_each(|_| instance.push(&[2; 17], 0.5, 0.0));
        let refused = Exhaustive::default().solve(&instance.problem().unwrap()).unwrap_err();
        assert!(matches!(refused, SolveError::TooLarge { needed: 33_554_432, .. }), "{refused}");
    }
}
