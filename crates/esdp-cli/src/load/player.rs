//! A simulated cluster behind a service: what [`SimulatedCluster`] says in events goes over HTTP, and what the service
//! decides comes back as starts.

use super::client::{Target, escaped};
use super::connections::{Connections, Request};
use super::tally::{Kind, Tally};
use anyhow::{Context, bail};
use esdp::live::{Driver, Event, Placement, SpeedReport, Start, WhichTasks};
use esdp::model::{ClusterDescription, Slot};
use esdp::sim::{Setting, SimulatedCluster};
use esdp_serve::wire::{ClusterWire, TicketName};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The ports of how many starts are kept.
const MOST_TICKETS: usize = 10_000;
/// The time over which a speed is reported, in seconds; any number will do.
const REPORTED_SECONDS: f64 = 10.0;

/// Plays a setting against a service.
pub(crate) struct Player {
    driver: SimulatedCluster,
    /// Names of this run's jobs and slots begin with it, so that none is taken for one of an earlier run.
    run: String,
    slot: u64,
    /// The ports of jobs that wait or run.
    ports: HashMap<String, String>,
    /// Speeds at a utility of 1 by port; utilities are reported for ports without.
    units: HashMap<String, f64>,
    /// The ports of the last starts, if their outcomes are reported in units.
    tickets: BTreeMap<u64, String>,
    connections: Connections,
}

impl Player {
    /// A player with some connections.
    ///
    /// # Errors
    /// When there are no threads for them.
    pub(crate) fn new(setting: &Setting, target: &Target, run: &str, connections: usize) -> anyhow::Result<Self> {
        Ok(Self {
            driver: SimulatedCluster::new(setting),
            run: run.to_owned(),
            slot: 0,
            ports: HashMap::new(),
            units: HashMap::new(),
            tickets: BTreeMap::new(),
            connections: Connections::new(target, connections)?,
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
        self.driver.describe()
    }

    /// Asks the service, outside of the game.
    ///
    /// # Errors
    /// When it does not answer with 200.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&str>) -> anyhow::Result<Value> {
        self.connections.first().ask(method, path, body)
    }

    /// Describes the cluster to the service. One that has another cluster keeps it, unless it may be replaced.
    ///
    /// # Errors
    /// When the service has another cluster, or does not decide.
    pub(crate) fn describe_to_service(&self, described: &ClusterDescription, replace: bool) -> anyhow::Result<()> {
        let cluster = serde_json::to_string(&ClusterWire::of(described))?;
        let known = self.connections.first().send("GET", "/v1/cluster", None).context("the service does not answer")?;
        let same = || -> anyhow::Result<bool> { Ok(known.json()? == serde_json::from_str::<Value>(&cluster)?) };
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

    /// What was sent and how long it took.
    pub(crate) fn tally(&mut self) -> &mut Tally {
        &mut self.connections.tally
    }

    /// Plays a slot: ends and outcomes, then new jobs and a decision.
    ///
    /// # Errors
    /// When the service does not answer, however often it is asked.
    pub(crate) fn play(&mut self) -> anyhow::Result<()> {
        let (jobs, requests) = self.told()?;
        self.connections.send_all(&requests)?;
        self.slot += 1;
        let body = json!({"key": format!("{}{}", self.run, self.slot), "jobs": jobs}).to_string();
        let request = Request { kind: Kind::Slot, method: "POST", path: "/v1/slots".to_owned(), body: Some(body) };
        let answers = self.connections.send_all(&[request])?;
        let starts = self.starts(&answers[0])?;
        self.driver.start(&starts);
        Ok(())
    }

    /// What the cluster says: new jobs, and requests for the rest.
    fn told(&mut self) -> anyhow::Result<(Vec<Value>, Vec<Request>)> {
        let (mut jobs, mut reports, mut requests) = (Vec::new(), Vec::new(), Vec::new());
        for event in self.driver.poll()? {
            match event {
                Event::Reported { ticket, tasks: WhichTasks::One(task), report: SpeedReport::Utility(utility) } => {
                    reports.push(self.report(TicketName { ticket, first: Some(task) }, utility));
                }
                Event::Ended { job } | Event::Cancelled { job } => {
                    self.ports.remove(&job);
                    requests.push(self.end(&job));
                }
                Event::Submitted { job, port, .. } => {
                    jobs.push(json!({"id": format!("{}{job}", self.run), "port": port}));
                    self.ports.insert(job, port);
                }
                other => bail!("a simulated cluster does not say {other:?}"),
            }
        }
        if !reports.is_empty() {
            let body = Some(Value::Array(reports).to_string());
            let path = "/v1/observations".to_owned();
            requests.insert(0, Request { kind: Kind::Outcomes, method: "POST", path, body });
        }
        Ok((jobs, requests))
    }

    fn report(&self, name: TicketName, utility: f64) -> Value {
        let unit = self.tickets.get(&name.ticket.0).and_then(|port| self.units.get(port));
        let ticket = name.to_string();
        match unit {
            Some(unit) => {
                json!({"ticket": ticket, "work": utility * unit * REPORTED_SECONDS, "seconds": REPORTED_SECONDS})
            }
            None => json!({"ticket": ticket, "utility": utility}),
        }
    }

    fn end(&self, job: &str) -> Request {
        let path = format!("/v1/jobs/{}", escaped(&format!("{}{job}", self.run)));
        Request { kind: Kind::End, method: "DELETE", path, body: None }
    }

    /// The starts of an answer, as the cluster knows their jobs. Those of others are not ours to run.
    fn starts(&mut self, answer: &Value) -> anyhow::Result<Vec<Start>> {
        let mut starts: Vec<Start> = Vec::new();
        for placement in answer["placements"].as_array().into_iter().flatten() {
            let text = |key: &str| placement[key].as_str().with_context(|| format!("a placement without `{key}`"));
            let Some(job) = text("job")?.strip_prefix(&self.run) else { continue };
            let name = text("ticket")?.parse::<TicketName>().map_err(|error| anyhow::anyhow!(error.message))?;
            let place = Placement {
                group: text("group")?.to_owned(),
                server: text("server")?.to_owned(),
                count: placement["count"].as_u64().context("a placement without `count`")? as u32,
                first: name.first.context("a ticket without its first task")?,
            };
            // Without a run's name, others are told by their names alone.
            let Some(port) = self.ports.get(job) else { continue };
            match starts.last_mut() {
                Some(last) if last.ticket == name.ticket => last.placements.push(place),
                _ => {
                    let (port, job) = (port.clone(), job.to_owned());
                    // The cluster counts slots by itself: the service may have seen others.
                    let (ticket, slot) = (name.ticket, Slot(self.slot));
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
        let jobs: BTreeSet<String> = std::mem::take(&mut self.ports).into_keys().collect();
        let requests: Vec<Request> = jobs.iter().map(|job| self.end(job)).collect();
        self.connections.send_all(&requests).map(drop)
    }
}
