//! Outcomes between their report and what is learned of them: judged, set aside, accepted, dropped.

use super::effect::Effect;
use super::event::{EventError, SpeedReport};
use super::judge::{Beliefs, Came, Doubt, SetAside, Step, Verdict};
use super::speeds::{SpeedScale, Told};
use super::{Live, REMEMBERED_NAMES};
use crate::model::{ChannelId, ChannelKey, Observation, Outcome, PortId, Slot};

/// From how many outcomes on a channel is compared with what is believed of it.
const KNOWN: f64 = 0.5;

impl Live {
    /// What was set aside of late, by port, the oldest first.
    pub fn set_aside(&self) -> impl Iterator<Item = &SetAside> {
        self.judge.aside()
    }

    /// How many outcomes were set aside since the beginning.
    pub fn set_aside_count(&self) -> u64 {
        self.judge.count()
    }

    /// A report for a port that was checked.
    pub(super) fn check_report(&self, port: Option<PortId>, report: SpeedReport) -> Result<Told, EventError> {
        port.map_or_else(|| SpeedScale::new(None), |port| self.scale_of(port)).check(report)
    }

    fn scale_of(&self, port: PortId) -> SpeedScale {
        let spec = &self.described.ports[port.index()];
        self.scales.get(&spec.name).copied().unwrap_or_else(|| SpeedScale::new(spec.reference))
    }

    /// The outcome of a task: judged, and learned if it is believed. `who` says who has reported it and what
    /// it counts once by. Whether it is learned, now or a little later.
    pub(super) fn take_outcome(
        &mut self,
        (slot, channel): (Slot, ChannelId),
        told: Told,
        (source, report, ticketed): (&str, &str, bool),
        effects: &mut Vec<Effect>,
    ) -> Result<bool, EventError> {
        let cluster = std::sync::Arc::clone(self.scheduler.cluster());
        let (at, cost) = (cluster.channel(channel), cluster.cost(channel));
        let speed = match told {
            Told::Lost => return self.learn(slot, channel, Outcome::Censored),
            Told::Utility(utility) => utility + cost,
            Told::Speed(speed) => speed,
        };
        let port = &cluster.ports()[at.port.index()];
        let came = Came {
            slot,
            group: cluster.group_name(cluster.task_group(channel)).to_owned(),
            server: cluster.servers()[at.server.index()].clone(),
            source: source.to_owned(),
            report: report.to_owned(),
            ticketed,
            speed,
        };
        let is_utility = matches!(told, Told::Utility(_));
        let scale = if is_utility { SpeedScale::new(None) } else { self.scale_of(at.port) };
        let mut judge = std::mem::take(&mut self.judge);
        let known = |channel| {
            let (speed, _, count) = self.known_speed(channel)?;
            Some((scale.in_unit(speed), count))
        };
        let all = cluster.channels_of(at.port);
        let beliefs = Beliefs {
            own: known(channel),
            fastest: &|| self.fastest(at.port, &scale),
            servers: all.iter().any(|&other| cluster.channel(other).server != at.server),
        };
        let (verdict, steps) = match is_utility {
            true => (judge.judge_utility(port, came, &beliefs), Vec::new()),
            false => judge.judge(port, came, &beliefs),
        };
        self.judge = judge;
        let learned = match verdict {
            Verdict::Believed(believed) if is_utility => {
                let utility = match told {
                    Told::Utility(utility) if believed == speed => utility,
                    _ => (believed - cost).clamp(0.0, 1.0),
                };
                self.learn(slot, channel, Outcome::Ran(utility))?
            }
            Verdict::Believed(believed) => self.learn_speed(slot, channel, believed)?,
            // The use is open no more; what is learned of it later needs none.
            Verdict::Waits | Verdict::Aside(_) => {
                self.learn(slot, channel, Outcome::Censored)?;
                verdict == Verdict::Waits
            }
        };
        if let Verdict::Aside(why) = verdict {
            effects.push(Effect::SetAside { id: self.judge.count(), why });
        }
        self.carry_out(port, steps, effects)?;
        if !is_utility && matches!(verdict, Verdict::Believed(_)) {
            let steps = self.judge.take_back(port);
            if !steps.is_empty() {
                effects.push(Effect::SetAside { id: self.judge.count(), why: Doubt::Alone });
            }
            self.carry_out(port, steps, effects)?;
            if self.judge.shown(port).is_some_and(|(_, due)| due) {
                self.lower_scale(at.port);
            }
        }
        self.counts.learned += u64::from(learned);
        Ok(learned)
    }

    /// What is believed of a channel's speed, from 0 to 1, the average of what was seen of it, and how many
    /// outcomes that was; none if it is too little.
    fn known_speed(&self, channel: ChannelId) -> Option<(f64, f64, f64)> {
        let learned = self.scheduler.policy().learned()?;
        let record = learned.record(channel);
        let cost = self.scheduler.cluster().cost(channel);
        let speed = |utility: f64| (utility + cost).max(0.0);
        let average = record.sum / record.count;
        (record.count > KNOWN).then(|| (speed(learned.estimate(channel)), speed(average), record.count))
    }

    fn fastest(&self, port: PortId, scale: &SpeedScale) -> f64 {
        let all = self.scheduler.cluster().channels_of(port).iter();
        let known = all.filter_map(|&channel| self.known_speed(channel));
        scale.in_unit(known.map(|(believed, average, _)| believed.max(average)).fold(0.0, f64::max))
    }

    /// The scale of a port comes down where all of its speeds are far below the end.
    fn lower_scale(&mut self, port: PortId) {
        let spec = &self.described.ports[port.index()];
        let Some(mut scale) = self.scales.get(&spec.name).copied() else { return };
        let shown = self.judge.shown(&spec.name).map_or(0.0, |(shown, _)| shown);
        let largest = self.fastest(port, &scale).max(shown);
        if let Some(factor) = scale.lower(largest, spec.reference.is_some()) {
            self.scales.insert(spec.name.clone(), scale);
            self.scheduler.rescale(port, factor);
        }
    }

    fn learn_speed(&mut self, slot: Slot, channel: ChannelId, speed: f64) -> Result<bool, EventError> {
        let port = self.scheduler.cluster().channel(channel).port;
        let mut scale = self.scale_of(port);
        let (scaled, raised) = scale.take(speed, self.is_unit_free());
        self.scales.insert(self.described.ports[port.index()].name.clone(), scale);
        if let Some(factor) = raised {
            self.scheduler.rescale(port, factor);
        }
        let utility = self.scheduler.cluster().net_utility(channel, scaled);
        self.learn(slot, channel, Outcome::Ran(utility))
    }

    /// Whether something was learned.
    fn learn(&mut self, slot: Slot, channel: ChannelId, outcome: Outcome) -> Result<bool, EventError> {
        let seen = Observation { slot, channel, outcome };
        self.scheduler.observe(&seen).map_err(|error| EventError::Schedule(error.to_string()))?;
        Ok(outcome != Outcome::Censored)
    }

    /// What follows from an outcome for others of its port.
    fn carry_out(
        &mut self,
        port: &str,
        steps: Vec<Step>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        let mut confirmed = 0;
        for step in steps {
            match step {
                Step::Confirmed(count) => confirmed += count,
                Step::Learn(came) => {
                    let key = ChannelKey { port: port.to_owned(), group: came.group, server: came.server };
                    // A channel that has left since teaches nothing.
                    if let Some(channel) = self.channel_of(self.scheduler.cluster(), &key) {
                        self.learn_speed(came.slot, channel, came.speed)?;
                    }
                }
                Step::Forget(group, server) => {
                    let key = ChannelKey { port: port.to_owned(), group, server };
                    if let Some(channel) = self.channel_of(self.scheduler.cluster(), &key) {
                        self.scheduler.reset(channel);
                    }
                }
                Step::Unit(factor) => {
                    let scale = self.scales.get_mut(port);
                    if let Some(scale) = scale.filter(|scale| (scale.unit * factor).is_normal()) {
                        scale.unit *= factor;
                    }
                }
                Step::Scale => {
                    let at = self.names.port(port)?;
                    match self.scale_of(at).is_own {
                        // An absurd speed has made its reference.
                        true => drop(self.scales.remove(port)),
                        false => self.lower_scale(at),
                    }
                }
            }
        }
        if confirmed > 0 {
            self.counts.learned += confirmed as u64;
            effects.push(Effect::Confirmed { uses: confirmed });
        }
        Ok(())
    }

    /// An operator says what becomes of an outcome that was set aside.
    pub(super) fn settle_aside(
        &mut self,
        id: u64,
        accept: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        let unknown = || EventError::Unknown { what: "outcome that was set aside", name: id.to_string() };
        let aside = self.judge.take(id).ok_or_else(unknown)?;
        if accept {
            self.judge.accept(&aside);
            self.carry_out(
                &aside.channel.port,
                vec![Step::Confirmed(1), Step::Learn(aside.came())],
                effects,
            )?;
        }
        Ok(())
    }

    /// Whether anything that is remembered of outcomes came from a source.
    pub fn has_source(&self, source: &str) -> bool {
        self.judge.has_source(source)
    }

    /// What a source has reported is forgotten.
    pub(super) fn forget_source(&mut self, source: &str) -> Result<(), EventError> {
        for port in self.judge.ports_of(source) {
            self.reset(Some(&port), None)?;
        }
        for (port, steps) in self.judge.forget_source(source) {
            self.carry_out(&port, steps, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Ports come and go for years.
    pub(super) fn forget_judged(&mut self) {
        if self.judge.len() > REMEMBERED_NAMES {
            let names = &self.names;
            self.judge.keep(|port| names.port(port).is_ok());
        }
    }
}
