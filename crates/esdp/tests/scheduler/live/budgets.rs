//! Each decision takes a work budget, and says why it stopped.

use super::cluster::{described, policy, slot, submit};
use esdp::live::{Effect, Event, HeldReason, Live, SpeedReport};
use esdp::model::{Cluster, ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
use esdp::policy::PolicySpec;
use esdp::solver::{Exact, Problem, Solution, SolveError, Solver, Stopped};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Solves exactly, and tells the limit of its last call.
struct Limited {
    inner: Exact,
    limit: Arc<AtomicU64>,
}

impl Solver for Limited {
    fn name(&self) -> &'static str {
        "limited"
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.limit.store(visits.unwrap_or(0), Ordering::Relaxed);
        self.inner.limit_work(visits);
    }

    fn solve_into(&mut self, problem: &Problem<'_>, solution: &mut Solution) -> Result<(), SolveError> {
        self.inner.solve_into(problem, solution)
    }
}

#[test]
fn a_decision_takes_a_work_budget() {
    for name in ["esdp", "esdp-index", "cts", "esdp-pooled"] {
        let limit = Arc::new(AtomicU64::new(0));
        let build = |cluster: &Cluster| {
            let solver = Limited { inner: Exact::default(), limit: Arc::clone(&limit) };
            name.parse::<PolicySpec>().unwrap().build_with(cluster, 1, None, Some(Box::new(solver))).unwrap()
        };
        let mut live = Live::new(described(), build).unwrap();
        for (at, work) in [Some(7), None, Some(9)].into_iter().enumerate() {
            submit(&mut live, &format!("j{at}"));
            live.step(&Event::SlotDue { slot: Slot(at as u64 + 1), free: [].into(), closed: vec![], work });
            assert_eq!(limit.load(Ordering::Relaxed), work.unwrap_or(0), "{name}");
            assert!(live.scheduler().decision().certificate().is_some_and(|proved| proved.gap() >= 0.0));
        }
    }
}

/// Forty servers of three sizes and six ports that compete for them.
fn crowded() -> ClusterDescription {
    let server = |number: u64| {
        ServerSpec::new(&format!("n{number}"), &[("cpu", 5 + number % 7), ("gpu", 2 + number % 3)])
    };
    let port = |number: u64| {
        let request = [("cpu", 1 + number % 3), ("gpu", 1 + number % 2)];
        PortSpec::new(&format!("p{number}"), JobShape::tasks(3, 2, &request))
    };
    ClusterDescription {
        devices: vec!["cpu".into(), "gpu".into()],
        servers: (0..40).map(server).collect(),
        ports: (0..6).map(port).collect(),
        ..ClusterDescription::default()
    }
}

#[test]
fn a_decision_says_why_it_stopped() {
    let certificate = |live: &mut Live, slot: u64, work| {
        let effects = live.step(&Event::SlotDue { slot: Slot(slot), free: [].into(), closed: vec![], work });
        match effects[0] {
            Effect::Decided { slot: decided, certificate } if decided == Slot(slot) => certificate,
            ref other => panic!("{other:?}"),
        }
    };
    let mut live = Live::new(crowded(), policy("esdp")).unwrap();
    for (id, (server, port)) in (0..40).flat_map(|server| (0..6).map(move |port| (server, port))).enumerate()
    {
        if id == 0 {
            slot(&mut live, 1);
        }
        let report = SpeedReport::Utility((id * 37 % 101) as f64 / 101.0);
        let (port, group, server) = (format!("p{port}"), "task".into(), format!("n{server}"));
        live.apply(&Event::Observed {
            id: id.to_string(),
            port,
            group,
            server,
            report,
            source: String::new(),
        });
    }
    assert_eq!(certificate(&mut live, 2, None).unwrap().stopped, Stopped::Proved, "nobody waits");
    for job in 0..120 {
        live.apply(&Event::Submitted { job: format!("j{job}"), port: format!("p{}", job % 6), weight: 1.0 });
    }
    let hasty = certificate(&mut live, 3, Some(2_000)).unwrap();
    assert_eq!(hasty.stopped, Stopped::Budget, "{hasty:?}");
    assert!(hasty.gap() > 0.0);
    let passed: Vec<_> = live.held().filter(|held| held.reason == HeldReason::Passed).collect();
    assert!(passed.iter().all(|held| held.detail.contains("the work budget ended first")), "{passed:?}");

    let mut simple = Live::new(described(), policy("esdp")).unwrap();
    submit(&mut simple, "j1");
    assert_eq!(certificate(&mut simple, 1, None).unwrap().stopped, Stopped::Proved);
    let mut ranks = Live::new(described(), policy("first-fit")).unwrap();
    submit(&mut ranks, "j1");
    assert_eq!(certificate(&mut ranks, 1, None), None, "it solves nothing");
}
