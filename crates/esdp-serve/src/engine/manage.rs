//! Everything that is neither a slot nor an outcome: the cluster, starts, jobs, resets, drains, states.

use super::{Body, Engine, Reply};
use crate::feed::News;
use crate::wire::{
    ApiError, ClusterWire, Code, JobPatch, JobView, JobsAnswer, OneOrMany, Precondition, StartWire,
    StartedWire, TicketName, tag,
};
use esdp::live::{Effect, Event, FoundJob, JobState, Live, WhichTasks};
use esdp::model::ClusterDescription;
use esdp::scheduler::Checkpoint;
use serde_json::json;

pub(super) fn ok(value: &serde_json::Value) -> Reply {
    Ok(Body { status: 200, text: value.to_string() })
}

/// The first rejection among effects, or whether it was said before.
pub(super) fn taken(effects: &[Effect]) -> Result<bool, ApiError> {
    for effect in effects {
        match effect {
            Effect::Rejected { why, cause } => return Err(super::rejected(why, *cause)),
            Effect::Duplicate { .. } => return Ok(false),
            _ => {}
        }
    }
    Ok(true)
}

impl Engine {
    /// `PUT /v1/cluster`, if a precondition holds. What is so already needs none: a retry whose first answer
    /// was lost is answered like the first.
    pub(super) fn put_cluster_if(&mut self, cluster: ClusterDescription, holds: &Precondition) -> Reply {
        let present = self.core.live().ok().map(|live| live.described());
        if present != Some(&cluster) {
            holds.check("the cluster", present.map(|present| ClusterWire::of(present).tag()).as_deref())?;
        }
        self.put_cluster(cluster)
    }

    /// `PUT /v1/cluster`.
    pub(super) fn put_cluster(&mut self, cluster: ClusterDescription) -> Reply {
        let same = self.core.live().is_ok_and(|live| *live.described() == cluster);
        let (servers, ports) = (cluster.servers.len(), cluster.ports.len());
        let mut lost = Vec::new();
        if same {
            self.tally.duplicates += 1;
        } else {
            for effect in self.core.describe(cluster, self.settings.directions)? {
                match effect {
                    Effect::Rejected { why, .. } => {
                        return Err(ApiError::clash("", why, "a cluster that fits together"));
                    }
                    Effect::Lost { job, why } => lost.push(json!({ "job": job, "why": why })),
                    _ => {}
                }
            }
            let news = json!({ "servers": servers, "ports": ports }).to_string();
            self.news.push(News::new("cluster", self.core.sequence(), &news));
        }
        ok(&json!({ "changed": !same, "servers": servers, "ports": ports, "lost": lost }))
    }

    /// `POST /v1/starts`.
    pub(super) fn answer_starts(&mut self, starts: &OneOrMany<StartWire>) -> Reply {
        let tickets = starts.list.iter().enumerate().map(|(index, start)| {
            let name = start.ticket.parse::<TicketName>();
            name.map_err(|error| starts.at(index, error))
        });
        let tickets: Vec<TicketName> = tickets.collect::<Result<_, _>>()?;
        for (index, start) in starts.list.iter().enumerate() {
            if start.server.is_some() && !start.accepted {
                let message = "a start that does not run is on no server";
                return Err(starts.at(index, ApiError::clash("server", message, "`accepted: true` with it")));
            }
        }
        let mut answers = Vec::new();
        for (start, name) in starts.list.iter().zip(tickets) {
            let ticket = name.ticket;
            let (fresh, effects) = match (&start.server, start.accepted) {
                (Some(server), _) => (self.move_tasks(name, server)?, Vec::new()),
                (None, accepted) => {
                    let effects = self.core.apply(match accepted {
                        true => Event::Accepted { ticket },
                        false => Event::Refused { ticket, why: start.why.clone() },
                    })?;
                    (taken(&effects)?, effects)
                }
            };
            self.tally.revoked += u64::from(fresh && !start.accepted);
            let mut answer = json!({ "ticket": start.ticket, "accepted": start.accepted, "changed": fresh });
            for effect in effects {
                let (job, state, why) = match effect {
                    Effect::Requeued { job, .. } => (job, "waiting", None),
                    Effect::Lost { job, why } => (job, "lost", Some(why)),
                    _ => continue,
                };
                (answer["job"], answer["state"]) = (json!(job), json!(state));
                if let Some(why) = why {
                    answer["why"] = json!(why);
                }
            }
            answers.push(answer);
        }
        match (starts.single, &answers[..]) {
            (true, [one]) => ok(one),
            _ => ok(&json!({ "starts": answers })),
        }
    }

    /// Books tasks on the server where the cluster runs them; whether that is news.
    fn move_tasks(&mut self, name: TicketName, server: &str) -> Result<bool, ApiError> {
        let TicketName { ticket, first } = name;
        let start = self.core.live()?.start(ticket);
        let tasks = match (first, start.as_ref().and_then(|start| start.tasks_from(first?))) {
            (Some(_), Some((_, tasks))) => tasks.map(WhichTasks::One).collect(),
            // A task that is not there is refused by the core.
            (Some(first), None) => vec![WhichTasks::One(first)],
            (None, _) => vec![WhichTasks::All],
        };
        let mut fresh = false;
        for tasks in tasks {
            fresh |= taken(&self.core.apply(Event::Moved { ticket, tasks, server: server.to_owned() })?)?;
        }
        Ok(fresh)
    }

    /// `DELETE /v1/jobs/{id}`.
    pub(super) fn end_job(&mut self, job: &str) -> Reply {
        let was = self.end(job)?.ok_or_else(|| ApiError::missing("job", job))?;
        ok(&json!({ "job": job, "was": was }))
    }

    /// Ends a job; what it did until then, or none if nobody knows it.
    pub(super) fn end(&mut self, job: &str) -> Result<Option<&'static str>, ApiError> {
        let live = self.core.live()?;
        let (was, event) = match (live.has_job(job), live.waits(job), live.is_over(job)) {
            (true, false, _) => ("running", Event::Ended { job: job.to_owned() }),
            (true, true, _) => ("waiting", Event::Cancelled { job: job.to_owned() }),
            (false, _, true) => {
                self.tally.duplicates += 1;
                return Ok(Some("over"));
            }
            _ => return Ok(None),
        };
        self.core.apply(event)?;
        Ok(Some(was))
    }

    /// `PATCH /v1/jobs/{id}`.
    pub(super) fn amend(&mut self, job: &str, patch: &JobPatch, holds: &Precondition) -> Reply {
        let (_, event) = amendment(self.core.live()?, job, patch, holds)?;
        let changed = event.is_some();
        if let Some(event) = event {
            taken(&self.core.apply(event)?)?;
        }
        let live = self.core.live()?;
        let found = live.job(job).ok_or_else(|| ApiError::missing("job", job))?;
        ok(&json!({ "changed": changed, "job": JobView::of(found, self.core.slot()) }))
    }

    /// What was started and what waits, for a driver that must find out after a restart.
    pub(super) fn jobs(&mut self) -> Reply {
        // Before the first cluster there is no job.
        let Ok(live) = self.core.live() else { return ok(&json!(JobsAnswer::default())) };
        let started = live.starts().map(|start| StartedWire {
            ticket: TicketName { ticket: start.ticket, first: None }.to_string(),
            servers: start.placements.into_iter().map(|place| place.server).collect(),
            job: start.job,
            port: start.port,
        });
        let started: Vec<StartedWire> = started.collect();
        let waiting = live.jobs().filter(|(job, _)| live.waits(job));
        let waiting = waiting.map(|(job, port)| (job.to_owned(), port.to_owned())).collect();
        ok(&json!(JobsAnswer { started, waiting }))
    }

    /// `POST /v1/channels/{port}/{server}/reset` and `POST /v1/servers/{name}/reset`.
    pub(super) fn reset(&mut self, port: Option<String>, server: Option<String>) -> Reply {
        let cluster = self.core.live()?.scheduler().cluster();
        for (what, names, name) in [("port", cluster.ports(), &port), ("server", cluster.servers(), &server)]
        {
            if let Some(name) = name.as_ref().filter(|name| !names.contains(name)) {
                return Err(ApiError::missing(what, name));
            }
        }
        taken(&self.core.apply(Event::Reset { port: port.clone(), server: server.clone() })?)?;
        let text = json!({ "port": port, "server": server });
        self.news.push(News::new("reset", self.core.sequence(), &text.to_string()));
        ok(&json!({ "reset": text }))
    }

    /// `POST /v1/servers/{name}/drain` and `undrain`.
    pub(super) fn drain(&mut self, server: &str, drained: bool) -> Reply {
        let live = self.core.live()?;
        if !live.scheduler().cluster().servers().iter().any(|name| name == server) {
            return Err(ApiError::missing("server", server));
        }
        let is = live.drained().any(|name| name == server);
        if is != drained {
            let server = server.to_owned();
            let event = if drained { Event::Drained { server } } else { Event::Opened { server } };
            self.core.apply(event)?;
        }
        let text = json!({ "server": server, "drained": drained, "changed": is != drained });
        if is != drained {
            self.news.push(News::new("drain", self.core.sequence(), &text.to_string()));
        }
        ok(&text)
    }

    /// `DELETE /v1/departed/{server}`.
    pub(super) fn forget(&mut self, server: &str) -> Reply {
        let live = self.core.live()?;
        if live.scheduler().cluster().servers().iter().any(|name| name == server) {
            let message = format!("server `{server}` is part of the cluster; reset it to forget its speeds");
            return Err(ApiError::clash("server", message, "a server that has left"));
        }
        let channels = live.scheduler().departed().filter(|(key, _)| key.server == server).count();
        if channels == 0 && !live.drained().any(|name| name == server) {
            return Err(ApiError::missing("departed server", server));
        }
        taken(&self.core.apply(Event::Forgotten { server: server.to_owned() })?)?;
        ok(&json!({ "forgotten": server, "channels": channels }))
    }

    /// `GET /readyz`.
    pub(super) fn ready(&mut self) -> Reply {
        match &self.degraded {
            None => {
                let (cluster, slot) = (self.core.live().is_ok(), self.core.slot());
                ok(&json!({ "status": "ready", "cluster": cluster, "slot": slot }))
            }
            Some(cause) => Err(ApiError::new(Code::Unavailable, cause.clone())),
        }
    }

    /// `PUT /v1/state`.
    pub(super) fn merge(&mut self, state: Box<Checkpoint>, share: f64) -> Reply {
        let effects = self.core.apply(Event::Merged { state, share })?;
        let mut channels = 0;
        for effect in effects {
            match effect {
                Effect::Merged { channels: found } => channels = found,
                Effect::Rejected { why, .. } => {
                    return Err(ApiError::clash("", why, "a state of GET /v1/state"));
                }
                _ => {}
            }
        }
        ok(&json!({ "channels": channels }))
    }
}

/// A job as a patch leaves it, and the event that makes it so; none if it is so.
///
/// # Errors
/// When there is no such job that waits, the precondition does not hold, or the patch is wrong.
pub fn amendment(
    live: &Live,
    job: &str,
    patch: &JobPatch,
    holds: &Precondition,
) -> Result<(FoundJob, Option<Event>), ApiError> {
    let found = live.job(job).ok_or_else(|| ApiError::missing("job", job))?;
    let (weight, traits) = patch.apply(&found)?;
    let cannot = |why: &str| ApiError::clash("", format!("job `{job}` {why}"), "a job that waits");
    match found.state {
        JobState::Running => return Err(cannot("runs")),
        JobState::Over => return Err(cannot("is over")),
        JobState::Waiting => {}
    }
    let weighs = (weight != found.weight).then_some(weight);
    let says = (traits != found.traits).then(|| traits.clone());
    if (&weighs, &says) == (&None, &None) {
        return Ok((found, None));
    }
    holds.check("the job", Some(&tag(&found)))?;
    let mut next = FoundJob { weight, traits, ..found };
    if let (Some(place), Some(position)) = (&mut next.waits, live.position_with(job, weight)) {
        place.position = position;
    }
    Ok((next, Some(Event::Amended { job: job.to_owned(), weight: weighs, traits: says })))
}
