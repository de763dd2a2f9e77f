//! Slots: jobs in, placements out, with the reasons that are kept beside them.

use super::{Body, Engine, Reply};
use crate::feed::News;
use crate::storage::SlotRow;
use crate::wire::{ApiError, Code, HeldWire, IgnoredWire, PlacementWire, SlotAnswer, SlotWire, TicketName};
use esdp::live::{Effect, Event, HeldReason, Live, Mode, Start, StartReason};
use esdp::model::Slot;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Instant;

/// The most jobs that an answer lists as waiting beside those that were sent with the request: answers are kept, and a
/// long queue would be kept with each of them.
const MOST_HELD: u64 = 100;

impl Engine {
    /// `POST /v1/slots`.
    pub(super) fn decide(&mut self, request: &SlotWire) -> Reply {
        if let Some(kept) = self.kept_answer(&request.key)? {
            self.tally.duplicates += 1;
            return Ok(Body { status: 200, text: kept.answer });
        }
        self.check_slot(request)?;
        let ignored = self.submit(request)?;
        let slot = self.core.slot() + 1;
        let event = Event::SlotDue {
            slot: Slot(slot),
            free: request.free.clone(),
            closed: request.closed.clone(),
            work: request.work,
        };
        let started = Instant::now();
        let effects = self.core.apply(event)?;
        self.tally.decision_seconds.push(started.elapsed().as_secs_f64());
        let mut starts = Vec::new();
        for effect in effects {
            match effect {
                Effect::Started(start) => starts.push(start),
                Effect::Rejected { why } => return Err(ApiError::new(Code::Conflict, why)),
                _ => {}
            }
        }
        let live = self.core.live()?;
        let advice = live.mode() == Mode::Advise;
        let why: Vec<Value> = starts.iter().flat_map(|start| reasons(live, start)).collect();
        let placements: Vec<PlacementWire> = starts.iter().flat_map(placements).collect();
        let (held, held_more) = held(live, request);
        for start in &starts {
            if !advice {
                // Who is told to start a job and does not revoke it runs it.
                self.core.apply(Event::Accepted { ticket: start.ticket })?;
            }
        }
        self.tally.regret += why.iter().filter_map(regret).sum::<f64>();
        self.tally.placements += placements.len() as u64;
        self.tally.held.extend(held.iter().map(|held| held.reason.clone()));
        let answer = SlotAnswer { slot, placements, held, held_more, ignored, advice };
        self.keep(request, &answer, &why)
    }

    fn keep(&mut self, request: &SlotWire, answer: &SlotAnswer, why: &[Value]) -> Reply {
        let internal = |error: serde_json::Error| ApiError::new(Code::Internal, error.to_string());
        let text = serde_json::to_string(answer).map_err(internal)?;
        let why = serde_json::to_string(why).map_err(internal)?;
        let (key, at) = (request.key.clone(), crate::clock::now());
        self.news.push(News::new("slot", self.core.sequence(), &text));
        self.batch.slots.push(SlotRow { slot: answer.slot, key, at, answer: text.clone(), why });
        Ok(Body { status: 200, text })
    }

    /// What the core would refuse is found before anything changes.
    fn check_slot(&self, request: &SlotWire) -> Result<(), ApiError> {
        request.check()?;
        let cluster = self.core.live()?.scheduler().cluster();
        for (index, job) in request.jobs.iter().enumerate() {
            if !cluster.ports().contains(&job.port) {
                let accepted = shortened(cluster.ports());
                let message = format!("there is no port `{}`", job.port);
                return Err(ApiError::clash(format!("jobs[{index}].port"), message, accepted));
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

    /// Lets jobs in that are new; those that are over are told.
    fn submit(&mut self, request: &SlotWire) -> Result<Vec<IgnoredWire>, ApiError> {
        let mut ignored = Vec::new();
        if self.core.live()?.mode() == Mode::Observe {
            return Ok(ignored);
        }
        for job in &request.jobs {
            let live = self.core.live()?;
            if live.has_job(&job.id) {
                self.tally.duplicates += 1;
            } else if live.is_over(&job.id) {
                self.tally.duplicates += 1;
                ignored.push(IgnoredWire { job: job.id.clone(), why: "the job is over".to_owned() });
            } else {
                let (port, weight) = (job.port.clone(), job.weight.unwrap_or(1.0));
                self.core.apply(Event::Submitted { job: job.id.clone(), port, weight })?;
            }
        }
        Ok(ignored)
    }

    /// `GET /v1/slots/{n}`.
    pub(super) fn slot_row(&mut self, slot: u64) -> Reply {
        let row = self.storage.slot(slot).map_err(|error| super::unavailable(&error.to_string()))?;
        let row = row.ok_or_else(|| ApiError::missing("slot", &slot.to_string()))?;
        Ok(Body { status: 200, text: shown(&row).to_string() })
    }

    /// `GET /v1/slots`.
    pub(super) fn last_slots(&mut self, limit: u32) -> Reply {
        let rows = self.storage.last_slots(limit).map_err(|error| super::unavailable(&error.to_string()))?;
        let rows: Vec<Value> = rows.iter().map(shown).collect();
        Ok(Body { status: 200, text: json!({ "slots": rows }).to_string() })
    }
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

/// Why a start was made as it was.
fn reasons(live: &Live, start: &Start) -> Vec<Value> {
    let reason = |reason: StartReason| {
        let belief = reason.belief;
        json!({
            "job": start.job, "port": start.port, "group": belief.channel.group, "server": belief.channel.server,
            "count": reason.tasks, "estimate": belief.estimate, "bonus": belief.radius, "cost": belief.cost,
            "outcomes": belief.count, "pending": belief.pending, "binding": reason.binding,
            "runner_up": reason.runner_up.map(|(server, estimate)| json!({"server": server, "estimate": estimate})),
            "sentence": reason.sentence,
        })
    };
    live.why_start(start).into_iter().map(reason).collect()
}

/// By how much the estimate of a start is below that of the best other server of its port: what exploring, or a lack of
/// room, may have cost.
fn regret(why: &Value) -> Option<f64> {
    let missed = why["runner_up"]["estimate"].as_f64()? - why["estimate"].as_f64()?;
    Some(missed.max(0.0) * why["count"].as_f64()?)
}

/// The name of a reason on the wire.
pub(super) fn reason_name(reason: HeldReason) -> &'static str {
    match reason {
        HeldReason::NotDecided => "not-decided",
        HeldReason::NoServer => "no-server",
        HeldReason::Closed => "closed",
        HeldReason::Capacity => "capacity",
        HeldReason::Passed => "passed",
    }
}

fn held(live: &Live, request: &SlotWire) -> (Vec<HeldWire>, u64) {
    if live.mode() == Mode::Observe {
        let observing = |job: &crate::wire::JobWire| HeldWire {
            job: job.id.clone(),
            reason: "observing".to_owned(),
            detail: "the service observes and places nothing".to_owned(),
        };
        return (request.jobs.iter().map(observing).collect(), 0);
    }
    let sent: HashSet<&str> = request.jobs.iter().map(|job| job.id.as_str()).collect();
    let (mut listed, mut others) = (Vec::new(), 0);
    for held in live.held() {
        let known = sent.contains(held.job.as_str());
        others += u64::from(!known);
        if known || others <= MOST_HELD {
            let reason = reason_name(held.reason).to_owned();
            listed.push(HeldWire { job: held.job, reason, detail: held.detail });
        }
    }
    (listed, others.saturating_sub(MOST_HELD))
}
