//! Ruin and recreate: a neighbourhood search over whole jobs.
//!
//! A turn takes a job, and a few running jobs that share servers with it, out of the decision, puts
//! back what fits in another order, fills the servers that were touched with single tasks, polishes
//! them (`polish.rs`), and keeps the result unless it is worse; at first also if it is a little worse.
//! Turns follow a scrambled counter, so the search is the same for the same problem. A turn visits the
//! channels of a handful of jobs.

use crate::solver::gang::dual::knapsack::Knapsack;
use crate::solver::gang::improve::polish::Polish;
use crate::solver::gang::improve::sequence::Sequence;
use crate::solver::gang::place::build::Builder;
use crate::solver::gang::place::placement::Placement;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{JobNo, Number, ServerNo};
use crate::solver::gang::tuning::ruin::{MOST_RUINED, OUTSIDERS, POLISHED, WORSE};

/// The search's buffers.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Ruin {
    sequence: Sequence,
    candidates: Vec<JobNo>,
    before: Vec<u32>,
    order: Vec<JobNo>,
    touched: Vec<ServerNo>,
    seed: JobNo,
    best: Placement,
}

/// When to stop a search.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver::gang) struct Stop {
    pub turns: usize,
    /// Turns without a gain.
    pub patience: usize,
    pub work: u64,
}

impl Ruin {
    /// Starts the sequence of turns anew.
    pub fn reset(&mut self) {
        self.sequence.reset();
        self.seed = JobNo::default();
    }

    /// Improves a decision until a stop. Returns the visits spent.
    pub fn run(
        &mut self,
        form: &Form,
        builder: &Builder,
        (polish, knapsack): (&mut Polish, &mut Knapsack),
        placement: &mut Placement,
        stop: Stop,
    ) -> u64 {
        let (mut spent, mut last_gain) = (0, 0);
        placement.commit();
        self.best.copy_from(placement);
        // Copies of large decisions cost more than they bring.
        let patient = if form.len() <= crate::solver::gang::tuning::search::LARGE { WORSE } else { 0.0 };
        for turn in 0..stop.turns {
            if spent >= stop.work || turn - last_gain > stop.patience {
                break;
            }
            let left = 1.0 - (spent as f64 / stop.work as f64).max(turn as f64 / stop.turns as f64);
            let accepted = (self.best.value() * (1.0 - patient * left * left)).min(placement.value());
            spent += self.turn(form, builder, (polish, knapsack), placement, accepted);
            if placement.value() > self.best.value() {
                last_gain = turn;
                if patient > 0.0 {
                    self.best.copy_from(placement);
                    spent += form.len() as u64 / 2;
                }
            }
        }
        if placement.value() < self.best.value() {
            placement.copy_from(&self.best);
        }
        spent
    }

    fn turn(
        &mut self,
        form: &Form,
        builder: &Builder,
        (polish, knapsack): (&mut Polish, &mut Knapsack),
        placement: &mut Placement,
        accepted: f64,
    ) -> u64 {
        let jobs = form.jobs.len();
        let value = placement.value();
        self.seed = JobNo::at((self.seed.place() + 1) % jobs);
        let seed = self.seed;
        let mut work = self.choose(form, builder, placement, seed);
        self.before.clear();
        self.before.extend(self.candidates.iter().map(|&job| placement.copies[job]));
        let was_out = placement.copies[seed] == 0;
        let from = self.sequence.next(1 << 30);
        for &l in &self.candidates {
            if form.jobs[l].is_gang() && placement.copies[l] > 0 {
                let fewer =
                    if placement.copies[l] > 1 && from & 3 != 0 { placement.copies[l] - 1 } else { 0 };
                let channels = form.channels_of_job(l);
                placement.keep_copies(form, channels, from as usize % channels.len().max(1), fewer);
                work += channels.len() as u64 / 4;
            }
        }
        let skip = self.sequence.next(4) * (1 + self.sequence.next(8));
        let first = usize::from(was_out);
        let kept = std::mem::take(&mut self.candidates);
        let mut order = std::mem::take(&mut self.order);
        order.clone_from(&kept);
        for place in first..order.len() {
            let other = place + self.sequence.next((order.len() - place) as u64) as usize;
            order.swap(place, other);
        }
        for &l in &order {
            let salt = if skip == 0 { 0 } else { self.sequence.next(u64::MAX >> 34) | 1 };
            let tries = builder.insert_all(form, placement, l, salt);
            work += 2 * tries * form.channels_of_job(l).len() as u64;
        }
        self.order = order;
        work += fill_touched(form, placement, 0, &mut self.touched);
        // Not worth its visits where the loss is large.
        if form.len() <= crate::solver::gang::tuning::search::LARGE
            && placement.value() > value * (1.0 - POLISHED)
        {
            work += polish.touched(form, knapsack, placement, &self.touched) / 4;
        }
        if placement.value() >= accepted - 1e-12 {
            placement.commit();
        } else {
            placement.undo(form, 0);
            for (&l, &copies) in kept.iter().zip(&self.before) {
                placement.copies[l] = copies;
            }
        }
        self.candidates = kept;
        4 * work * form.effort()
    }

    /// The seed, running jobs on its servers, and some that do not run. Returns the visits.
    fn choose(&mut self, form: &Form, builder: &Builder, placement: &Placement, seed: JobNo) -> u64 {
        self.candidates.clear();
        self.candidates.push(seed);
        let ruined = 1 + self.sequence.next(MOST_RUINED) as usize;
        let channels = builder.ranked(form, seed);
        let from = self.sequence.next(channels.len() as u64) as usize;
        let mut work = 0;
        // From the better half of the ranking more often than not.
        let from = if self.sequence.next(2) == 0 { from / 4 } else { from };
        'found: for &e in
            channels[from.min(channels.len())..].iter().chain(&channels[..from.min(channels.len())])
        {
            for other in form.channels(form.server[e]) {
                work += 1;
                let job = form.job[other];
                let runs = placement.uses[other] > 0 && form.jobs[job].is_gang();
                if runs && !self.candidates.contains(&job) {
                    if self.candidates.len() > ruined {
                        break 'found;
                    }
                    self.candidates.push(job);
                }
            }
        }
        let offset = self.sequence.next(form.jobs.len() as u64) as usize;
        let mut outsiders = 0;
        for place in 0..form.jobs.len() {
            let l = builder.jobs[(offset + place) % form.jobs.len()];
            let out = placement.copies[l] < form.jobs[l].copies && form.jobs[l].is_gang();
            if out && !self.candidates.contains(&l) {
                self.candidates.push(l);
                outsiders += 1;
                if outsiders == OUTSIDERS {
                    break;
                }
            }
        }
        work + form.jobs.len() as u64 / 4
    }
}

/// Fills the servers that were touched since a mark with single tasks of running jobs.
pub(in crate::solver::gang) fn fill_touched(
    form: &Form,
    placement: &mut Placement,
    mark: usize,
    servers: &mut Vec<ServerNo>,
) -> u64 {
    servers.clear();
    servers.extend(placement.changed(mark).map(|e| form.server[e]));
    servers.sort_unstable();
    servers.dedup();
    let mut work = 0;
    for &server in servers.iter() {
        loop {
            let mut best = None;
            let mut most = 0.0;
            for e in form.channels(server) {
                work += 1;
                if placement.copies[form.job[e]] > 0 {
                    let gain = placement.gain(form, e);
                    if gain > most && placement.most_more(form, e) > 0 {
                        (best, most) = (Some(e), gain);
                    }
                }
            }
            let Some(e) = best else { break };
            // One at a time, but of very many tasks a part, as long as each of them gains.
            let mut step = (placement.most_more(form, e) / 16).max(1);
            while step > 1 && placement.last_gain(form, e, step) <= 0.0 {
                step /= 2;
            }
            placement.set(form, e, placement.uses[e] + step);
        }
    }
    work
}
