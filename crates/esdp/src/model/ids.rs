//! Newtype ids: a port can never be passed where a server is meant.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $word:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the cluster's list, for indexing.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id at a position of the cluster's list.
            ///
            /// # Panics
            /// If the position does not fit in 32 bits; [`Cluster`](super::Cluster)
            /// refuses lists that long.
            #[inline]
            pub fn at(index: usize) -> Self {
                Self(u32::try_from(index).expect("a cluster's lists fit in 32 bits"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, " {}"), self.0)
            }
        }
    };
}

id!(
    /// A type of computing device, *k* (CPU, memory, GPU, ...).
    DeviceId,
    "device"
);
id!(
    /// A server, *r*.
    ServerId,
    "server"
);
id!(
    /// A port, *l*: a job type.
    PortId,
    "port"
);
id!(
    /// A channel, *(l, r)*: a port and a server that may run its jobs.
    ChannelId,
    "channel"
);

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $word:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, " {}"), self.0)
            }
        }
    };
}

number!(
    /// A job, by the order in which jobs were submitted.
    JobId,
    "job"
);
number!(
    /// One start of a job. Tickets are handed out in order, from 1, and never again.
    Ticket,
    "ticket"
);

/// A time slot, *t*. The first one is 1, as in the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u64);

impl Slot {
    /// The first slot.
    pub const FIRST: Slot = Slot(1);

    /// The slot after this one.
    #[must_use]
    pub fn next(self) -> Slot {
        Slot(self.0.saturating_add(1))
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.0)
    }
}
