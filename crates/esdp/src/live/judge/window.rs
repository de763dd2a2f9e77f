//! The last outcomes of a port that count fully, and what they confirm together.

use super::{Came, are_alike, median};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many are kept.
const WINDOW: usize = 24;
/// With two sources, so many of the last ...
const OF_TWO_SOURCES: (usize, usize) = (4, 6);
/// ... and from the only source there is.
const OF_ONE_SOURCE: (usize, usize) = (9, 12);

/// How an outcome compares with what was believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pace {
    Usual,
    Fast,
    Slow,
}

/// An outcome of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    pace: Pace,
    server: String,
    source: String,
    report: String,
    /// The speed as a multiple of what was believed of its channel; none if nothing was.
    ratio: Option<f64>,
}

impl Seen {
    pub(super) fn new(came: &Came, pace: Pace, ratio: Option<f64>) -> Self {
        let Came { server, source, report, .. } = came.clone();
        Self { pace, server, source, report, ratio }
    }
}

/// The last outcomes, the newest last, one for each report however many tasks it was for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Window {
    seen: VecDeque<Seen>,
}

impl Window {
    pub(super) fn add(&mut self, seen: Seen) {
        if self.seen.iter().any(|other| other.report == seen.report) {
            return;
        }
        self.seen.push_back(seen);
        if self.seen.len() > WINDOW {
            self.seen.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        self.seen.clear();
    }

    pub(super) fn forget(&mut self, source: &str) {
        self.seen.retain(|seen| seen.source != source);
    }

    pub(super) fn has_one_source(&self) -> bool {
        self.seen.iter().all(|seen| seen.source == self.seen[0].source)
    }

    /// Whether the last outcomes of a pace confirm each other: jobs on two servers, and
    ///
    /// - 4 of the last 6, from two sources, or
    /// - 9 of the last 12, where there was only one source lately, or
    /// - all of the last 24: other sources are silent.
    ///
    /// All of those channels of which something was believed must have changed by one factor, which is what
    /// comes back; none where nothing was believed of any.
    pub(super) fn is_confirmed(&self, pace: Pace) -> Option<Option<f64>> {
        let found = |last: usize| Agreement::of(self.seen.iter().rev().take(last), pace);
        let (two, one, all) = (found(OF_TWO_SOURCES.1), found(OF_ONE_SOURCE.1), found(WINDOW));
        let confirmed = [
            (two.sources && two.count >= OF_TWO_SOURCES.0, &two),
            (self.has_one_source() && one.count >= OF_ONE_SOURCE.0, &one),
            (all.count >= WINDOW, &all),
        ];
        let of = confirmed.into_iter().find(|(enough, of)| *enough && of.servers);
        of.map(|(_, of)| of.factor)
    }
}

/// What outcomes of a pace have in common.
struct Agreement {
    /// How many there are that agree.
    count: usize,
    /// Whether they are of two servers at least.
    servers: bool,
    /// Whether they are from two sources at least.
    sources: bool,
    /// By what factor they differ from what was believed.
    factor: Option<f64>,
}

impl Agreement {
    fn of<'a>(seen: impl Iterator<Item = &'a Seen>, pace: Pace) -> Self {
        let all: Vec<&Seen> = seen.filter(|seen| seen.pace == pace).collect();
        let ratios: Vec<f64> = all.iter().filter_map(|seen| seen.ratio).collect();
        let factor = median(&ratios);
        let agrees = |seen: &&&Seen| {
            seen.ratio.is_none_or(|ratio| factor.is_some_and(|factor| are_alike(ratio, factor)))
        };
        let agreeing: Vec<&&Seen> = all.iter().filter(agrees).collect();
        let differ = |of: fn(&Seen) -> &str| agreeing.iter().any(|seen| of(seen) != of(agreeing[0]));
        Self {
            count: agreeing.len(),
            servers: differ(|seen| &seen.server),
            sources: differ(|seen| &seen.source),
            factor,
        }
    }
}
