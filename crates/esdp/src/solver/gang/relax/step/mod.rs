//! One step of the interior-point method: the system, built from the channels, and what follows from its
//! solution.
//!
//! With `D_e` the inverse curvature of a channel, `A` its shares of its server's rows and `E` its group,
//!
//! ```text
//! dx = D (rho - A^T du - E^T dp - B^T db)
//! [A D A' + s/u    A D E'        A D B'   ] [du]
//! [E D A'          E D E' + N    E D B'   ] [dp]  =  rhs
//! [B D A'          B D E'        B D B' + s/b] [db]
//! ```
//!
//! where `B` are the cluster-wide rows and, last, the square root's own curvature, of rank one. The first
//! diagonal block falls apart by server, the second by job (`job.rs`); one of them is eliminated
//! (`system.rs`). A job of which some channels can take only a part of a copy's tasks (`PerCopy`) has one
//! more unknown, minus the step of its copies, which those channels follow; its pivot is negative.

mod eliminate;
mod solve;

use super::interior::Interior;
use super::open::Open;
use super::system::System;
use crate::solver::gang::cholesky::{factorise, solve};

/// The system's parts; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    system: System,
    inverse: Vec<f64>,
    /// What a channel's right-hand side is at the point, whatever the targets; and with them.
    base: Vec<f64>,
    rho: Vec<f64>,
    /// How far each channel would move by itself.
    moved: Vec<f64>,
    /// How far the uses of each group's channels are beyond its tasks.
    beyond: Vec<f64>,
    /// The square root's curvature, channel after channel.
    root: Vec<f64>,
    /// Job after job, the factor of its own matrix, and `N`.
    job_factor: Vec<f64>,
    job_factor_at: Vec<usize>,
    job_n: Vec<f64>,
    job_n_at: Vec<usize>,
    by_group: Vec<f64>,
    /// What each channel of [`Open::per_copy`] follows the copies by.
    pull: Vec<f64>,
    /// For each job with such channels, its tasks' and copies' own part: `q` by group, and the pivot.
    shared_q: Vec<f64>,
    shared_pivot: Vec<f64>,
    /// The steps of those copies, negative.
    shared: Vec<f64>,
    eliminated: Vec<f64>,
    /// Whether servers are eliminated, or jobs.
    servers_go: bool,
    server_price: Vec<f64>,
    pub task_price: Vec<f64>,
    border: Vec<f64>,
    kept: Vec<f64>,
    local: Vec<f64>,
    /// A channel's entries in the border.
    ties: Vec<(usize, f64)>,
    /// The kept unknowns that a block is tied to, by how much, and by what.
    columns: Vec<usize>,
    values: Vec<f64>,
    tied: Vec<Tie>,
    /// Where each border row is among the columns of a job, if it is.
    borders: Vec<Option<usize>>,
    /// A server's row times the channels' inverse curvatures.
    weighed: Vec<f64>,
    block: Vec<f64>,
    right: Vec<f64>,
    work: u64,
}

/// What ties a server to a kept unknown: a channel, and by how much more than its own share.
#[derive(Debug, Clone, Copy)]
struct Tie {
    at: usize,
    channel: usize,
    factor: f64,
}

impl Step {
    pub fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work) + std::mem::take(&mut self.system.work)
    }

    /// How far the tasks of all groups are from the uses of their channels.
    pub fn off(&mut self, open: &Open, at: &Interior) -> f64 {
        self.beyond.clear();
        self.beyond.extend((0..open.groups.len()).map(|g| -at.tasks(open, g)));
        for (e, x) in at.x.iter().enumerate() {
            if let Some(g) = open.group(e) {
                self.beyond[g] += x;
            }
        }
        self.beyond.iter().map(|off| off.abs()).sum()
    }

    /// Builds and factorises the system at a point.
    pub fn factorise(&mut self, open: &Open, at: &Interior, linear: bool) {
        let n = open.len();
        self.inverse.clear();
        self.inverse
            .extend(at.low.curvatures(0..n).zip(at.high.curvatures(0..n)).map(|(low, high)| low + high));
        self.pull.clear();
        for (row, own) in open.per_copy.iter().zip(at.per_copy.curvatures(0..open.per_copy.len())) {
            self.inverse[row.channel] += own;
            self.pull.push(own * row.most);
        }
        self.inverse.iter_mut().for_each(|curvature| *curvature = 1.0 / *curvature);
        self.root.clear();
        let mut slope = 0.0;
        if !linear {
            let variance = at.variance(open);
            slope = 0.5 / variance.sqrt();
            let factor = 0.5 / (variance.sqrt() * variance.sqrt().sqrt());
            self.root.extend(open.w.iter().map(|w| w * factor));
        }
        self.base(open, at, slope);
        self.work += 8 * n as u64;
        self.jobs(open, at);
        let border = open.wide.len() + usize::from(!linear);
        let (by_servers, by_jobs) = open.costs(border);
        self.servers_go = by_servers <= by_jobs;
        if self.servers_go {
            self.eliminate_servers(open, at, border);
        } else {
            self.eliminate_jobs(open, at, border);
        }
        self.system.finish();
    }

    /// What every channel is worth at the prices of the point.
    fn base(&mut self, open: &Open, at: &Interior, slope: f64) {
        self.base.clear();
        for server in &open.servers {
            let prices = &at.server.price[server.row..][..server.rows];
            for e in server.channels() {
                self.base.push(open.v[e] + slope * open.w[e] - open.of_group(&at.task_price, e));
            }
            let own = &mut self.base[server.channels()];
            for (row, price) in open.rows(server).zip(prices) {
                own.iter_mut().zip(row).for_each(|(base, a)| *base -= a * price);
            }
        }
        if !open.wide.is_empty() {
            for (e, base) in self.base.iter_mut().enumerate() {
                *base -= open.wide_of(e).iter().map(|&(row, a)| a * at.wide.price[row]).sum::<f64>();
            }
        }
    }

    /// Every job's own matrix and `N`. Of a job with a shared unknown, only the tasks are eliminated here.
    fn jobs(&mut self, open: &Open, at: &Interior) {
        self.job_factor.clear();
        self.job_factor_at.clear();
        self.job_n.clear();
        self.job_n_at.clear();
        self.shared_q.clear();
        self.shared_q.resize(open.groups.len(), 0.0);
        self.shared_pivot.clear();
        self.shared_pivot.resize(open.shared_count, 0.0);
        for (place, row) in open.per_copy.iter().enumerate() {
            self.shared_pivot[row.shared] += self.pull[place] * row.most;
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let (count, groups) = (job.unknowns(), job.groups().len());
            self.work += job.cost();
            let from = self.job_factor.len();
            self.job_factor_at.push(from);
            self.job_factor.resize(from + count * count, 0.0);
            let matrix = &mut self.job_factor[from..];
            let weights = at.job.curvatures(job.own_rows());
            for (entries, weight) in open.entries[job.entry..].chunks_exact(count.max(1)).zip(weights) {
                for (a, x) in entries.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    for (b, y) in entries.iter().enumerate() {
                        matrix[a * count + b] += weight * x * y;
                    }
                }
            }
            let n_from = self.job_n.len();
            self.job_n_at.push(n_from);
            self.job_n.resize(n_from + groups * groups, 0.0);
            if count == 0 {
                continue;
            }
            let shared = open.shared[place];
            // The unknowns that are eliminated here: all, or all but the copies.
            let own = count - usize::from(shared.is_some());
            if let Some(shared) = shared {
                let last = count - 1;
                self.shared_pivot[shared] += matrix[last * count + last];
                self.local.clear();
                self.local.extend((0..own).map(|a| matrix[a * count + last]));
                // Close up: the factor is of the tasks alone.
                for a in 0..own {
                    for b in 0..own {
                        matrix[a * own + b] = matrix[a * count + b];
                    }
                }
            }
            let matrix = &mut self.job_factor[from..];
            factorise(matrix, own);
            if let Some(shared) = shared {
                self.right.clear();
                self.right.extend_from_slice(&self.local);
                solve(matrix, own, &mut self.right);
                let pivot = &mut self.shared_pivot[shared];
                *pivot -= self.right.iter().zip(&self.local).map(|(x, y)| x * y).sum::<f64>();
                for (at_group, g) in job.groups().enumerate() {
                    self.shared_q[g] = if job.tied { open.tasks[g].count } else { -self.right[at_group] };
                }
            }
            if own == 0 {
                continue;
            }
            for g in 0..groups {
                self.local.clear();
                self.local.resize(own, 0.0);
                if job.tied {
                    self.local[0] = open.tasks[job.first + g].count;
                } else {
                    self.local[g] = 1.0;
                }
                solve(&self.job_factor[from..], own, &mut self.local);
                for h in 0..groups {
                    self.job_n[n_from + h * groups + g] = if job.tied {
                        open.tasks[job.first + h].count * self.local[0]
                    } else {
                        self.local[h]
                    };
                }
            }
        }
    }

    /// The pull of a channel, and the shared unknown that it follows.
    #[inline]
    fn pull_of(&self, open: &Open, e: usize) -> Option<(usize, f64)> {
        open.per_copy_at(e).map(|place| (open.per_copy[place].shared, self.pull[place]))
    }
}
