//! Solves the system for the targets at hand, and follows the steps of all else from it.

use super::Step;
use crate::solver::gang::cholesky::{dot, solve};
use crate::solver::gang::relax::interior::Interior;
use crate::solver::gang::relax::open::Open;

impl Step {
    /// Solves for the targets, and fills all steps.
    pub fn solve(&mut self, open: &Open, at: &mut Interior, linear: bool) {
        let (n, groups) = (open.len(), open.groups.len());
        let border = open.wide.len() + usize::from(!linear);
        for (list, len) in [(&mut self.server_price, open.rows), (&mut self.border, border)] {
            list.clear();
            list.resize(len, 0.0);
        }
        self.task_price.clone_from(&self.beyond);
        self.shared.clear();
        self.shared.resize(open.shared_count, 0.0);
        self.right_sides(open, at);
        // What follows from them for the rows.
        for server in &open.servers {
            let sums = &mut self.server_price[server.row..][..server.rows];
            let moved = &self.moved[server.channels()];
            sums.iter_mut().zip(open.rows(server)).for_each(|(sum, row)| *sum = dot(row, moved));
        }
        for (e, moved) in self.moved.iter().enumerate() {
            if let Some(g) = open.group(e) {
                self.task_price[g] += moved;
            }
        }
        if !open.wide.is_empty() {
            for (e, moved) in self.moved.iter().enumerate() {
                open.wide_of(e).iter().for_each(|&(row, share)| self.border[row] += share * moved);
            }
        }
        if !linear {
            self.border[border - 1] += dot(&self.root, &self.moved);
        }
        for (row, pull) in open.per_copy.iter().zip(&self.pull) {
            self.shared[row.shared] += pull * self.moved[row.channel];
        }
        for i in 0..open.rows {
            self.server_price[i] += at.server.target[i] / at.server.price[i] - at.server.slack[i];
        }
        for i in 0..open.wide.len() {
            self.border[i] += at.wide.target[i] / at.wide.price[i] - at.wide.slack[i];
        }
        // What the jobs' own unknowns move.
        self.right.clear();
        self.right.resize(open.unknowns, 0.0);
        for (row, pull) in open.per_copy.iter().zip(at.per_copy.pulls(0..open.per_copy.len())) {
            self.right[row.copies] += row.most * pull;
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let count = job.unknowns();
            if count == 0 {
                continue;
            }
            let own = &mut self.right[job.unknown..][..count];
            let rows = open.entries[job.entry..].chunks_exact(count);
            for (entries, pull) in rows.zip(at.job.pulls(job.own_rows())) {
                own.iter_mut().zip(entries).for_each(|(own, a)| *own += pull * a);
            }
            if let Some(copies) = job.copies_at() {
                own[copies] += job.bonus;
            }
            if job.tied {
                own[0] += job.groups().map(|g| open.tasks[g].count * at.task_price[g]).sum::<f64>();
            } else {
                own.iter_mut().zip(&at.task_price[job.groups()]).for_each(|(own, p)| *own += p);
            }
            let shared = open.shared[place];
            let local = count - usize::from(shared.is_some());
            if let Some(shared) = shared {
                let tasks: f64 = if job.tied {
                    0.0
                } else {
                    self.shared_q[job.groups()].iter().zip(&*own).map(|(q, own)| q * own).sum()
                };
                self.shared[shared] += own[count - 1] + tasks;
            }
            self.local.clear();
            self.local.extend_from_slice(&own[..local]);
            solve(&self.job_factor[self.job_factor_at[place]..], local, &mut self.local);
            if local > 0 {
                for (at_group, g) in job.groups().enumerate() {
                    self.task_price[g] -=
                        if job.tied { open.tasks[g].count * self.local[0] } else { self.local[at_group] };
                }
            }
        }
        self.kept.clear();
        if self.servers_go {
            self.kept.extend_from_slice(&self.task_price);
            self.kept.extend_from_slice(&self.border);
            self.kept.extend_from_slice(&self.shared);
            self.system.solve(&mut self.server_price, &mut self.kept);
            self.task_price.copy_from_slice(&self.kept[..groups]);
            self.border.copy_from_slice(&self.kept[groups..groups + border]);
            self.shared.copy_from_slice(&self.kept[groups + border..]);
        } else {
            self.kept.extend_from_slice(&self.server_price);
            self.kept.extend_from_slice(&self.border);
            self.eliminated.clear();
            for (place, job) in open.jobs.iter().enumerate() {
                self.eliminated.extend_from_slice(&self.task_price[job.groups()]);
                self.eliminated.extend(open.shared[place].map(|shared| self.shared[shared]));
            }
            self.system.solve(&mut self.eliminated, &mut self.kept);
            let mut solved = self.eliminated.iter();
            for (place, job) in open.jobs.iter().enumerate() {
                for (price, &value) in self.task_price[job.groups()].iter_mut().zip(&mut solved) {
                    *price = value;
                }
                if let Some(shared) = open.shared[place]
                    && let Some(&value) = solved.next()
                {
                    self.shared[shared] = value;
                }
            }
            self.server_price.copy_from_slice(&self.kept[..open.rows]);
            self.border.copy_from_slice(&self.kept[open.rows..]);
        }
        self.work += 20 * n as u64;
        self.spread(open, at);
    }

    /// Right-hand sides, channel by channel.
    fn right_sides(&mut self, open: &Open, at: &Interior) {
        let n = open.len();
        self.rho.clone_from(&self.base);
        for (rho, (low, high)) in self.rho.iter_mut().zip(at.low.pulls(0..n).zip(at.high.pulls(0..n))) {
            *rho += low - high;
        }
        for (row, pull) in open.per_copy.iter().zip(at.per_copy.pulls(0..open.per_copy.len())) {
            self.rho[row.channel] -= pull;
        }
        self.moved.clear();
        self.moved.extend(self.rho.iter().zip(&self.inverse).map(|(rho, inverse)| rho * inverse));
    }

    /// From the prices' steps to everything else.
    fn spread(&mut self, open: &Open, at: &mut Interior) {
        if let Some(own) = self.border.get(open.wide.len()) {
            self.rho.iter_mut().zip(&self.root).for_each(|(rho, root)| *rho -= root * own);
        }
        for (row, pull) in open.per_copy.iter().zip(&self.pull) {
            self.rho[row.channel] -= pull * self.shared[row.shared];
        }
        at.wide.slack_step.fill(0.0);
        if !open.wide.is_empty() {
            for (e, rho) in self.rho.iter_mut().enumerate() {
                *rho -= open.wide_of(e).iter().map(|&(row, a)| a * self.border[row]).sum::<f64>();
            }
        }
        for server in &open.servers {
            let (first, k) = (server.row, server.rows);
            let prices = &self.server_price[first..][..k];
            let slacks = &mut at.server.slack_step[first..][..k];
            let steps = &mut at.low.slack_step[server.channels()];
            for (e, (step, rho)) in server.channels().zip(steps.iter_mut().zip(&self.rho[server.channels()]))
            {
                *step = rho - open.of_group(&self.task_price, e);
            }
            for (row, price) in open.rows(server).zip(prices) {
                steps.iter_mut().zip(row).for_each(|(step, a)| *step -= a * price);
            }
            steps
                .iter_mut()
                .zip(&self.inverse[server.channels()])
                .for_each(|(step, inverse)| *step *= inverse);
            slacks.iter_mut().zip(open.rows(server)).for_each(|(slack, row)| *slack = -dot(row, steps));
        }
        at.high.slack_step.iter_mut().zip(&at.low.slack_step).for_each(|(high, low)| *high = -low);
        if !open.wide.is_empty() {
            for (e, step) in at.low.slack_step.iter().enumerate() {
                for &(row, share) in open.wide_of(e) {
                    at.wide.slack_step[row] -= share * step;
                }
            }
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let count = job.unknowns();
            if count == 0 {
                continue;
            }
            let own = &mut self.right[job.unknown..][..count];
            if job.tied {
                own[0] += job.groups().map(|g| open.tasks[g].count * self.task_price[g]).sum::<f64>();
            } else {
                own.iter_mut().zip(&self.task_price[job.groups()]).for_each(|(own, p)| *own += p);
            }
            let shared = open.shared[place];
            let local = count - usize::from(shared.is_some());
            solve(&self.job_factor[self.job_factor_at[place]..], local, &mut own[..local]);
            if let Some(shared) = shared {
                let copies = -self.shared[shared];
                own[local] = copies;
                if !job.tied {
                    let (tasks, _) = own.split_at_mut(local);
                    tasks
                        .iter_mut()
                        .zip(&self.shared_q[job.groups()])
                        .for_each(|(task, q)| *task += q * copies);
                }
            }
            at.unknowns_step[job.unknown..][..count].copy_from_slice(own);
            let slacks = &mut at.job.slack_step[job.own_rows()];
            for (slack, entries) in slacks.iter_mut().zip(open.entries[job.entry..].chunks_exact(count)) {
                *slack = entries.iter().zip(&*own).map(|(a, x)| a * x).sum();
            }
        }
        for (row, slack) in open.per_copy.iter().zip(&mut at.per_copy.slack_step) {
            *slack = row.most * at.unknowns_step[row.copies] - at.low.slack_step[row.channel];
        }
        for pairs in [&mut at.low, &mut at.high, &mut at.server, &mut at.wide, &mut at.job, &mut at.per_copy]
        {
            pairs.settle();
        }
    }
}
