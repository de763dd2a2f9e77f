//! How much of what was started lately was exploration.
//!
//! A use counts as exploration if its channel was little known when it was chosen, its confidence radius
//! above [`UNSURE`], and the slot was free to explore. Where the share of the last slots has reached the
//! limit, slots are decided by estimates alone until it is below it again; what such a slot starts on an
//! unknown server, because no other has room, is not by choice and does not count.

use super::Live;
use crate::model::ChannelId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The confidence radius above which a channel counts as little known.
pub const UNSURE: f64 = 0.25;
/// Over how many slots the share of exploration is taken; slots that started nothing do not count.
pub const EXPLORATION_WINDOW: usize = 256;

/// Of each of the last slots the uses that were exploration, and all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Explored(VecDeque<(u32, u32)>);

impl Explored {
    pub(super) fn add(&mut self, exploring: u32, uses: u32) {
        if uses > 0 {
            self.0.push_back((exploring, uses));
            if self.0.len() > EXPLORATION_WINDOW {
                self.0.pop_front();
            }
        }
    }

    pub(super) fn sums(&self) -> (u64, u64) {
        self.0.iter().fold((0, 0), |(explored, all), &(more, uses)| {
            (explored + u64::from(more), all + u64::from(uses))
        })
    }

    /// Whether no more exploration is allowed.
    pub(super) fn reaches(&self, most: Option<f64>) -> bool {
        let Some(most) = most.filter(|&most| most < 1.0) else { return false };
        let (explored, uses) = self.sums();
        most == 0.0 || (uses > 0 && explored as f64 >= most * uses as f64)
    }
}

impl Live {
    /// Whether a channel is little known.
    pub(super) fn is_unsure(&self, channel: ChannelId) -> bool {
        let rate = (self.scheduler.slot().0 as f64).ln_1p();
        let learned = self.scheduler.policy().learned();
        learned.is_some_and(|learned| (rate * learned.variance(channel)).sqrt() > UNSURE)
    }
}
