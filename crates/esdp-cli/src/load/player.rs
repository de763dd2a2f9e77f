//! A simulated cluster behind a service: what [`SimulatedCluster`] says in events goes over HTTP, and what
//! the service decides comes back as starts.
//!
//! With a batch, a request decides several slots in a row. Each slot of the batch has a simulated cluster of
//! its own that plays every so many slots, and together they play all of them; what one slot has started is
//! over when the next one is decided, as in the scenario, and outcomes are reported with the next batch.

use super::client::{Client, Target, escaped};
use super::tally::{Kind, Tally};
use anyhow::{Context, bail};
use esdp::live::{Driver, Event, Placement, SpeedReport, Start, WhichTasks};
use esdp::model::{ClusterDescription, Slot};
use esdp::sim::{Setting, SimulatedCluster};
use esdp_serve::wire::{ClusterWire, TicketName};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// The ports of how many starts are kept.
const MOST_TICKETS: usize = 10_000;
/// The time over which a speed is reported, in seconds; any number will do.
const REPORTED_SECONDS: f64 = 10.0;
/// How often something that failed is sent again. Sending twice is harmless.
const TRIES: usize = 20;
/// The pause before it.
const PAUSE: Duration = Duration::from_millis(100);

/// Plays a setting against a service.
pub(crate) struct Player {
    /// One for each slot of a batch.
    clusters: Vec<SimulatedCluster>,
    /// Names of this player's jobs and slots begin with it, so that none is taken for one of another or of an
    /// earlier run.
    name: String,
    slot: u64,
    /// The ports of jobs that wait or run.
    ports: HashMap<String, String>,
    /// Jobs of the slot before, if slots come in batches.
    last: Vec<String>,
    /// Speeds at a utility of 1 by port; utilities are reported for ports without.
    units: HashMap<String, f64>,
    /// The ports of the last starts, if their outcomes are reported in units.
    tickets: BTreeMap<u64, String>,
    client: Client,
    /// What was sent and how long it took.
    pub(crate) tally: Tally,
}

impl Player {
    /// A player that decides so many slots at once.
    ///
    /// # Errors
    /// When the scenario's jobs last for more than a slot, and slots shall be decided together.
    pub(crate) fn new(setting: &Setting, target: &Target, name: &str, batch: u16) -> anyhow::Result<Self> {
        let stride = u64::from(batch);
        let cluster = |first| SimulatedCluster::new(setting).with_stride(Slot(first), stride);
        let clusters: Vec<SimulatedCluster> = (1..=stride).map(cluster).collect();
        if stride > 1 && clusters[0].has_lasting_jobs() {
            bail!("--batch {batch}: jobs of this scenario last for several slots, expected 1");
        }
        Ok(Self {
            clusters,
            name: name.to_owned(),
            slot: 0,
            ports: HashMap::new(),
            last: Vec::new(),
            units: HashMap::new(),
            tickets: BTreeMap::new(),
            client: Client::new(target),
            tally: Tally::default(),
        })
    }

    /// Reports the speeds of ports in units of their own.
    #[must_use]
    pub(crate) fn with_units(mut self, units: HashMap<String, f64>) -> Self {
        self.units = units;
        self
    }

    /// The cluster that is played.
    pub(crate) fn describe(&self) -> ClusterDescription {
        self.clusters[0].describe()
    }

    /// Asks the service, outside of the game.
    ///
    /// # Errors
    /// When it does not answer with 200.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: Option<&str>) -> anyhow::Result<Value> {
        self.client.ask(method, path, body)
    }

    /// Describes the cluster to the service. One that has another cluster keeps it, unless it may be
    /// replaced.
    ///
    /// # Errors
    /// When the service has another cluster, or does not decide.
    pub(crate) fn describe_to_service(
        &mut self,
        described: &ClusterDescription,
        replace: bool,
    ) -> anyhow::Result<()> {
        let cluster = serde_json::to_string(&ClusterWire::of(described))?;
        let known = self.client.send("GET", "/v1/cluster", None).context("the service does not answer")?;
        let same =
            || -> anyhow::Result<bool> { Ok(known.json()? == serde_json::from_str::<Value>(&cluster)?) };
        match known.status {
            404 => {}
            200 if replace || same()? => {}
            200 => bail!("the service has another cluster; --replace puts the simulated one in its place"),
            _ => bail!("GET /v1/cluster: {}", known.complaint()),
        }
        self.ask("PUT", "/v1/cluster", Some(&cluster))?;
        let mode = self.ask("GET", "/v1/status", None)?["mode"].as_str().unwrap_or_default().to_owned();
        if mode != "place" {
            bail!("the service is in mode {mode}; playing needs one that decides (--mode place)");
        }
        Ok(())
    }

    /// Plays a batch of slots: outcomes, then new jobs and decisions.
    ///
    /// # Errors
    /// When the service does not answer, however often it is asked.
    pub(crate) fn play(&mut self) -> anyhow::Result<()> {
        let (mut slots, mut reports) = (Vec::new(), Vec::new());
        for at in 0..self.clusters.len() {
            slots.push(self.poll(at, &mut reports)?);
        }
        if !reports.is_empty() {
            self.tally.outcomes += reports.len() as u64;
            self.send(Kind::Outcomes, "POST", "/v1/observations", Some(&Value::Array(reports).to_string()))?;
        }
        let answers = match &slots[..] {
            [one] => vec![self.send(Kind::Slot, "POST", "/v1/slots", Some(&one.to_string()))?],
            _ => {
                let answer =
                    self.send(Kind::Slot, "POST", "/v1/slots", Some(&Value::Array(slots).to_string()))?;
                answer["slots"].as_array().context("an answer without `slots`")?.clone()
            }
        };
        for (at, answer) in answers.iter().enumerate() {
            let starts = self.starts(answer)?;
            self.clusters[at].start(&starts);
        }
        Ok(())
    }

    /// A job's name as the service knows it: clusters of a batch count their jobs alike.
    fn full_name(&self, at: usize, job: &str) -> String {
        match self.clusters.len() {
            1 => format!("{}{job}", self.name),
            _ => format!("{}{at}/{job}", self.name),
        }
    }

    /// A job's name as its cluster knows it.
    fn own_name<'a>(&self, job: &'a str) -> Option<&'a str> {
        let job = job.strip_prefix(&self.name)?;
        match self.clusters.len() {
            1 => Some(job),
            _ => job.split_once('/').map(|(_, job)| job),
        }
    }

    /// The request for the next slot, and reports of outcomes.
    fn poll(&mut self, at: usize, reports: &mut Vec<Value>) -> anyhow::Result<Value> {
        let batch = self.clusters.len() > 1;
        let (mut jobs, mut names) = (Vec::new(), Vec::new());
        let mut ended: Vec<String> = std::mem::take(&mut self.last);
        for event in self.clusters[at].poll()? {
            match event {
                Event::Reported {
                    ticket,
                    tasks: WhichTasks::One(task),
                    report: SpeedReport::Utility(utility),
                    source: _,
                } => {
                    reports.push(self.report(TicketName { ticket, first: Some(task) }, utility));
                }
                Event::Ended { job } | Event::Cancelled { job } => {
                    let name = self.full_name(at, &job);
                    self.ports.remove(&name);
                    // In a batch, the slot after it has said so.
                    if !batch {
                        ended.push(name);
                    }
                }
                Event::Submitted { job, port, .. } => {
                    let name = self.full_name(at, &job);
                    jobs.push(json!({"id": name, "port": port}));
                    names.push(name.clone());
                    self.ports.insert(name, port);
                }
                other => bail!("a simulated cluster does not say {other:?}"),
            }
        }
        if batch {
            self.last = names;
        }
        self.slot += 1;
        Ok(json!({"key": format!("{}{}", self.name, self.slot), "jobs": jobs, "ended": ended}))
    }

    fn report(&self, name: TicketName, utility: f64) -> Value {
        let unit = self.tickets.get(&name.ticket.0).and_then(|port| self.units.get(port));
        let ticket = name.to_string();
        match unit {
            Some(unit) => {
                json!({"ticket": ticket, "work": utility * unit * REPORTED_SECONDS,
                    "seconds": REPORTED_SECONDS})
            }
            None => json!({"ticket": ticket, "utility": utility}),
        }
    }

    /// The starts of an answer, as the cluster knows their jobs. Those of others are not ours to run.
    fn starts(&mut self, answer: &Value) -> anyhow::Result<Vec<Start>> {
        let mut starts: Vec<Start> = Vec::new();
        for placement in answer["placements"].as_array().into_iter().flatten() {
            let text =
                |key: &str| placement[key].as_str().with_context(|| format!("a placement without `{key}`"));
            let name = text("job")?;
            let (Some(port), Some(job)) = (self.ports.get(name), self.own_name(name)) else { continue };
            let ticket =
                text("ticket")?.parse::<TicketName>().map_err(|error| anyhow::anyhow!(error.message))?;
            let place = Placement {
                group: text("group")?.to_owned(),
                server: text("server")?.to_owned(),
                count: placement["count"].as_u64().context("a placement without `count`")? as u32,
                first: ticket.first.context("a ticket without its first task")?,
            };
            match starts.last_mut() {
                Some(last) if last.ticket == ticket.ticket => last.placements.push(place),
                _ => {
                    let (port, job) = (port.clone(), job.to_owned());
                    // The cluster counts slots by itself: the service may have seen others.
                    let (ticket, slot) = (ticket.ticket, Slot(self.slot));
                    starts.push(Start { ticket, job, port, slot, placements: vec![place] });
                }
            }
        }
        for start in starts.iter().filter(|_| !self.units.is_empty()) {
            self.tickets.insert(start.ticket.0, start.port.clone());
        }
        while self.tickets.len() > MOST_TICKETS {
            self.tickets.pop_first();
        }
        Ok(starts)
    }

    /// Ends all that is left, so that the service is as free as before.
    ///
    /// # Errors
    /// When the service does not answer.
    pub(crate) fn clear(&mut self) -> anyhow::Result<()> {
        let jobs: Vec<String> = std::mem::take(&mut self.ports).into_keys().collect();
        for job in jobs {
            self.send(Kind::End, "DELETE", &format!("/v1/jobs/{}", escaped(&job)), None)?;
        }
        Ok(())
    }

    /// Sends a request, again and again if it fails; its time counts.
    fn send(&mut self, kind: Kind, method: &str, path: &str, body: Option<&str>) -> anyhow::Result<Value> {
        let mut last = String::new();
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            let started = Instant::now();
            last = match self.client.send(method, path, body) {
                Ok(answer) if answer.status == 200 => {
                    self.tally.count(kind, Ok(started.elapsed()));
                    return answer.json();
                }
                // Only a service that is overloaded or gone may think otherwise later.
                Ok(answer) if answer.status < 500 => {
                    self.tally.count(kind, Err(answer.complaint()));
                    bail!("{method} {path}: {}", answer.complaint());
                }
                Ok(answer) => answer.complaint(),
                Err(error) => error.to_string(),
            };
            self.tally.count(kind, Err(last.clone()));
        }
        bail!("{method} {path}: {last}, {TRIES} times")
    }
}
