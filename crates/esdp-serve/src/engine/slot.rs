//! Slots: jobs in, placements out, with the reasons that are kept beside them.

use super::why::{StartWhy, reason_name};
use super::{Body, Engine, Followed, Reply};
use crate::feed::News;
use crate::storage::SlotRow;
use crate::wire::{
    ApiError, Code, HeldWire, IgnoredWire, JobWire, OneOrMany, PlacementWire, SlotAnswer, SlotWire,
    TicketName,
};
use esdp::live::{Effect, Event, HeldJob, Live, Mode, Start};
use esdp::model::{Fnv, Slot};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// The most jobs that an answer lists as waiting beside those that were sent with the request: answers are
/// kept, and a long queue would be kept with each of them.
const MOST_HELD: usize = 20;
/// The most work that a decision may take, whatever is asked for: some tens of seconds, in which nobody else
/// is answered.
const MOST_WORK: u64 = 1 << 32;
/// The most jobs that wait or run.
const MOST_JOBS: usize = 1_000_000;

impl Engine {
    /// `POST /v1/slots`: one slot, or several one after the other.
    pub(super) fn decide(&mut self, requests: &OneOrMany<SlotWire>) -> Reply {
        // All are looked at before the first is decided, so that a list is not carried out by half.
        let mut known = Vec::with_capacity(requests.list.len());
        let mut keys = HashMap::new();
        for (index, request) in requests.list.iter().enumerate() {
            let hash = hash(request);
            if *keys.entry(&request.key).or_insert(hash) != hash {
                return Err(requests.at(index, super::key_reused(&request.key)));
            }
            let kept = self.kept_answer(&request.key, hash).map_err(|error| requests.at(index, error))?;
            if kept.is_none() {
                self.check_slot(request).map_err(|error| requests.at(index, error))?;
            }
            known.push(kept);
        }
        let mut texts = Vec::with_capacity(requests.list.len());
        for (request, known) in requests.list.iter().zip(known) {
            // The same request may have come earlier in the same list.
            let again =
                || self.batch_keys.get(&request.key).map(|&place| self.batch.slots[place].answer.clone());
            match known.or_else(again) {
                Some(kept) => {
                    self.tally.duplicates += 1;
                    texts.push(kept);
                }
                None => texts.push(self.decide_one(request)?),
            }
        }
        let text = match requests.single {
            true => texts.concat(),
            false => format!("{{\"slots\":[{}]}}", texts.join(",")),
        };
        Ok(Body { status: 200, text })
    }

    /// The answer to a slot as JSON.
    fn decide_one(&mut self, request: &SlotWire) -> Result<String, ApiError> {
        let mut ignored = self.end_all(&request.ended)?;
        ignored.extend(self.submit(&request.jobs)?);
        let slot = self.core.slot() + 1;
        let event = Event::SlotDue {
            slot: Slot(slot),
            free: request.free.clone(),
            closed: request.closed.clone(),
            work: request.work.map(|work| work.min(MOST_WORK)),
        };
        let started = Instant::now();
        let mut effects = self.core.apply(event.clone())?;
        effects.extend(self.core.decide(&event, &request.key)?);
        self.tally.decision_seconds.push(started.elapsed().as_secs_f64());
        let mut starts = Vec::new();
        for effect in effects {
            match effect {
                Effect::Started(start) => starts.push(start),
                Effect::Rejected { why, cause } => return Err(super::rejected(&why, cause)),
                _ => {}
            }
        }
        let live = self.core.live()?;
        let advice = live.mode() == Mode::Advise;
        let why: Vec<StartWhy<'_>> = starts.iter().flat_map(|start| StartWhy::all(live, start)).collect();
        let placements: Vec<PlacementWire> = starts.iter().flat_map(placements).collect();
        let (held, held_more) = held(live, request);
        self.tally.regret += why.iter().filter_map(StartWhy::regret).sum::<f64>();
        self.tally.placements += placements.len() as u64;
        for held in &held {
            *self.tally.held.entry(held.reason).or_default() += 1;
        }
        let internal = |error: serde_json::Error| ApiError::new(Code::Internal, error.to_string());
        let answer = SlotAnswer { slot, placements, held, held_more, ignored, advice };
        let text = serde_json::to_string(&answer).map_err(internal)?;
        let why = serde_json::to_string(&why).map_err(internal)?;
        if !advice {
            for start in &starts {
                // Who is told to start a job and does not revoke it runs it.
                self.core.apply(Event::Accepted { ticket: start.ticket })?;
            }
        }
        self.keep(slot, request, &text, why);
        Ok(text)
    }

    fn keep(&mut self, slot: u64, request: &SlotWire, answer: &str, why: String) {
        self.news.push(News::new("slot", self.core.sequence(), answer));
        self.batch_keys.insert(request.key.clone(), self.batch.slots.len());
        let (key, answer, at) = (request.key.clone(), answer.to_owned(), crate::clock::now());
        self.batch.slots.push(SlotRow { slot, key, at, request: hash(request), answer, why });
    }

    /// What the core would refuse is found before anything changes.
    fn check_slot(&self, request: &SlotWire) -> Result<(), ApiError> {
        let live = self.core.live()?;
        if live.jobs().len() + request.jobs.len() > MOST_JOBS {
            let message = format!("{} jobs wait or run, at most {MOST_JOBS} are taken", live.jobs().len());
            return Err(ApiError::new(Code::Overloaded, message));
        }
        let cluster = live.scheduler().cluster();
        let mut ports = HashSet::new();
        for (index, job) in request.jobs.iter().enumerate() {
            if !cluster.ports().contains(&job.port) {
                let accepted = shortened(cluster.ports());
                let message = format!("there is no port `{}`", job.port);
                return Err(ApiError::clash(format!("jobs[{index}].port"), message, accepted));
            }
            // Jobs of a port are alike: each port is looked at once.
            let is_new = !live.has_job(&job.id) && ports.insert(&job.port);
            if let Some(why) = is_new.then(|| live.never_starts(&job.port)).flatten() {
                let message = format!("job `{}` of port `{}` can never start: {why}", job.id, job.port);
                let accepted = "a job that fits into the empty cluster";
                return Err(ApiError::clash(format!("jobs[{index}]"), message, accepted));
            }
        }
        // A driver may tell of thousands of servers.
        let servers: HashSet<&String> = match request.free.is_empty() {
            true => [].into(),
            false => cluster.servers().iter().collect(),
        };
        for (server, amounts) in &request.free {
            if !servers.contains(server) {
                let message = format!("there is no server `{server}`");
                return Err(ApiError::clash(format!("free.{server}"), message, "servers of the cluster"));
            }
            if let Some(device) = amounts.keys().find(|device| !cluster.devices().contains(device)) {
                let message = format!("there is no device `{device}`");
                let accepted = shortened(cluster.devices());
                return Err(ApiError::clash(format!("free.{server}.{device}"), message, accepted));
            }
        }
        Ok(())
    }

    /// Ends jobs; those that nobody knows are told.
    fn end_all(&mut self, jobs: &[String]) -> Result<Vec<IgnoredWire>, ApiError> {
        let mut ignored = Vec::new();
        for job in jobs {
            if self.end(job)?.is_none() {
                ignored.push(IgnoredWire { job: job.clone(), why: "there is no such job" });
            }
        }
        Ok(ignored)
    }

    /// Lets jobs in that are new; those that are over are told.
    fn submit(&mut self, jobs: &[JobWire]) -> Result<Vec<IgnoredWire>, ApiError> {
        let mut ignored = Vec::new();
        if self.core.live()?.mode() == Mode::Observe {
            return Ok(ignored);
        }
        for job in jobs {
            let live = self.core.live()?;
            if live.has_job(&job.id) {
                self.tally.duplicates += 1;
            } else if live.is_over(&job.id) {
                self.tally.duplicates += 1;
                ignored.push(IgnoredWire { job: job.id.clone(), why: "the job is over" });
            } else {
                let (port, weight) = (job.port.clone(), job.weight.unwrap_or(1.0));
                self.core.apply(Event::Submitted { job: job.id.clone(), port, weight })?;
                let traits = Some(job.traits()).filter(|traits| !traits.is_empty());
                if traits.is_some() {
                    self.core.apply(Event::Amended { job: job.id.clone(), weight: None, traits })?;
                }
            }
        }
        Ok(ignored)
    }
}

/// `GET /v1/slots/{n}`.
///
/// # Errors
/// When there is no such slot, or it cannot be read.
pub fn slot_row(followed: &mut Followed, slot: u64) -> Result<Value, ApiError> {
    let row = followed.storage().slot(slot).map_err(|error| super::unreadable(&error))?;
    row.as_ref().map(shown).ok_or_else(|| ApiError::missing("slot", &slot.to_string()))
}

/// `GET /v1/slots`.
///
/// # Errors
/// When they cannot be read.
pub fn last_slots(followed: &mut Followed, limit: u32) -> Result<Value, ApiError> {
    let rows = followed.storage().last_slots(limit).map_err(|error| super::unreadable(&error))?;
    Ok(json!({ "slots": rows.iter().map(shown).collect::<Vec<Value>>() }))
}

/// A hash of a request, never 0: the same key may come again with the same request only.
fn hash(request: &SlotWire) -> u64 {
    Fnv::of(format!("{request:?}").as_bytes()) | 1
}

fn shown(row: &SlotRow) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    let mut shown = parsed(&row.answer);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("key".to_owned(), json!(row.key));
        shown.insert("at".to_owned(), json!(row.at));
        shown.insert("why".to_owned(), parsed(&row.why));
    }
    shown
}

fn shortened(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
    let more = if names.len() > 20 { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn placements(start: &Start) -> impl Iterator<Item = PlacementWire> {
    start.placements.iter().map(|place| PlacementWire {
        job: start.job.clone(),
        group: place.group.clone(),
        server: place.server.clone(),
        count: place.count,
        ticket: TicketName { ticket: start.ticket, first: Some(place.first) }.to_string(),
    })
}

/// The jobs that wait, as far as an answer lists them, and how many more.
fn held(live: &Live, request: &SlotWire) -> (Vec<HeldWire>, u64) {
    if live.mode() == Mode::Observe {
        let detail = "the service observes and places nothing";
        let observing =
            |job: &JobWire| HeldWire { job: job.id.clone(), reason: "observing", detail: detail.to_owned() };
        return (request.jobs.iter().map(observing).collect(), 0);
    }
    let held = live.held_after_slot(request.jobs.iter().map(|job| job.id.as_str()), MOST_HELD);
    let wire =
        |held: HeldJob| HeldWire { job: held.job, reason: reason_name(held.reason), detail: held.detail };
    (held.jobs.into_iter().map(wire).collect(), held.more)
}
