//! Clusters that change: what is kept, what is new, what comes back, each by name.

use esdp::model::{
    Arrivals, ChannelId, ChannelKey, Cluster, ClusterDescription, JobShape, Observation, Outcome, PortSpec,
    ServerSpec, Slot,
};
use esdp::policy::PolicySpec;
use esdp::scheduler::Scheduler;
use esdp::stats::{ChannelRecord, Means, Statistics};
use std::sync::Arc;

/// Speeds by label, and what a server adds to it by its name.
fn speed(key: &ChannelKey, labels: &[String]) -> f64 {
    let kind = if labels.iter().any(|label| label == "new") { 0.8 } else { 0.3 };
    let own = if key.server.ends_with('9') { 0.1 } else { 0.0 };
    kind + own
}

fn server(name: &str, label: &str) -> ServerSpec {
    ServerSpec { labels: vec![label.into()], ..ServerSpec::new(name, &[("gpu", 1)]) }
}

/// Four old and four new servers, one port of one-task jobs.
fn described() -> ClusterDescription {
    let old = (0..4).map(|index| server(&format!("old-{index}"), "old"));
    let new = (0..4).map(|index| server(&format!("new-{index}"), "new"));
    ClusterDescription {
        devices: vec!["gpu".into()],
        servers: old.chain(new).collect(),
        ports: vec![PortSpec::new("train", JobShape::tasks(1, 1, &[("gpu", 1)]))],
        ..ClusterDescription::default()
    }
}

fn built(described: &ClusterDescription) -> Arc<Cluster> {
    Arc::new(described.cluster().unwrap())
}

/// A scheduler that has seen its cluster for a while.
fn taught(policy: &str, slots: u64) -> (ClusterDescription, Scheduler) {
    let described = described();
    let cluster = built(&described);
    let policy = serde_json::from_str::<PolicySpec>(policy).unwrap().build(&cluster, 1, None).unwrap();
    let mut scheduler = Scheduler::new(cluster, policy);
    run(&mut scheduler, slots, 4);
    (described, scheduler)
}

fn run(scheduler: &mut Scheduler, slots: u64, jobs: u32) {
    for _ in 0..slots {
        let cluster = Arc::clone(scheduler.cluster());
        let arrivals = Arrivals::new(vec![jobs; cluster.ports().len()]);
        let decision = scheduler.decide(&arrivals, None).unwrap();
        let (slot, chosen) = (decision.slot(), decision.channels().to_vec());
        for channel in chosen {
            let labels = cluster.labels(cluster.channel(channel).server);
            let outcome = Outcome::Ran(speed(&cluster.channel_key(channel), labels));
            scheduler.observe(&Observation { slot, channel, outcome }).unwrap();
        }
    }
}

fn change(scheduler: &mut Scheduler, described: &ClusterDescription) {
    scheduler.change(built(described));
}

fn find(scheduler: &Scheduler, server: &str) -> ChannelId {
    let cluster = scheduler.cluster();
    let all = 0..cluster.channels().len() as u32;
    all.map(ChannelId)
        .find(|&channel| cluster.channel_key(channel).server == server)
        .expect("the server is there")
}

/// The estimate of a server's channel, and how many outcomes stand behind it.
fn known(scheduler: &Scheduler, server: &str) -> (f64, f64) {
    let channel = find(scheduler, server);
    let learned = scheduler.policy().learned().unwrap();
    (learned.estimate(channel), learned.count(channel))
}

const ESDP: &str = r#"{"name": "esdp"}"#;
const INDEX: &str = r#"{"name": "esdp-index"}"#;
const POOLED: &str = r#"{"name": "esdp-pooled"}"#;
const KINDS: [&str; 6] = [
    ESDP,
    INDEX,
    POOLED,
    r#"{"name": "esdp-drift", "memory": {"discounted": {"gamma": 0.999}}}"#,
    r#"{"name": "esdp-drift", "memory": {"windowed": {"slots": 4000}}}"#,
    r#"{"name": "esdp-pooled", "gamma": 0.999}"#,
];

fn close(found: f64, expected: f64, within: f64) -> bool {
    (found - expected).abs() <= within
}

#[test]
fn servers_that_stay_keep_their_own_history() {
    for policy in KINDS {
        let (mut described, mut scheduler) = taught(policy, 200);
        let before: Vec<_> = described.servers.iter().map(|server| known(&scheduler, &server.name)).collect();
        let names: Vec<String> = described.servers.iter().map(|server| server.name.clone()).collect();
        described.servers.reverse();
        change(&mut scheduler, &described);
        for (name, before) in names.iter().zip(before) {
            let after = known(&scheduler, name);
            assert!(
                close(after.0, before.0, 1e-12) && close(after.1, before.1, 1e-9),
                "{policy}: {name} {after:?}"
            );
        }
    }
}

#[test]
fn a_server_that_joins_is_unknown_or_as_its_labels_say() {
    let (mut described, mut scheduler) = taught(INDEX, 200);
    described.servers.push(server("new-9", "new"));
    change(&mut scheduler, &described);
    assert_eq!(known(&scheduler, "new-9"), (0.0, 0.0));
    run(&mut scheduler, 200, 4);
    assert!(close(known(&scheduler, "new-9").0, 0.9, 1e-9), "found and learned");

    for policy in [ESDP, POOLED] {
        let (mut described, mut scheduler) = taught(policy, 200);
        for (name, label, expected) in [("new-9", "new", 0.8), ("old-9", "old", 0.3)] {
            described.servers.push(server(name, label));
            change(&mut scheduler, &described);
            let (estimate, count) = known(&scheduler, name);
            assert!(
                close(estimate, expected, 0.05) && count == 0.0,
                "{policy}: {name} is expected to be {estimate}"
            );
        }
    }
}

#[test]
fn a_replaced_server_inherits_the_prior_of_its_labels_and_no_history() {
    for policy in [INDEX, POOLED, ESDP] {
        let (mut described, mut scheduler) = taught(policy, 200);
        assert!(known(&scheduler, "new-0").1 > 20.0);
        // Same place, same shape, another name: an old machine where a new one was.
        described.servers[4] = server("spare", "old");
        change(&mut scheduler, &described);
        let (estimate, count) = known(&scheduler, "spare");
        assert_eq!(count, 0.0, "{policy}");
        let expected = if policy == INDEX { 0.0 } else { 0.3 };
        assert!(close(estimate, expected, 0.05), "{policy}: {estimate}, not {expected}");
    }
}

#[test]
fn a_server_that_left_comes_back_with_its_history_until_told_to_forget() {
    for policy in KINDS {
        let (described, mut scheduler) = taught(policy, 200);
        let before = known(&scheduler, "new-1");
        let mut without = described.clone();
        without.servers.remove(5);
        for forget in [false, true] {
            change(&mut scheduler, &without);
            assert_eq!(scheduler.departed().count(), 1, "{policy}");
            run(&mut scheduler, 3, 4);
            if forget {
                scheduler.forget(|key| key.server == "new-1");
            }
            change(&mut scheduler, &described);
            assert_eq!(scheduler.departed().count(), 0);
            let after = known(&scheduler, "new-1");
            match forget {
                false => {
                    assert!(
                        close(after.0, before.0, 0.01) && close(after.1, before.1, 1.0),
                        "{policy}: {after:?}"
                    )
                }
                true => assert_eq!(after.1, 0.0, "{policy}"),
            }
        }
    }
}

#[test]
fn labels_that_change_move_a_server_to_its_new_kind() {
    let (mut described, mut scheduler) = taught(POOLED, 200);
    described.servers.push(server("x", "old"));
    change(&mut scheduler, &described);
    let before = known(&scheduler, "x").0;
    described.servers[8].labels = vec!["new".into()];
    change(&mut scheduler, &described);
    let after = known(&scheduler, "x").0;
    assert!(close(before, 0.3, 0.05) && close(after, 0.8, 0.05), "{before}, then {after}");
    // A label that nobody had: as the port is, between the kinds.
    described.servers[8].labels = vec!["unheard-of".into()];
    change(&mut scheduler, &described);
    let between = known(&scheduler, "x").0;
    assert!((0.35..0.75).contains(&between), "{between}");
}

#[test]
fn a_port_that_appears_and_one_that_leaves() {
    for policy in KINDS {
        let (mut described, mut scheduler) = taught(policy, 100);
        let before = known(&scheduler, "new-0");
        described
            .ports
            .insert(0, PortSpec::new("serve", JobShape::Parts { request: [("gpu".into(), 1)].into() }));
        change(&mut scheduler, &described);
        let channel = ChannelKey { port: "train".into(), group: "task".into(), server: "new-0".into() };
        let cluster = Arc::clone(scheduler.cluster());
        let at = (0..16).map(ChannelId).find(|&id| cluster.channel_key(id) == channel).unwrap();
        let learned = scheduler.policy().learned().unwrap();
        assert!(close(learned.count(at), before.1, 1e-9), "{policy}");
        run(&mut scheduler, 50, 2);
        described.ports.remove(1);
        change(&mut scheduler, &described);
        assert_eq!(scheduler.cluster().channels().len(), 8);
        assert!(scheduler.departed().count() > 0);
        run(&mut scheduler, 20, 2);
    }
}

#[test]
fn every_policy_goes_on_after_a_change() {
    for spec in PolicySpec::all().into_iter().filter(|spec| spec.name() != "oracle") {
        let policy = serde_json::to_string(&spec).unwrap();
        let (mut described, mut scheduler) = taught(&policy, 50);
        described.servers.push(server("new-9", "new"));
        described.servers.remove(0);
        change(&mut scheduler, &described);
        run(&mut scheduler, 50, 3);
        let saved = scheduler.checkpoint();
        let fresh = spec.build(scheduler.cluster(), 1, None).unwrap();
        let mut copy = Scheduler::new(Arc::clone(scheduler.cluster()), fresh);
        copy.restore(saved).unwrap();
        for _ in 0..10 {
            let arrivals = Arrivals::everywhere(1);
            assert_eq!(
                copy.decide(&arrivals, None).unwrap().clone(),
                *scheduler.decide(&arrivals, None).unwrap()
            );
        }
    }
}

#[test]
fn two_states_are_merged_by_name() {
    for policy in KINDS {
        let (_, veteran) = taught(policy, 300);
        // The new cluster has one server in common with the old one, at another position, and one of its own.
        let mut next = described();
        next.servers = vec![server("fresh", "old"), server("new-2", "new")];
        let cluster = built(&next);
        let fresh = serde_json::from_str::<PolicySpec>(policy).unwrap().build(&cluster, 1, None).unwrap();
        let mut scheduler = Scheduler::new(cluster, fresh);
        run(&mut scheduler, 1, 1);
        let found = scheduler.merge(&veteran.checkpoint(), 0.5).unwrap();
        assert_eq!(found, 1, "{policy}");
        let (estimate, count) = known(&scheduler, "new-2");
        let (expected, all) = known(&veteran, "new-2");
        assert!(
            close(count, all / 2.0, 2.0) && close(estimate, expected, 0.05),
            "{policy}: {estimate} of {count}"
        );
        assert!(scheduler.departed().count() >= 3, "the others are kept for the case that they come");
        let mut all = described();
        all.servers.push(server("fresh", "old"));
        scheduler.change(built(&all));
        assert!(known(&scheduler, "new-3").1 > 5.0, "{policy}");
    }
}

#[test]
fn a_channel_can_be_reset() {
    for policy in KINDS {
        let (_, mut scheduler) = taught(policy, 100);
        let channel = find(&scheduler, "new-0");
        scheduler.reset(channel);
        assert_eq!(known(&scheduler, "new-0").1, 0.0, "{policy}");
        assert!(known(&scheduler, "new-1").1 > 5.0);
        run(&mut scheduler, 20, 4);
    }
}

#[test]
fn the_slot_of_the_state_is_kept() {
    let (_, scheduler) = taught(ESDP, 7);
    assert_eq!(scheduler.checkpoint().slot, Slot(7));
}

#[test]
fn a_share_of_an_outcome_is_not_kept_and_speeds_may_be_counted_anew() {
    let channel = ChannelId(0);
    let mut means = Means::new(1);
    means.add(channel, &ChannelRecord { count: 2.4, sum: 1.2, ..ChannelRecord::default() });
    assert_eq!((means.count(channel), means.estimate(channel)), (2.0, 0.5));
    means.rescale(channel, 0.5, 0.0);
    assert_eq!(means.estimate(channel), 0.25);
    // With a cost of 0.25 the speed was 0.5; half of that, less the cost, is nothing.
    means.rescale(channel, 0.5, 0.25);
    assert_eq!(means.estimate(channel), 0.0);
}
