//! How fast a job runs whose tasks run together: as fast as all of them, or as fast as the slowest.
//!
//! Data-parallel training and MPI wait for each other at every step. Such a job runs at the speed of its
//! slowest task, and slower still if it spans servers: by the port's *crossing*, a factor above 0 and up to
//! 1.

use super::{ChannelId, Cluster, PortId};
use serde::{Deserialize, Serialize};

/// How fast the jobs of a port run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The speeds of the tasks add up.
    #[default]
    Sum,
    /// Each task runs as fast as the slowest of its job.
    Slowest {
        /// What a job keeps of its speed if it spans servers, above 0, at most 1.
        crossing: f64,
    },
}

impl Pace {
    /// From what users write: a word, and what a job keeps of its speed if it spans servers.
    ///
    /// # Errors
    /// With the key, the value and what is accepted.
    pub fn from_words(
        pace: PaceWord,
        crossing: Option<f64>,
    ) -> Result<Self, (&'static str, f64, &'static str)> {
        match (pace, crossing) {
            (PaceWord::Sum, None) => Ok(Self::Sum),
            (PaceWord::Sum, Some(found)) => Err(("crossing", found, "none, where `pace` is \"sum\"")),
            (PaceWord::Slowest, crossing) => {
                let crossing = crossing.unwrap_or(1.0);
                match crossing > 0.0 && crossing <= 1.0 {
                    true => Ok(Self::Slowest { crossing }),
                    false => Err(("crossing", crossing, "a number above 0, at most 1")),
                }
            }
        }
    }

    pub(super) fn is_sum(&self) -> bool {
        *self == Self::Sum
    }

    /// Its word.
    pub fn word(self) -> PaceWord {
        match self {
            Self::Sum => PaceWord::Sum,
            Self::Slowest { .. } => PaceWord::Slowest,
        }
    }

    /// What a job keeps of its speed if it spans servers, where it runs at the speed of its slowest task;
    /// none where speeds add up.
    pub fn crossing(self) -> Option<f64> {
        match self {
            Self::Sum => None,
            Self::Slowest { crossing } => Some(crossing),
        }
    }
}

/// How fast the jobs of a port run, as users write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PaceWord {
    /// The speeds of a job's tasks add up.
    #[default]
    Sum,
    /// A job's tasks wait for each other: each runs as fast as the slowest.
    Slowest,
}

impl Cluster {
    /// What a job of a port keeps of its speed if it spans servers, where it runs at the speed of its slowest
    /// task; none where the speeds of its tasks add up.
    pub fn crossing(&self, port: PortId) -> Option<f64> {
        self.pace(port).crossing()
    }

    /// How many servers some tasks run on.
    pub fn nodes(&self, channels: &[ChannelId]) -> usize {
        let server = |&channel: &ChannelId| self.channel(channel).server;
        let is_first = |at: usize| channels[..at].iter().all(|other| server(other) != server(&channels[at]));
        (0..channels.len()).filter(|&at| is_first(at)).count()
    }

    /// Whether some tasks run on more than one server.
    pub fn spans(&self, channels: &[ChannelId]) -> bool {
        let server = |channel: &ChannelId| self.channel(*channel).server;
        channels.iter().any(|channel| server(channel) != server(&channels[0]))
    }

    /// How much a job of a port does in a slot, where its tasks alone would do `speed`, in the order of
    /// `channels`.
    pub fn progress(&self, port: PortId, channels: &[ChannelId], speed: impl Fn(usize) -> f64) -> f64 {
        let Some(crossing) = self.crossing(port).filter(|_| !channels.is_empty()) else {
            return (0..channels.len()).map(speed).sum();
        };
        let slowest = (0..channels.len()).map(speed).fold(f64::INFINITY, f64::min);
        let kept = if self.spans(channels) { crossing } else { 1.0 };
        // What is worth less than nothing is not made better by crossing.
        channels.len() as f64 * if slowest > 0.0 { kept * slowest } else { slowest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Capacity, ChannelSpec, ClusterSpec, GangSpec};

    #[test]
    fn a_job_is_as_fast_as_its_slowest_task_and_loses_by_crossing() {
        let gang = |port, pace| GangSpec { pace, ..GangSpec::new(port, 2, &[2]) };
        let cluster = Cluster::new(ClusterSpec {
            devices: vec!["gpu".into()],
            servers: vec!["a".into(), "b".into()],
            ports: vec!["sum".into(), "slowest".into(), "single".into()],
            channels: (0..6).map(|id| ChannelSpec::new(id / 2, id % 2, vec![1])).collect(),
            capacity: Capacity::per_server(vec![vec![4], vec![4]]),
            gangs: vec![
                gang(0, Pace::Sum),
                gang(1, Pace::Slowest { crossing: 0.5 }),
                GangSpec { pace: Pace::Slowest { crossing: 0.5 }, ..GangSpec::new(2, 1, &[1]) },
            ],
            ..ClusterSpec::default()
        })
        .unwrap();
        let of = |port: u32, channels: [u32; 2], speeds: [f64; 2]| {
            cluster.progress(PortId(port), &channels.map(ChannelId), |task| speeds[task])
        };
        assert_eq!(of(0, [0, 1], [0.75, 0.25]), 1.0);
        assert_eq!(of(1, [2, 3], [0.75, 0.25]), 0.25);
        assert_eq!(of(1, [2, 2], [0.75, 0.75]), 1.5);
        assert_eq!(of(1, [2, 3], [0.75, -0.5]), -1.0);
        assert_eq!(cluster.nodes(&[2, 3, 2].map(ChannelId)), 2);
        assert_eq!(cluster.pace(PortId(2)), Pace::Sum, "a job of one task waits for nobody");
        assert!(cluster.has_slowest());
    }

    #[test]
    fn words_are_checked() {
        assert_eq!(Pace::from_words(PaceWord::Slowest, None), Ok(Pace::Slowest { crossing: 1.0 }));
        assert_eq!(Pace::from_words(PaceWord::Sum, Some(0.5)).unwrap_err().0, "crossing");
        for wrong in [0.0, 1.1, f64::NAN] {
            assert!(Pace::from_words(PaceWord::Slowest, Some(wrong)).is_err());
        }
    }
}
