//! What several sources have shown of each channel lately, and how far one of them may go against the rest.

use super::{Came, Doubt, NEAR, Step, Verdict};
use crate::model::Slot;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// How many outcomes are kept of a channel.
const KEPT: usize = 16;
/// How many of them one source may have.
const SHARE: usize = 8;
/// From how many on the average of a source counts, and that of all others.
const ENOUGH: usize = 4;
/// After how many slots an outcome says nothing any more.
const SLOTS: u64 = 5000;

/// An outcome of a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Shown {
    slot: Slot,
    source: String,
    speed: f64,
}

/// What the sources of a port have shown. With one source there is nothing to compare, and nothing is kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Sources {
    /// The first source; none before the first outcome.
    first: Option<String>,
    /// Whether there is another one.
    several: bool,
    /// By server and group.
    channels: BTreeMap<String, BTreeMap<String, VecDeque<Shown>>>,
}

impl Sources {
    /// Notes an outcome. It is limited if its source contradicts all others.
    pub(super) fn limit(&mut self, came: &Came, own: Option<(f64, f64)>, strong: bool) -> Verdict {
        // Who has a ticket has run the job; who has none may say anything, and is another source.
        let source = if strong { came.source.clone() } else { format!("{} without tickets", came.source) };
        let first = self.first.get_or_insert_with(|| source.clone());
        self.several |= *first != source;
        if !self.several {
            return Verdict::Believed(came.speed);
        }
        let first = first.clone();
        let groups = self.channels.entry(came.server.clone()).or_default();
        let shown = groups.entry(came.group.clone()).or_insert_with(|| {
            // What was believed so far came from the first source.
            let before = own.map(|(speed, _)| Shown { slot: came.slot, source: first, speed });
            before.into_iter().cycle().take(ENOUGH * usize::from(own.is_some())).collect()
        });
        shown.retain(|shown| shown.slot.0 + SLOTS >= came.slot.0);
        let theirs = shown.iter().filter(|shown| shown.source == source).count();
        // Without tickets, as many as others have shown with them, and two where nobody has.
        if !strong && theirs >= (shown.len() - theirs).clamp(2, SHARE) {
            return Verdict::Aside(Doubt::Enough);
        }
        if theirs >= SHARE {
            let oldest = shown.iter().position(|shown| shown.source == source);
            oldest.and_then(|oldest| shown.remove(oldest));
        } else if shown.len() >= KEPT {
            shown.pop_front();
        }
        shown.push_back(Shown { slot: came.slot, source: source.clone(), speed: came.speed });
        let average = |own: bool| {
            let speeds = shown.iter().filter(|shown| (shown.source == source) == own);
            let (count, sum) = speeds.fold((0, 0.0), |(count, sum), shown| (count + 1, sum + shown.speed));
            (count, sum / f64::from(count))
        };
        let ((told, said), (known, others)) = (average(true), average(false));
        let (low, high) = (others / NEAR, others * NEAR);
        let enough = known >= ENOUGH as u32 && (told >= ENOUGH as u32 || !strong);
        let contradicts = enough && !(low..=high).contains(&said);
        Verdict::Believed(if contradicts { came.speed.clamp(low, high) } else { came.speed })
    }

    pub(super) fn forget(&mut self, keeps: impl Fn(&str) -> bool) {
        self.channels.retain(|server, _| keeps(server));
    }

    /// Forgets what was seen of the channel of an outcome.
    pub(super) fn forget_channel(&mut self, of: &Came) {
        self.channels.get_mut(&of.server).and_then(|groups| groups.remove(&of.group));
    }

    pub(super) fn change_unit(&mut self, factor: f64) {
        let all = self.channels.values_mut().flat_map(BTreeMap::values_mut).flatten();
        all.for_each(|shown| shown.speed *= factor);
    }

    pub(super) fn is_only(&self, source: &str) -> bool {
        !self.several && self.is_first(source)
    }

    fn is_first(&self, source: &str) -> bool {
        let without = format!("{source} without tickets");
        self.first.as_ref().is_some_and(|first| first == source || *first == without)
    }

    /// Whether anything that is kept came from a source.
    pub(super) fn has_source(&self, source: &str) -> bool {
        let without = format!("{source} without tickets");
        let mut all = self.channels.values().flat_map(BTreeMap::values).flatten();
        self.is_first(source) || all.any(|shown| shown.source == source || shown.source == without)
    }

    /// Forgets the channels that a source has reported on; what others have shown there is learned again.
    pub(super) fn forget_source(&mut self, source: &str) -> Vec<Step> {
        let without = format!("{source} without tickets");
        let is_theirs = |shown: &Shown| shown.source == source || shown.source == without;
        let mut steps = Vec::new();
        for (server, groups) in &mut self.channels {
            for (group, shown) in groups.iter_mut().filter(|(_, shown)| shown.iter().any(is_theirs)) {
                steps.push(Step::Forget(group.clone(), server.clone()));
                shown.retain(|shown| !is_theirs(shown));
                steps.extend(shown.iter().map(|Shown { slot, source, speed }| {
                    let (slot, speed, source) = (*slot, *speed, source.clone());
                    let (group, server, report) = (group.clone(), server.clone(), String::new());
                    Step::Learn(Came { slot, group, server, source, report, ticketed: true, speed })
                }));
            }
        }
        steps
    }
}
