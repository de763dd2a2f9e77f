//! Members of a gang that all report the same speed: they waited for each other.
//!
//! With a barrier in every step, all nodes of a job measure the same time, that of the slowest. Believed as
//! each member's own speed it would make fast nodes slow. So where one request brings the reports of all
//! members of a job whose tasks wait for each other, and they are alike, they count as one report of the
//! whole job.

use crate::wire::{ObservationWire, TicketName};
use esdp::live::{Live, SpeedReport, Start};
use esdp::model::{PortId, Ticket};
use std::collections::{BTreeMap, HashSet};

/// Members whose speeds differ by no more than this share have waited for each other.
const ALIKE: f64 = 0.01;

/// Whether the tasks of a port's jobs wait for each other.
pub(super) fn waits(live: &Live, port: &str) -> bool {
    let cluster = live.scheduler().cluster();
    let at = cluster.ports().iter().position(|name| name == port);
    at.is_some_and(|at| cluster.crossing(PortId::at(at)).is_some())
}

/// The member that a report is of: its start, and the first task of its placement.
fn member(live: &Live, observation: &ObservationWire) -> Option<(Start, u32)> {
    if let Some(ticket) = &observation.ticket {
        let TicketName { ticket, first } = ticket.parse().ok()?;
        let start = live.start(ticket)?;
        let first = start.tasks_from(first?)?.0.first;
        return Some((start, first));
    }
    let start = live.start(live.ticket_of(observation.job.as_ref()?)?)?;
    let server = observation.server.as_ref()?;
    let mut own = start.placements.iter().filter(|place| place.server == *server);
    let first = own.next()?.first;
    own.next().is_none().then_some((start, first))
}

fn speed(observation: &ObservationWire) -> Option<f64> {
    match observation.report().ok()? {
        SpeedReport::Utility(speed) | SpeedReport::Rate(speed) => Some(speed),
        SpeedReport::Work { work, seconds } => Some(work / seconds),
        SpeedReport::Lost => None,
    }
}

/// Jobs all of whose members report the same in one request: by ticket, the places of their reports in the
/// list.
pub(super) fn find(live: &Live, list: &[ObservationWire]) -> BTreeMap<Ticket, Vec<usize>> {
    let mut jobs: BTreeMap<Ticket, (Start, Vec<(usize, u32, f64)>)> = BTreeMap::new();
    if list.len() < 2 || !live.scheduler().cluster().has_slowest() {
        return BTreeMap::new();
    }
    for (index, observation) in list.iter().enumerate() {
        let Some((start, first)) = member(live, observation) else { continue };
        let Some(speed) = speed(observation).filter(|_| waits(live, &start.port)) else { continue };
        jobs.entry(start.ticket).or_insert_with(|| (start, Vec::new())).1.push((index, first, speed));
    }
    let is_barrier = |(start, told): &(Start, Vec<(usize, u32, f64)>)| {
        let speeds = || told.iter().map(|&(.., speed)| speed);
        let (least, most) = (speeds().fold(f64::INFINITY, f64::min), speeds().fold(0.0, f64::max));
        let members: HashSet<u32> = told.iter().map(|&(_, first, _)| first).collect();
        let servers: HashSet<&str> = start.placements.iter().map(|place| place.server.as_str()).collect();
        servers.len() > 1 && members.len() == start.placements.len() && most - least <= ALIKE * most
    };
    jobs.retain(|_, job| is_barrier(job));
    let places =
        |(_, told): (Start, Vec<(usize, u32, f64)>)| told.into_iter().map(|(index, ..)| index).collect();
    jobs.into_iter().map(|(ticket, job)| (ticket, places(job))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use esdp::live::{Effect, Event};
    use esdp::model::{ClusterDescription, JobShape, Pace, PortSpec, ServerSpec, Slot};
    use esdp::policy::PolicySpec;

    fn started(pace: Pace) -> (Live, Start) {
        let described = ClusterDescription {
            devices: vec!["gpu".into()],
            servers: ["n0", "n1"].map(|name| ServerSpec::new(name, &[("gpu", 1)])).to_vec(),
            ports: vec![PortSpec { pace, ..PortSpec::new("train", JobShape::tasks(2, 2, &[("gpu", 1)])) }],
            ..ClusterDescription::default()
        };
        let spec: PolicySpec = "esdp".parse().unwrap();
        let mut live = Live::new(described, |cluster| spec.build(cluster, 1, None).unwrap()).unwrap();
        live.apply(&Event::Submitted { job: "j".into(), port: "train".into(), weight: 1.0 });
        let due = Event::SlotDue { slot: Slot(1), free: [].into(), closed: Vec::new(), work: None };
        let start = live.step(&due).into_iter().find_map(|effect| match effect {
            Effect::Started(start) => Some(start),
            _ => None,
        });
        (live, start.unwrap())
    }

    fn by_ticket(ticket: &str, seconds: f64) -> ObservationWire {
        let (work, seconds) = (Some(100.0), Some(seconds));
        ObservationWire { ticket: Some(ticket.into()), work, seconds, ..ObservationWire::default() }
    }

    fn by_server(server: &str, rate: f64) -> ObservationWire {
        let (job, server) = (Some("j".to_owned()), Some(server.to_owned()));
        ObservationWire { job, server, rate: Some(rate), ..ObservationWire::default() }
    }

    #[test]
    fn members_that_all_report_the_same_have_waited_for_each_other() {
        let (live, start) = started(Pace::Slowest { crossing: 1.0 });
        let found = |list: &[ObservationWire]| find(&live, list);
        let all = |places: &[usize]| BTreeMap::from([(start.ticket, places.to_vec())]);
        assert_eq!(found(&[by_ticket("t1.0", 50.0), by_ticket("t1.1", 50.2)]), all(&[0, 1]));
        let lost = ObservationWire { outcome: Some("lost".into()), ..by_server("n9", 1.0) };
        assert_eq!(found(&[lost, by_server("n1", 2.0), by_server("n0", 2.0)]), all(&[1, 2]));
        assert!(found(&[by_ticket("t1.0", 50.0), by_ticket("t1.1", 60.0)]).is_empty(), "their own speeds");
        assert!(found(&[by_ticket("t1.0", 50.0), by_ticket("t1.0", 50.0)]).is_empty(), "one member, twice");
        assert!(found(&[by_server("n0", 2.0)]).is_empty());
        let (live, _) = started(Pace::Sum);
        assert!(find(&live, &[by_server("n1", 2.0), by_server("n0", 2.0)]).is_empty(), "nobody waits");
    }
}
