//! Jobs one can find: one by its name, or page after page. However many there are, a page costs the same.
//!
//! A page begins behind a job and not at a number, so jobs that come and go in between neither double nor
//! hide others. Where a filter has an order of its own, the page follows it:
//!
//! | filter | order |
//! |---|---|
//! | those that wait at one port | the order in which they start |
//! | those that run, those on a server | their submission |
//! | those that are over and whose outcomes are awaited | their start |
//! | all others | their submission |
//!
//! At most [`LOOKED_AT`] jobs are looked at for a page. What is rare may take several pages, of which some
//! are empty.

use super::{HeldReason, Job, JobTraits, Live, Start};
use crate::model::{JobId, PortId, ServerId, Slot, Ticket};
use crate::scheduler::Started;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Bound;

/// How many jobs are looked at for a page.
pub const LOOKED_AT: usize = 20_000;

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// It waits.
    Waiting,
    /// It was started and holds its devices.
    Running,
    /// It neither waits nor runs any more.
    Over,
}

/// Which jobs are wanted; those that wait and those that run by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WhichJobs {
    /// Those in a state. Of those that are over, the ones whose outcomes are awaited.
    pub state: Option<JobState>,
    /// Those of a port.
    pub port: Option<String>,
    /// Those with tasks on a server.
    pub server: Option<String>,
    /// Those with this text in their name, in whatever case its Latin letters are.
    pub name: Option<String>,
}

impl WhichJobs {
    /// Whether a cursor is in the order of these.
    pub fn has_order_of(&self, cursor: JobCursor) -> bool {
        match (self.state, &self.port) {
            (Some(JobState::Waiting), Some(_)) => matches!(cursor, JobCursor::Queued(..)),
            (Some(JobState::Over), _) => matches!(cursor, JobCursor::Started(_)),
            _ => matches!(cursor, JobCursor::Submitted(_)),
        }
    }
}

/// The job after which a page begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JobCursor {
    /// In the order of submissions.
    Submitted(JobId),
    /// In the queue of a port.
    Queued(f64, JobId),
    /// In the order of starts.
    Started(Ticket),
}

/// Some of the jobs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobPage {
    /// Those that were found.
    pub jobs: Vec<FoundJob>,
    /// Where the next page begins; none if this is the last one.
    pub next: Option<JobCursor>,
}

/// What is known of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundJob {
    /// The job.
    pub name: String,
    /// Its port; none of jobs that are over and of which nothing but the name is kept.
    pub port: Option<String>,
    /// What it does.
    pub state: JobState,
    /// How urgent it is.
    pub weight: f64,
    /// The slot in which it was submitted.
    pub submitted: Slot,
    /// What else is said of it.
    pub traits: JobTraits,
    /// Of a job that waits: where, and why.
    pub waits: Option<QueuePlace>,
    /// Of a job that was started: its start, and how many tasks of each placement were reported.
    pub start: Option<(Start, Vec<u32>)>,
}

/// Where and why a job waits.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuePlace {
    /// How many jobs of its port start before it, plus 1.
    pub position: usize,
    /// How many jobs wait at its port.
    pub of: usize,
    /// Why it waits.
    pub reason: HeldReason,
    /// The same as a sentence.
    pub detail: String,
}

/// Why jobs of a port wait: found once for a page.
type Reasons = BTreeMap<PortId, (HeldReason, String)>;

/// What a page is chosen from.
#[derive(Clone, Copy)]
enum Candidate<'a> {
    /// It waits or runs.
    Present(JobId, &'a Job),
    /// It is over, and its outcomes are awaited.
    Over(Ticket, &'a str),
}

type Candidates<'a> = Box<dyn Iterator<Item = (JobCursor, Candidate<'a>)> + 'a>;

impl Live {
    /// A job by its name; none if nobody knows it.
    pub fn job(&self, name: &str) -> Option<FoundJob> {
        if let Some((&id, job)) = self.by_name.get(name).and_then(|id| self.jobs.get_key_value(id)) {
            return Some(self.present(id, job, &mut Reasons::new()));
        }
        let ended = self.ended.ticket(name).and_then(|ticket| self.ended(ticket, name));
        ended.or_else(|| self.over.knows(name).then(|| FoundJob::over(name)))
    }

    /// The position that a job which waits would have at its port with another weight.
    pub fn position_with(&self, name: &str, weight: f64) -> Option<usize> {
        let id = *self.by_name.get(name)?;
        let job = &self.jobs[&id];
        let port = self.names.port(&job.port).ok()?;
        let present = self.book.place(port, job.weight, id)?;
        let before = self.book.place_after(port, weight, id);
        // It itself is among those before its new place if its present one is.
        Some(before + usize::from(present >= before))
    }

    /// The next jobs of those that are wanted, at most `limit`. A cursor of another order is ignored.
    pub fn jobs_page(&self, which: &WhichJobs, after: Option<JobCursor>, limit: usize) -> JobPage {
        let (mut page, mut reasons) = (JobPage::default(), Reasons::new());
        let mut last = None;
        for (looked, (cursor, candidate)) in self.candidates(which, after).enumerate() {
            if page.jobs.len() >= limit || looked >= LOOKED_AT {
                page.next = last;
                break;
            }
            last = Some(cursor);
            if self.is_wanted(which, candidate) {
                page.jobs.extend(match candidate {
                    Candidate::Present(id, job) => Some(self.present(id, job, &mut reasons)),
                    Candidate::Over(ticket, name) => self.ended(ticket, name),
                });
            }
        }
        page
    }

    /// The jobs among which those that are wanted are, in the order of their page.
    fn candidates(&self, which: &WhichJobs, after: Option<JobCursor>) -> Candidates<'_> {
        let submitted = match after {
            Some(JobCursor::Submitted(job)) => Bound::Excluded(job),
            _ => Bound::Unbounded,
        };
        let found = |(&id, job)| (JobCursor::Submitted(id), Candidate::Present(id, job));
        match (which.state, &which.port, &which.server) {
            (Some(JobState::Waiting), _, Some(_)) => Box::new(std::iter::empty()),
            (Some(JobState::Waiting), Some(port), None) => {
                let Ok(port) = self.names.port(port) else { return Box::new(std::iter::empty()) };
                let first = match after {
                    Some(JobCursor::Queued(weight, job)) => self.book.place_after(port, weight, job),
                    _ => 0,
                };
                Box::new(self.book.waiting_from(port, first).filter_map(|waiting| {
                    let candidate = Candidate::Present(waiting.job, self.jobs.get(&waiting.job)?);
                    Some((JobCursor::Queued(waiting.weight, waiting.job), candidate))
                }))
            }
            (Some(JobState::Over), ..) => {
                let from = match after {
                    Some(JobCursor::Started(ticket)) => Bound::Excluded(ticket),
                    _ => Bound::Unbounded,
                };
                let ended = self.ended.after(from);
                Box::new(ended.map(|(at, name)| (JobCursor::Started(at), Candidate::Over(at, name))))
            }
            (Some(JobState::Running), ..) | (None, _, Some(_)) => {
                let running = self.book.running_after(submitted);
                Box::new(running.filter_map(move |id| self.jobs.get_key_value(&id).map(found)))
            }
            _ => Box::new(self.jobs.range((submitted, Bound::Unbounded)).map(found)),
        }
    }

    fn is_wanted(&self, which: &WhichJobs, candidate: Candidate<'_>) -> bool {
        let named = |job: &str| which.name.as_ref().is_none_or(|name| contains(job, name));
        let started = |ticket: Ticket| self.book.started(ticket).ok();
        let on_server = |ticket: Option<Ticket>| {
            let Some(name) = &which.server else { return true };
            let (Ok(server), Some(started)) = (self.names.server(name), ticket.and_then(started)) else {
                return false;
            };
            is_on(started, server)
        };
        match candidate {
            Candidate::Present(id, job) => {
                let ticket = self.book.ticket_of(id);
                which.port.as_ref().is_none_or(|port| *port == job.port)
                    && (which.state != Some(JobState::Waiting) || ticket.is_none())
                    && named(&job.name)
                    && on_server(ticket)
            }
            Candidate::Over(ticket, name) => {
                let at = |port: &String| {
                    let port = self.names.port(port).ok();
                    port.is_some() && started(ticket).is_some_and(|started| started.port == port)
                };
                named(name) && which.port.as_ref().is_none_or(at) && on_server(Some(ticket))
            }
        }
    }

    /// A job that waits or runs.
    fn present(&self, id: JobId, job: &Job, reasons: &mut Reasons) -> FoundJob {
        let traits = job.traits.as_deref().cloned().unwrap_or_default();
        let found = FoundJob { port: Some(job.port.clone()), traits, ..FoundJob::over(&job.name) };
        if let Some((ticket, started)) =
            self.book.ticket_of(id).and_then(|ticket| Some((ticket, self.book.started(ticket).ok()?)))
        {
            return self.with_start(FoundJob { state: JobState::Running, ..found }, ticket, started);
        }
        let mut found = FoundJob { state: JobState::Waiting, weight: job.weight, ..found };
        let place = self.names.port(&job.port).ok().and_then(|port| {
            let place = self.book.place(port, job.weight, id)?;
            Some((port, place, self.book.waiting(port).len()))
        });
        if let Some((port, place, of)) = place
            && let Some(waiting) = self.book.waiting_from(port, place).next()
        {
            let cluster = self.scheduler.cluster();
            let (reason, detail) = match self.was_decided(waiting) {
                true => reasons.entry(port).or_insert_with(|| self.why_not(cluster, port)).clone(),
                false => super::explain::not_decided(),
            };
            found.submitted = waiting.submitted;
            found.waits = Some(QueuePlace { position: place + 1, of, reason, detail });
        }
        found
    }

    /// A job that is over and whose outcomes are awaited.
    fn ended(&self, ticket: Ticket, name: &str) -> Option<FoundJob> {
        let started = self.book.started(ticket).ok()?;
        let port = started.port.map(|port| self.scheduler.cluster().ports()[port.index()].clone());
        Some(self.with_start(FoundJob { port, ..FoundJob::over(name) }, ticket, started))
    }

    fn with_start(&self, found: FoundJob, ticket: Ticket, started: &Started) -> FoundJob {
        let start = self.start_of(ticket, started);
        let reported = start.placements.iter().map(|place| {
            let tasks = &started.tasks[place.first as usize..][..place.count as usize];
            tasks.iter().filter(|task| !task.open).count() as u32
        });
        let reported = reported.collect();
        let (weight, submitted) = (started.job.weight, started.job.submitted);
        FoundJob { weight, submitted, start: Some((start, reported)), ..found }
    }
}

impl FoundJob {
    /// A job of which only the name is known.
    fn over(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            port: None,
            state: JobState::Over,
            weight: 1.0,
            submitted: Slot(0),
            traits: JobTraits::default(),
            waits: None,
            start: None,
        }
    }
}

fn is_on(started: &Started, server: ServerId) -> bool {
    started.tasks.iter().any(|task| task.server == Some(server))
}

/// Whether a text is part of another, whatever the case of its Latin letters.
fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    part.is_empty() || text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}
