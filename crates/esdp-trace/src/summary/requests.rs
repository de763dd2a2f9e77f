//! Request vectors: which there are, and how many tasks ask for each.
//!
//! Amounts are compared at a millionth of their unit. At most [`MOST_VECTORS`] different vectors and
//! [`MOST_DEVICES`] devices are told apart; what comes after that is counted together.

use crate::event::{DeviceAmounts, MOST_DEVICES};
use serde::Serialize;
use std::collections::HashMap;

/// The most different vectors.
pub const MOST_VECTORS: usize = 65_536;
const MICRO: f64 = 1e6;

/// A vector in millionths, by the numbers of its devices.
pub(crate) type Key = [i64; MOST_DEVICES];

/// The names of the devices that were met, in that order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Devices {
    names: Vec<String>,
}

impl Devices {
    /// The names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The vector of these amounts; devices beyond the most are left out.
    pub(crate) fn key(&mut self, amounts: DeviceAmounts<'_>) -> Key {
        let mut key = [0; MOST_DEVICES];
        for (name, amount) in amounts {
            let known = self.names.iter().position(|known| known == name);
            let place = known.or_else(|| {
                (self.names.len() < MOST_DEVICES).then(|| {
                    self.names.push((*name).to_owned());
                    self.names.len() - 1
                })
            });
            if let Some(place) = place {
                key[place] = (amount * MICRO).round() as i64;
            }
        }
        key
    }

    /// The amounts of a vector, one for every device.
    pub(crate) fn amounts(&self, key: &Key) -> Vec<f64> {
        (0..self.names.len()).map(|place| key[place] as f64 / MICRO).collect()
    }
}

/// How many tasks ask for a vector.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    pub(crate) tasks: u64,
    pub(crate) instances: u64,
}

/// The request vectors of a trace.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    pub(crate) devices: Devices,
    vectors: HashMap<Key, Asked>,
    /// Those beyond the most.
    pub(crate) others: Asked,
    pub(crate) tasks: u64,
}

/// A request vector and how often it is asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Vector {
    /// How much of each device an instance asks for.
    pub request: Vec<f64>,
    /// How many tasks.
    pub tasks: u64,
    /// How many instances they have.
    pub instances: u64,
    /// The tasks as a share of all.
    pub share: f64,
    /// The share of this vector and all more frequent ones.
    pub coverage: f64,
}

impl Requests {
    /// Counts a task.
    pub fn add(&mut self, request: DeviceAmounts<'_>, count: u64) {
        let key = self.devices.key(request);
        self.tasks += 1;
        let full = self.vectors.len() >= MOST_VECTORS;
        let asked = match self.vectors.get_mut(&key) {
            Some(asked) => asked,
            None if full => &mut self.others,
            None => self.vectors.entry(key).or_default(),
        };
        asked.tasks += 1;
        asked.instances += count;
    }

    /// How many different vectors there are.
    pub fn distinct(&self) -> usize {
        self.vectors.len()
    }

    /// The most frequent, in that order; equals by their amounts.
    pub(crate) fn ranked(&self, most: usize) -> Vec<(Key, Asked)> {
        let mut ranked: Vec<(Key, Asked)> = self.vectors.iter().map(|(key, asked)| (*key, *asked)).collect();
        ranked.sort_unstable_by(|a, b| b.1.tasks.cmp(&a.1.tasks).then(a.0.cmp(&b.0)));
        ranked.truncate(most);
        ranked
    }

    /// The most frequent, with their shares.
    pub fn most_frequent(&self, most: usize) -> Vec<Vector> {
        let mut covered = 0;
        let vector = |(key, asked): (Key, Asked)| {
            covered += asked.tasks;
            let share = |tasks: u64| tasks as f64 / self.tasks.max(1) as f64;
            Vector {
                request: self.devices.amounts(&key),
                tasks: asked.tasks,
                instances: asked.instances,
                share: share(asked.tasks),
                coverage: share(covered),
            }
        };
        self.ranked(most).into_iter().map(vector).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_ranked_and_bounded() {
        let mut requests = Requests::default();
        for at in 0..(MOST_VECTORS as u64 + 500) {
            requests.add(&[("cpu", 1.0 + at as f64)], 2);
        }
        requests.add(&[("cpu", 3.0), ("gpu", 0.0)], 1);
        requests.add(&[("mem", 0.0), ("gpu", 0.0)], 1);
        requests.add(&[("gpu", 0.0), ("cpu", 3.0)], 1);
        assert_eq!((requests.distinct(), requests.others.tasks), (MOST_VECTORS, 501));
        let top = &requests.most_frequent(1)[0];
        assert_eq!((top.request.as_slice(), top.tasks, top.instances), ([3.0, 0.0, 0.0].as_slice(), 3, 4));
    }
}
