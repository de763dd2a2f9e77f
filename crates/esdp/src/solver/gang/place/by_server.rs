//! Builds a decision server by server: each one's own knapsack at the relaxation's prices, for the
//! tasks that are still to be placed; then jobs short of their minimum are completed or cut.
//!
//! Packs servers better than job by job (`build.rs`), and jobs worse; the better of the two is kept.

use crate::solver::gang::Decomposition;
use crate::solver::gang::dual::knapsack::Item;
use crate::solver::gang::place::eject::worth;
use crate::solver::gang::place::placement::Placement;
use crate::solver::gang::problem::number::JobNo;
use crate::solver::gang::tuning::by_server::{LIKELY, MOVES, MOVES_PER_CHANNEL, WORK_OF_A_MOVE};

impl Decomposition {
    /// Goes over the servers, into the placement. `pricing.r` holds the values.
    pub(in crate::solver::gang) fn place_by_server(&mut self) {
        let Self { form, pricing, placement, descent, scratch, .. } = self;
        placement.reset(form);
        for (l, job) in form.jobs.numbered().filter(|(_, job)| job.is_gang()) {
            placement.copies[l] = ((descent.copies[l] + 0.5) as u32).min(job.copies);
        }
        for server in form.all_servers() {
            pricing.knapsack.items.clear();
            for e in form.channels(server) {
                scratch[e] = 0;
                if pricing.r[e] > 0.0 {
                    let more = placement.most_more(form, e);
                    if more > 0 {
                        pricing.knapsack.items.push(Item::new(pricing.r[e], more, e));
                    }
                }
            }
            if pricing.knapsack.items.is_empty() {
                continue;
            }
            let before = pricing.knapsack.visits;
            let room = placement.room(form, server);
            pricing.knapsack.solve(&form.requests, room, &[], pricing.server_limit, scratch);
            pricing.work += 2 * (pricing.knapsack.visits - before);
            for e in form.channels(server) {
                // Several channels of a group share its tasks, and all servers the cluster's rows.
                let uses = scratch[e].min(placement.most_more(form, e));
                placement.set(form, e, uses);
            }
        }
        pricing.work += 4 * form.len() as u64;
        self.finish();
    }

    /// Completes or cuts jobs that are short of their minimum, then adds whatever fits.
    pub(in crate::solver::gang) fn finish(&mut self) {
        // Without the relaxation's copies there is no saying which jobs are worth the trouble of moving
        // others.
        let relaxed = !self.root_copies.is_empty();
        let most = MOVES + MOVES_PER_CHANNEL * self.form.len() as u64;
        let mut left = most;
        if relaxed {
            self.complete_short_jobs(&mut left);
        }
        let Self { form, builder, placement, pricing, root_copies, .. } = self;
        for &l in &builder.jobs {
            if form.jobs[l].is_gang() && placement.copies[l] > 0 {
                builder.complete(form, placement, l);
            }
        }
        for &l in &builder.jobs {
            builder.insert_all(form, placement, l, 0);
            if relaxed && root_copies[l] > LIKELY {
                while builder.insert_by_moving(form, placement, l, &mut left) {}
            }
        }
        pricing.work += WORK_OF_A_MOVE * (most - left) * form.effort();
        builder.fill(form, placement);
        placement.commit();
    }

    /// Completes jobs that are short of their minimum, the most valuable ones first: others are moved, or go.
    fn complete_short_jobs(&mut self, left: &mut u64) {
        let Self { form, builder, placement, .. } = self;
        let is_short = |placement: &Placement, l: JobNo| {
            form.jobs[l].is_gang() && placement.copies[l] > 0 && !placement.is_whole(form, l)
        };
        let mut short: Vec<(f64, JobNo)> = Vec::new();
        for &l in &builder.jobs {
            if is_short(placement, l) {
                builder.complete_by_moving(form, placement, l, left);
                short.push((worth(form, placement, l), l));
            }
        }
        short.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for &(_, l) in &short {
            if is_short(placement, l) {
                builder.complete_by_evicting(form, placement, l, left);
                builder.complete(form, placement, l);
            }
        }
    }
}
