//! The last outcomes of a port, and whether they show that speeds have changed.
//!
//! The *ratio* of an outcome is its speed as a multiple of what was believed of its channel before the
//! outcomes that are kept here. A channel has changed by a factor `m`, the mean of its last `n` ratios, if
//!
//! ```text
//! |m - 1| > 4 s / sqrt(n)    and    m > 1.5 or m < 1/1.5    and
//! m - 1 > 8 c sqrt(1/n + 1/count)    or    1 - m > 6 c sqrt(1/n + 1/count)
//! ```
//!
//! where `s` is their standard deviation and `count` the outcomes behind the belief. A few outcomes may be
//! near each other by chance, so `c`, the [noise](super::noise) of the port relative to the belief, counts,
//! too. Outcomes that are all [`FAR`] times slower and not 0 need no more than that.
//!
//! If channels of several servers change by one factor, the whole port has changed. In doubt, the
//! higher speed is taken for servers that nobody has measured since: a policy tries what it believes to be
//! fast and corrects itself, and does not try what it believes to be slow. So two servers that became
//! faster speak for all, but three that became slower.

use super::noise::Noise;
use super::{Came, FAR};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many outcomes are kept.
const KEPT: usize = 48;
/// How many outcomes of a channel show a change ...
const OF_CHANNEL: usize = 4;
/// ... if they were learned or are far slower than before, and if one server alone is far faster.
const OF_ONE_FAST_SERVER: usize = 8;
/// How many outcomes of many servers show a change of all of them together.
const OF_MANY: usize = 16;
/// How many usual outcomes of other channels say that a slow one was the server's own fault.
const USUAL: usize = 3;
/// A factor up to this is not a change.
const CHANGE: f64 = 1.5;
/// Factors and ratios are alike if the larger is at most this many times the smaller.
const ALIKE: f64 = 2.5;
/// How many standard errors a change is away from none, by the outcomes themselves ...
const SURE: f64 = 4.0;
/// ... and by the noise of the port, if a channel is faster now, and if it is slower.
const SURE_FASTER: f64 = 8.0;
const SURE_SLOWER: f64 = 6.0;
/// After how many outcomes of the port a change of one server says nothing about others any more.
const LATELY: u64 = 64;
/// What was learned of a channel stays if it is this many times what was learned since a change.
const BLURRED: f64 = 10.0;
/// A larger ratio is taken for this one, so that sums are finite.
const LARGEST: f64 = 1e100;
/// How many changes of single servers are remembered.
const CHANGES: usize = 8;

/// How an outcome compares with what was believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pace {
    /// It was learned.
    Usual,
    /// It was set aside.
    Fast,
    /// It waits.
    Slow,
}

/// An outcome of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Seen {
    came: Came,
    pace: Pace,
    /// What was believed of its channel, and how many outcomes were behind that; none if nothing was known.
    base: Option<(f64, f64)>,
}

impl Seen {
    fn ratio(&self) -> Option<f64> {
        self.base.map(|(believed, _)| (self.came.speed / believed).min(LARGEST))
    }
}

/// A channel that has changed by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) group: String,
    pub(super) server: String,
    factor: f64,
    /// How many outcomes were behind what was believed before.
    count: f64,
    /// The outcomes that show it and that are to be learned.
    pub(super) outcomes: Vec<Came>,
    /// How many outcomes of the port had come by then.
    at: u64,
    /// Whether what was learned of the channel before is to be forgotten first.
    pub(super) anew: bool,
}

/// What the last outcomes show.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// A channel is another one now.
    Channel(Changed),
    /// All speeds of the port are this many times what they were; with the channels that show it, and the
    /// outcomes of others that still wait.
    Port(f64, Vec<Changed>, Vec<Came>),
}

/// The last outcomes that count fully, the newest last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Window {
    seen: VecDeque<Seen>,
    lately: VecDeque<Changed>,
    noise: Noise,
    /// How many outcomes have come.
    count: u64,
}

impl Window {
    /// Notes an outcome, but for a second one of the same report on a channel; one that waited for too long
    /// comes back.
    pub(super) fn add(&mut self, came: &Came, pace: Pace, own: Option<(f64, f64)>) -> Option<Came> {
        if self.seen.iter().any(|seen| seen.came.report == came.report && is_same(&seen.came, came)) {
            return None;
        }
        self.count += 1;
        let earlier = self.seen.iter().rfind(|seen| seen.pace == Pace::Usual && is_same(&seen.came, came));
        if let Some(earlier) = earlier.filter(|_| pace == Pace::Usual) {
            self.noise.add(earlier.came.speed, came.speed);
        }
        let before = self.seen.iter().rfind(|seen| is_same(&seen.came, came)).and_then(|seen| seen.base);
        // What few outcomes have said gives way to what twice as many say, unless they show a change.
        let few = |before: &(f64, f64)| {
            let usual = (1.0 / CHANGE..CHANGE).contains(&(came.speed / before.0));
            usual && own.is_some_and(|(_, count)| count >= 2.0 * before.1)
        };
        let base = before.filter(|before| !few(before)).or(own).filter(|&(believed, _)| believed > 0.0);
        self.seen.push_back(Seen { came: came.clone(), pace, base });
        let oldest = if self.seen.len() > KEPT { self.seen.pop_front() } else { None };
        oldest.filter(|seen| seen.pace == Pace::Slow).map(|seen| seen.came)
    }

    pub(super) fn has_source(&self, source: &str) -> bool {
        self.seen.iter().any(|seen| seen.came.source == source)
    }

    pub(super) fn forget(&mut self, keeps: impl Fn(&Came) -> bool) {
        self.seen.retain(|seen| keeps(&seen.came));
        self.lately.retain(|changed| changed.outcomes.iter().all(&keeps));
    }

    /// Takes out what was compared with a speed that was wrong; those that wait come back.
    pub(super) fn take_waiting(&mut self, wrong: &Came) -> Vec<Came> {
        let waits = |seen: &&Seen| seen.pace == Pace::Slow && is_same(&seen.came, wrong);
        let waiting = self.seen.iter().filter(waits).map(|seen| seen.came.clone()).collect();
        self.seen.retain(|seen| !is_same(&seen.came, wrong));
        waiting
    }

    /// Slow outcomes that are believed now: others of the channel, or enough of the port, are as usual since.
    pub(super) fn release(&mut self) -> Vec<Came> {
        let mut released = Vec::new();
        for at in 0..self.seen.len() {
            let slow = &self.seen[at];
            if slow.pace != Pace::Slow {
                continue;
            }
            let usual = self.seen.range(at + 1..).filter(|seen| seen.pace == Pace::Usual);
            let weight = |seen: &Seen| if is_same(&seen.came, &slow.came) { USUAL } else { 1 };
            if usual.map(weight).sum::<usize>() >= USUAL {
                self.seen[at].pace = Pace::Usual;
                released.push(self.seen[at].came.clone());
            }
        }
        released
    }

    /// What the last outcomes show. What comes back is not in the window any more.
    pub(super) fn change(&mut self) -> Option<Change> {
        let now = self.count;
        self.lately.retain(|changed| changed.at + LATELY >= now);
        let last = self.seen.back()?;
        if let Some(factor) = self.of_many()
            && self.is_confirmed_by_sources()
        {
            let mut changed = Vec::new();
            self.add_blurred(factor, &mut changed);
            return Some(self.of_port(factor, changed));
        }
        let (own, needed) = self.of_channel(&last.came, OF_CHANNEL)?;
        let (came, is_fast) = (last.came.clone(), last.pace == Pace::Fast);
        let confirmed = self.is_confirmed_by_sources();
        let mut alike: Vec<Changed> = Vec::new();
        for other in channels(self.seen.iter().rev()).iter().filter(|other| other.server != came.server) {
            if let Some((factor, needed)) = self.of_channel(other, OF_CHANNEL) {
                alike.push(self.changed(other, factor, needed));
            }
        }
        for earlier in self.lately.iter().filter(|changed| changed.server != came.server) {
            if !alike.iter().any(|other| (&other.group, &other.server) == (&earlier.group, &earlier.server)) {
                alike.push(self.since(earlier));
            }
        }
        alike.retain(|other| are_alike(other.factor, own));
        let mut servers: Vec<&str> = alike.iter().map(|changed| changed.server.as_str()).collect();
        servers.sort_unstable();
        servers.dedup();
        let enough = servers.len() >= if own > 1.0 { 1 } else { 2 };
        if confirmed && enough && own > 0.0 && !self.is_refuted(&alike, &came, (own, needed)) {
            alike.push(self.changed(&came, own, needed));
            // The one of which the most was known before says best by how much.
            let most = alike.iter().max_by(|a, b| a.count.total_cmp(&b.count));
            let factor = most.map_or(own, |most| most.factor);
            self.add_blurred(factor, &mut alike);
            return Some(self.of_port(factor, alike));
        }
        if is_fast && (!confirmed || self.of_channel(&came, OF_ONE_FAST_SERVER).is_none()) {
            return None;
        }
        let changed =
            Changed { anew: true, outcomes: self.all_of(&came, needed), ..self.changed(&came, own, needed) };
        self.seen.retain(|seen| !is_same(&seen.came, &came));
        self.lately.retain(|other| (&other.group, &other.server) != (&changed.group, &changed.server));
        self.lately.push_back(changed.clone());
        if self.lately.len() > CHANGES {
            self.lately.pop_front();
        }
        Some(Change::Channel(changed))
    }

    fn of_port(&mut self, factor: f64, changed: Vec<Changed>) -> Change {
        let is_known =
            |came: &Came| changed.iter().any(|changed| changed.outcomes.iter().any(|other| other == came));
        let waits = |seen: &Seen| seen.pace == Pace::Slow && !is_known(&seen.came);
        let waiting = self.seen.drain(..).filter(waits).map(|seen| seen.came).collect();
        self.lately.clear();
        self.noise.change_unit(factor);
        Change::Port(factor, changed, waiting)
    }

    /// Whether outcomes have come from two sources lately, or from the only one there is.
    fn is_confirmed_by_sources(&self) -> bool {
        let Some(last) = self.seen.back() else { return false };
        let other = |seen: &Seen| seen.came.source != last.came.source;
        let odd = |seen: &&Seen| seen.ratio().is_some_and(|ratio| !(1.0 / CHANGE..=CHANGE).contains(&ratio));
        self.seen.iter().filter(odd).any(other) || !self.seen.iter().any(other)
    }

    /// The factor by which a channel has changed, if `least` of its last outcomes or more show one, and how
    /// many of them it takes. If several sources have reported on the channel, two of them must say so.
    fn of_channel(&self, came: &Came, least: usize) -> Option<(f64, usize)> {
        let of = self.outcomes_of(came, KEPT);
        let sources = |of: &[&Seen]| of.iter().any(|seen| seen.came.source != of[0].came.source);
        let several = sources(&of);
        let enough = |last: &usize| !several || sources(&of[..*last]);
        (least..=of.len()).filter(enough).find_map(|last| Some((self.factor(&of[..last])?, last)))
    }

    /// The mean of the ratios of some outcomes, if it is far from 1; none if nothing was believed of any.
    fn factor(&self, seen: &[&Seen]) -> Option<f64> {
        let ratios: Option<Vec<f64>> = seen.iter().map(|seen| seen.ratio()).collect();
        let ratios = ratios.filter(|ratios| ratios.len() > 1)?;
        let (count, mean) = (ratios.len() as f64, mean(&ratios));
        let squares: f64 = ratios.iter().map(|ratio| (ratio - mean) * (ratio - mean)).sum();
        let bases = || seen.iter().filter_map(|seen| seen.base);
        let absolute = bases().map(|(believed, _)| self.noise.absolute(believed)).sum::<f64>() / count;
        let relative = self.noise.relative();
        let behind = bases().map(|(_, count)| 1.0 / count.max(1.0)).sum::<f64>() / count;
        let error = (1.0 / count + behind).sqrt();
        let least = relative.max(absolute) * error;
        // Noise that is cut off at 0 gives zeros, but not one small speed after the other.
        let tiny = ratios.len() >= OF_CHANNEL && ratios.iter().all(|&r| r > 0.0 && r < 1.0 / FAR);
        let differs = match mean > 1.0 {
            true => mean - 1.0 > SURE_FASTER * least,
            false => tiny || 1.0 - mean > SURE_SLOWER * least,
        };
        let deviation = (squares / (count - 1.0)).sqrt();
        let is_sure = (mean - 1.0).abs() > SURE * deviation / count.sqrt();
        let changed = differs && is_sure && !(1.0 / CHANGE..=CHANGE).contains(&mean);
        changed.then_some(mean)
    }

    /// The outcomes of a channel among the last ones, the newest first.
    fn outcomes_of(&self, came: &Came, last: usize) -> Vec<&Seen> {
        self.seen.iter().rev().take(last).filter(|seen| is_same(&seen.came, came)).collect()
    }

    /// The factor by which many servers have changed that have too few outcomes each.
    fn of_many(&self) -> Option<f64> {
        let last: Vec<&Seen> = self.seen.iter().rev().take(OF_MANY).collect();
        let reports = last.iter().filter(|seen| seen.came.report != last[0].came.report).count();
        if reports < OF_CHANNEL {
            return None;
        }
        let mut servers: Vec<&str> = last.iter().map(|seen| seen.came.server.as_str()).collect();
        servers.sort_unstable();
        servers.dedup();
        let factor = self.factor(&last).filter(|_| last.len() == OF_MANY && servers.len() >= 3)?;
        let near =
            last.iter().filter_map(|seen| seen.ratio()).filter(|&ratio| are_alike(ratio, factor)).count();
        (factor > 0.0 && near * 8 >= OF_MANY * 7).then_some(factor)
    }

    /// Whether another server is as fast as before, by its last outcomes. If a channel is faster now, what
    /// others have shown before says nothing.
    fn is_refuted(&self, alike: &[Changed], came: &Came, (factor, needed): (f64, usize)) -> bool {
        let own = (0..self.seen.len()).rev().filter(|&at| is_same(&self.seen[at].came, came)).take(needed);
        let since = if factor > 1.0 { own.last().unwrap_or(0) } else { 0 };
        // Next to a factor that is so large no noise looks like it.
        let least = if factor > FAR { 1 } else { OF_CHANNEL };
        let others = channels(self.seen.iter().rev()).into_iter().filter(|other| {
            other.server != came.server && !alike.iter().any(|changed| changed.server == other.server)
        });
        let is_usual = |other: Came| {
            let of = self.seen.range(since..).rev().filter(|seen| is_same(&seen.came, &other));
            let ratios: Vec<f64> = of.take(OF_CHANNEL).filter_map(Seen::ratio).collect();
            ratios.len() >= least && (1.0 / CHANGE..CHANGE).contains(&mean(&ratios))
        };
        others.into_iter().any(is_usual)
    }

    /// A channel that has changed by a factor, which its outcomes among the last ones show.
    fn changed(&self, came: &Came, factor: f64, needed: usize) -> Changed {
        let mut of = self.outcomes_of(came, KEPT);
        of.truncate(needed);
        let learned = of.iter().filter(|seen| seen.pace == Pace::Usual).count() as f64;
        let count = of.first().and_then(|seen| seen.base).map_or(0.0, |(_, count)| count);
        // What was learned since has blurred what was known before, unless that was much more.
        let anew = learned * factor.max(1.0 / factor) > count / BLURRED;
        let outcomes = of.iter().rev().filter(|seen| anew || seen.pace != Pace::Usual);
        let outcomes = outcomes.map(|seen| seen.came.clone()).collect();
        let (group, server) = (came.group.clone(), came.server.clone());
        Changed { group, server, factor, count, outcomes, at: self.count, anew }
    }

    /// Adds channels with too few outcomes to show a change of the port, but with some since.
    fn add_blurred(&self, factor: f64, alike: &mut Vec<Changed>) {
        let shows = |seen: &&Seen| seen.ratio().is_some_and(|ratio| are_alike(ratio, factor));
        let first = self.seen.iter().position(|seen| shows(&seen));
        for came in channels(self.seen.iter().rev()) {
            if alike.iter().any(|changed| (&changed.group, &changed.server) == (&came.group, &came.server)) {
                continue;
            }
            let of = self.outcomes_of(&came, KEPT);
            let since = match of[0].base {
                Some(_) => of.iter().take_while(|seen| shows(seen)).count(),
                // It was unknown before: if it was first seen after the change, all of it is new.
                None if self.seen.iter().position(|seen| is_same(&seen.came, &came)) > first => of.len(),
                None => 0,
            };
            if since > 0 {
                alike.push(self.changed(&came, factor, since));
            }
        }
    }

    fn all_of(&self, came: &Came, last: usize) -> Vec<Came> {
        self.outcomes_of(came, KEPT).into_iter().take(last).rev().map(|seen| seen.came.clone()).collect()
    }

    /// A channel that has changed before, with its outcomes since.
    fn since(&self, earlier: &Changed) -> Changed {
        let mut changed = earlier.clone();
        let of = |seen: &&Seen| (&seen.came.group, &seen.came.server) == (&earlier.group, &earlier.server);
        changed.outcomes.extend(self.seen.iter().filter(of).map(|seen| seen.came.clone()));
        changed
    }
}

/// One outcome of each channel.
fn channels<'a>(seen: impl Iterator<Item = &'a Seen>) -> Vec<Came> {
    let mut all: Vec<Came> = Vec::new();
    for seen in seen {
        if !all.iter().any(|other| is_same(other, &seen.came)) {
            all.push(seen.came.clone());
        }
    }
    all
}

fn is_same(a: &Came, b: &Came) -> bool {
    (&a.group, &a.server) == (&b.group, &b.server)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn are_alike(a: f64, b: f64) -> bool {
    (b / ALIKE..=b * ALIKE).contains(&a)
}
