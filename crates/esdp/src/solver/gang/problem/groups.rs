//! The channels of each task group.

use crate::solver::gang::problem::form::{Form, NO_GROUP};

/// Channels by group, in buffers reused from slot to slot.
#[derive(Debug, Clone, Default)]
pub(in crate::solver::gang) struct Groups {
    channels: Vec<u32>,
    /// Where each group's begin; one more entry than groups.
    start: Vec<u32>,
}

impl Groups {
    /// Takes over a problem.
    pub fn reset(&mut self, form: &Form) {
        self.start.clear();
        self.start.resize(form.groups.len() + 1, 0);
        let groups = || form.group.iter().copied().filter(|&g| g != NO_GROUP);
        groups().for_each(|g| self.start[g as usize + 1] += 1);
        for place in 1..self.start.len() {
            self.start[place] += self.start[place - 1];
        }
        self.channels.clear();
        self.channels.extend((0..form.len() as u32).filter(|&e| form.group[e as usize] != NO_GROUP));
        self.channels.sort_by_key(|&e| form.group[e as usize]);
    }

    /// A group's channels.
    pub fn channels(&self, group: usize) -> &[u32] {
        &self.channels[self.start[group] as usize..self.start[group + 1] as usize]
    }
}
