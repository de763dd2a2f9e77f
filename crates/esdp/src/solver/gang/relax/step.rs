//! One step of the interior-point method: the system, built from the channels, and what follows from its solution.
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
//! where `B` are the cluster-wide rows and, last, the square root's own curvature, of rank one. The first diagonal block
//! falls apart by server, the second by job (`job.rs`); one of them is eliminated (`system.rs`). A job of which some channels
//! can take only a part of a copy's tasks (`PerCopy`) has one more unknown, minus the step of its copies, which those channels
//! follow; its pivot is negative.

use super::interior::Interior;
use super::open::{FREE, Open, PerCopy};
use super::system::System;
use crate::solver::gang::cholesky::{factorise, solve};

/// A channel whose curvature is less than this share of its group's or server's adds nothing to pairs.
const LEAST_SHARE: f64 = 1e-9;

/// The system's parts; buffers are reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    system: System,
    inverse: Vec<f64>,
    rho: Vec<f64>,
    /// The square root's curvature, channel after channel.
    root: Vec<f64>,
    /// Job after job, the factor of its own matrix, and `N`.
    job_factor: Vec<f64>,
    job_factor_at: Vec<u32>,
    job_n: Vec<f64>,
    job_n_at: Vec<u32>,
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
    stamp: Vec<u32>,
    shared_stamp: Vec<u32>,
    list: Vec<u32>,
    columns: Vec<f64>,
    border_columns: Vec<f64>,
    block: Vec<f64>,
    right: Vec<f64>,
    work: u64,
}

impl Step {
    pub fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work) + std::mem::take(&mut self.system.work)
    }

    /// How far the tasks of all groups are from the uses of their channels.
    pub fn off(&mut self, open: &Open, at: &Interior) -> f64 {
        self.by_group.clear();
        self.by_group.extend((0..open.groups.len()).map(|g| at.tasks(open, g)));
        for (e, &g) in open.group.iter().enumerate().filter(|(_, g)| **g != FREE) {
            self.by_group[g as usize] -= at.x[e];
        }
        self.by_group.iter().map(|off| off.abs()).sum()
    }

    /// Builds and factorises the system at a point.
    pub fn factorise(&mut self, open: &Open, at: &Interior, linear: bool) {
        let n = open.len();
        self.inverse.clear();
        self.inverse.extend((0..n).map(|e| {
            let curvature = at.low.price[e] / at.low.slack[e] + at.high.price[e] / at.high.slack[e];
            match open.per_copy_at[e] {
                FREE => 1.0 / curvature,
                place => 1.0 / (curvature + at.per_copy.price[place as usize] / at.per_copy.slack[place as usize]),
            }
        }));
        self.pull.clear();
        self.pull.extend(
            open.per_copy
                .iter()
                .enumerate()
                .map(|(place, row)| at.per_copy.price[place] / at.per_copy.slack[place] * row.most),
        );
        self.root.clear();
        if !linear {
            let width = at.width(open);
            let factor = 0.5 / (width.sqrt() * width.sqrt().sqrt());
            self.root.extend(open.w.iter().map(|w| w * factor));
        }
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
            self.shared_pivot[open.shared[row.job as usize] as usize] += self.pull[place] * row.most;
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let (count, groups) = (job.unknowns(), job.groups().len());
            let from = self.job_factor.len();
            self.job_factor_at.push(from as u32);
            self.job_factor.resize(from + count * count, 0.0);
            let matrix = &mut self.job_factor[from..];
            for row in 0..open.rows_of(job) {
                let entries = &open.entries[job.entry as usize + row * count..][..count];
                let i = job.row as usize + row;
                let weight = at.job.price[i] / at.job.slack[i];
                for (a, x) in entries.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    for (b, y) in entries.iter().enumerate() {
                        matrix[a * count + b] += weight * x * y;
                    }
                }
            }
            let n_from = self.job_n.len();
            self.job_n_at.push(n_from as u32);
            self.job_n.resize(n_from + groups * groups, 0.0);
            if count == 0 {
                continue;
            }
            let shared = open.shared[place];
            // The unknowns that are eliminated here: all, or all but the copies.
            let own = if shared == FREE { count } else { count - 1 };
            if shared != FREE {
                let last = count - 1;
                self.shared_pivot[shared as usize] += matrix[last * count + last];
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
            if shared != FREE {
                self.right.clear();
                self.right.extend_from_slice(&self.local);
                solve(matrix, own, &mut self.right);
                let pivot = &mut self.shared_pivot[shared as usize];
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
                    self.local[0] = open.tasks[job.first as usize + g].count;
                } else {
                    self.local[g] = 1.0;
                }
                solve(&self.job_factor[from..], own, &mut self.local);
                for h in 0..groups {
                    self.job_n[n_from + h * groups + g] =
                        if job.tied { open.tasks[job.first as usize + h].count * self.local[0] } else { self.local[h] };
                }
            }
        }
    }

    /// The pull of a channel, and the shared unknown that it follows.
    #[inline]
    fn pull_of(&self, open: &Open, e: usize) -> Option<(usize, f64)> {
        let place = open.per_copy_at[e];
        (place != FREE).then(|| {
            let place = place as usize;
            (open.shared[open.per_copy[place].job as usize] as usize, self.pull[place])
        })
    }

    /// The kept part of the shared unknowns, from `first` on, with groups kept from 0 on and the border from `border` on.
    fn keep_shared(&mut self, open: &Open, first: usize, border: usize) {
        for (place, job) in open.jobs.iter().enumerate() {
            let shared = open.shared[place];
            if shared != FREE {
                let at = first + shared as usize;
                self.system.add(at, at, -self.shared_pivot[shared as usize]);
                for g in job.groups() {
                    self.system.add(at, g, -self.shared_q[g]);
                }
            }
        }
        for row in &open.per_copy {
            let e = row.channel as usize;
            let Some((shared, pull)) = self.pull_of(open, e) else { continue };
            let moved = self.inverse[e] * pull;
            self.system.add(first + shared, first + shared, moved * pull);
            self.system.add(first + shared, open.group[e] as usize, moved);
            let mut ties = std::mem::take(&mut self.local);
            ties.clear();
            self.each_border(open, e, |row, value| ties.extend([row as f64, value]));
            for tie in ties.chunks_exact(2) {
                self.system.add(first + shared, border + tie[0] as usize, moved * tie[1]);
            }
            self.local = ties;
        }
    }

    /// Calls back with the border entries of a channel.
    #[inline]
    fn each_border(&self, open: &Open, e: usize, mut each: impl FnMut(usize, f64)) {
        for &(row, share) in open.wide_of(e) {
            each(row as usize, share);
        }
        if let Some(&root) = self.root.get(e)
            && root != 0.0
        {
            each(open.wide.len(), root);
        }
    }

    /// The border's own part, kept from `first` on.
    fn keep_border(&mut self, open: &Open, at: &Interior, first: usize) {
        for row in 0..open.wide.len() {
            self.system.add(first + row, first + row, at.wide.slack[row] / at.wide.price[row]);
        }
        if !self.root.is_empty() {
            let row = first + open.wide.len();
            self.system.add(row, row, 1.0);
        }
        let mut entries = std::mem::take(&mut self.local);
        let mut rows = std::mem::take(&mut self.list);
        for e in 0..open.len() {
            entries.clear();
            rows.clear();
            self.each_border(open, e, |row, value| {
                rows.push(row as u32);
                entries.push(value);
            });
            for (a, (&i, x)) in rows.iter().zip(&entries).enumerate() {
                for (&j, y) in rows[..=a].iter().zip(&entries) {
                    self.system.add(first + i as usize, first + j as usize, self.inverse[e] * x * y);
                }
            }
        }
        self.local = entries;
        self.list = rows;
    }

    fn eliminate_servers(&mut self, open: &Open, at: &Interior, border: usize) {
        let groups = open.groups.len();
        let shared = groups + border;
        self.system.begin(shared + open.shared_count, shared);
        self.keep_border(open, at, groups);
        self.keep_shared(open, shared, groups);
        self.shared_stamp.clear();
        self.shared_stamp.resize(open.shared_count, u32::MAX);
        self.by_group.clear();
        self.by_group.resize(groups, 0.0);
        for (e, &g) in open.group.iter().enumerate().filter(|(_, g)| **g != FREE) {
            self.by_group[g as usize] += self.inverse[e];
        }
        for g in 0..groups {
            self.system.add(g, g, self.by_group[g]);
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let (first, count) = (job.first as usize, job.groups().len());
            let n = &self.job_n[self.job_n_at[place] as usize..];
            for a in 0..count {
                for b in 0..=a {
                    self.system.add(first + a, first + b, n[a * count + b]);
                }
            }
        }
        self.stamp.clear();
        self.stamp.resize(groups, u32::MAX);
        for server in &open.servers {
            let k = server.rows as usize;
            self.block.clear();
            self.block.resize(k * k, 0.0);
            self.list.clear();
            self.columns.clear();
            self.border_columns.clear();
            self.border_columns.resize(border * k, 0.0);
            for row in 0..k {
                let i = server.row as usize + row;
                self.block[row * k + row] = at.server.slack[i] / at.server.price[i];
            }
            for e in server.channels() {
                let inverse = self.inverse[e];
                let shares = open.shares(server, e);
                let g = open.group[e];
                let own = if g == FREE { None } else { Some(g as usize) };
                if border > 0 {
                    let mut columns = std::mem::take(&mut self.border_columns);
                    let mut ties = std::mem::take(&mut self.local);
                    ties.clear();
                    self.each_border(open, e, |row, value| {
                        for (entry, share) in columns[row * k..][..k].iter_mut().zip(shares) {
                            *entry += inverse * value * share;
                        }
                        ties.extend([row as f64, value]);
                    });
                    if let Some(g) = own {
                        for tie in ties.chunks_exact(2) {
                            self.system.add(groups + tie[0] as usize, g, inverse * tie[1]);
                        }
                    }
                    self.border_columns = columns;
                    self.local = ties;
                }
                for (a, x) in shares.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    let weight = inverse * x;
                    for (b, y) in shares.iter().enumerate() {
                        self.block[a * k + b] += weight * y;
                    }
                }
                let Some(g) = own else { continue };
                if inverse < LEAST_SHARE * self.by_group[g] {
                    continue;
                }
                let place = seen_at(&mut self.stamp[g], &mut self.list, &mut self.columns, g, k);
                for (entry, share) in self.columns[place * k..][..k].iter_mut().zip(shares) {
                    *entry += inverse * share;
                }
                if let Some((at, pull)) = self.pull_of(open, e) {
                    let kept = shared + at;
                    let stamp = &mut self.shared_stamp[at];
                    let place = seen_at(stamp, &mut self.list, &mut self.columns, kept, k);
                    for (entry, share) in self.columns[place * k..][..k].iter_mut().zip(shares) {
                        *entry += inverse * pull * share;
                    }
                }
            }
            if k == 0 {
                continue;
            }
            self.work += (4 * k * server.channels().len()) as u64;
            self.system.block(server.row as usize, (k, k), &self.block);
            for (place, &g) in self.list.iter().enumerate() {
                self.system.tie(g as usize, &self.columns[place * k..][..k]);
            }
            for row in 0..border {
                let column = &self.border_columns[row * k..][..k];
                if column.iter().any(|&value| value != 0.0) {
                    self.system.tie(groups + row, column);
                }
            }
            self.system.eliminate();
        }
    }

    fn eliminate_jobs(&mut self, open: &Open, at: &Interior, border: usize) {
        let rows = open.rows;
        self.system.begin(rows + border, rows + border);
        self.keep_border(open, at, rows);
        for server in &open.servers {
            let k = server.rows as usize;
            let first = server.row as usize;
            for row in 0..k {
                let i = first + row;
                self.system.add(i, i, at.server.slack[i] / at.server.price[i]);
            }
            self.block.clear();
            self.block.resize(k * k, 0.0);
            self.border_columns.clear();
            self.border_columns.resize(border * k, 0.0);
            for e in server.channels() {
                let inverse = self.inverse[e];
                let shares = open.shares(server, e);
                let mut columns = std::mem::take(&mut self.border_columns);
                self.each_border(open, e, |row, value| {
                    for (entry, share) in columns[row * k..][..k].iter_mut().zip(shares) {
                        *entry += inverse * value * share;
                    }
                });
                self.border_columns = columns;
                for (a, x) in shares.iter().enumerate() {
                    for (b, y) in shares[..=a].iter().enumerate() {
                        self.block[a * k + b] += inverse * x * y;
                    }
                }
            }
            for a in 0..k {
                for b in 0..=a {
                    self.system.add(first + a, first + b, self.block[a * k + b]);
                }
                for row in 0..border {
                    self.system.add(rows + row, first + a, self.border_columns[row * k + a]);
                }
            }
            self.work += (4 * k * server.channels().len()) as u64;
        }
        let mut from = 0;
        for (place, job) in open.jobs.iter().enumerate() {
            let (first, groups) = (job.first as usize, job.groups().len());
            let shared = open.shared[place];
            let count = groups + usize::from(shared != FREE);
            self.block.clear();
            self.block.resize(count * count, 0.0);
            let n = &self.job_n[self.job_n_at[place] as usize..];
            for a in 0..groups {
                self.block[a * count..][..groups].copy_from_slice(&n[a * groups..][..groups]);
            }
            if shared != FREE {
                self.block[count * count - 1] = -self.shared_pivot[shared as usize];
                for g in 0..groups {
                    self.block[groups * count + g] = -self.shared_q[first + g];
                }
            }
            self.border_columns.clear();
            self.border_columns.resize(border * count, 0.0);
            let channels = open.channels_of(place);
            for &e in channels {
                let e = e as usize;
                let g = open.group[e] as usize - first;
                let inverse = self.inverse[e];
                self.block[g * count + g] += inverse;
                let pull = self.pull_of(open, e).map_or(0.0, |(_, pull)| pull);
                if pull != 0.0 {
                    self.block[groups * count + g] += inverse * pull;
                    self.block[count * count - 1] += inverse * pull * pull;
                }
                let mut columns = std::mem::take(&mut self.border_columns);
                self.each_border(open, e, |row, value| {
                    columns[row * count + g] += inverse * value;
                    if pull != 0.0 {
                        columns[row * count + groups] += inverse * value * pull;
                    }
                });
                self.border_columns = columns;
            }
            self.system.block(from, (count, groups), &self.block);
            from += count;
            for same in channels.chunk_by(|&a, &b| open.server_of[a as usize] == open.server_of[b as usize]) {
                let server = &open.servers[open.server_of[same[0] as usize] as usize];
                let k = server.rows as usize;
                self.columns.clear();
                self.columns.resize(k * count, 0.0);
                let mut any = false;
                for &e in same {
                    let e = e as usize;
                    let g = open.group[e] as usize - first;
                    let inverse = self.inverse[e];
                    if inverse < LEAST_SHARE * self.block[g * count + g] {
                        continue;
                    }
                    any = true;
                    let pull = self.pull_of(open, e).map_or(0.0, |(_, pull)| pull);
                    for (row, share) in open.shares(server, e).iter().enumerate() {
                        self.columns[row * count + g] += inverse * share;
                        if pull != 0.0 {
                            self.columns[row * count + groups] += inverse * pull * share;
                        }
                    }
                }
                for row in 0..if any { k } else { 0 } {
                    self.system.tie(server.row as usize + row, &self.columns[row * count..][..count]);
                }
            }
            for row in 0..border {
                let column = &self.border_columns[row * count..][..count];
                if column.iter().any(|&value| value != 0.0) {
                    self.system.tie(rows + row, column);
                }
            }
            self.system.eliminate();
        }
    }

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
        self.work += 12 * n as u64;
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
                    tasks.iter_mut().zip(&self.shared_q[job.groups()]).for_each(|(task, q)| *task += q * copies);
                }
            }
            at.unknowns_step[job.unknown as usize..][..count].copy_from_slice(own);
            for row in 0..open.rows_of(job) {
                let entries = &open.entries[job.entry as usize + row * count..][..count];
                at.job.slack_step[job.row as usize + row] = entries.iter().zip(&*own).map(|(a, x)| a * x).sum();
            }
        }
        for (place, row) in open.per_copy.iter().enumerate() {
            let job = &open.jobs[row.job as usize];
            let copies = at.unknowns_step[job.unknown as usize + job.unknowns() - 1];
            at.per_copy.slack_step[place] = row.most * copies - at.low.slack_step[row.channel as usize];
        }
        for pairs in [&mut at.low, &mut at.high, &mut at.server, &mut at.wide, &mut at.job, &mut at.per_copy] {
            pairs.settle();
        }
    }
}

/// The place of a kept unknown in a list of those seen on one server; a new one gets a column of zeros. The stamp
/// remembers where it was seen last.
fn seen_at(stamp: &mut u32, list: &mut Vec<u32>, columns: &mut Vec<f64>, kept: usize, rows: usize) -> usize {
    let seen = *stamp as usize;
    if list.get(seen).is_some_and(|&other| other as usize == kept) {
        return seen;
    }
    *stamp = list.len() as u32;
    list.push(kept as u32);
    columns.resize(columns.len() + rows, 0.0);
    list.len() - 1
}
