//! A problem as the JSON that `esdp solve` reads: the way back from [`parse`](super::parse).

use anyhow::ensure;
use esdp::model::Amount;
use esdp::solver::{Gangs, Problem, Servers};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Base<'a> {
    capacity: &'a [Amount],
    channels: Vec<BaseChannel<'a>>,
}

#[derive(Debug, Serialize)]
struct BaseChannel<'a> {
    request: &'a [Amount],
    mean: f64,
    #[serde(skip_serializing_if = "is_zero")]
    width: f64,
}

#[derive(Debug, Serialize)]
struct GangForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<&'a [Amount]>,
    servers: Vec<Server<'a>>,
    jobs: Vec<Job<'a>>,
}

#[derive(Debug, Serialize)]
struct Server<'a> {
    capacity: &'a [Amount],
}

#[derive(Debug, Serialize)]
struct Job<'a> {
    min: u32,
    #[serde(skip_serializing_if = "is_one")]
    copies: u32,
    tasks: Vec<Tasks<'a>>,
}

#[derive(Debug, Serialize)]
struct Tasks<'a> {
    count: u32,
    #[serde(skip_serializing_if = "is_none")]
    min: u32,
    request: &'a [Amount],
    channels: Vec<GangChannel>,
}

#[derive(Debug, Serialize)]
struct GangChannel {
    server: u32,
    mean: f64,
    #[serde(skip_serializing_if = "is_zero")]
    width: f64,
}

fn is_none(minimum: &u32) -> bool {
    *minimum == 0
}

fn is_zero(width: &f64) -> bool {
    *width == 0.0
}

fn is_one(copies: &u32) -> bool {
    *copies == 1
}

/// Writes a problem. Channels keep their order where those of a group follow each other and groups
/// follow their jobs.
///
/// # Errors
/// Of problems that neither form can tell: servers without jobs or jobs without servers, and tasks of a
/// group whose requests differ.
pub fn to_json(problem: &Problem<'_>) -> anyhow::Result<String> {
    let text = match (problem.servers(), problem.gangs()) {
        (None, None) => serde_json::to_string(&Base {
            capacity: problem.capacity(),
            channels: (0..problem.len())
                .map(|e| BaseChannel {
                    request: problem.request(e),
                    mean: problem.mean()[e],
                    width: problem.width()[e],
                })
                .collect(),
        })?,
        (Some(servers), Some(gangs)) => serde_json::to_string(&gang_form(problem, servers, gangs)?)?,
        _ => anyhow::bail!("the JSON of `esdp solve` has servers and jobs together, or neither"),
    };
    Ok(text + "\n")
}

fn gang_form<'a>(
    problem: &Problem<'a>,
    servers: Servers<'a>,
    gangs: Gangs<'a>,
) -> anyhow::Result<GangForm<'a>> {
    let devices = problem.devices();
    let mut groups: Vec<Tasks<'a>> = Vec::new();
    groups.extend(gangs.groups.iter().map(|group| Tasks {
        count: group.count,
        min: group.minimum,
        request: &[],
        channels: Vec::new(),
    }));
    for e in 0..problem.len() {
        let (group, request) = (&mut groups[gangs.group[e] as usize], problem.request(e));
        ensure!(
            group.channels.is_empty() || group.request == request,
            "channel {e}: another request than its group"
        );
        group.request = request;
        group.channels.push(GangChannel {
            server: servers.of[e],
            mean: problem.mean()[e],
            width: problem.width()[e],
        });
    }
    let job = |job: &esdp::solver::Gang| Job { min: job.minimum, copies: job.copies, tasks: Vec::new() };
    let mut jobs: Vec<Job<'a>> = gangs.jobs.iter().map(job).collect();
    // Tasks that nothing can run have no request; any of the right length will do.
    let nothing = servers.capacity.get(..devices).unwrap_or_default();
    for (group, mut tasks) in gangs.groups.iter().zip(groups) {
        if tasks.channels.is_empty() {
            tasks.request = nothing;
        }
        jobs[group.job as usize].tasks.push(tasks);
    }
    let limited = problem.capacity().iter().any(|&c| c != Amount::MAX);
    // Without device types there are as many servers as channels name.
    let named = servers.of.iter().max().map_or(0, |&last| last as usize + 1);
    let count = servers.capacity.len().checked_div(devices).unwrap_or(named);
    let server = |server| Server { capacity: servers.row(server, devices) };
    Ok(GangForm {
        capacity: limited.then_some(problem.capacity()),
        servers: (0..count as u32).map(server).collect(),
        jobs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::parse;
    use esdp::sim::families::{Dimensions, Draw, Family, IndexKind};
    use esdp::solver::Instance;

    #[test]
    fn every_family_comes_back_as_it_was() {
        for family in Family::ALL {
            for index in IndexKind::ALL {
                for number in 0..10 {
                    let draw = Draw { family, size: Dimensions(4, 6), index, seed: 3, number };
                    let instance = draw.instance();
                    let text = to_json(&instance.problem().unwrap()).unwrap();
                    assert_eq!(parse(text.as_bytes()).unwrap().instance, instance, "{draw}");
                }
            }
        }
    }

    #[test]
    fn servers_without_devices_are_still_servers() {
        let text = r#"{"servers":[{"capacity":[]},{"capacity":[]}],"jobs":[
            {"min":1,"tasks":[{"count":1,"request":[],"channels":[{"server":1,"mean":1.0}]}]}]}"#;
        let instance = parse(text.as_bytes()).unwrap().instance;
        let again = to_json(&instance.problem().unwrap()).unwrap();
        assert_eq!(parse(again.as_bytes()).unwrap().instance, instance);
    }

    #[test]
    fn a_form_that_is_neither_is_refused() {
        let mut instance = Instance::new(vec![1]);
        instance.push(&[1], 0.5, 0.0);
        instance.server = vec![0];
        instance.server_capacity = vec![1];
        assert!(to_json(&instance.problem().unwrap()).is_err());
    }
}
