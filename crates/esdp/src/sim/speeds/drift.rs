//! How mean speeds change over time: not at all, in switches, or as a sinusoid.
//!
//! A drift multiplies a channel's mean speed by a factor that depends on the slot:
//!
//! - `switch`: every `every` slots a share of the servers is drawn anew and slowed to `factor`
//!   (throttling, a noisy neighbour). All channels of a slowed server are slow.
//! - `ramp`: a server, those with a label, or the first ones change their speed to `factor`, at once or bit
//!   by
//!   bit, and stay there (a rack that is throttled, a machine that degrades, an upgrade);
//! - `sine`: `1 + amplitude sin(2 pi (t / period + phase))`, with a phase of its own for every channel.

use crate::model::{ChannelId, Cluster, Slot};
use crate::rng::{Purpose, stream};
use crate::sim::outage::{check_one_name, chosen};
use crate::sim::parameter::{ParameterError, check_number, check_whole};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::sync::Arc;

/// How mean speeds change over time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Drift {
    /// They never change.
    #[default]
    None,
    /// A share of the servers is slow for a while.
    Switch {
        /// The share of slow servers, 0 to 1 (default: 0.35).
        #[serde(default = "share")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share")))]
        share: f64,
        /// What is left of a slow server's speed, 0 to 1 (default: 0.4).
        #[serde(default = "factor")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1)))]
        factor: f64,
        /// The slots between two draws, at least 1 (default: 500).
        #[serde(default = "every")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "x-unit" = "slots")))]
        every: u64,
    },
    /// Some servers become slower or faster for good.
    Ramp {
        /// The share of servers, 0 to 1, the first ones; 1 by default. Not beside `server` or `label`.
        #[serde(default = "all")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share")))]
        share: f64,
        /// Instead: the server of this name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// Instead: the servers with this label, such as that of a rack.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// What their speed is multiplied with in the end, 0 to 10.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 10)))]
        factor: f64,
        /// The last slot before the change: with 100, slot 101 is the first that differs. Slots count from 1;
        /// `servers.outages[].from` is the first slot itself.
        #[cfg_attr(feature = "schema", schemars(extend("x-unit" = "slots")))]
        from: u64,
        /// The first slot in which the change is complete; `from` and 1 by default, at once.
        #[serde(default)]
        #[cfg_attr(
            feature = "schema",
            schemars(extend("x-unit" = "slots", "x-range" = "above `from`, or 0"))
        )]
        to: u64,
    },
    /// Every channel waxes and wanes.
    Sine {
        /// The largest change as a share of the mean, 0 to 1 (default: 0.5).
        #[serde(default = "amplitude")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1, "x-unit" = "share")))]
        amplitude: f64,
        /// The slots of a full wave, at least 1 (default: 2000).
        #[serde(default = "period")]
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "x-unit" = "slots")))]
        period: u64,
    },
}

fn all() -> f64 {
    1.0
}

fn share() -> f64 {
    0.35
}

fn factor() -> f64 {
    0.4
}

fn every() -> u64 {
    500
}

fn amplitude() -> f64 {
    0.5
}

fn period() -> u64 {
    2000
}

impl Drift {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        match self {
            Drift::None => Ok(()),
            &Drift::Switch { share, factor, every } => {
                check_number("drift.share", share, 0.0..=1.0)?;
                check_number("drift.factor", factor, 0.0..=1.0)?;
                check_whole("drift.every", every, 1..=u64::MAX)
            }
            &Drift::Ramp { share, ref server, ref label, factor, from, to } => {
                check_number("drift.share", share, 0.0..=1.0)?;
                if server.is_some() || label.is_some() {
                    check_one_name("drift", server.as_deref(), label.as_deref())?;
                    if share != 1.0 {
                        let accepted = "no share beside `server` or `label`";
                        return Err(ParameterError::new("drift.share", share, accepted));
                    }
                }
                check_number("drift.factor", factor, 0.0..=10.0)?;
                check_whole("drift.from", from, 0..=u64::MAX - 1)?;
                if to == 0 { Ok(()) } else { check_whole("drift.to", to, from + 1..=u64::MAX) }
            }
            &Drift::Sine { amplitude, period } => {
                check_number("drift.amplitude", amplitude, 0.0..=1.0)?;
                check_whole("drift.period", period, 1..=u64::MAX)
            }
        }
    }
}

/// A drift of one cluster under one seed.
#[derive(Debug, Clone)]
pub(super) enum Drifting {
    None,
    Switch {
        cluster: Arc<Cluster>,
        seed: u64,
        slow: usize,
        factor: f64,
        every: u64,
        regime: Option<u64>,
        is_slow: Vec<bool>,
    },
    Ramp {
        cluster: Arc<Cluster>,
        /// By server.
        changed: Vec<bool>,
        factor: f64,
        from: u64,
        to: u64,
    },
    Sine {
        amplitude: f64,
        period: u64,
        phase: Vec<f64>,
    },
}

impl Drifting {
    /// # Errors
    /// When there is no such server.
    pub(super) fn new(drift: &Drift, cluster: &Arc<Cluster>, seed: u64) -> Result<Self, ParameterError> {
        Ok(match drift {
            Drift::None => Self::None,
            &Drift::Switch { share, factor, every } => {
                let servers = cluster.servers().len();
                let slow = (share * servers as f64).round() as usize;
                let (regime, is_slow) = (None, vec![false; servers]);
                Self::Switch { cluster: Arc::clone(cluster), seed, slow, factor, every, regime, is_slow }
            }
            &Drift::Ramp { share, ref server, ref label, factor, from, to } => {
                let servers = cluster.servers().len();
                let mut changed = vec![false; servers];
                if server.is_some() || label.is_some() {
                    let chosen = chosen(cluster, server.as_deref(), label.as_deref());
                    if let (Some(name), true) = (server, chosen.is_empty()) {
                        let found = format!("{name:?}");
                        return Err(ParameterError::new("drift.server", found, "the name of a server"));
                    }
                    chosen.into_iter().for_each(|server| changed[server.index()] = true);
                } else {
                    changed[..(share * servers as f64).round() as usize].fill(true);
                }
                Self::Ramp { cluster: Arc::clone(cluster), changed, factor, from, to: to.max(from + 1) }
            }
            &Drift::Sine { amplitude, period } => {
                let mut rng = stream(seed, Purpose::Drift, 0, 0);
                let phase = (0..cluster.channels().len()).map(|_| rng.random()).collect();
                Self::Sine { amplitude, period, phase }
            }
        })
    }

    /// Slots of the same number have the same factors; none when every slot differs.
    pub(super) fn regime(&self, slot: Slot) -> Option<u64> {
        match self {
            Self::None => Some(0),
            Self::Switch { every, .. } => Some(slot.0.saturating_sub(1) / every),
            Self::Ramp { from, to, .. } => match slot.0 {
                before if before <= *from => Some(0),
                after if after >= *to => Some(1),
                _ => None,
            },
            Self::Sine { .. } => None,
        }
    }

    /// What a channel's mean speed is multiplied with in a slot.
    pub(super) fn factor(&mut self, slot: Slot, channel: ChannelId) -> f64 {
        let now = self.regime(slot);
        match self {
            Self::None => 1.0,
            Self::Switch { cluster, seed, slow, factor, regime, is_slow, .. } => {
                if *regime != now {
                    *regime = now;
                    draw(*seed, now.unwrap_or_default(), *slow, is_slow);
                }
                if is_slow[cluster.channel(channel).server.index()] { *factor } else { 1.0 }
            }
            Self::Ramp { cluster, changed, factor, from, to } => {
                let way = slot.0.saturating_sub(*from) as f64 / (*to - *from) as f64;
                let is_changed = changed[cluster.channel(channel).server.index()];
                if is_changed { 1.0 + (*factor - 1.0) * way.min(1.0) } else { 1.0 }
            }
            Self::Sine { amplitude, period, phase } => {
                // The remainder keeps the angle exact however long a run is.
                let turn = (slot.0 % *period) as f64 / *period as f64 + phase[channel.index()];
                1.0 + *amplitude * (TAU * turn).sin()
            }
        }
    }
}

/// Draws exactly `slow` servers.
fn draw(seed: u64, regime: u64, slow: usize, is_slow: &mut [bool]) {
    let mut rng = stream(seed, Purpose::Drift, regime, 1);
    is_slow.fill(false);
    let mut wanted = slow;
    let servers = is_slow.len();
    for (server, is_slow) in is_slow.iter_mut().enumerate() {
        // Selection sampling: each of the remaining servers is as likely as the others.
        if rng.random_range(0..servers - server) < wanted {
            *is_slow = true;
            wanted -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::RandomCluster;

    fn cluster() -> Arc<Cluster> {
        Arc::new(RandomCluster::default().generate(1).unwrap())
    }

    #[test]
    fn a_share_of_the_servers_is_slow_and_changes() {
        let drift = Drift::Switch { share: 0.35, factor: 0.4, every: 500 };
        let mut drifting = Drifting::new(&drift, &cluster(), 3).unwrap();
        let mut often = vec![0; 40];
        let mut before = Vec::new();
        for regime in 0..400 {
            drifting.factor(Slot(regime * 500 + 1), ChannelId(0));
            let Drifting::Switch { is_slow, .. } = &drifting else { panic!("a switch") };
            assert_eq!(is_slow.iter().filter(|slow| **slow).count(), 14);
            assert_ne!(*is_slow, before);
            before.clone_from(is_slow);
            is_slow.iter().zip(&mut often).for_each(|(slow, count)| *count += i32::from(*slow));
        }
        // 140 each; the standard deviation is 9.5.
        assert!(often.iter().all(|count| (100..=180).contains(count)), "{often:?}");
    }

    #[test]
    fn slots_of_a_regime_agree_in_any_order() {
        let drift = Drift::Switch { share: 0.5, factor: 0.4, every: 10 };
        let mut drifting = Drifting::new(&drift, &cluster(), 3).unwrap();
        let mut at = |slot| (0..20).map(|c| drifting.factor(Slot(slot), ChannelId(c))).collect::<Vec<_>>();
        let (first, next) = (at(10), at(11));
        assert_ne!(first, next);
        assert_eq!(at(1), first);
        assert_eq!(at(20), next);
    }

    fn ramp(share: f64, server: Option<&str>, factor: f64, to: u64) -> Drift {
        Drift::Ramp { share, server: server.map(str::to_owned), label: None, factor, from: 100, to }
    }

    #[test]
    fn a_ramp_of_a_server_leaves_the_others_alone() {
        let cluster = cluster();
        let server = cluster.channel(ChannelId(3)).server;
        let drift = ramp(1.0, Some(&cluster.servers()[server.index()]), 0.2, 0);
        let mut drifting = Drifting::new(&drift, &cluster, 3).unwrap();
        let mut hit = 0;
        for channel in (0..cluster.channels().len()).map(ChannelId::at) {
            let is_hit = cluster.channel(channel).server == server;
            hit += u32::from(is_hit);
            let expected = if is_hit { 0.2 } else { 1.0 };
            assert!((drifting.factor(Slot(200), channel) - expected).abs() < 1e-12);
        }
        assert!(hit > 0, "the server has a channel");
        let unknown = Drifting::new(&ramp(1.0, Some("a100"), 0.2, 0), &cluster, 3).unwrap_err();
        assert_eq!(unknown.to_string(), "`drift.server` is \"a100\", expected the name of a server");
        assert!(
            ramp(0.5, Some("server-7"), 0.2, 0).check().unwrap_err().to_string().contains("no share beside")
        );
    }

    #[test]
    fn a_ramp_changes_the_first_servers_for_good() {
        let cluster = cluster();
        let (ramp, step) = (ramp(0.5, None, 0.2, 200), ramp(1.0, None, 1.5, 0));
        let [mut ramp, mut step] = [ramp, step].map(|drift| Drifting::new(&drift, &cluster, 3).unwrap());
        for channel in (0..cluster.channels().len()).map(ChannelId::at) {
            let first = cluster.channel(channel).server.0 < 20;
            for (slot, expected) in [(1, 1.0), (100, 1.0), (150, 0.6), (200, 0.2), (9000, 0.2)] {
                let found = ramp.factor(Slot(slot), channel);
                assert!((found - if first { expected } else { 1.0 }).abs() < 1e-12, "{slot}: {found}");
            }
            assert_eq!([100, 101, 500].map(|slot| step.factor(Slot(slot), channel)), [1.0, 1.5, 1.5]);
        }
        assert_eq!([100, 150, 200].map(|slot| ramp.regime(Slot(slot))), [Some(0), None, Some(1)]);
    }

    #[test]
    fn a_sine_has_its_mean_and_period() {
        let sine = Drift::Sine { amplitude: 0.5, period: 2000 };
        let mut drifting = Drifting::new(&sine, &cluster(), 3).unwrap();
        let factors: Vec<f64> = (1..=2000).map(|slot| drifting.factor(Slot(slot), ChannelId(4))).collect();
        let mean = factors.iter().sum::<f64>() / 2000.0;
        let square = factors.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / 2000.0;
        assert!((mean - 1.0).abs() < 1e-9 && (square - 0.125).abs() < 1e-9, "{mean} {square}");
        assert_eq!(drifting.factor(Slot(2007), ChannelId(4)), factors[6]);
        assert_ne!(drifting.factor(Slot(7), ChannelId(5)), factors[6]);
    }
}
