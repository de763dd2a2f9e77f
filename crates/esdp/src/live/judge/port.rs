//! What is kept of a port, and the rules of [`judge`](super) on it.

use super::sources::Sources;
use super::window::{Change, Changed, Pace, Window};
use super::{Beliefs, Came, Doubt, FAR, NEAR, SetAside, Step, Verdict, YOUNG};
use crate::model::Slot;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many of the last speeds of a port are kept.
pub(super) const SHOWN: usize = 32;
/// How many more outcomes it takes to see that one of the first stands alone.
const LATER: usize = 3;
/// After so many slots without an outcome that has a ticket, those without are all there is.
const TICKETLESS: u64 = 1000;
/// A change of speeds confirms outcomes that were set aside if its factor and theirs differ by less than
/// this.
const ALIKE: f64 = 4.0;

/// What is kept of a port in order to judge.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PortJudge {
    /// The last speeds above 0 that were believed.
    pub(super) shown: VecDeque<f64>,
    /// The first outcomes, while there are few.
    pub(super) young: Vec<Came>,
    /// How many were believed.
    pub(super) believed: u64,
    pub(super) window: Window,
    pub(super) aside: VecDeque<SetAside>,
    /// The slot of the last outcome with a ticket; none if there was none.
    ticketed: Option<Slot>,
    /// The first source, and what several sources have shown of each channel.
    pub(super) sources: Sources,
}

impl PortJudge {
    pub(super) fn judge(&mut self, came: &Came, beliefs: &Beliefs<'_>, steps: &mut Vec<Step>) -> Verdict {
        let strong = self.is_strong(came);
        if self.is_doubtful(came.speed, beliefs, strong) {
            let why = if strong { Doubt::TooFast } else { Doubt::NoTicket };
            if strong {
                self.window.add(came, Pace::Fast, beliefs.own);
            }
            return Verdict::Aside(why);
        }
        let speed = match self.sources.limit(came, beliefs.own, strong) {
            Verdict::Believed(speed) => speed,
            other => return other,
        };
        if !strong {
            return Verdict::Believed(speed);
        }
        let came = Came { speed, ..came.clone() };
        let slow = beliefs.servers && beliefs.own.is_some_and(|(own, _)| speed < own / FAR);
        let pace = if slow { Pace::Slow } else { Pace::Usual };
        steps.extend(self.window.add(&came, pace, beliefs.own).map(Step::Learn));
        if slow {
            return Verdict::Waits;
        }
        steps.extend(self.window.release().into_iter().map(Step::Learn));
        let same = |aside: &&mut SetAside| {
            (&aside.channel.server, &aside.channel.group) == (&came.server, &came.group)
        };
        self.aside.iter_mut().filter(same).for_each(|aside| aside.open = false);
        self.show(speed);
        match self.believed <= YOUNG as u64 {
            true => self.young.push(came),
            false => self.young.clear(),
        }
        Verdict::Believed(speed)
    }

    /// Judges a net utility, before costs: it cannot be too large, so only who says so counts.
    pub(super) fn judge_utility(&mut self, came: &Came, beliefs: &Beliefs<'_>) -> Verdict {
        let strong = self.is_strong(came);
        match !strong && self.is_doubtful(came.speed, beliefs, strong) {
            true => Verdict::Aside(Doubt::NoTicket),
            false => self.sources.limit(came, beliefs.own, strong),
        }
    }

    /// Whether an outcome counts fully, and notes it.
    fn is_strong(&mut self, came: &Came) -> bool {
        if came.ticketed {
            self.ticketed = self.ticketed.max(Some(came.slot));
        }
        self.ticketed.is_none_or(|last| came.ticketed || came.slot.0 > last.0.saturating_add(TICKETLESS))
    }

    fn is_doubtful(&self, speed: f64, beliefs: &Beliefs<'_>, strong: bool) -> bool {
        let own = beliefs.own.map_or(0.0, |(own, _)| own);
        let ceiling = own.max(self.ceiling());
        let too_fast = ceiling > 0.0 && speed > FAR * ceiling && speed > FAR * (beliefs.fastest)();
        // Who has not run the job may only say what is near what is known.
        let (known, factor) = if own > 0.0 { (own, NEAR) } else { (ceiling, FAR) };
        too_fast || !strong && known > 0.0 && !(known / factor..=known * factor).contains(&speed)
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

    pub(super) fn show(&mut self, speed: f64) {
        self.believed += 1;
        if speed > 0.0 {
            self.shown.push_back(speed);
        }
        if self.shown.len() > SHOWN {
            self.shown.pop_front();
        }
    }

    /// What follows if the last outcomes show that speeds have changed.
    pub(super) fn follow_change(&mut self, steps: &mut Vec<Step>) {
        let (factor, changed, waiting) = match self.window.change() {
            None => return,
            Some(Change::Channel(changed)) => (None, vec![changed], Vec::new()),
            Some(Change::Port(factor, changed, waiting)) => (Some(factor), changed, waiting),
        };
        if let Some(factor) = factor {
            self.shown.iter_mut().for_each(|speed| *speed = (*speed * factor).min(f64::MAX));
            self.sources.change_unit(factor);
            steps.push(Step::Unit(factor));
        }
        let fits = |aside: &SetAside| match factor {
            None => is_of(aside, &changed[0]),
            Some(factor) => {
                let ratio = aside.believed.filter(|&own| own > 0.0).map(|own| aside.speed / own);
                ratio.is_none_or(|ratio| (factor / ALIKE..=factor * ALIKE).contains(&ratio))
            }
        };
        let before = self.aside.len();
        let mut others = Vec::new();
        self.aside.retain(|aside| {
            let confirmed = aside.open && aside.why == Doubt::TooFast && fits(aside);
            let shows = |changed: &Changed| {
                is_of(aside, changed) && changed.outcomes.iter().any(|came| came.report == aside.report)
            };
            if confirmed && !changed.iter().any(shows) {
                others.push(aside.came());
            }
            !confirmed
        });
        steps.push(Step::Confirmed(before - self.aside.len()));
        for changed in changed {
            if changed.anew {
                steps.push(Step::Forget(changed.group, changed.server));
            }
            others.extend(changed.outcomes);
        }
        others.extend(waiting);
        others.iter().for_each(|came| self.show(came.speed));
        steps.extend(others.into_iter().map(Step::Learn));
        self.young.clear();
    }

    /// The place of the first outcome that is far from all others and has some after it, and whether it is
    /// too fast.
    pub(super) fn alone(&self) -> Option<(usize, bool)> {
        let mut order: Vec<usize> = (0..self.young.len()).collect();
        order.sort_by(|&a, &b| self.young[a].speed.total_cmp(&self.young[b].speed));
        let speed = |at: usize| self.young[at].speed;
        let has_later = |at: usize| at + LATER < self.young.len();
        let [slowest, above, ..] = order[..] else { return None };
        let [.., below, fastest] = order[..] else { return None };
        if has_later(fastest) && speed(below) > 0.0 && speed(fastest) > FAR * speed(below) {
            return Some((fastest, true));
        }
        let tried = |aside: &SetAside| {
            let (came, channel) = (&self.young[slowest], &aside.channel);
            aside.why == Doubt::Alone && (&channel.group, &channel.server) == (&came.group, &came.server)
        };
        let slow = has_later(slowest) && speed(above) > FAR * speed(slowest);
        (slow && !self.aside.iter().any(tried)).then_some((slowest, false))
    }
}

fn is_of(aside: &SetAside, changed: &Changed) -> bool {
    (&aside.channel.group, &aside.channel.server) == (&changed.group, &changed.server)
}
