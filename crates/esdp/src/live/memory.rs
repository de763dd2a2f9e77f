//! Names that were used before, the last of them.

use serde::{Deserialize, Serialize, Serializer};
use std::collections::{HashSet, VecDeque};

/// How many names are remembered.
pub const REMEMBERED_NAMES: usize = 1 << 16;

/// The last names that were added, to know them again.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct Memory {
    order: VecDeque<String>,
    known: HashSet<String>,
}

impl Memory {
    pub(super) fn knows(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Adds a name; the oldest is forgotten where there are too many.
    pub(super) fn add(&mut self, name: &str) {
        if self.known.insert(name.to_owned()) {
            self.order.push_back(name.to_owned());
            if self.order.len() > REMEMBERED_NAMES
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
    }
}

impl From<Vec<String>> for Memory {
    fn from(names: Vec<String>) -> Self {
        let known = names.iter().cloned().collect();
        Self { order: names.into(), known }
    }
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.order.serialize(serializer)
    }
}
