//! Fills the system: one side's blocks are eliminated, the other side and the border are kept.

use super::Step;
use crate::solver::gang::relax::interior::Interior;
use crate::solver::gang::relax::open::Open;
use crate::solver::gang::tuning::step::LEAST_SHARE;

impl Step {
    /// The kept part of the shared unknowns, from `first` on, with groups kept from 0 on and the border from
    /// `border` on.
    fn keep_shared(&mut self, open: &Open, first: usize, border: usize) {
        for (place, job) in open.jobs.iter().enumerate() {
            if let Some(shared) = open.shared[place] {
                let at = first + shared;
                self.system.add(at, at, -self.shared_pivot[shared]);
                for g in job.groups() {
                    self.system.add(at, g, -self.shared_q[g]);
                }
            }
        }
        for row in &open.per_copy {
            let (e, shared) = (row.channel, first + row.shared);
            let Some((_, pull)) = self.pull_of(open, e) else { continue };
            let moved = self.inverse[e] * pull;
            self.system.add(shared, shared, moved * pull);
            if let Some(g) = open.group(e) {
                self.system.add(shared, g, moved);
            }
            let mut ties = std::mem::take(&mut self.ties);
            ties.clear();
            self.each_border(open, e, |row, value| ties.push((row, value)));
            for &(row, value) in &ties {
                self.system.add(shared, border + row, moved * value);
            }
            self.ties = ties;
        }
    }

    /// Calls back with the border entries of a channel.
    #[inline]
    fn each_border(&self, open: &Open, e: usize, mut each: impl FnMut(usize, f64)) {
        for &(row, share) in open.wide_of(e) {
            each(row, share);
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
        let mut ties = std::mem::take(&mut self.ties);
        for e in 0..open.len() {
            ties.clear();
            self.each_border(open, e, |row, value| ties.push((row, value)));
            for (a, (i, x)) in ties.iter().enumerate() {
                for (j, y) in &ties[..=a] {
                    self.system.add(first + i, first + j, self.inverse[e] * x * y);
                }
            }
        }
        self.ties = ties;
    }

    pub(super) fn eliminate_servers(&mut self, open: &Open, at: &Interior, border: usize) {
        let groups = open.groups.len();
        let shared = groups + border;
        self.system.begin(shared + open.shared_count, shared);
        self.keep_border(open, at, groups);
        self.keep_shared(open, shared, groups);
        self.shared_stamp.clear();
        self.shared_stamp.resize(open.shared_count, usize::MAX);
        self.by_group.clear();
        self.by_group.resize(groups, 0.0);
        for (e, inverse) in self.inverse.iter().enumerate() {
            if let Some(g) = open.group(e) {
                self.by_group[g] += inverse;
            }
        }
        for g in 0..groups {
            self.system.add(g, g, self.by_group[g]);
        }
        for (place, job) in open.jobs.iter().enumerate() {
            let (first, count) = (job.first, job.groups().len());
            let n = &self.job_n[self.job_n_at[place]..];
            for a in 0..count {
                for b in 0..=a {
                    self.system.add(first + a, first + b, n[a * count + b]);
                }
            }
        }
        self.stamp.clear();
        self.stamp.resize(groups, usize::MAX);
        for server in &open.servers {
            let k = server.rows;
            self.block.clear();
            self.block.resize(k * k, 0.0);
            self.list.clear();
            self.columns.clear();
            self.border_columns.clear();
            self.border_columns.resize(border * k, 0.0);
            for row in 0..k {
                let i = server.row + row;
                self.block[row * k + row] = at.server.slack[i] / at.server.price[i];
            }
            for e in server.channels() {
                let inverse = self.inverse[e];
                let shares = open.shares(server, e);
                let own = open.group(e);
                if border > 0 {
                    let mut columns = std::mem::take(&mut self.border_columns);
                    let mut ties = std::mem::take(&mut self.ties);
                    ties.clear();
                    self.each_border(open, e, |row, value| {
                        for (entry, share) in columns[row * k..][..k].iter_mut().zip(shares) {
                            *entry += inverse * value * share;
                        }
                        ties.push((row, value));
                    });
                    if let Some(g) = own {
                        for &(row, value) in &ties {
                            self.system.add(groups + row, g, inverse * value);
                        }
                    }
                    self.border_columns = columns;
                    self.ties = ties;
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
            self.system.block(server.row, (k, k), &self.block);
            for (place, &g) in self.list.iter().enumerate() {
                self.system.tie(g, &self.columns[place * k..][..k]);
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

    pub(super) fn eliminate_jobs(&mut self, open: &Open, at: &Interior, border: usize) {
        let rows = open.rows;
        self.system.begin(rows + border, rows + border);
        self.keep_border(open, at, rows);
        for server in &open.servers {
            let k = server.rows;
            let first = server.row;
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
            let (first, groups) = (job.first, job.groups().len());
            let shared = open.shared[place];
            let count = groups + usize::from(shared.is_some());
            self.block.clear();
            self.block.resize(count * count, 0.0);
            let n = &self.job_n[self.job_n_at[place]..];
            for a in 0..groups {
                self.block[a * count..][..groups].copy_from_slice(&n[a * groups..][..groups]);
            }
            if let Some(shared) = shared {
                self.block[count * count - 1] = -self.shared_pivot[shared];
                for g in 0..groups {
                    self.block[groups * count + g] = -self.shared_q[first + g];
                }
            }
            self.border_columns.clear();
            self.border_columns.resize(border * count, 0.0);
            let channels = open.channels_of(place);
            for &e in channels {
                let Some(g) = open.group(e).map(|g| g - first) else { continue };
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
            for same in channels.chunk_by(|&a, &b| open.server_of[a] == open.server_of[b]) {
                let server = &open.servers[open.server_of[same[0]]];
                let k = server.rows;
                self.columns.clear();
                self.columns.resize(k * count, 0.0);
                let mut any = false;
                for &e in same {
                    let Some(g) = open.group(e).map(|g| g - first) else { continue };
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
                    self.system.tie(server.row + row, &self.columns[row * count..][..count]);
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
}

/// The place of a kept unknown in a list of those seen on one server; a new one gets a column of zeros. The
/// stamp remembers where it was seen last.
fn seen_at(
    stamp: &mut usize,
    list: &mut Vec<usize>,
    columns: &mut Vec<f64>,
    kept: usize,
    rows: usize,
) -> usize {
    let seen = *stamp;
    if list.get(seen).is_some_and(|&other| other == kept) {
        return seen;
    }
    *stamp = list.len();
    list.push(kept);
    columns.resize(columns.len() + rows, 0.0);
    list.len() - 1
}
