//! A small cluster, and what tests say to it.

use esdp::live::{Effect, Event, Live, SpeedReport, Start, WhichTasks};
use esdp::model::{Cluster, ClusterDescription, JobShape, PortSpec, ServerSpec, Slot, Ticket};
use esdp::policy::{Policy, PolicySpec};

pub fn policy(name: &str) -> impl Fn(&Cluster) -> Box<dyn Policy> + use<> {
    let spec: PolicySpec = name.parse().unwrap();
    move |cluster| spec.build(cluster, 1, None).unwrap()
}

/// Servers `n0` with 4 and `n1` with 2 devices; jobs of two tasks, both needed, a device each.
pub fn described() -> ClusterDescription {
    ClusterDescription {
        devices: vec!["gpu".into()],
        servers: vec![ServerSpec::new("n0", &[("gpu", 4)]), ServerSpec::new("n1", &[("gpu", 2)])],
        ports: vec![PortSpec::new("train", JobShape::tasks(2, 2, &[("gpu", 1)]))],
        ..ClusterDescription::default()
    }
}

pub fn live() -> Live {
    Live::new(described(), policy("esdp-index")).unwrap()
}

/// The same cluster with jobs of one task for two devices: two fit on `n0`, one on `n1`, and all start at
/// once.
pub fn single() -> ClusterDescription {
    let mut described = described();
    described.ports[0].jobs = JobShape::tasks(1, 1, &[("gpu", 2)]);
    described
}

pub fn submit(live: &mut Live, job: &str) -> Vec<Effect> {
    live.apply(&Event::Submitted { job: job.into(), port: "train".into(), weight: 1.0 })
}

pub fn slot(live: &mut Live, slot: u64) -> Vec<Start> {
    let effects =
        live.step(&Event::SlotDue { slot: Slot(slot), free: [].into(), closed: vec![], work: None });
    let start = |effect| match effect {
        Effect::Decided { slot: decided, .. } => {
            assert_eq!(decided, Slot(slot));
            None
        }
        Effect::Started(start) => Some(start),
        other => panic!("{other:?}"),
    };
    effects.into_iter().filter_map(start).collect()
}

pub fn report(ticket: Ticket, report: SpeedReport) -> Event {
    Event::Reported { ticket, tasks: WhichTasks::All, report, source: String::new() }
}

pub fn pending(live: &Live) -> u32 {
    live.beliefs().map(|belief| belief.pending).sum()
}

pub fn outcomes(live: &Live) -> f64 {
    live.beliefs().map(|belief| belief.count).sum()
}
