//! Outcomes: whose they are, and what is learned from them.

use super::{Body, Engine, Reply, barrier};
use crate::feed::News;
use crate::tokens::Role;
use crate::wire::{
    ApiError, Code, ObservationWire, ObservedAnswer, OneOrMany, RefusedObservation, TicketName,
};
use esdp::live::{Effect, Event, Live, Mode, SpeedReport, Start, WhichTasks};
use esdp::model::{Slot, Ticket};
use serde_json::json;

/// What became of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Taken {
    pub(super) learned: u64,
    pub(super) set_aside: u64,
    pub(super) duplicate: bool,
}

impl Engine {
    /// `POST /v1/observations`.
    pub(super) fn observe(&mut self, observations: &OneOrMany<ObservationWire>) -> Reply {
        self.core.live()?;
        self.let_time_pass(observations.list.iter().any(|one| one.ticket.is_none() && one.port.is_some()))?;
        let mut answer = ObservedAnswer::default();
        // Where all members of a job have waited for each other, the first speaks for all of them.
        let barriers = barrier::find(self.core.live()?, &observations.list);
        let mut said = vec![None; observations.list.len()];
        for (&ticket, places) in &barriers {
            places.iter().for_each(|&place| said[place] = Some((ticket, place == places[0])));
        }
        for (index, observation) in observations.list.iter().enumerate() {
            let taken = match said[index] {
                Some((ticket, true)) => self.observe_barrier(ticket, observation),
                Some((_, false)) => Ok(Taken::default()),
                None => self.observe_one(observation),
            };
            match taken {
                Ok(Taken { learned, set_aside, duplicate }) => {
                    answer.accepted += 1;
                    answer.learned += learned;
                    answer.set_aside += set_aside;
                    answer.duplicates += u64::from(duplicate);
                }
                Err(error) => answer.refused.push(RefusedObservation { index, error }),
            }
        }
        self.tally.learned += answer.learned;
        self.tally.duplicates += answer.duplicates;
        self.tally.refused += answer.refused.len() as u64;
        if answer.set_aside > 0 {
            let news = json!({ "set_aside": answer.set_aside }).to_string();
            self.news.push(News::new("aside", self.core.sequence(), &news));
        }
        if answer.learned > 0 {
            let news = json!({ "learned": answer.learned }).to_string();
            self.news.push(News::new("learned", self.core.sequence(), &news));
        }
        if observations.single
            && let Some(refused) = answer.refused.pop()
        {
            return Err(refused.error);
        }
        let text = serde_json::to_string(&answer)
            .map_err(|error| ApiError::new(Code::Internal, error.to_string()))?;
        Ok(Body { status: 200, text })
    }

    /// Outcomes belong to a slot. Where nobody asks for decisions, a slot passes with each request of
    /// reports.
    fn let_time_pass(&mut self, others: bool) -> Result<(), ApiError> {
        let live = self.core.live()?;
        if others && (live.mode() == Mode::Observe || live.scheduler().slot() < Slot::FIRST) {
            let slot = live.scheduler().slot().next();
            self.core.apply(Event::SlotDue { slot, free: [].into(), closed: Vec::new(), work: None })?;
        }
        Ok(())
    }

    /// What one of the members says of the whole job.
    fn observe_barrier(&mut self, ticket: Ticket, observation: &ObservationWire) -> Result<Taken, ApiError> {
        observation.check()?;
        let report = observation.report()?;
        let by = &self.source(observation)?;
        self.report(ticket, WhichTasks::All, (report, by))
    }

    fn observe_one(&mut self, observation: &ObservationWire) -> Result<Taken, ApiError> {
        observation.check()?;
        let report = observation.report()?;
        let by = &self.source(observation)?;
        let live = self.core.live()?;
        if let Some(ticket) = &observation.ticket {
            // In a list, what is refused is listed and not the whole request's fault.
            let clash = |error: ApiError| ApiError { code: Code::Conflict, ..error };
            let name: TicketName = ticket.parse().map_err(clash)?;
            return match live.start(name.ticket) {
                Some(start) => self.report_start(&start, name.first, observation, (report, by)),
                None => self.report(name.ticket, WhichTasks::All, (report, by)),
            };
        }
        let Some(job) = &observation.job else {
            return self.observe_other(None, observation, (report, by));
        };
        if let Some(start) = live.ticket_of(job).and_then(|ticket| live.start(ticket)) {
            return self.report_start(&start, None, observation, (report, by));
        }
        if observation.port.is_some() || live.port_of(job).is_some() {
            return self.observe_other(Some(job), observation, (report, by));
        }
        match live.is_over(job) {
            true => Ok(Taken { duplicate: true, ..Taken::default() }),
            false => Err(ApiError { field: Some("job".to_owned()), ..ApiError::missing("job", job) }),
        }
    }

    /// How tasks of one of our starts went.
    pub(super) fn report_start(
        &mut self,
        start: &Start,
        first: Option<u32>,
        observation: &ObservationWire,
        (report, by): (SpeedReport, &str),
    ) -> Result<Taken, ApiError> {
        // Tasks that were moved may be in one placement with others now.
        let own = first.and_then(|first| start.tasks_from(first));
        let meant = |place: &&esdp::live::Placement| {
            first.is_none_or(|_| own.as_ref().is_some_and(|(own, _)| own == place))
                && observation.group.as_ref().is_none_or(|group| place.group == *group)
                && observation.server.as_ref().is_none_or(|server| place.server == *server)
        };
        let places: Vec<_> = start.placements.iter().filter(meant).collect();
        let Some(place) = places.first() else {
            let servers: Vec<&str> = start.placements.iter().map(|place| place.server.as_str()).collect();
            let message = "the job has no such tasks".to_owned();
            return Err(ApiError::clash("server", message, format!("one of {}", servers.join(", "))));
        };
        // The core knows who is slow of tasks that wait for each other, and what spanning servers costs.
        let is_whole = first.is_none() && observation.group.is_none() && observation.server.is_none();
        if is_whole && barrier::waits(self.core.live()?, &start.port) {
            return self.report(start.ticket, WhichTasks::All, (report, by));
        }
        let one_server = places.iter().all(|other| other.server == place.server);
        if first.is_none() && observation.group.is_none() && one_server {
            return self.report(start.ticket, WhichTasks::On(place.server.clone()), (report, by));
        }
        // Members of a gang wait for each other: where only the speed of all is known, it is that of the
        // slowest.
        let slowest = match one_server || report == SpeedReport::Lost {
            true => None,
            false => slowest(self.core.live()?, start, &places),
        };
        let mut taken = Taken { duplicate: true, ..Taken::default() };
        for place in places {
            let told = match &slowest {
                Some(server) if *server != place.server => SpeedReport::Lost,
                _ => report,
            };
            let tasks = own.clone().map_or(place.first..place.first + place.count, |(_, tasks)| tasks);
            for task in tasks {
                let one = self.report(start.ticket, WhichTasks::One(task), (told, by))?;
                taken.learned += one.learned;
                taken.set_aside += one.set_aside;
                taken.duplicate &= one.duplicate;
            }
        }
        Ok(taken)
    }

    fn report(
        &mut self,
        ticket: Ticket,
        tasks: WhichTasks,
        (report, by): (SpeedReport, &str),
    ) -> Result<Taken, ApiError> {
        told(&self.core.apply(Event::Reported { ticket, tasks, report, source: by.to_owned() })?)
    }

    /// Who says so: the one for whom an operator reports, or else who asks; empty where everybody may.
    pub(super) fn source(&self, observation: &ObservationWire) -> Result<String, ApiError> {
        match &observation.source {
            Some(source) if self.actor.role >= Role::Operator => Ok(source.clone()),
            Some(_) => Err(ApiError {
                field: Some("source".to_owned()),
                ..ApiError::new(Code::Forbidden, "only an operator reports for others")
            }),
            None if self.actor.name == "anyone" => Ok(String::new()),
            None => Ok(self.actor.name.clone()),
        }
    }

    /// Whether somebody may report of what was not started here: nothing shows that it ran there.
    fn check_observer(&self, job: Option<&String>) -> Result<(), ApiError> {
        let known = job.is_some_and(|job| self.core.live().is_ok_and(|live| live.has_job(job)));
        match known || self.actor.role >= Role::Observer {
            true => Ok(()),
            false => Err(ApiError::new(
                Code::Forbidden,
                "outcomes of what was not started here need the role `observer`",
            )),
        }
    }

    /// How a task went that others have placed.
    fn observe_other(
        &mut self,
        job: Option<&String>,
        observation: &ObservationWire,
        (report, by): (SpeedReport, &str),
    ) -> Result<Taken, ApiError> {
        self.check_observer(job)?;
        let live = self.core.live()?;
        let required = |key: &str| ApiError::clash(key, format!("`{key}` is missing"), "a name");
        let known = job.and_then(|job| live.port_of(job));
        let port = observation.port.as_deref().or(known).ok_or_else(|| required("port"))?.to_owned();
        let server = observation.server.clone().ok_or_else(|| required("server"))?;
        let group = match &observation.group {
            Some(group) => group.clone(),
            None => only_group(live, &port)?,
        };
        let id = match (&observation.id, job) {
            (Some(id), _) => id.clone(),
            (None, Some(job)) => format!("{job}@{server}/{group}"),
            (None, None) => return Err(required("id")),
        };
        if live.was_observed(&id) {
            return Ok(Taken { duplicate: true, ..Taken::default() });
        }
        if let Some(job) = job {
            let (job, port, group, server) = (job.clone(), port.clone(), group.clone(), server.clone());
            told(&self.core.apply(Event::Placed { job, port, group, server })?)?;
        }
        self.let_time_pass(false)?;
        let source = by.to_owned();
        told(&self.core.apply(Event::Observed { id, port, group, server, report, source })?)
    }
}

/// The server of some placements that is believed to be the slowest.
fn slowest(live: &Live, start: &Start, places: &[&esdp::live::Placement]) -> Option<String> {
    let all = live.why_start(start);
    let estimate = |place: &&&esdp::live::Placement| {
        let mut same = all.iter().filter(|why| {
            why.belief.channel.server == place.server && why.belief.channel.group == place.group
        });
        same.next().map_or(1.0, |why| why.belief.estimate)
    };
    let slowest = places.iter().min_by(|a, b| estimate(a).total_cmp(&estimate(b)));
    slowest.map(|place| place.server.clone())
}

/// The name of the only task group of a port.
pub(super) fn only_group(live: &Live, port: &str) -> Result<String, ApiError> {
    let cluster = live.scheduler().cluster();
    let unknown = || ApiError { field: Some("port".to_owned()), ..ApiError::missing("port", port) };
    let at = cluster.ports().iter().position(|name| name == port).ok_or_else(unknown)?;
    let groups = cluster.task_groups().iter().enumerate().filter(|(_, group)| group.port.index() == at);
    let mut names: Vec<&str> = groups.map(|(index, _)| cluster.group_name(index)).collect();
    names.dedup();
    match names[..] {
        [] | [""] => Ok(String::new()),
        [only] => Ok(only.to_owned()),
        _ => Err(ApiError::clash("group", "the port has several task groups", names.join(", "))),
    }
}

/// What the core made of a report.
pub(super) fn told(effects: &[Effect]) -> Result<Taken, ApiError> {
    let mut taken = Taken::default();
    for effect in effects {
        match effect {
            Effect::Learned { uses } => taken.learned += *uses as u64,
            Effect::Confirmed { uses } => taken.learned += *uses as u64,
            Effect::SetAside { .. } => taken.set_aside += 1,
            Effect::Duplicate { .. } => taken.duplicate = true,
            Effect::Rejected { why, cause } => return Err(super::rejected(why, *cause)),
            _ => {}
        }
    }
    Ok(taken)
}
