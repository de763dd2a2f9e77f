//! Whether an outcome is believed: what comes from outside may be wrong, by a factor of 1,000, or a lie.
//!
//! All is judged by port, in the unit in which speeds are reported. An outcome is *strong* if it has a ticket,
//! or if the port has had none with a ticket for a while, as where others decide; else it is *weak*.
//!
//! | outcome | what becomes of it |
//! |---|---|
//! | strong, up to [`FAR`] times what is believed of its channel, or what the port has shown | learned |
//! | strong, faster than that | set aside |
//! | strong, [`FAR`] times slower than believed of its channel | learned once other outcomes of the port are as usual, or when enough of them are slow: a broken server is real |
//! | weak, [`FAR`] times faster or slower than believed of its channel | set aside |
//! | weak, and its source has said as much of the channel lately as it may | set aside |
//! | of a source that contradicts all others on a channel by more than [`NEAR`] | learned as [`NEAR`] times away from what the others have shown |
//!
//! What was set aside or waits is learned when other jobs confirm it, on a second server and from a second
//! source, or from the only source there is; see [`Window::is_confirmed`]. If channels were known before and
//! all of them are faster or slower by one factor, the unit has changed, and what was learned stays true in
//! the new one. A server that is new and faster than anything before is confirmed by jobs of its own.
//!
//! The first outcomes of a port are compared with each other: one that is far above all others is taken back.

mod recent;
mod window;

use crate::model::{ChannelKey, Slot};
use recent::Recent;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use window::{Pace, Seen, Window};

/// An outcome this many times faster than all that was seen is not believed at once.
pub const FAR: f64 = 8.0;
/// Outcomes are alike if the larger is at most this many times the smaller.
const ALIKE: f64 = 4.0;
/// How far a source that contradicts all others moves what is believed of a channel, as a factor.
pub const NEAR: f64 = 2.0;
/// How many of the last speeds of a port are kept.
const SHOWN: usize = 32;
/// The first outcomes of a port, which are compared with each other.
const YOUNG: usize = 16;
/// How many more outcomes it takes to see that one of them stands alone.
const LATER: usize = 3;
/// How many slow outcomes wait at most.
const HELD: usize = 12;
/// How many usual outcomes of other channels say that a slow one was the server's own fault.
const USUAL: u32 = 3;
/// How many outcomes of one server confirm each other where it is the only one that is so fast.
const OF_ONE_SERVER: usize = 8;
/// How many of those that were set aside are listed by port.
pub const LISTED: usize = 64;
/// After so many slots without an outcome that has a ticket, those without are all there is.
const TICKETLESS: u64 = 1000;

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
    /// It was the first of its port, and all after it are far slower.
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
    /// An outcome that was set aside is learned.
    Confirm(Came),
    /// A channel is forgotten, by group and server.
    Forget(String, String),
    /// Speeds are this many times what they were, in number and not in truth.
    Unit(f64),
    /// Whether the scale fits is to be seen.
    Scale,
}

/// What is believed while an outcome is judged, in the unit of the reporters.
pub(super) struct Beliefs<'a> {
    /// Of its channel; none if nothing is known.
    pub(super) own: Option<f64>,
    /// The fastest channel of the port; it takes a while to find.
    pub(super) fastest: &'a dyn Fn() -> f64,
    /// Whether the port has more than one server.
    pub(super) servers: bool,
}

/// What is kept of a port in order to judge.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct PortJudge {
    /// The last speeds above 0 that were believed.
    shown: VecDeque<f64>,
    /// The first outcomes, while there are few.
    young: Vec<Came>,
    /// How many were believed.
    believed: u64,
    window: Window,
    /// Slow outcomes, each with the usual ones that came since.
    held: Vec<(Came, u32)>,
    aside: VecDeque<SetAside>,
    /// The slot of the last outcome with a ticket; none if there was none.
    ticketed: Option<Slot>,
    /// The first source, and what several sources have shown of each channel.
    recent: Recent,
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
        let state = self.port(port);
        let strong = state.is_strong(&came);
        let mut steps = Vec::new();
        let verdict = match strong {
            true => state.judge_strong(&came, beliefs, &mut steps),
            false => state.judge_weak(&came, beliefs),
        };
        let verdict = match verdict {
            Verdict::Believed(_) => state.recent.limit(&came, beliefs.own, strong),
            other => other,
        };
        if let Verdict::Aside(why) = verdict {
            self.set_aside(port, came, beliefs.own, why);
            let state = self.port(port);
            if why == Doubt::TooFast {
                state.confirm_fast(&mut steps);
            }
        }
        (verdict, steps)
    }

    /// Judges a net utility, which has no unit and cannot be too large: only who says so counts. `speed` is
    /// the utility before costs.
    pub(super) fn judge_utility(&mut self, port: &str, came: Came, beliefs: &Beliefs<'_>) -> Verdict {
        let state = self.port(port);
        let strong = state.is_strong(&came);
        let verdict = match strong {
            false => state.judge_weak(&came, beliefs),
            true => Verdict::Believed(came.speed),
        };
        let verdict = match verdict {
            Verdict::Believed(_) => state.recent.limit(&came, beliefs.own, strong),
            other => other,
        };
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

    fn set_aside(&mut self, port: &str, came: Came, believed: Option<f64>, why: Doubt) {
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

    /// Takes back the fastest of the first outcomes of a port, if all others are far slower.
    pub(super) fn take_back(&mut self, port: &str) -> Vec<Step> {
        let state = self.port(port);
        let Some(alone) = state.alone() else { return Vec::new() };
        let mut steps = Vec::new();
        let wrong = state.young.remove(alone);
        state.shown.retain(|&speed| speed != wrong.speed);
        let same = |other: &Came| other.server == wrong.server && other.group == wrong.group;
        steps.push(Step::Forget(wrong.group.clone(), wrong.server.clone()));
        steps.extend(state.young.iter().filter(|other| same(other)).cloned().map(Step::Learn));
        let (now, later) = std::mem::take(&mut state.held).into_iter().partition(|(held, _)| same(held));
        state.held = later;
        let now: Vec<(Came, u32)> = now;
        steps.extend(now.into_iter().map(|(held, _)| Step::Learn(held)));
        steps.push(Step::Scale);
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
            state.held.retain(|(held, _)| held.server != server);
            state.young.retain(|came| came.server != server);
            state.recent.forget(|at| at != server);
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
            state.held.retain(|(held, _)| held.source != source);
            state.young.retain(|came| came.source != source);
            state.window.forget(source);
            let steps = state.recent.forget_source(source);
            if !steps.is_empty() {
                all.push((port.clone(), steps));
            }
        }
        all
    }

    /// The ports that know no other source than this one.
    pub(super) fn ports_of(&self, source: &str) -> Vec<String> {
        let only = self.ports.iter().filter(|(_, state)| state.recent.is_only(source));
        only.map(|(port, _)| port.clone()).collect()
    }

    /// The largest of the last speeds of a port, and whether it is time to compare the scale with it.
    pub(super) fn shown(&self, port: &str) -> Option<(f64, bool)> {
        let state = self.ports.get(port)?;
        let largest = state.shown.iter().copied().fold(0.0, f64::max);
        Some((largest, state.believed.is_multiple_of(SHOWN as u64)))
    }
}

impl PortJudge {
    /// Whether an outcome counts fully, and notes it.
    fn is_strong(&mut self, came: &Came) -> bool {
        if came.ticketed {
            self.ticketed = self.ticketed.max(Some(came.slot));
        }
        self.ticketed.is_none_or(|last| came.ticketed || came.slot.0 > last.0.saturating_add(TICKETLESS))
    }

    /// What the port has shown: the second largest of the last speeds, so that no single one decides.
    fn ceiling(&self) -> f64 {
        let (mut first, mut second) = (0.0_f64, 0.0_f64);
        for &speed in &self.shown {
            match speed > first {
                true => (first, second) = (speed, first),
                false => second = second.max(speed),
            }
        }
        if self.shown.len() < 2 { first } else { second }
    }

    fn is_too_fast(&self, speed: f64, beliefs: &Beliefs<'_>) -> bool {
        let known = beliefs.own.unwrap_or(0.0).max(self.ceiling());
        known > 0.0 && speed > FAR * known && speed > FAR * (beliefs.fastest)()
    }

    fn judge_weak(&self, came: &Came, beliefs: &Beliefs<'_>) -> Verdict {
        let contradicts =
            beliefs.own.is_some_and(|own| own > 0.0 && !(own / FAR..=own * FAR).contains(&came.speed));
        match contradicts || self.is_too_fast(came.speed, beliefs) {
            true => Verdict::Aside(Doubt::NoTicket),
            false => Verdict::Believed(came.speed),
        }
    }

    fn judge_strong(&mut self, came: &Came, beliefs: &Beliefs<'_>, steps: &mut Vec<Step>) -> Verdict {
        let speed = came.speed;
        if speed == 0.0 {
            return Verdict::Believed(speed);
        }
        let ratio = beliefs.own.filter(|&own| own > 0.0).map(|own| speed / own);
        if self.is_too_fast(speed, beliefs) {
            self.window.add(Seen::new(came, Pace::Fast, ratio));
            return Verdict::Aside(Doubt::TooFast);
        }
        if beliefs.servers && ratio.is_some_and(|ratio| ratio < 1.0 / FAR) {
            self.window.add(Seen::new(came, Pace::Slow, ratio));
            self.held.push((came.clone(), 0));
            self.confirm_slow(steps);
            return Verdict::Waits;
        }
        self.window.add(Seen::new(came, Pace::Usual, ratio));
        for (held, usual) in &mut self.held {
            let same = held.server == came.server && held.group == came.group;
            *usual += if same { USUAL } else { 1 };
        }
        self.release(|_, usual| usual >= USUAL, steps);
        let same =
            |aside: &&mut SetAside| aside.channel.server == came.server && aside.channel.group == came.group;
        self.aside.iter_mut().filter(same).for_each(|aside| aside.open = false);
        self.show(speed);
        if self.believed <= YOUNG as u64 {
            self.young.push(came.clone());
        } else {
            self.young.clear();
        }
        Verdict::Believed(speed)
    }

    fn show(&mut self, speed: f64) {
        self.believed += 1;
        self.shown.push_back(speed);
        if self.shown.len() > SHOWN {
            self.shown.pop_front();
        }
    }

    /// Slow outcomes that are believed now.
    fn release(&mut self, applies: impl Fn(usize, u32) -> bool, steps: &mut Vec<Step>) {
        let mut at = 0;
        self.held.retain(|(held, usual)| {
            at += 1;
            let now = applies(at - 1, *usual);
            if now {
                steps.push(Step::Learn(held.clone()));
            }
            !now
        });
    }

    fn confirm_slow(&mut self, steps: &mut Vec<Step>) {
        if let Some(factor) = self.window.is_confirmed(Pace::Slow).flatten() {
            self.change_unit(factor, steps);
            self.release(|_, _| true, steps);
        } else if self.held.len() > HELD {
            self.release(|at, _| at == 0, steps);
        }
    }

    fn confirm_fast(&mut self, steps: &mut Vec<Step>) {
        match self.window.is_confirmed(Pace::Fast) {
            Some(factor) => {
                let centre = factor.unwrap_or(1.0);
                let fits = |aside: &SetAside| {
                    let ratio = aside.believed.filter(|&own| own > 0.0).map(|own| aside.speed / own);
                    ratio.is_none_or(|ratio| are_alike(ratio, centre))
                };
                if let Some(factor) = factor {
                    self.change_unit(factor, steps);
                }
                self.confirm(fits, steps);
                self.release(|_, _| true, steps);
            }
            None => self.confirm_server(steps),
        }
    }

    /// A single server that is faster than anything before.
    fn confirm_server(&mut self, steps: &mut Vec<Step>) {
        let is_open = |aside: &&SetAside| aside.open && aside.why == Doubt::TooFast;
        let Some(last) = self.aside.iter().rfind(is_open).map(|aside| aside.channel.clone()) else { return };
        let same = self.aside.iter().rev().filter(|aside| is_open(aside) && aside.channel == last);
        let same: Vec<&SetAside> = same.take(OF_ONE_SERVER).collect();
        let mut reports: Vec<&str> = same.iter().map(|aside| aside.report.as_str()).collect();
        reports.sort_unstable();
        reports.dedup();
        let speeds: Vec<f64> = same.iter().map(|aside| aside.speed).collect();
        let alike = median(&speeds).is_some_and(|m| speeds.iter().all(|&speed| are_alike(speed, m)));
        let sources = same.iter().any(|aside| aside.source != same[0].source);
        if reports.len() < OF_ONE_SERVER || !alike || !(sources || self.window.has_one_source()) {
            return;
        }
        if same.iter().any(|aside| aside.believed.is_some()) {
            steps.push(Step::Forget(last.group.clone(), last.server.clone()));
        }
        self.confirm(|aside| aside.channel == last, steps);
    }

    /// Learns those that were set aside as too fast, if nothing speaks against them.
    fn confirm(&mut self, fits: impl Fn(&SetAside) -> bool, steps: &mut Vec<Step>) {
        let mut shown = Vec::new();
        self.aside.retain(|aside| {
            let learned = aside.open && aside.why == Doubt::TooFast && fits(aside);
            if learned {
                shown.push(aside.speed);
                steps.push(Step::Confirm(aside.came()));
            }
            !learned
        });
        shown.into_iter().for_each(|speed| self.show(speed));
        self.young.clear();
        self.window.clear();
    }

    fn change_unit(&mut self, factor: f64, steps: &mut Vec<Step>) {
        self.shown.iter_mut().for_each(|speed| *speed *= factor);
        self.recent.change_unit(factor);
        self.young.clear();
        self.window.clear();
        steps.push(Step::Unit(factor));
    }

    /// The place of the fastest of the first outcomes, if all others are far slower and it is not a late one.
    fn alone(&self) -> Option<usize> {
        let (at, fastest) =
            self.young.iter().enumerate().max_by(|(_, a), (_, b)| a.speed.total_cmp(&b.speed))?;
        let others = self.young.iter().enumerate().filter(|&(other, _)| other != at);
        let second = others.map(|(_, other)| other.speed).fold(0.0, f64::max);
        let late = at + LATER >= self.young.len();
        (!late && second > 0.0 && fastest.speed > FAR * second).then_some(at)
    }
}

impl SetAside {
    pub(super) fn came(&self) -> Came {
        let ChannelKey { group, server, .. } = self.channel.clone();
        let (source, report) = (self.source.clone(), self.report.clone());
        Came { slot: self.slot, group, server, source, report, ticketed: true, speed: self.speed }
    }
}

fn are_alike(a: f64, b: f64) -> bool {
    (b / ALIKE..=b * ALIKE).contains(&a)
}

/// The one in the middle, the lower of two.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}
