//! Batsim workloads: a JSON document of jobs and the profiles they run.
//!
//! A job asks for `res` hosts at `subtime` and lasts as long as its profile's `delay` says; other profiles
//! (computation, communication) have no duration of their own. The document has jobs and profiles in any
//! order, commonly the jobs first, so the jobs wait until the end as 24 bytes each: at most [`MOST_JOBS`] of
//! them, in a document of at most [`LARGEST`] bytes. It is the one format whose memory grows with its rows.

use crate::error::TraceError;
use crate::event::{HOST, Machine, Sink, Task};
use crate::ledger::{Ledger, Reason};
use crate::{input, number};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, Read};

/// The most jobs of a document.
pub(crate) const MOST_JOBS: usize = 4_000_000;
/// The most profiles.
const MOST_PROFILES: usize = 100_000;
/// The largest document, in bytes.
pub(crate) const LARGEST: u64 = 1 << 29;

/// A job as it is written. Numbers may be anything: that is for the ledger to judge.
#[derive(Deserialize)]
struct RawJob {
    #[serde(default)]
    subtime: Option<f64>,
    #[serde(default)]
    res: Option<f64>,
    #[serde(default)]
    profile: Option<String>,
}

#[derive(Deserialize)]
struct RawProfile {
    #[serde(default)]
    delay: Option<f64>,
}

struct Job {
    subtime: f64,
    hosts: f64,
    profile: u32,
}

/// What a document holds.
#[derive(Default)]
struct Workload {
    hosts: Option<f64>,
    jobs: Vec<Job>,
    names: HashMap<String, u32>,
    /// By the number of the name.
    delays: Vec<Option<f64>>,
}

impl Workload {
    fn profile<E: Error>(&mut self, name: String) -> Result<u32, E> {
        let next = self.names.len() as u32;
        let found = *self.names.entry(name).or_insert(next);
        if self.names.len() > MOST_PROFILES {
            return Err(E::custom(format!("more than {MOST_PROFILES} profiles")));
        }
        if found == next {
            self.delays.push(None);
        }
        Ok(found)
    }
}

pub(super) fn read(
    input: &mut dyn BufRead,
    ledger: &mut Ledger,
    sink: &mut dyn Sink,
) -> Result<(), TraceError> {
    let mut workload = Workload::default();
    let input = input::without_mark(input)?;
    let mut input = serde_json::Deserializer::from_reader(input.take(LARGEST));
    let read = Document(&mut workload).deserialize(&mut input).and_then(|()| input.end());
    read.map_err(|error| TraceError::Json {
        line: error.line() as u64,
        column: error.column() as u64,
        // Without its own " at line 3 column 5".
        message: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    })?;
    if let Some(hosts) = workload.hosts.filter(|hosts| *hosts > 0.0 && *hosts <= number::LARGEST) {
        sink.machine(&Machine { name: "platform", capacity: &[(HOST, hosts)], domain: "", kind: "" });
    }
    let names = names(&workload);
    let mut last = f64::NEG_INFINITY;
    for (at, job) in workload.jobs.iter().enumerate() {
        // JSON has no lines worth naming here: the place is the job's number.
        ledger.open_row(at as u64 + 1);
        let outcome = emit(job, at, &workload, &names, &mut last, ledger, sink);
        ledger.close_row();
        outcome?;
    }
    Ok(())
}

fn names(workload: &Workload) -> Vec<&str> {
    let mut names = vec![""; workload.names.len()];
    for (name, &at) in &workload.names {
        names[at as usize] = name;
    }
    names
}

fn emit(
    job: &Job,
    at: usize,
    workload: &Workload,
    names: &[&str],
    last: &mut f64,
    ledger: &mut Ledger,
    sink: &mut dyn Sink,
) -> Result<(), TraceError> {
    let shown = |value: f64| value.to_string().into_bytes();
    let sensible = |value: f64| (0.0..=number::LARGEST).contains(&value);
    if !sensible(job.subtime) {
        return ledger.fault(Reason::NoArrival, 1, &shown(job.subtime));
    }
    if !(sensible(job.hosts) && job.hosts > 0.0) {
        return ledger.fault(Reason::NoRequest, 1, &shown(job.hosts));
    }
    if job.subtime < *last {
        ledger.fault(Reason::OutOfOrder, 1, &shown(job.subtime))?;
    }
    *last = job.subtime;
    let profile = names.get(job.profile as usize).copied().unwrap_or_default();
    let delay = workload.delays.get(job.profile as usize).copied().flatten();
    let duration = match delay {
        Some(delay) if delay > 0.0 => Some(delay),
        Some(delay) if delay == 0.0 => {
            ledger.fault(Reason::ZeroDuration, 1, &shown(delay))?;
            Some(0.5)
        }
        Some(delay) => {
            ledger.fault(Reason::NegativeDuration, 1, &shown(delay))?;
            None
        }
        None => {
            ledger.fault(Reason::NoProfile, 1, profile.as_bytes())?;
            None
        }
    };
    let (name, request) = (at.to_string(), [(HOST, job.hosts)]);
    let arrival = job.subtime;
    sink.task(&Task { job: &name, arrival, duration, count: 1, request: &request, ..Task::default() });
    Ok(())
}

/// The document, read into a workload as it comes.
struct Document<'w>(&'w mut Workload);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Batsim workload: an object with `nb_res`, `jobs` and `profiles`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "nb_res" => self.0.hosts = map.next_value()?,
                "jobs" => {
                    seen = true;
                    map.next_value_seed(Jobs(self.0))?;
                }
                "profiles" => map.next_value_seed(Profiles(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if seen {
            Ok(())
        } else {
            Err(A::Error::custom("the key `jobs` is missing, expected a Batsim workload"))
        }
    }
}

struct Jobs<'w>(&'w mut Workload);

impl<'de> DeserializeSeed<'de> for Jobs<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Jobs<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut jobs: A) -> Result<(), A::Error> {
        while let Some(raw) = jobs.next_element::<RawJob>()? {
            if self.0.jobs.len() == MOST_JOBS {
                return Err(A::Error::custom(format!("more than {MOST_JOBS} jobs")));
            }
            let profile = self.0.profile(raw.profile.unwrap_or_default())?;
            let (subtime, hosts) = (raw.subtime.unwrap_or(-1.0), raw.res.unwrap_or(-1.0));
            self.0.jobs.push(Job { subtime, hosts, profile });
        }
        Ok(())
    }
}

struct Profiles<'w>(&'w mut Workload);

impl<'de> DeserializeSeed<'de> for Profiles<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Profiles<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of profiles")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let raw: RawProfile = map.next_value()?;
            let at = self.0.profile(name)?;
            self.0.delays[at as usize] = raw.delay;
        }
        Ok(())
    }
}
