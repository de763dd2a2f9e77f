//! Fills the system: one side's blocks are eliminated, the other side and the border are kept.

use super::{Step, Tie};
use crate::solver::gang::cholesky::dot;
use crate::solver::gang::relax::interior::Interior;
use crate::solver::gang::relax::open::{Open, Server};
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
        for server in &open.servers {
            let k = server.rows;
            self.list_ties(open, server, (groups, shared), border);
            if k == 0 {
                continue;
            }
            let width = self.columns.len();
            self.values.clear();
            self.values.resize(k * width, 0.0);
            self.block.clear();
            self.block.resize(k * k, 0.0);
            for (i, row) in open.rows(server).enumerate() {
                self.weighed.clear();
                let inverse = &self.inverse[server.channels()];
                self.weighed.extend(row.iter().zip(inverse).map(|(share, inverse)| share * inverse));
                for (j, other) in open.rows(server).take(i + 1).enumerate() {
                    self.block[i * k + j] = dot(&self.weighed, other);
                }
                let own = server.row + i;
                self.block[i * k + i] += at.server.slack[own] / at.server.price[own];
                let values = &mut self.values[i * width..][..width];
                for tie in &self.tied {
                    values[tie.at] += self.weighed[tie.channel] * tie.factor;
                }
            }
            self.work += (4 * k * server.channels().len()) as u64;
            self.system.eliminate(server.row, (k, k), &self.block, &self.columns, &self.values);
        }
    }

    /// Lists what ties a server to the unknowns that are kept: `tied`, by place among `columns`. What ties
    /// the border to groups goes into the system.
    fn list_ties(&mut self, open: &Open, server: &Server, (groups, shared): (usize, usize), border: usize) {
        let mut tied = std::mem::take(&mut self.tied);
        tied.clear();
        let is_tied = |step: &Self, e: usize| {
            open.group(e).filter(|&g| step.inverse[e] >= LEAST_SHARE * step.by_group[g])
        };
        for e in server.channels() {
            tied.extend(is_tied(self, e).map(|g| Tie { at: g, channel: e - server.first, factor: 1.0 }));
        }
        if border > 0 {
            for e in server.channels() {
                let mut ties = std::mem::take(&mut self.ties);
                ties.clear();
                self.each_border(open, e, |row, value| ties.push((row, value)));
                for &(row, value) in &ties {
                    tied.push(Tie { at: groups + row, channel: e - server.first, factor: value });
                    if let Some(g) = open.group(e) {
                        self.system.add(groups + row, g, self.inverse[e] * value);
                    }
                }
                self.ties = ties;
            }
        }
        if open.shared_count > 0 {
            for e in server.channels() {
                if is_tied(self, e).is_some()
                    && let Some((at, pull)) = self.pull_of(open, e)
                {
                    tied.push(Tie { at: shared + at, channel: e - server.first, factor: pull });
                }
            }
        }
        if !tied.is_sorted_by_key(|tie| tie.at) {
            tied.sort_by_key(|tie| tie.at);
        }
        self.columns.clear();
        for tie in &mut tied {
            if self.columns.last() != Some(&tie.at) {
                self.columns.push(tie.at);
            }
            tie.at = self.columns.len() - 1;
        }
        self.tied = tied;
    }

    pub(super) fn eliminate_jobs(&mut self, open: &Open, at: &Interior, border: usize) {
        let rows = open.rows;
        self.system.begin(rows + border, rows + border);
        self.keep_border(open, at, rows);
        for server in &open.servers {
            let first = server.row;
            for (i, row) in open.rows(server).enumerate() {
                let own = first + i;
                self.system.add(own, own, at.server.slack[own] / at.server.price[own]);
                self.weighed.clear();
                let inverse = &self.inverse[server.channels()];
                self.weighed.extend(row.iter().zip(inverse).map(|(share, inverse)| share * inverse));
                for (j, other) in open.rows(server).take(i + 1).enumerate() {
                    self.system.add(own, first + j, dot(&self.weighed, other));
                }
                let weighed = std::mem::take(&mut self.weighed);
                let mut ties = std::mem::take(&mut self.ties);
                for (e, weighed) in server.channels().zip(&weighed) {
                    ties.clear();
                    self.each_border(open, e, |row, value| ties.push((row, value)));
                    ties.iter().for_each(|&(row, value)| self.system.add(rows + row, own, weighed * value));
                }
                (self.ties, self.weighed) = (ties, weighed);
            }
            self.work += (4 * server.rows * server.channels().len()) as u64;
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
            let channels = open.channels_of(place);
            for &e in channels {
                let Some(g) = open.group(e).map(|g| g - first) else { continue };
                let inverse = self.inverse[e];
                self.block[g * count + g] += inverse;
                if let Some((_, pull)) = self.pull_of(open, e) {
                    self.block[groups * count + g] += inverse * pull;
                    self.block[count * count - 1] += inverse * pull * pull;
                }
            }
            self.tie_job(open, place, count, border);
            self.system.eliminate(from, (count, groups), &self.block, &self.columns, &self.values);
            from += count;
        }
    }

    /// Fills `columns` and `values` with what ties a job, of so many unknowns, to server rows and border.
    fn tie_job(&mut self, open: &Open, place: usize, count: usize, border: usize) {
        let (job, channels) = (&open.jobs[place], open.channels_of(place));
        let groups = job.groups().len();
        let is_tied = |step: &Self, e: usize| {
            let own = open.group(e).map(|g| g - job.first);
            own.filter(|&g| step.inverse[e] >= LEAST_SHARE * step.block[g * count + g])
        };
        let on_servers = || channels.chunk_by(|&a, &b| open.server_of[a] == open.server_of[b]);
        self.columns.clear();
        for same in on_servers() {
            if same.iter().any(|&e| is_tied(self, e).is_some()) {
                let server = &open.servers[open.server_of[same[0]]];
                self.columns.extend(server.row..server.row + server.rows);
            }
        }
        let mut borders = std::mem::take(&mut self.borders);
        borders.clear();
        borders.resize(border, None);
        if border > 0 {
            channels.iter().for_each(|&e| self.each_border(open, e, |row, _| borders[row] = Some(0)));
            for (row, at) in borders.iter_mut().enumerate().filter(|(_, at)| at.is_some()) {
                *at = Some(self.columns.len());
                self.columns.push(open.rows + row);
            }
        }
        let width = self.columns.len();
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        values.resize(count * width, 0.0);
        let mut column = 0;
        for same in on_servers() {
            let server = &open.servers[open.server_of[same[0]]];
            let mut any = false;
            for &e in same {
                let Some(g) = is_tied(self, e) else { continue };
                any = true;
                let inverse = self.inverse[e];
                let pull = self.pull_of(open, e);
                for (i, row) in open.rows(server).enumerate() {
                    let share = inverse * row[e - server.first];
                    values[g * width + column + i] += share;
                    if let Some((_, pull)) = pull {
                        values[groups * width + column + i] += share * pull;
                    }
                }
            }
            column += if any { server.rows } else { 0 };
        }
        if border > 0 {
            for &e in channels {
                let Some(g) = open.group(e).map(|g| g - job.first) else { continue };
                let inverse = self.inverse[e];
                let pull = self.pull_of(open, e);
                self.each_border(open, e, |row, value| {
                    let at = borders[row].unwrap_or(0);
                    values[g * width + at] += inverse * value;
                    if let Some((_, pull)) = pull {
                        values[groups * width + at] += inverse * value * pull;
                    }
                });
            }
        }
        self.borders = borders;
        self.values = values;
    }
}
