//! Decides whether an outcome is believed. Whoever reports may be wrong, by a factor of 1,000, or may lie.
//!
//! Every port is judged by itself, in the unit in which its speeds are reported. An outcome is *strong* if it
//! has a ticket, or if the port has had none with a ticket for 1,000 slots, because others place its jobs;
//! otherwise it is *weak*. The judge
//!
//! - learns a strong outcome of up to [`FAR`] times what is believed of its channel, or of what the port has
//!   shown, and sets a faster one aside;
//! - lets a strong outcome wait that is [`FAR`] times slower than believed of its channel, and learns it once
//!   other outcomes of the port are as usual, or once enough are as slow: a broken server is real;
//! - sets a weak outcome aside if it is [`NEAR`] times faster or slower than believed of its channel, or if
//!   its source has lately said as much of the channel as those with tickets;
//! - learns an outcome whose source contradicts all others on a channel by more than [`NEAR`] as [`NEAR`]
//!   times away from what the others have shown.
//!
//! It learns what it has set aside or lets wait when other jobs confirm it, on a second server and from a
//! second source, or from the only source there is; see [`Window::change`](window::Window::change). If
//! channels were known before and all of them are faster or slower by one factor, the unit has changed, and
//! what was learned stays true in the new one. A server that is new and faster than anything before is
//! confirmed by jobs of its own.
//!
//! The judge compares the first outcomes of a port with each other, and takes back one that is far from all
//! others.

mod noise;
mod port;
mod sources;
mod window;

use crate::model::{ChannelKey, Slot};
use port::{PortJudge, SHOWN};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An outcome this many times faster than all that was seen is not believed at once.
pub const FAR: f64 = 8.0;
/// How far a source that contradicts all others moves what is believed of a channel, as a factor.
pub const NEAR: f64 = 2.0;
/// The first outcomes of a port, which are compared with each other.
const YOUNG: usize = 16;
/// How many of those that were set aside are listed by port.
pub const LISTED: usize = 64;
/// An outcome as it came, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Came {
    pub(super) slot: Slot,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) group: String,
    pub(super) server: String,
    /// Who has reported it; empty if nobody says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) source: String,
    /// What it counts once by: its ticket, or the name of the report.
    pub(super) report: String,
    /// Whether it has a ticket.
    pub(super) ticketed: bool,
    /// The speed, in the unit of the reporters.
    pub(super) speed: f64,
}

/// An outcome that was not believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetAside {
    /// Its number, to accept or drop it by.
    pub id: u64,
    /// The slot to which it belongs.
    pub slot: Slot,
    /// The channel.
    pub channel: ChannelKey,
    /// Who has reported it; empty if nobody says.
    pub source: String,
    /// The ticket, or the name of the report.
    pub report: String,
    /// The speed that was reported, in its unit.
    pub speed: f64,
    /// What was believed of the channel then; none if nothing was known.
    pub believed: Option<f64>,
    /// Why it is not believed.
    pub why: Doubt,
    /// Whether jobs may still confirm it: nothing usual was seen of its channel since.
    pub open: bool,
    /// How often its source has said such a thing of the channel; the last one is shown.
    pub times: u64,
}

/// Why an outcome is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// It is far faster than anything the port has shown.
    TooFast,
    /// It has no ticket, and it contradicts those that have one.
    NoTicket,
    /// It has no ticket, and its source has said as much of the channel as others who have.
    Enough,
    /// It was among the first of its port, and is far from all others.
    Alone,
}

impl Doubt {
    fn is_weak(self) -> bool {
        matches!(self, Self::NoTicket | Self::Enough)
    }
}

/// What becomes of an outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// It is learned, as this speed.
    Believed(f64),
    /// It is learned a little later.
    Waits,
    /// It is learned when it is confirmed.
    Aside(Doubt),
}

/// What follows from an outcome for others of its port.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// An outcome that waited, or that is known from before, is learned.
    Learn(Came),
    /// So many that were set aside are learned after all, among those that are learned here.
    Confirmed(usize),
    /// A channel is forgotten, by group and server.
    Forget(String, String),
    /// Speeds are this many times what they were, in number and not in truth.
    Unit(f64),
    /// The scale starts again: all that was learned of the port is learned again.
    Scale,
}

/// What is believed while an outcome is judged, in the unit of the reporters.
pub(super) struct Beliefs<'a> {
    /// Of its channel, and how many outcomes are behind that; none if nothing is known.
    pub(super) own: Option<(f64, f64)>,
    /// The fastest channel of the port; it takes a while to find.
    pub(super) fastest: &'a dyn Fn() -> f64,
    /// Whether the port has more than one server.
    pub(super) servers: bool,
}

/// What is kept in order to judge, by port.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Judge {
    ports: BTreeMap<String, PortJudge>,
    /// How many were set aside.
    count: u64,
}

impl Judge {
    /// Judges a speed that was reported; what becomes of it, and what follows for others.
    pub(super) fn judge(&mut self, port: &str, came: Came, beliefs: &Beliefs<'_>) -> (Verdict, Vec<Step>) {
        let mut steps = Vec::new();
        let verdict = self.port(port).judge(&came, beliefs, &mut steps);
        if let Verdict::Aside(why) = verdict {
            self.set_aside(port, came, beliefs.own, why);
        }
        self.port(port).follow_change(&mut steps);
        (verdict, steps)
    }

    /// Judges a net utility, which has no unit. `speed` is the utility before costs.
    pub(super) fn judge_utility(&mut self, port: &str, came: Came, beliefs: &Beliefs<'_>) -> Verdict {
        let verdict = self.port(port).judge_utility(&came, beliefs);
        if let Verdict::Aside(why) = verdict {
            self.set_aside(port, came, beliefs.own, why);
        }
        verdict
    }

    fn port(&mut self, port: &str) -> &mut PortJudge {
        if !self.ports.contains_key(port) {
            self.ports.insert(port.to_owned(), PortJudge::default());
        }
        self.ports.get_mut(port).expect("it was just put there")
    }

    fn set_aside(&mut self, port: &str, came: Came, own: Option<(f64, f64)>, why: Doubt) {
        let believed = own.map(|(speed, _)| speed);
        self.count += 1;
        let channel = ChannelKey { port: port.to_owned(), group: came.group, server: came.server };
        let Came { slot, source, report, speed, .. } = came;
        let id = self.count;
        let all = &mut self.port(port).aside;
        let mut times = 1;
        // Who says the same again and again has one line, and drives nobody else out.
        let same = |other: &SetAside| other.why == why && other.source == source && other.channel == channel;
        if why.is_weak()
            && let Some(at) = all.iter().position(same)
        {
            times += all.remove(at).map_or(0, |other| other.times);
        }
        all.push_back(SetAside {
            id,
            slot,
            channel,
            source,
            report,
            speed,
            believed,
            why,
            open: true,
            times,
        });
        if all.len() > LISTED {
            let weak = all.iter().position(|other| other.why.is_weak());
            all.remove(weak.unwrap_or(0));
        }
    }

    /// Takes back one of the first outcomes of a port if it is far from all others. One that is far too slow
    /// gives its server another try, once: the next one says whether the server is broken.
    pub(super) fn take_back(&mut self, port: &str) -> Vec<Step> {
        let state = self.port(port);
        let Some((alone, is_fast)) = state.alone() else { return Vec::new() };
        let wrong = state.young.remove(alone);
        let waiting = state.window.take_waiting(&wrong);
        state.sources.forget_channel(&wrong);
        let is_theirs = |came: &&Came| (&came.group, &came.server) == (&wrong.group, &wrong.server);
        // Next to a speed that is far too fast the differences of all others were too small to be kept.
        let again: Vec<Came> =
            state.young.iter().filter(|came| is_fast || is_theirs(came)).chain(&waiting).cloned().collect();
        let mut steps: Vec<Step> = Vec::new();
        for came in again.iter().chain([&wrong]) {
            let forget = Step::Forget(came.group.clone(), came.server.clone());
            if !steps.contains(&forget) {
                steps.push(forget);
            }
        }
        if is_fast {
            state.shown.retain(|&speed| speed != wrong.speed);
            steps.push(Step::Scale);
        }
        steps.extend(again.into_iter().map(Step::Learn));
        state.young.extend(waiting);
        self.set_aside(port, wrong, None, Doubt::Alone);
        steps
    }

    /// What was set aside, by port, the oldest first.
    pub(super) fn aside(&self) -> impl Iterator<Item = &SetAside> {
        self.ports.values().flat_map(|state| &state.aside)
    }

    /// How many were set aside since the beginning.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Takes an outcome out of those that were set aside.
    pub(super) fn take(&mut self, id: u64) -> Option<SetAside> {
        let state = self.ports.values_mut().find(|state| state.aside.iter().any(|aside| aside.id == id))?;
        let at = state.aside.iter().position(|aside| aside.id == id)?;
        state.aside.remove(at)
    }

    /// An outcome that an operator believes is what the port has shown.
    pub(super) fn accept(&mut self, aside: &SetAside) {
        let state = self.port(&aside.channel.port);
        // Twice, so that it does not stand alone.
        (0..2).for_each(|_| state.show(aside.speed));
    }

    /// Forgets what was seen of a port or server, or of all.
    pub(super) fn forget(&mut self, port: Option<&str>, server: Option<&str>) {
        let Some(server) = server else {
            return self.ports.retain(|name, _| port.is_some_and(|port| port != name));
        };
        let all = self.ports.iter_mut().filter(|(name, _)| port.is_none_or(|port| port == *name));
        for (_, state) in all {
            state.aside.retain(|aside| aside.channel.server != server);
            state.young.retain(|came| came.server != server);
            state.window.forget(|came| came.server != server);
            state.sources.forget(|at| at != server);
        }
    }

    /// Keeps what belongs to ports of these names.
    pub(super) fn keep(&mut self, is_known: impl Fn(&str) -> bool) {
        self.ports.retain(|port, _| is_known(port));
    }

    pub(super) fn len(&self) -> usize {
        self.ports.len()
    }

    /// Forgets what a source has reported: the channels on which it did, by port, and what others have shown
    /// there lately; where it is the only source of a port, there is nothing else.
    pub(super) fn forget_source(&mut self, source: &str) -> Vec<(String, Vec<Step>)> {
        let mut all = Vec::new();
        for (port, state) in &mut self.ports {
            state.aside.retain(|aside| aside.source != source);
            state.young.retain(|came| came.source != source);
            state.window.forget(|came| came.source != source);
            let steps = state.sources.forget_source(source);
            if !steps.is_empty() {
                all.push((port.clone(), steps));
            }
        }
        all
    }

    /// Whether anything that is remembered came from a source.
    pub(super) fn has_source(&self, source: &str) -> bool {
        self.ports.values().any(|state| {
            state.aside.iter().any(|aside| aside.source == source)
                || state.young.iter().any(|came| came.source == source)
                || state.window.has_source(source)
                || state.sources.has_source(source)
        })
    }

    /// The ports that know no other source than this one.
    pub(super) fn ports_of(&self, source: &str) -> Vec<String> {
        let only = self.ports.iter().filter(|(_, state)| state.sources.is_only(source));
        only.map(|(port, _)| port.clone()).collect()
    }

    /// The largest of the last speeds of a port, and whether it is time to compare the scale with it.
    pub(super) fn shown(&self, port: &str) -> Option<(f64, bool)> {
        let state = self.ports.get(port)?;
        let largest = state.shown.iter().copied().fold(0.0, f64::max);
        Some((largest, state.believed.is_multiple_of(SHOWN as u64)))
    }
}

impl SetAside {
    pub(super) fn came(&self) -> Came {
        let ChannelKey { group, server, .. } = self.channel.clone();
        let (source, report) = (self.source.clone(), self.report.clone());
        Came { slot: self.slot, group, server, source, report, ticketed: true, speed: self.speed }
    }
}
