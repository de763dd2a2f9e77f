//! Families of slot problems to measure solvers on: drawn, not learned, each hard in its own way.
//!
//! | family | size | what it is |
//! |---|---|---|
//! | [`real-nodes`](Family::RealNodes) | servers x jobs | gangs on machines with hundreds of cores |
//! | [`congested`](Family::Congested) | jobs x servers | gangs on small servers, many more than fit |
//! | [`or-library`](Family::OrLibrary) | limits x channels | many-dimensional knapsacks by Chu and Beasley |
//! | [`ties`](Family::Ties) | channels x kinds | channels that are alike, or nearly |
//! | [`quotas`](Family::Quotas) | ports x servers | limits of servers, of the cluster and of every port |
//! | [`many-limits`](Family::ManyLimits) | limits x channels | small requests on more devices than usual |
//! | [`one-task`](Family::OneTask) | jobs x servers | jobs of one task, each on one or a few servers |
//! | [`pisinger`](Family::Pisinger) | channels x largest number | single knapsacks, from easy to hard |
//!
//! An instance is a function of family, size, index, seed and number ([`Draw`]). The number also
//! chooses the variant within a family, so that a run over consecutive numbers meets all of them.
//! Both indices of a draw share their cluster and their requests.
//!
//! ```
//! use esdp::sim::families::{Draw, Family, IndexKind};
//! use esdp::solver::{Greedy, Solver};
//!
//! let size = "16x30".parse()?;
//! let draw = Draw { family: Family::RealNodes, size, index: IndexKind::Linear, seed: 0, number: 0 };
//! let instance = draw.instance();
//! assert_eq!((instance.jobs.len(), instance.server_capacity.len()), (30, 3 * 16));
//! assert!(Greedy::default().solve(&instance.problem()?)?.value > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod congested;
mod gangs;
mod learner;
mod many_limits;
mod one_task;
mod or_library;
mod pisinger;
mod quotas;
mod real_nodes;
mod ties;

use crate::rng::{Purpose, Stream, stream};
use crate::solver::Instance;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// What kind of problems to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Gangs on machines of real size; sizes are servers x jobs.
    RealNodes,
    /// More gangs than small servers hold; sizes are jobs x servers.
    Congested,
    /// Chu and Beasley's knapsacks; sizes are limits x channels.
    OrLibrary,
    /// Channels that are alike; sizes are channels x kinds.
    Ties,
    /// Quotas beside the limits of servers and cluster; sizes are ports x servers.
    Quotas,
    /// Small requests on many devices; sizes are limits x channels.
    ManyLimits,
    /// Jobs of one task; sizes are jobs x servers.
    OneTask,
    /// Pisinger's single knapsacks; sizes are channels x the largest number.
    Pisinger,
}

/// The two numbers that say how large an instance is; what they count depends on the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dimensions(pub u32, pub u32);

/// Which index the numbers of an instance stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexKind {
    /// No widths.
    Linear,
    /// With a width for every channel, as a learner has them.
    Optimistic,
}

/// One instance by its name: everything that determines its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Draw {
    /// The family.
    pub family: Family,
    /// Its size.
    pub size: Dimensions,
    /// With widths or without.
    pub index: IndexKind,
    /// The seed of a series.
    pub seed: u64,
    /// The place in the series, which also chooses the variant.
    pub number: u64,
}

/// What makes text not a family or a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}`: expected {accepted}")]
pub struct FamilyError {
    /// The text found.
    pub value: String,
    /// What is accepted.
    pub accepted: String,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 8] = [
        Family::RealNodes,
        Family::Congested,
        Family::OrLibrary,
        Family::Ties,
        Family::Quotas,
        Family::ManyLimits,
        Family::OneTask,
        Family::Pisinger,
    ];

    /// The name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RealNodes => "real-nodes",
            Self::Congested => "congested",
            Self::OrLibrary => "or-library",
            Self::Ties => "ties",
            Self::Quotas => "quotas",
            Self::ManyLimits => "many-limits",
            Self::OneTask => "one-task",
            Self::Pisinger => "pisinger",
        }
    }

    /// The sizes that the project measures itself on.
    pub fn sizes(self) -> &'static [Dimensions] {
        match self {
            Self::RealNodes => {
                &[Dimensions(16, 30), Dimensions(40, 60), Dimensions(100, 100), Dimensions(400, 200)]
            }
            Self::Congested => &[Dimensions(100, 100), Dimensions(300, 40), Dimensions(400, 100)],
            Self::OrLibrary => &[
                Dimensions(5, 100),
                Dimensions(5, 500),
                Dimensions(10, 100),
                Dimensions(10, 250),
                Dimensions(10, 500),
                Dimensions(30, 100),
                Dimensions(30, 250),
                Dimensions(30, 500),
            ],
            Self::Ties => &[Dimensions(1_000, 5), Dimensions(20_000, 1)],
            Self::Quotas => &[Dimensions(8, 16), Dimensions(20, 40)],
            Self::ManyLimits => &[Dimensions(8, 400), Dimensions(20, 400)],
            Self::OneTask => &[Dimensions(400, 40)],
            Self::Pisinger => &[Dimensions(200, 1_000), Dimensions(1_000, 1_000_000)],
        }
    }

    /// The largest numbers that a size may have, so that an instance has at most some millions of numbers.
    fn largest(self) -> Dimensions {
        match self {
            Self::RealNodes | Self::Congested | Self::OneTask => Dimensions(5_000, 5_000),
            Self::Quotas => Dimensions(100, 1_000),
            Self::OrLibrary | Self::ManyLimits => Dimensions(200, 10_000),
            Self::Ties => Dimensions(1_000_000, 1_000_000),
            // Sums of squares stay exact in what reads them as floating point.
            Self::Pisinger => Dimensions(1_000_000, 10_000_000),
        }
    }

    /// Checks a size: both numbers from 1 to the family's largest.
    ///
    /// # Errors
    /// With what is accepted.
    pub fn check(self, size: Dimensions) -> Result<(), FamilyError> {
        let most = self.largest();
        if (1..=most.0).contains(&size.0) && (1..=most.1).contains(&size.1) {
            return Ok(());
        }
        let accepted = format!("a size of `{self}` from 1x1 to {most}");
        Err(FamilyError { value: size.to_string(), accepted })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Family {
    type Err = FamilyError;

    fn from_str(text: &str) -> Result<Self, FamilyError> {
        Self::ALL.into_iter().find(|family| family.name() == text).ok_or_else(|| FamilyError {
            value: text.to_owned(),
            accepted: format!("one of {}", Self::ALL.map(Family::name).join(", ")),
        })
    }
}

impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.0, self.1)
    }
}

impl FromStr for Dimensions {
    type Err = FamilyError;

    fn from_str(text: &str) -> Result<Self, FamilyError> {
        let parts = text.split_once('x').and_then(|(a, b)| Some(Self(a.parse().ok()?, b.parse().ok()?)));
        parts.ok_or_else(|| FamilyError {
            value: text.to_owned(),
            accepted: "a size such as 40x60".to_owned(),
        })
    }
}

impl IndexKind {
    /// Both.
    pub const ALL: [IndexKind; 2] = [IndexKind::Linear, IndexKind::Optimistic];
}

impl fmt::Display for IndexKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linear => "linear",
            Self::Optimistic => "optimistic",
        })
    }
}

impl fmt::Display for Draw {
    /// Also a file's name: `real-nodes-40x60-linear-0-7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, size, index, seed, number } = self;
        write!(f, "{family}-{size}-{index}-{seed}-{number}")
    }
}

impl Draw {
    /// Draws the instance. Sizes that [`Family::check`] refuses may take much memory.
    pub fn instance(&self) -> Instance {
        match self.family {
            Family::RealNodes => real_nodes::draw(self),
            Family::Congested => congested::draw(self),
            Family::OrLibrary => or_library::draw(self),
            Family::Ties => ties::draw(self),
            Family::Quotas => quotas::draw(self),
            Family::ManyLimits => many_limits::draw(self),
            Family::OneTask => one_task::draw(self),
            Family::Pisinger => pisinger::draw(self),
        }
    }

    /// The stream of everything but widths, so that both indices get the same of it.
    fn shape(&self) -> Stream {
        self.stream(0)
    }

    /// The stream of the widths.
    fn widths(&self) -> Stream {
        self.stream(1)
    }

    fn stream(&self, part: u64) -> Stream {
        let Dimensions(first, second) = self.size;
        // Both fit: a size has at most 24 bits in each number.
        let key = (self.family as u64) << 56 | part << 48 | u64::from(first) << 24 | u64::from(second);
        stream(self.seed, Purpose::Instances, self.number, key)
    }
}

#[cfg(test)]
mod tests;
