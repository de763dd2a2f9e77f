//! Machines, each once, and the shapes they come in.
//!
//! A machine is known by its name; of several records the first counts. At most [`MOST_MACHINES`] are kept,
//! 16 bytes each and their names as fingerprints.

use super::jobs::fingerprint;
use super::requests::{Devices, Key};
use crate::event::Machine;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The most machines.
pub const MOST_MACHINES: usize = 1 << 20;
/// The most different names of domains and kinds.
const MOST_NAMES: usize = 65_536;

/// One machine: the numbers of its shape, domain and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) shape: u32,
    pub(crate) domain: u32,
    pub(crate) kind: u32,
}

/// Names by number. The first is the empty one, which also stands for those beyond the most.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if self.names.is_empty() {
            self.names.push(String::new());
            self.numbers.insert(String::new(), 0);
        }
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        if self.names.len() >= MOST_NAMES {
            return 0;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    fn told(&self) -> usize {
        self.names.len().saturating_sub(1)
    }
}

/// The machines of a trace.
#[derive(Debug, Clone, Default)]
pub struct Machines {
    pub(crate) devices: Devices,
    seen: HashSet<u64>,
    pub(crate) known: Vec<Known>,
    shapes: HashMap<Key, u32>,
    pub(crate) keys: Vec<Key>,
    pub(crate) domains: Names,
    pub(crate) kinds: Names,
    records: u64,
    beyond: u64,
}

/// A shape and how many machines have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineShape {
    /// How much of each device.
    pub capacity: Vec<f64>,
    /// The sort of machine, such as its GPU model.
    pub kind: String,
    /// How many machines.
    pub machines: u64,
}

/// What is known of the machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineSummary {
    /// How many records.
    pub records: u64,
    /// How many machines.
    pub count: u64,
    /// The devices, in the order of the amounts.
    pub devices: Vec<String>,
    /// How much of each device all have.
    pub total: Vec<f64>,
    /// How many failure domains.
    pub domains: usize,
    /// How many different shapes.
    pub distinct_shapes: usize,
    /// The shapes, most frequent first; at most 100.
    pub shapes: Vec<MachineShape>,
    /// Machines beyond the most that are kept, which count nowhere else.
    pub not_kept: u64,
}

impl Machines {
    /// Counts a machine.
    pub fn add(&mut self, machine: &Machine<'_>) {
        self.records += 1;
        let name = fingerprint(&[machine.name]);
        if self.seen.contains(&name) {
            return;
        }
        if self.known.len() >= MOST_MACHINES {
            self.beyond += 1;
            return;
        }
        self.seen.insert(name);
        let key = self.devices.key(machine.capacity);
        let next = self.keys.len() as u32;
        let shape = *self.shapes.entry(key).or_insert(next);
        if shape == next {
            self.keys.push(key);
        }
        let (domain, kind) = (self.domains.number(machine.domain), self.kinds.number(machine.kind));
        self.known.push(Known { shape, domain, kind });
    }

    /// How many machines there are.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// What a machine has, one amount for every device.
    pub(crate) fn capacity(&self, machine: Known) -> Vec<f64> {
        self.devices.amounts(&self.keys[machine.shape as usize])
    }

    /// What is known of the machines; `None` where there are none.
    pub fn finish(&self) -> Option<MachineSummary> {
        if self.known.is_empty() {
            return None;
        }
        let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut total = vec![0.0; self.devices.names().len()];
        for machine in &self.known {
            *counts.entry((machine.shape, machine.kind)).or_default() += 1;
        }
        for ((shape, _), count) in &counts {
            let amounts = self.devices.amounts(&self.keys[*shape as usize]);
            total.iter_mut().zip(amounts).for_each(|(total, amount)| *total += amount * *count as f64);
        }
        let distinct_shapes = counts.len();
        let mut ranked: Vec<((u32, u32), u64)> = counts.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.truncate(100);
        let shape = |((shape, kind), machines): ((u32, u32), u64)| MachineShape {
            capacity: self.devices.amounts(&self.keys[shape as usize]),
            kind: self.kinds.name(kind).to_owned(),
            machines,
        };
        Some(MachineSummary {
            records: self.records,
            count: self.known.len() as u64,
            devices: self.devices.names().to_vec(),
            total,
            domains: self.domains.told(),
            distinct_shapes,
            shapes: ranked.into_iter().map(shape).collect(),
            not_kept: self.beyond,
        })
    }
}
