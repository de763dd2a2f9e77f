//! Solves the system for the targets at hand, and follows the steps of all else from it.

use super::Step;
use crate::solver::gang::cholesky::solve;
use crate::solver::gang::relax::interior::Interior;
use crate::solver::gang::relax::open::{FREE, Open, PerCopy};

impl Step {
    /// Solves for the targets, and fills all steps.
    pub fn solve(&mut self, open: &Open, at: &mut Interior, linear: bool) {
        let (n, groups) = (open.len(), open.groups.len());
        let slope = if linear { 0.0 } else { 0.5 / at.width(open).sqrt() };
        let border = open.wide.len() + usize::from(!linear);
        for (list, len) in
            [(&mut self.server_price, open.rows), (&mut self.task_price, groups), (&mut self.border, border)]
        {
            list.clear();
            list.resize(len, 0.0);
        }
        self.shared.clear();
        self.shared.resize(open.shared_count, 0.0);
        self.rho.clear();
        // Right-hand sides, channel by channel.
        for server in &open.servers {
            let first = server.row as usize;
            let prices = &at.server.price[first..][..server.rows as usize];
            for e in server.channels() {
                let shares = open.shares(server, e);
                let mut rho = open.v[e] + slope * open.w[e];
                rho -= shares.iter().zip(prices).map(|(a, u)| a * u).sum::<f64>();
                for &(row, share) in open.wide_of(e) {
                    rho -= share * at.wide.price[row as usize];
                }
                if open.group[e] != FREE {
                    rho -= at.task_price[open.group[e] as usize];
                }
                rho += at.low.target[e] / at.low.slack[e] - at.high.target[e] / at.high.slack[e];
                if open.per_copy_at[e] != FREE {
                    let place = open.per_copy_at[e] as usize;
                    rho -= at.per_copy.target[place] / at.per_copy.slack[place];
                }
                self.rho.push(rho);
                let moved = self.inverse[e] * rho;
                for (right, share) in self.server_price[first..].iter_mut().zip(shares) {
                    *right += share * moved;
                }
                if open.group[e] != FREE {
                    self.task_price[open.group[e] as usize] += moved;
                }
                for &(row, share) in open.wide_of(e) {
                    self.border[row as usize] += share * moved;
                }
                if let Some(root) = self.root.get(e) {
                    self.border[border - 1] += root * moved;
                }
                if let Some((shared, pull)) = self.pull_of(open, e) {
                    self.shared[shared] += pull * moved;
                }
            }
        }
        for i in 0..open.rows {
            self.server_price[i] += at.server.target[i] / at.server.price[i] - at.server.slack[i];
        }
        for i in 0..open.wide.len() {
            self.border[i] += at.wide.target[i] / at.wide.price[i] - at.wide.slack[i];
        }
        // What the tasks are off by, and what the jobs' own unknowns move.
        for g in 0..groups {
            self.task_price[g] -= at.tasks(open, g);
        }
        for e in (0..n).filter(|&e| open.group[e] != FREE) {
            self.task_price[open.group[e] as usize] += at.x[e];
        }
        self.right.clear();
        self.right.resize(open.unknowns, 0.0);
        for row in 0..open.per_copy.len() {
            let PerCopy { job, most, .. } = open.per_copy[row];
            let job = &open.jobs[job as usize];
            self.right[job.unknown as usize + job.unknowns() - 1] +=
                most * at.per_copy.target[row] / at.per_copy.slack[row];
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let count = job.unknowns();
            if count == 0 {
                continue;
            }
            let own = &mut self.right[job.unknown as usize..][..count];
            for row in 0..open.rows_of(job) {
                let i = job.row as usize + row;
                let pull = at.job.target[i] / at.job.slack[i];
                let entries = &open.entries[job.entry as usize + row * count..][..count];
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
            let local = if shared == FREE { count } else { count - 1 };
            if shared != FREE {
                let tasks: f64 = if job.tied {
                    0.0
                } else {
                    self.shared_q[job.groups()].iter().zip(&*own).map(|(q, own)| q * own).sum()
                };
                self.shared[shared as usize] += own[count - 1] + tasks;
            }
            self.local.clear();
            self.local.extend_from_slice(&own[..local]);
            solve(&self.job_factor[self.job_factor_at[place] as usize..], local, &mut self.local);
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
                self.eliminated.extend(self.shared.get(open.shared[place] as usize));
            }
            self.system.solve(&mut self.eliminated, &mut self.kept);
            let mut solved = self.eliminated.iter();
            for (place, job) in open.jobs.iter().enumerate() {
                for (price, &value) in self.task_price[job.groups()].iter_mut().zip(&mut solved) {
                    *price = value;
                }
                if let Some(shared) = self.shared.get_mut(open.shared[place] as usize)
                    && let Some(&value) = solved.next()
                {
                    *shared = value;
                }
            }
            self.server_price.copy_from_slice(&self.kept[..open.rows]);
            self.border.copy_from_slice(&self.kept[open.rows..]);
        }
        self.work += 20 * n as u64;
        self.spread(open, at);
    }

    /// From the prices' steps to everything else.
    fn spread(&mut self, open: &Open, at: &mut Interior) {
        at.wide.slack_step.fill(0.0);
        for server in &open.servers {
            let first = server.row as usize;
            let k = server.rows as usize;
            at.server.slack_step[first..][..k].fill(0.0);
            for e in server.channels() {
                let shares = open.shares(server, e);
                let mut step = self.rho[e];
                step -= shares.iter().zip(&self.server_price[first..]).map(|(a, du)| a * du).sum::<f64>();
                if open.group[e] != FREE {
                    step -= self.task_price[open.group[e] as usize];
                }
                for &(row, share) in open.wide_of(e) {
                    step -= share * self.border[row as usize];
                }
                if let Some(root) = self.root.get(e) {
                    step -= root * self.border[open.wide.len()];
                }
                if let Some((shared, pull)) = self.pull_of(open, e) {
                    step -= pull * self.shared[shared];
                }
                let step = step * self.inverse[e];
                at.low.slack_step[e] = step;
                at.high.slack_step[e] = -step;
                for (slack, share) in at.server.slack_step[first..].iter_mut().zip(shares) {
                    *slack -= share * step;
                }
                for &(row, share) in open.wide_of(e) {
                    at.wide.slack_step[row as usize] -= share * step;
                }
            }
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let count = job.unknowns();
            if count == 0 {
                continue;
            }
            let own = &mut self.right[job.unknown as usize..][..count];
            if job.tied {
                own[0] += job.groups().map(|g| open.tasks[g].count * self.task_price[g]).sum::<f64>();
            } else {
                own.iter_mut().zip(&self.task_price[job.groups()]).for_each(|(own, p)| *own += p);
            }
            let shared = open.shared[place];
            let local = if shared == FREE { count } else { count - 1 };
            solve(&self.job_factor[self.job_factor_at[place] as usize..], local, &mut own[..local]);
            if shared != FREE {
                let copies = -self.shared[shared as usize];
                own[local] = copies;
                if !job.tied {
                    let (tasks, _) = own.split_at_mut(local);
                    tasks
                        .iter_mut()
                        .zip(&self.shared_q[job.groups()])
                        .for_each(|(task, q)| *task += q * copies);
                }
            }
            at.unknowns_step[job.unknown as usize..][..count].copy_from_slice(own);
            for row in 0..open.rows_of(job) {
                let entries = &open.entries[job.entry as usize + row * count..][..count];
                at.job.slack_step[job.row as usize + row] =
                    entries.iter().zip(&*own).map(|(a, x)| a * x).sum();
            }
        }
        for (place, row) in open.per_copy.iter().enumerate() {
            let job = &open.jobs[row.job as usize];
            let copies = at.unknowns_step[job.unknown as usize + job.unknowns() - 1];
            at.per_copy.slack_step[place] = row.most * copies - at.low.slack_step[row.channel as usize];
        }
        for pairs in [&mut at.low, &mut at.high, &mut at.server, &mut at.wide, &mut at.job, &mut at.per_copy]
        {
            pairs.settle();
        }
    }
}
