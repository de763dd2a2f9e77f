//! The channels of each task group.

use crate::solver::gang::problem::form::Form;
use crate::solver::gang::problem::number::{ChannelNo, GroupNo, Number};

/// Channels by group, in buffers reused from slot to slot.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Groups {
    channels: Vec<ChannelNo>,
    /// Where each group's begin; one more entry than groups.
    start: Vec<usize>,
}

impl Groups {
    /// Takes over a problem.
    pub fn reset(&mut self, form: &Form) {
        self.start.clear();
        self.start.resize(form.groups.len() + 1, 0);
        form.group.iter().flatten().for_each(|g| self.start[g.place() + 1] += 1);
        for place in 1..self.start.len() {
            self.start[place] += self.start[place - 1];
        }
        self.channels.clear();
        self.channels.extend(form.all_channels().filter(|&e| form.group[e].is_some()));
        self.channels.sort_by_key(|&e| form.group[e]);
    }

    /// A group's channels.
    pub fn channels(&self, group: GroupNo) -> &[ChannelNo] {
        &self.channels[self.start[group.place()]..self.start[group.place() + 1]]
    }
}
