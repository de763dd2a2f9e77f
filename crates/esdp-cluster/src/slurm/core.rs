//! The core, as the driver speaks to it: a client of the service's engine, whose journal keeps everything.

use esdp::model::{Amounts, ClusterDescription};
use esdp_serve::engine::{Client, Command, View};
use esdp_serve::wire::{
    ApiError, Code, JobWire, JobsAnswer, ObservationWire, OneOrMany, PlacementWire, SlotWire, StartWire,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The core.
#[derive(Debug)]
pub struct CoreClient<'a> {
    client: &'a Client,
}

/// What became of observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct ObservationCounts {
    /// How many were learned.
    pub learned: u64,
}

/// What was decided in a slot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct SlotDecision {
    /// What starts where.
    pub placements: Vec<PlacementWire>,
    /// Jobs that were sent and are over.
    #[serde(default)]
    pub ignored: Vec<IgnoredJob>,
}

/// A job that was sent for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct IgnoredJob {
    /// The job.
    pub job: String,
}

/// One request by itself.
fn one<T>(request: T) -> OneOrMany<T> {
    OneOrMany { list: vec![request], single: true }
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ApiError> {
    serde_json::from_str(text).map_err(|error| ApiError::new(Code::Internal, error.to_string()))
}

impl<'a> CoreClient<'a> {
    /// A core behind a client.
    pub fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// What is believed.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn view(&self) -> Result<Arc<View>, ApiError> {
        self.client.view()
    }

    /// What was started and what waits.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn jobs(&self) -> Result<JobsAnswer, ApiError> {
        read(&self.client.ask(Command::Jobs)?.text)
    }

    /// The cluster is this one.
    ///
    /// # Errors
    /// When it does not fit together.
    pub fn describe(&self, cluster: ClusterDescription) -> Result<(), ApiError> {
        self.client.ask(Command::Cluster(cluster)).map(drop)
    }

    /// Decides a slot.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn decide(
        &self,
        jobs: Vec<JobWire>,
        (free, closed): (BTreeMap<String, Amounts>, Vec<String>),
        work: Option<u64>,
    ) -> Result<SlotDecision, ApiError> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        // Nobody asks for a slot again: what was decided before a crash is among the jobs that were started.
        let key = format!("slurm-{}", now.as_nanos());
        read(
            &self
                .client
                .ask(Command::Slots(one(SlotWire { key, jobs, ended: Vec::new(), free, closed, work })))?
                .text,
        )
    }

    /// A start came to nothing: the job waits again.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn refuse(&self, ticket: &str, why: &str) -> Result<(), ApiError> {
        let start =
            StartWire { ticket: ticket.to_owned(), accepted: false, server: None, why: why.to_owned() };
        known(self.client.ask(Command::Starts(one(start))).map(drop))
    }

    /// A job is over, whether it ran or waited.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn end(&self, job: &str) -> Result<(), ApiError> {
        known(self.client.ask(Command::EndJob(job.to_owned())).map(drop))
    }

    /// A job of ours is over and teaches nothing.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn lose(&self, job: &str) -> Result<(), ApiError> {
        let lost = ObservationWire {
            job: Some(job.to_owned()),
            outcome: Some("lost".to_owned()),
            ..Default::default()
        };
        self.observe(vec![lost])?;
        self.end(job)
    }

    /// How tasks went; how many outcomes were learned.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub fn observe(&self, list: Vec<ObservationWire>) -> Result<u64, ApiError> {
        if list.is_empty() {
            return Ok(0);
        }
        let answer = self.client.ask(Command::Observe(OneOrMany { list, single: false }))?;
        read::<ObservationCounts>(&answer.text).map(|answer| answer.learned)
    }
}

/// What the core does not know of need not be undone.
fn known(answer: Result<(), ApiError>) -> Result<(), ApiError> {
    match answer {
        Err(error) if error.code == Code::NotFound => Ok(()),
        other => other,
    }
}
