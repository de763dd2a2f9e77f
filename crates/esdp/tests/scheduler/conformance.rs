//! Every policy keeps what `esdp::conformance` asks for, and states of every version and of no other cluster
//! are read.

use esdp::conformance::{Life, Suite, capacities, cluster, mean};
use esdp::model::{
    Arrivals, Capacity, ChannelId, ChannelRule, Cluster, ClusterChange, ClusterDescription, Observation,
    Outcome, PortId, Slot, SlotView,
};
use esdp::policy::{Choice, Policy, PolicyError, PolicySpec, Truth};
use esdp::scheduler::{Checkpoint, RestoreError, Scheduler, TextError};
use esdp::sim::FixedTruth;
use esdp::stats::{Learned, StatisticsState};
use std::sync::Arc;

/// Every policy with its defaults, and the variants that are policies of their own.
fn policies() -> Vec<PolicySpec> {
    let variants = [
        r#"{"name": "esdp-drift", "memory": {"windowed": {"slots": 40}}}"#,
        r#"{"name": "esdp-pooled", "gamma": 0.95}"#,
        r#"{"name": "esdp-pooled", "slab": 0.05}"#,
        r#"{"name": "esdp-index", "estimator": "pooled"}"#,
        r#"{"name": "cts", "estimator": "pooled"}"#,
        r#"{"name": "cucb", "estimator": "pooled-by-port"}"#,
        r#"{"name": "cts", "belief": "beta"}"#,
        r#"{"name": "hauf", "by": "channel"}"#,
    ];
    let variants = variants.map(|text| serde_json::from_str(text).unwrap());
    PolicySpec::all().into_iter().chain(variants).collect()
}

fn scheduler(cluster: &Arc<Cluster>, spec: &PolicySpec, seed: u64) -> Scheduler {
    Scheduler::new(Arc::clone(cluster), spec.build(cluster, seed, truth(cluster, spec)).unwrap())
}

fn truth(cluster: &Cluster, spec: &PolicySpec) -> Option<Box<dyn Truth>> {
    let means = (0..cluster.channels().len()).map(ChannelId::at).map(mean).collect();
    (spec.name() == "oracle").then(|| Box::new(FixedTruth(means)) as Box<dyn Truth>)
}

#[test]
fn every_policy_conforms() {
    for spec in policies() {
        let build = |cluster: &Cluster| spec.build(cluster, 3, truth(cluster, &spec)).unwrap();
        let suite = Suite::new(&build);
        let name = serde_json::to_string(&spec).unwrap();
        // Who knows the truth of a cluster does not know that of the next.
        if spec.name() != "oracle" {
            let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| suite.run()));
            run.unwrap_or_else(|_| panic!("{name} does not conform"));
        }
    }
}

/// A policy that breaks a rule is caught: one that chooses differently in every life, one that forgets in a
/// restart.
#[test]
fn what_does_not_conform_is_caught() {
    struct Forgetful(Box<dyn Policy>);

    impl Policy for Forgetful {
        fn name(&self) -> &str {
            "forgetful"
        }

        fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
            self.0.decide(view, choice)
        }

        fn commit(&mut self, cluster: &Cluster, slot: Slot, channels: &[ChannelId]) {
            self.0.commit(cluster, slot, channels);
        }

        fn learn(&mut self, seen: &Observation) {
            self.0.learn(seen);
        }

        fn change(&mut self, change: &ClusterChange<'_>) {
            self.0.change(change);
        }
    }

    let caught = |build: &dyn Fn(&Cluster) -> Box<dyn Policy>| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Suite::new(build).run())).is_err()
    };
    let esdp = |cluster: &Cluster| "esdp".parse::<PolicySpec>().unwrap().build(cluster, 0, None).unwrap();
    assert!(!caught(&esdp));
    assert!(caught(&|cluster| Box::new(Forgetful(esdp(cluster)))), "its state is lost");
    let lives = std::cell::Cell::new(0);
    let random = |cluster: &Cluster| {
        lives.set(lives.get() + 1);
        "random".parse::<PolicySpec>().unwrap().build(cluster, lives.get(), None).unwrap()
    };
    assert!(caught(&random), "no two lives are the same");
}

#[test]
fn a_checkpoint_of_another_policy_or_cluster_is_refused() {
    let [one, ..] = capacities();
    let cluster = cluster(one);
    let policies = PolicySpec::all();
    for (index, spec) in policies.iter().enumerate() {
        let mut scheduler = scheduler(&cluster, spec, 0);
        let own = scheduler.checkpoint();
        let other = self::scheduler(&cluster, &policies[(index + 1) % policies.len()], 0).checkpoint();
        let refused = scheduler.restore(other).unwrap_err().to_string();
        assert!(refused.contains(&format!("expected `{}`", spec.name())), "{refused}");

        let mut smaller = own.clone();
        smaller.shape.servers -= 1;
        let refused = scheduler.restore(smaller).unwrap_err().to_string();
        assert_eq!(refused, "the checkpoint's cluster has 5 servers, expected 6");

        let newer = Checkpoint { version: 3, ..own.clone() };
        assert!(scheduler.restore(newer).unwrap_err().to_string().contains("version 3"));

        // The same shape with the first two servers exchanged: nothing is taken for what it is not.
        let exchanged = self::scheduler(&exchanged(&cluster), spec, 0).checkpoint();
        let refused = scheduler.restore(exchanged).unwrap_err();
        assert!(matches!(refused, RestoreError::OtherCluster { .. }), "{refused}");
        assert_eq!(scheduler.checkpoint(), own, "a refused checkpoint changes nothing");
    }
}

/// The same cluster whose first two servers have each other's name.
fn exchanged(cluster: &Cluster) -> Arc<Cluster> {
    let mut described = ClusterDescription::of(cluster);
    let renamed = |name: &mut String| match name.as_str() {
        "server-0" => *name = "server-1".into(),
        "server-1" => *name = "server-0".into(),
        _ => {}
    };
    described.servers.iter_mut().for_each(|server| renamed(&mut server.name));
    for port in &mut described.ports {
        if let ChannelRule::Listed(listed) = &mut port.channels {
            listed.iter_mut().for_each(|channel| renamed(&mut channel.server));
        }
    }
    Arc::new(described.cluster().unwrap())
}

/// Files of version 1, written before states knew names, from the life of `a_checkpoint_continues_...` after
/// 60 slots, with the solvers of that time: of several optima they may have chosen others than today's.
#[test]
fn checkpoints_of_version_1_continue_with_identical_decisions() {
    let [one, ..] = capacities();
    let cluster = cluster(one);
    // What is `esdp-index` now was `esdp` then; today's `esdp` came later, and so did `maxweight-ucb`.
    let then = |spec: &PolicySpec| if spec.name() == "esdp-index" { "esdp" } else { spec.name() };
    let later = |spec: &PolicySpec| ["esdp", "maxweight-ucb"].contains(&spec.name());
    for (index, spec) in policies().iter().filter(|spec| !later(spec)).enumerate() {
        let mut original = Life::new(scheduler(&cluster, spec, 5));
        (0..60).for_each(|_| drop(original.step()));
        let path = format!(
            "{}/tests/fixtures/checkpoint-v1/{index:02}-{}.json",
            env!("CARGO_MANIFEST_DIR"),
            then(spec)
        );
        let mut saved = Checkpoint::from_text(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((saved.version, &saved.names), (1, &None), "{path}");
        assert_eq!(saved.experience().unwrap_err(), RestoreError::NoNames);
        let mut old = scheduler(&cluster, spec, 5);
        old.restore(saved.clone()).unwrap();
        saved.policy.policy = spec.name().to_owned();
        let now = old.checkpoint();
        assert_eq!((now.slot, &now.policy), (saved.slot, &saved.policy), "{path}");
        let mut new = scheduler(&cluster, spec, 5);
        new.restore(now).unwrap();
        let (mut old, mut new) = (original.beside(old), original.beside(new));
        for slot in 61..=100 {
            assert_eq!(old.step(), new.step(), "{spec:?}, slot {slot}");
        }
    }
}

/// What was saved under the name `esdp` before it meant what it does now is not taken for it.
#[test]
fn a_checkpoint_of_what_esdp_was_is_refused_by_what_it_is() {
    let [one, ..] = capacities();
    let cluster = cluster(one);
    let path = format!("{}/tests/fixtures/checkpoint-v1/00-esdp.json", env!("CARGO_MANIFEST_DIR"));
    let saved = Checkpoint::from_text(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut today = scheduler(&cluster, &"esdp".parse().unwrap(), 5);
    let refused = today.restore(saved.clone()).unwrap_err().to_string();
    let sentence = "the saved state is of policy `esdp-index`, then called `esdp`, expected `esdp`";
    assert!(refused.contains(sentence), "{refused}");
    scheduler(&cluster, &"esdp-index".parse().unwrap(), 5).restore(saved).unwrap();
}

#[test]
fn a_checkpoint_as_text_comes_back_and_damage_is_noticed() {
    let [one, ..] = capacities();
    let cluster = cluster(one);
    for spec in policies() {
        let mut life = Life::new(scheduler(&cluster, &spec, 5));
        (0..40).for_each(|_| drop(life.step()));
        let checkpoint = life.scheduler.checkpoint();
        let text = checkpoint.to_text().unwrap();
        assert_eq!(Checkpoint::from_text(&text).unwrap(), checkpoint);
        // Any digit that changes is noticed, and so is a text that was cut.
        let body = text.find('\n').unwrap() + 1;
        for (at, byte) in
            text.bytes().enumerate().skip(body).filter(|(_, byte)| byte.is_ascii_digit()).step_by(7)
        {
            let mut damaged = text.clone().into_bytes();
            damaged[at] = if byte == b'9' { b'0' } else { byte + 1 };
            let refused = Checkpoint::from_text(std::str::from_utf8(&damaged).unwrap()).unwrap_err();
            assert!(matches!(refused, RestoreError::Text(TextError::Checksum { .. })), "{spec:?}: {refused}");
        }
        assert!(Checkpoint::from_text(&text[..text.len() / 2]).is_err());
        assert!(Checkpoint::from_text(&text[body..]).is_err(), "without its first line");
    }
    assert!(Checkpoint::from_text("").is_err() && Checkpoint::from_text("{}").is_err());
}

/// Counts that no run can lead to, put into every number of a state: it is refused, or lived with, and never
/// panics.
#[test]
fn huge_counts_are_lived_with() {
    let [one, ..] = capacities();
    let cluster = cluster(one);
    for spec in policies() {
        let mut life = Life::new(scheduler(&cluster, &spec, 5));
        (0..20).for_each(|_| drop(life.step()));
        let mut checkpoint = life.scheduler.checkpoint();
        if let Some(StatisticsState { learned: Learned::Means { count, sum, pending }, .. }) =
            &mut checkpoint.policy.statistics
        {
            count.fill(u64::MAX);
            sum.fill(u64::MAX as f64 * (1.0 + 5e-10));
            pending.fill(u32::MAX);
        }
        if life.scheduler.restore(checkpoint).is_ok() {
            (0..20).for_each(|_| drop(life.step()));
        }
    }
}

#[test]
fn several_jobs_may_share_a_channel() {
    // One port has many jobs and everything is free: whoever fills the room must repeat channels.
    let cluster = cluster(Capacity::cluster_wide(vec![1000, 1000]));
    let mut jobs = Arrivals::new(vec![0; 4]);
    jobs.set(PortId(1), 3);
    for spec in policies() {
        if spec.name() == "esdp-paper" {
            continue; // one job a port, as printed
        }
        let mut scheduler = scheduler(&cluster, &spec, 0);
        let mut most = 0;
        for _ in 0..30 {
            let decision = scheduler.decide(&jobs, None).unwrap();
            let (slot, chosen) = (decision.slot(), decision.channels().to_vec());
            assert!(chosen.iter().all(|&channel| cluster.channel(channel).port == PortId(1)));
            most = most.max(chosen.len());
            for channel in chosen {
                scheduler
                    .observe(&Observation { slot, channel, outcome: Outcome::Ran(mean(channel)) })
                    .unwrap();
            }
        }
        assert_eq!(most, 3 * cluster.channels_of(PortId(1)).len(), "{spec:?}");
    }
}
