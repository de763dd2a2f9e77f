//! Which problems to measure, and how many slots of each.

use esdp::policy::{CucbSpec, EsdpIndexSpec, Estimator, PolicySpec};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// The sizes of the project's own targets.
pub(super) const SIZES: [Size; 11] = [
    Size::Channels { channels: 32, capacity: 2 },
    Size::Channels { channels: 32, capacity: 6 },
    Size::Channels { channels: 32, capacity: 12 },
    Size::Channels { channels: 32, capacity: 30 },
    Size::Channels { channels: 128, capacity: 40 },
    Size::Channels { channels: 1_000, capacity: 200 },
    Size::Channels { channels: 10_000, capacity: 2_000 },
    Size::Channels { channels: 100_000, capacity: 20_000 },
    Size::Gangs { ports: 8, servers: 40 },
    Size::Gangs { ports: 50, servers: 500 },
    Size::Gangs { ports: 200, servers: 5_000 },
];

/// More channels than this would not fit the memory of an ordinary machine.
pub(super) const LARGEST: usize = 10_000_000;

/// A cluster's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// Jobs of one task, a pooled capacity.
    Channels {
        /// The number of channels, *|E|*.
        channels: usize,
        /// The capacity of each device, *c_k*.
        capacity: u64,
    },
    /// Jobs of several tasks on servers with capacities of their own.
    Gangs { ports: usize, servers: usize },
}

impl Size {
    /// The number of channels; of gangs about how many.
    pub(super) fn channels(self) -> usize {
        match self {
            Self::Channels { channels, .. } => channels,
            // A job has one or two task groups.
            Self::Gangs { ports, servers } => (1.5 * edges(servers) * (ports * servers) as f64) as usize,
        }
    }
}

/// The chance that a port of gangs reaches a server: that of the presets `gang` and `gang-large`, less
/// where there are more servers.
pub(super) fn edges(servers: usize) -> f64 {
    match servers {
        0..=100 => 0.4,
        101..=1_000 => 0.2,
        _ => 0.1,
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channels { channels, capacity } => write!(f, "{channels}:{capacity}"),
            Self::Gangs { ports, servers } => write!(f, "{ports}x{servers}"),
        }
    }
}

/// Which index the learner uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Index {
    /// `mean + sqrt(width)` of the set as a whole.
    Optimistic,
    /// A bonus on every channel.
    Linear,
}

impl Index {
    pub(super) const ALL: [Index; 2] = [Index::Optimistic, Index::Linear];

    /// The policy that asks such problems. Of gangs one that learns across channels: others would spend their
    /// first slots on trying every channel once.
    pub(super) fn policy(self, size: Size) -> PolicySpec {
        let estimator = if matches!(size, Size::Gangs { .. }) { Estimator::Pooled } else { Estimator::Means };
        match self {
            Index::Optimistic => {
                PolicySpec::EsdpIndex(EsdpIndexSpec { estimator, ..EsdpIndexSpec::default() })
            }
            Index::Linear => PolicySpec::Cucb(CucbSpec { estimator, ..CucbSpec::default() }),
        }
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Index::Optimistic => "optimistic",
            Index::Linear => "linear",
        })
    }
}

/// One line of the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) size: Size,
    pub(super) index: Index,
    pub(super) slots: u64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.size, self.index)
    }
}

/// What the flags ask for.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) sizes: Vec<Size>,
    pub(super) slots: Option<u64>,
    pub(super) quick: bool,
    pub(super) seed: u64,
    /// How long each rival may take for each case.
    pub(super) rival_time: Duration,
}

/// A single problem of this size takes the MILP solver most of a minute, whatever its limit.
const SLOW_RIVALS: usize = 50_000;

impl Plan {
    pub(super) fn cases(&self) -> Vec<Case> {
        let cases = |&size| Index::ALL.map(|index| Case { size, index, slots: self.slots_of(size) });
        self.sizes.iter().flat_map(cases).collect()
    }

    /// All slots of all cases.
    pub(super) fn steps(&self) -> u64 {
        self.cases().iter().map(|case| case.slots).fold(0, u64::saturating_add)
    }

    /// Whether rivals get their turn: in a quick run not at the largest sizes.
    pub(super) fn has_rivals(&self, size: Size) -> bool {
        let most = match size {
            Size::Channels { .. } => SLOW_RIVALS,
            Size::Gangs { .. } => 1_000,
        };
        !self.quick || size.channels() <= most
    }

    /// So many that a case takes seconds and its learner has seen every channel several times; of large
    /// gangs, whose decisions take up to seconds, a handful.
    fn slots_of(&self, size: Size) -> u64 {
        let full = match (size, size.channels()) {
            (Size::Gangs { .. }, 0..=999) => 300,
            (Size::Gangs { .. }, 0..=99_999) => 20,
            (Size::Gangs { .. }, _) => 5,
            (_, 0..=99) => 2_000,
            (_, 100..=999) => 1_000,
            (_, 1_000..=9_999) => 500,
            (_, 10_000..=99_999) => 200,
            _ => 60,
        };
        self.slots.unwrap_or(if self.quick { full / 5 } else { full })
    }
}

/// Reads `channels:capacity`, or `ports` x `servers` of gangs.
pub(super) fn size(text: &str) -> Result<Size, String> {
    let channels = text.split_once(':').and_then(|(e, c)| Some((e.parse().ok()?, c.parse().ok()?)));
    let gangs = text.split_once('x').and_then(|(l, r)| Some((l.parse().ok()?, r.parse().ok()?)));
    let fits = |ports: usize, servers: usize| {
        ports.checked_mul(servers).is_some_and(|all| (1..=LARGEST).contains(&all))
    };
    match (channels, gangs) {
        (Some((channels, capacity)), _) if (1..=LARGEST).contains(&channels) => {
            Ok(Size::Channels { channels, capacity })
        }
        (_, Some((ports, servers))) if fits(ports, servers) => Ok(Size::Gangs { ports, servers }),
        _ => Err(format!(
            "expected channels:capacity, such as 32:6, with 1 to {LARGEST} channels, or ports x servers of \
             gangs, \
             such as 8x40, with a product of 1 to {LARGEST}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown_alike() {
        for known in SIZES {
            assert_eq!(size(&known.to_string()), Ok(known));
        }
        for bad in [
            "",
            "32",
            "32:",
            ":6",
            "0:6",
            "32:-1",
            "32:6:1",
            "1e9:1",
            "99999999999:1",
            "8x",
            "0x4",
            "9999999x99",
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
