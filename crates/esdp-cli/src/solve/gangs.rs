//! The gang form of a problem: servers with capacities, and jobs made of groups of tasks.

use super::input::{Described, Object, Real, Whole};
use anyhow::ensure;
use esdp::model::Amount;
use esdp::solver::{Gang, Gangs, Group, Instance};
use serde::Deserialize;

/// The file as it is written; duplicate and unknown keys are refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawGangs {
    servers: Vec<Object<RawServer>>,
    jobs: Vec<Object<RawJob>>,
    capacity: Option<Vec<Whole>>,
}

impl Described for RawGangs {
    const WHAT: &'static str = "an object with `servers` and `jobs`";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawServer {
    capacity: Vec<Whole>,
}

impl Described for RawServer {
    const WHAT: &'static str = "an object with `capacity`";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawJob {
    min: Whole,
    copies: Option<Whole>,
    tasks: Vec<Object<RawTasks>>,
}

impl Described for RawJob {
    const WHAT: &'static str = "an object with `min`, `copies` and `tasks`";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTasks {
    count: Whole,
    min: Option<Whole>,
    request: Vec<Whole>,
    channels: Vec<Object<RawChannel>>,
}

impl Described for RawTasks {
    const WHAT: &'static str = "an object with `count`, `min`, `request` and `channels`";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChannel {
    server: Whole,
    mean: Real,
    #[serde(default)]
    width: Real,
}

impl Described for RawChannel {
    const WHAT: &'static str = "an object with `server`, `mean` and `width`";
}

/// Where each channel came from: its job and its group of tasks there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The job's position in `jobs`.
    pub job: u32,
    /// The group's position in the job's `tasks`.
    pub task: u32,
}

fn amounts(list: &[Whole]) -> impl Iterator<Item = Amount> {
    list.iter().map(|amount| amount.0)
}

/// A whole number that must lie in a range, or an error that names it.
fn within(key: impl std::fmt::Display, value: Whole, least: u64, most: u64) -> anyhow::Result<u32> {
    let Whole(value) = value;
    ensure!(
        (least..=most).contains(&value),
        "{key}: {value}, expected a whole number from {least} to {most}"
    );
    Ok(u32::try_from(value).unwrap_or(u32::MAX))
}

/// Checks the numbers against each other and lays them out.
pub(super) fn instance(raw: &RawGangs) -> anyhow::Result<(Instance, Vec<Origin>)> {
    let first = raw.servers.first().map(|Object(server)| server.capacity.len());
    let devices = raw.capacity.as_ref().map(Vec::len).or(first).unwrap_or(0);
    let capacity = raw.capacity.as_ref().map_or(vec![Amount::MAX; devices], |list| amounts(list).collect());
    let source = if raw.capacity.is_some() { "`capacity`" } else { "`servers[0].capacity`" };
    let mut instance = Instance::new(capacity);
    for (server, Object(RawServer { capacity })) in raw.servers.iter().enumerate() {
        let found = capacity.len();
        ensure!(
            found == devices,
            "servers[{server}].capacity: length {found}, expected {devices}, as many as {source} has"
        );
        instance.server_capacity.extend(amounts(capacity));
    }
    let mut origins = Vec::new();
    for (job, Object(RawJob { min, copies, tasks })) in raw.jobs.iter().enumerate() {
        let mut all = 0u64;
        for (task, Object(group)) in tasks.iter().enumerate() {
            let key = format!("jobs[{job}].tasks[{task}]");
            let count = within(format_args!("{key}.count"), group.count, 1, Gangs::MOST_TASKS)?;
            all += u64::from(count);
            let least =
                group.min.map_or(Ok(0), |min| within(format_args!("{key}.min"), min, 0, u64::from(count)))?;
            let found = group.request.len();
            ensure!(
                found == devices,
                "{key}.request: length {found}, expected {devices}, as many as {source} has"
            );
            let place = instance.groups.len() as u32;
            instance.groups.push(Group { job: job as u32, count, minimum: least });
            let request: Vec<Amount> = amounts(&group.request).collect();
            for (channel, Object(RawChannel { server, mean, width })) in group.channels.iter().enumerate() {
                let key = format!("{key}.channels[{channel}]");
                let (servers, Whole(server), Real(width)) = (raw.servers.len(), *server, *width);
                ensure!(
                    server < servers as u64,
                    "{key}.server: {server}, expected a position in `servers`, of length {servers}"
                );
                ensure!(width >= 0.0, "{key}.width: {width} is negative, expected a number of at least 0");
                instance.push(&request, mean.0, width);
                instance.server.push(server as u32);
                instance.group.push(place);
                origins.push(Origin { job: job as u32, task: task as u32 });
            }
        }
        ensure!(all > 0, "jobs[{job}].tasks: an empty list, expected at least one group of tasks");
        let minimum = within(format_args!("jobs[{job}].min"), *min, 1, all)?;
        let copies = copies.map_or(Ok(1), |copies| {
            within(format_args!("jobs[{job}].copies"), copies, 0, Gangs::MOST_TASKS)
        })?;
        instance.jobs.push(Gang { minimum, copies });
    }
    Ok((instance, origins))
}
