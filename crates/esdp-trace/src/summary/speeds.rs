//! Measured speeds: how much they differ from server to server, from kind to kind, and in time.
//!
//! Samples are kept as moments by job, devices and server: at most [`MOST_CELLS`] of them; those beyond are
//! counted. Speeds beside another job are also kept one by one (8 bytes), at most [`MOST_SHARED`], to
//! compare them with the speed alone wherever that stands in the input.

use super::histogram::{Quantiles, ValueHistogram};
use super::jobs::fingerprint;
use crate::event::Speed;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The most combinations of job, devices and server.
pub const MOST_CELLS: usize = 1 << 17;
/// The most samples of jobs that share.
pub const MOST_SHARED: usize = 1 << 20;

#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The coefficient of variation of at least two values.
    fn variation(&self) -> Option<f64> {
        (self.count > 1 && self.mean > 0.0).then(|| (self.squares / self.count as f64).sqrt() / self.mean)
    }
}

#[derive(Debug, Clone)]
struct Cell {
    job: String,
    devices: u64,
    server: String,
    kind: String,
    alone: Moments,
    beside: Moments,
}

/// The speeds of a trace.
#[derive(Debug, Clone, Default)]
pub struct SpeedCells {
    places: HashMap<u64, u32>,
    cells: Vec<Cell>,
    shared: Vec<(u32, f32)>,
    samples: u64,
    cannot: u64,
    beyond: u64,
}

/// One job type on one kind of server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobOnKind {
    /// The job type, or benchmark.
    pub job: String,
    /// On how many devices.
    pub devices: u64,
    /// The kind of server.
    pub kind: String,
    /// How many servers.
    pub servers: u64,
    /// How many samples.
    pub samples: u64,
    /// The mean speed over servers.
    pub mean: f64,
    /// How much one server varies in time: the mean coefficient of variation of servers with two samples or
    /// more.
    pub within_server: Option<f64>,
    /// How much the servers differ: the coefficient of variation of their means.
    pub across_servers: Option<f64>,
}

/// How fast a kind is, compared with another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindRatio {
    /// The kind.
    pub kind: String,
    /// The kind it is compared with.
    pub than: String,
    /// Over how many job types, each on one device.
    pub jobs: u64,
    /// The smallest ratio.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

/// What sharing leaves of the speed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sharing {
    /// The kind of server.
    pub kind: String,
    /// The speed beside another job as a share of the speed alone, on one device.
    pub share: Quantiles,
    /// How much it varies over partners: the mean coefficient of variation.
    pub over_partners: Option<f64>,
}

/// What is known of the speeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpeedSummary {
    /// How many samples above 0.
    pub samples: u64,
    /// How many say that a job cannot run so.
    pub cannot_run: u64,
    /// How many different servers.
    pub servers: u64,
    /// How many different job types.
    pub jobs: u64,
    /// Job types on kinds of server, by name; at most 1000.
    pub by_job: Vec<JobOnKind>,
    /// Kinds compared with the first of them.
    pub kinds: Vec<KindRatio>,
    /// What sharing leaves.
    pub sharing: Vec<Sharing>,
    /// Samples beyond what is kept, which count nowhere else.
    pub not_kept: u64,
}

impl SpeedCells {
    /// Counts a sample.
    pub fn add(&mut self, speed: &Speed<'_>) {
        let name = fingerprint(&[speed.job, speed.server, speed.kind])
            ^ speed.devices.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = match self.places.get(&name) {
            Some(&place) => place as usize,
            None if self.cells.len() >= MOST_CELLS => {
                self.beyond += 1;
                return;
            }
            None => {
                self.places.insert(name, self.cells.len() as u32);
                self.cells.push(Cell {
                    job: speed.job.to_owned(),
                    devices: speed.devices,
                    server: speed.server.to_owned(),
                    kind: speed.kind.to_owned(),
                    alone: Moments::default(),
                    beside: Moments::default(),
                });
                self.cells.len() - 1
            }
        };
        if speed.value <= 0.0 {
            self.cannot += 1;
            return;
        }
        self.samples += 1;
        let cell = &mut self.cells[place];
        if speed.beside.is_empty() {
            cell.alone.add(speed.value);
        } else {
            cell.beside.add(speed.value);
            if self.shared.len() < MOST_SHARED {
                self.shared.push((place as u32, speed.value as f32));
            }
        }
    }

    /// What is known of the speeds; `None` where there was no sample.
    pub fn finish(&self) -> Option<SpeedSummary> {
        if self.samples + self.cannot + self.beyond == 0 {
            return None;
        }
        let distinct = |name: fn(&Cell) -> &String| {
            let mut names: Vec<&String> = self.cells.iter().map(name).collect();
            names.sort_unstable();
            names.dedup();
            names.len() as u64
        };
        Some(SpeedSummary {
            samples: self.samples,
            cannot_run: self.cannot,
            servers: distinct(|cell| &cell.server),
            jobs: distinct(|cell| &cell.job),
            by_job: self.by_job(),
            kinds: self.kinds(),
            sharing: self.sharing(),
            not_kept: self.beyond,
        })
    }

    fn by_job(&self) -> Vec<JobOnKind> {
        let mut groups: BTreeMap<(&str, u64, &str), Vec<&Cell>> = BTreeMap::new();
        for cell in &self.cells {
            groups.entry((&cell.job, cell.devices, &cell.kind)).or_default().push(cell);
        }
        let row = |((job, devices, kind), cells): ((&str, u64, &str), Vec<&Cell>)| {
            let moments = |cell: &&Cell| if cell.alone.count > 0 { cell.alone } else { cell.beside };
            let (mut means, mut within) = (Moments::default(), Moments::default());
            for moments in cells.iter().map(moments).filter(|moments| moments.count > 0) {
                means.add(moments.mean);
                moments.variation().into_iter().for_each(|variation| within.add(variation));
            }
            JobOnKind {
                job: job.to_owned(),
                devices,
                kind: kind.to_owned(),
                servers: means.count,
                samples: cells.iter().map(|cell| moments(cell).count).sum(),
                mean: means.mean,
                within_server: (within.count > 0).then_some(within.mean),
                across_servers: means.variation(),
            }
        };
        groups.into_iter().take(1000).map(row).collect()
    }

    /// Mean speeds alone on one device, by job and kind.
    fn alone(&self) -> BTreeMap<(&str, &str), f64> {
        let mut sums: BTreeMap<(&str, &str), Moments> = BTreeMap::new();
        for cell in self.cells.iter().filter(|cell| cell.devices == 1 && cell.alone.count > 0) {
            sums.entry((&cell.kind, &cell.job)).or_default().add(cell.alone.mean);
        }
        sums.into_iter().map(|(key, moments)| (key, moments.mean)).collect()
    }

    fn kinds(&self) -> Vec<KindRatio> {
        let alone = self.alone();
        let Some(&(first, _)) = alone.keys().next() else { return Vec::new() };
        let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for ((kind, job), mean) in alone.iter().filter(|((kind, _), _)| *kind != first) {
            if let Some(base) = alone.get(&(first, *job)) {
                ratios.entry(kind).or_default().push(mean / base);
            }
        }
        let row = |(kind, mut ratios): (&str, Vec<f64>)| {
            ratios.sort_by(f64::total_cmp);
            let middle = ratios.len() / 2;
            let median = if ratios.len() % 2 == 0 {
                (ratios[middle - 1] + ratios[middle]) / 2.0
            } else {
                ratios[middle]
            };
            KindRatio {
                kind: kind.to_owned(),
                than: first.to_owned(),
                jobs: ratios.len() as u64,
                min: ratios[0],
                median,
                max: ratios[ratios.len() - 1],
            }
        };
        ratios.into_iter().take(100).map(row).collect()
    }

    fn sharing(&self) -> Vec<Sharing> {
        let mut shares: BTreeMap<&str, ValueHistogram> = BTreeMap::new();
        for (place, value) in &self.shared {
            let cell = &self.cells[*place as usize];
            if cell.devices == 1 && cell.alone.count > 0 && shares.len() < 100 {
                shares.entry(&cell.kind).or_default().add(f64::from(*value) / cell.alone.mean);
            }
        }
        let row = |(kind, shares): (&str, ValueHistogram)| {
            let mut over = Moments::default();
            let cells = self.cells.iter().filter(|cell| cell.kind == kind && cell.devices == 1);
            cells.filter_map(|cell| cell.beside.variation()).for_each(|variation| over.add(variation));
            let over_partners = (over.count > 0).then_some(over.mean);
            Some(Sharing { kind: kind.to_owned(), share: shares.quantiles()?, over_partners })
        };
        shares.into_iter().filter_map(row).collect()
    }
}
