//! Improves a decision server by server, the running jobs kept.
//!
//! One server is solved again with the others in mind: a task that leaves may go to the best other
//! server with room for it, a task that comes is one that waits or is taken from the worst place of its
//! group. Values are the objective's slopes at the decision, so a server is one small knapsack; what it
//! proposes is carried out with all that follows (tasks are moved, jobs brought back to their minimum,
//! room that came free is filled) and kept only if the true objective rises. A server visits the
//! channels of all groups that reach it.

use crate::solver::gang::dual::knapsack::{Item, Knapsack};
use crate::solver::gang::improve::ruin::fill_touched;
use crate::solver::gang::place::placement::Placement;
use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::groups::Groups;
use crate::solver::gang::problem::number::{ByChannel, ChannelNo, ServerNo};
use crate::solver::gang::tuning::polish::NEEDED;

/// The search's buffers.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Polish {
    groups: Groups,
    uses: ByChannel<u32>,
    touched: Vec<ServerNo>,
    /// Channels that lost uses.
    left: Vec<ChannelNo>,
}

impl Polish {
    /// Takes over a problem.
    pub fn reset(&mut self, form: &Form) {
        self.groups.reset(form);
        self.uses.reset(form.len(), 0);
    }

    /// The channels of each group.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Goes over the servers until none improves or the work is spent. Returns the visits.
    pub fn run(&mut self, form: &Form, knapsack: &mut Knapsack, placement: &mut Placement, work: u64) -> u64 {
        placement.commit();
        let (mut spent, mut quiet) = (0, 0);
        for server in form.all_servers().cycle() {
            if quiet >= form.servers() || spent >= work {
                break;
            }
            let before = placement.value();
            spent += self.server(form, knapsack, placement, server);
            quiet = if placement.value() > before { 0 } else { quiet + 1 };
            placement.commit();
        }
        spent
    }

    /// Goes once over some servers. Returns the visits.
    pub fn touched(
        &mut self,
        form: &Form,
        knapsack: &mut Knapsack,
        placement: &mut Placement,
        servers: &[ServerNo],
    ) -> u64 {
        servers.iter().map(|&server| self.server(form, knapsack, placement, server)).sum()
    }

    /// Solves one server again, undone if nothing is gained; returns the visits.
    fn server(
        &mut self,
        form: &Form,
        knapsack: &mut Knapsack,
        placement: &mut Placement,
        server: ServerNo,
    ) -> u64 {
        let (before, mark) = (placement.value(), placement.mark());
        let mut work = self.propose(form, knapsack, placement, server);
        if form.channels(server).all(|e| self.uses[e] == placement.uses[e]) {
            return work;
        }
        let mut moves = 0;
        let feasible = self.carry_out(form, placement, server, &mut moves);
        if feasible {
            moves += fill_touched(form, placement, mark, &mut self.touched);
        }
        work += moves * form.effort();
        if !feasible || placement.value() <= before + 1e-12 * (1.0 + before) {
            placement.undo(form, mark);
        }
        work
    }

    /// The server's uses at the slopes, into `self.uses`.
    fn propose(
        &mut self,
        form: &Form,
        knapsack: &mut Knapsack,
        placement: &Placement,
        server: ServerNo,
    ) -> u64 {
        let lambda = slope(form, placement);
        let worth = |e: ChannelNo| form.v[e] + lambda * form.w[e];
        knapsack.items.clear();
        let visits = knapsack.visits;
        let mut work = 0;
        for e in form.channels(server) {
            self.uses[e] = 0;
            let l = form.job[e];
            let Some(g) = form.group[e].filter(|_| placement.copies[l] > 0) else { continue };
            let here = placement.uses[e];
            let own = worth(e);
            let (mut other, mut worst, mut worst_uses) = (0.0f64, f64::INFINITY, 0);
            let mut has_other = false;
            for &f in self.groups.channels(g) {
                work += 1;
                if form.server[f] == server {
                    continue;
                }
                let value = worth(f);
                if placement.uses[f] > 0 && value < worst {
                    (worst, worst_uses) = (value, placement.uses[f]);
                }
                if here > 0 && (value > other || !has_other) && placement.fits_more(form, f) {
                    (other, has_other) = (value.max(0.0), true);
                }
            }
            let all = u64::from(form.groups[g].count) * u64::from(placement.copies[l]);
            let waiting = (all - placement.group[g].min(all)) as u32;
            let spare = placement.spare(form, g);
            let most = form.most[e];
            let mut offer = |r: f64, uses: u32| {
                if r > 0.0 && uses > 0 {
                    knapsack.items.push(Item::new(r, uses.min(most), e));
                }
            };
            if here > 0 {
                let needed = if has_other { 0 } else { u64::from(here).saturating_sub(spare) as u32 };
                offer(own + NEEDED, needed);
                offer(own - other, here - needed);
            }
            offer(own, waiting);
            if worst_uses > 0 {
                offer(own - worst, worst_uses);
            }
        }
        if !knapsack.items.is_empty() {
            let room = &form.room[form.devices_of(server)];
            knapsack.solve(&form.requests, room, &[], 400, &mut self.uses);
        }
        work + 2 * (knapsack.visits - visits)
    }

    /// Sets the server's uses and moves what must move; false when a job falls short.
    fn carry_out(
        &mut self,
        form: &Form,
        placement: &mut Placement,
        server: ServerNo,
        work: &mut u64,
    ) -> bool {
        let lambda = slope(form, placement);
        let worth = |e: ChannelNo| form.v[e] + lambda * form.w[e];
        self.left.clear();
        for e in form.channels(server) {
            if self.uses[e] < placement.uses[e] {
                placement.set(form, e, self.uses[e]);
                self.left.push(e);
            }
        }
        for e in form.channels(server) {
            if self.uses[e] <= placement.uses[e] {
                continue;
            }
            let Some(g) = form.group[e] else { continue };
            let channels = self.groups.channels(g);
            loop {
                let more = placement.most_more(form, e).min(self.uses[e] - placement.uses[e]);
                placement.set(form, e, placement.uses[e] + more);
                if self.uses[e] == placement.uses[e] {
                    break;
                }
                *work += channels.len() as u64;
                let elsewhere = |&&f: &&ChannelNo| placement.uses[f] > 0 && form.server[f] != server;
                let worst =
                    channels.iter().filter(elsewhere).min_by(|&&a, &&b| worth(a).total_cmp(&worth(b)));
                let Some(&worst) = worst else { break };
                if !placement.fits_more(form, e) {
                    break;
                }
                // It stays the worst until it has none left: all at once, but for what does not fit here.
                let moved = placement.uses[worst].min(self.uses[e] - placement.uses[e]);
                placement.set(form, worst, placement.uses[worst] - moved);
                let more = placement.most_more(form, e).min(moved);
                placement.set(form, e, placement.uses[e] + more);
                placement.set(form, worst, placement.uses[worst] + (moved - more));
                if more < moved {
                    break;
                }
            }
        }
        for place in 0..self.left.len() {
            let Some(g) = form.group[self.left[place]] else { continue };
            let l = form.groups[g].job;
            let channels = self.groups.channels(g);
            loop {
                *work += channels.len() as u64;
                let needed = placement.missing(form, l).max(placement.missing_of_group(form, g));
                let short = needed > 0;
                let open = |&&f: &&ChannelNo| (short || worth(f) > 0.0) && placement.most_more(form, f) > 0;
                let best = channels
                    .iter()
                    .filter(open)
                    .max_by(|&&a, &&b| worth(a).total_cmp(&worth(b)).then(b.cmp(&a)));
                let Some(&best) = best else { break };
                // It stays the best until it is full, or, if it costs, until the job has what it needs.
                let more = u64::from(placement.most_more(form, best));
                let more = if worth(best) > 0.0 { more } else { more.min(needed) };
                placement.set(form, best, placement.uses[best] + more as u32);
            }
            if !placement.is_whole(form, l) {
                return false;
            }
        }
        // Tasks taken from other servers were put on this one: no other job has fewer.
        true
    }
}

/// What a unit of variance adds at a decision.
pub(in crate::solver::gang) fn slope(form: &Form, placement: &Placement) -> f64 {
    if form.linear || placement.variance <= 0.0 { 0.0 } else { 0.5 / placement.variance.sqrt() }
}
