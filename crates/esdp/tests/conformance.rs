//! What every policy must keep, whatever it does: one suite, run on all of them.
//!
//! A life of a scheduler is a few hundred slots on a small cluster, with a fixed script of
//! arrivals (none, one or several jobs a port), free capacities (all, part or nothing of
//! the cluster) and news (in time, late, censored or never). Sealing checks feasibility in
//! every slot; the tests compare lives.

use esdp::model::{
    Arrivals, Capacity, ChannelId, ChannelRule, ChannelSpec, Cluster, ClusterDescription, ClusterSpec, Observation,
    Outcome, PortId, ServerId, Slot, SupplyCost,
};
use esdp::policy::{PolicySpec, Truth};
use esdp::rng::{Purpose, Stream, stream};
use esdp::scheduler::{Checkpoint, RestoreError, Scheduler, TextError};
use esdp::sim::FixedTruth;
use esdp::stats::{Learned, StatisticsState};
use rand::RngExt;
use std::sync::Arc;

/// Four ports, six servers, two devices, 14 channels.
fn cluster(capacity: Capacity) -> Arc<Cluster> {
    let channels = (0..24u32)
        .filter(|pair| pair % 5 < 3)
        .map(|pair| ChannelSpec::new(pair / 6, pair % 6, vec![u64::from(1 + pair % 2), u64::from(1 + pair % 3)]));
    let names = |word: &str, count: usize| (0..count).map(|index| format!("{word}-{index}")).collect();
    Arc::new(
        Cluster::new(ClusterSpec {
            devices: names("device", 2),
            servers: names("server", 6),
            ports: names("port", 4),
            channels: channels.collect(),
            capacity,
            costs: vec![SupplyCost::Linear { fixed: 0.01, rate: 0.02 }; 2],
            ..ClusterSpec::default()
        })
        .unwrap(),
    )
}

/// The levels at which a capacity can limit.
fn capacities() -> [Capacity; 3] {
    let servers = || (0..6).map(|server| vec![1 + server % 3, 4]).collect::<Vec<_>>();
    [
        Capacity::cluster_wide(vec![7, 9]),
        Capacity::per_server(servers()),
        Capacity::cluster_wide(vec![7, 9]).with_servers(servers()).unwrap(),
    ]
}

/// Every policy with its defaults, and the variants that are policies of their own.
fn policies() -> Vec<PolicySpec> {
    let variants = [
        r#"{"name": "esdp-drift", "memory": {"windowed": {"slots": 40}}}"#,
        r#"{"name": "esdp-pooled", "gamma": 0.95}"#,
        r#"{"name": "esdp-pooled", "slab": 0.05}"#,
        r#"{"name": "esdp", "estimator": "pooled"}"#,
        r#"{"name": "cts", "estimator": "pooled"}"#,
        r#"{"name": "cucb", "estimator": "pooled-by-port"}"#,
        r#"{"name": "cts", "belief": "beta"}"#,
        r#"{"name": "hauf", "by": "channel"}"#,
    ];
    let variants = variants.map(|text| serde_json::from_str(text).unwrap());
    PolicySpec::all().into_iter().chain(variants).collect()
}

fn mean(channel: ChannelId) -> f64 {
    0.1 + 0.8 * f64::from(channel.0 * 7 % 14) / 13.0
}

fn scheduler(cluster: &Arc<Cluster>, spec: &PolicySpec, seed: u64) -> Scheduler {
    let truth: Box<dyn Truth> =
        Box::new(FixedTruth((0..cluster.channels().len()).map(ChannelId::at).map(mean).collect()));
    let truth = (spec.name() == "oracle").then_some(truth);
    Scheduler::new(Arc::clone(cluster), spec.build(cluster, seed, truth).unwrap())
}

/// The script of a slot; the same for every policy and every life.
struct Script;

impl Script {
    fn rng(slot: u64, subject: u64) -> Stream {
        stream(11, Purpose::Arrivals, slot, subject)
    }

    fn arrivals(slot: u64) -> Arrivals {
        let mut rng = Self::rng(slot, 0);
        let busy = !slot.is_multiple_of(17);
        Arrivals::new((0..4).map(|_| if busy { [0, 1, 1, 1, 2, 3][rng.random_range(0..6)] } else { 0 }).collect())
    }

    /// All of the cluster, or what a random share leaves of each entry, or nothing.
    fn free(slot: u64, all: &Capacity) -> Option<Capacity> {
        let mut rng = Self::rng(slot, 1);
        let share: f64 = match slot % 5 {
            0 => rng.random(),
            1 if slot.is_multiple_of(3) => 0.0,
            _ => return None,
        };
        let mut free = all.clone();
        let shrink = |amounts: &mut [u64]| amounts.iter_mut().for_each(|a| *a = (*a as f64 * share) as u64);
        if let Some(amounts) = free.cluster_mut() {
            shrink(amounts);
        }
        for server in (0..6).map(ServerId) {
            if let Some(amounts) = free.server_mut(server) {
                shrink(amounts);
            }
        }
        Some(free)
    }

    /// When and how a use is heard of: its outcome and the slot in which it comes, or never.
    fn news(slot: Slot, channel: ChannelId, copy: u64) -> Option<(u64, Observation)> {
        let mut rng = Self::rng(slot.0, 2 + 1000 * copy + u64::from(channel.0));
        let (delay, outcome) = match rng.random_range(0..10) {
            0 => return None,
            1 => (0, Outcome::Censored),
            2 | 3 => (rng.random_range(1..9), Outcome::Ran(rng.random())),
            _ => (0, Outcome::Ran((mean(channel) + 0.3 * (rng.random::<f64>() - 0.5)).clamp(0.0, 1.0))),
        };
        Some((slot.0 + delay, Observation { slot, channel, outcome }))
    }
}

/// A scheduler on its way through the script.
struct Life {
    scheduler: Scheduler,
    waiting: Vec<(u64, Observation)>,
}

impl Life {
    fn new(scheduler: Scheduler) -> Self {
        Self { scheduler, waiting: Vec::new() }
    }

    /// Runs one slot and returns what was chosen. An infeasible choice would not be sealed.
    fn step(&mut self) -> Vec<ChannelId> {
        let slot = self.scheduler.slot().next();
        let free = Script::free(slot.0, self.scheduler.cluster().capacity());
        let chosen = self.scheduler.decide(&Script::arrivals(slot.0), free.as_ref()).unwrap().channels().to_vec();
        for same in chosen.chunk_by(|a, b| a == b) {
            let news = (0..same.len() as u64).filter_map(|copy| Script::news(slot, same[0], copy));
            self.waiting.extend(news);
        }
        let due = self.waiting.extract_if(.., |(when, _)| *when <= slot.0);
        for (_, seen) in due {
            self.scheduler.observe(&seen).unwrap();
        }
        chosen
    }
}

fn each(mut check: impl FnMut(&Arc<Cluster>, &PolicySpec)) {
    for capacity in capacities() {
        let cluster = cluster(capacity);
        policies().iter().for_each(|spec| check(&cluster, spec));
    }
}

#[test]
fn decisions_are_feasible_and_deterministic() {
    each(|cluster, spec| {
        let mut lives = [0, 1].map(|_| Life::new(scheduler(cluster, spec, 3)));
        let mut used = 0;
        for slot in 1..=400 {
            let [first, second] = lives.each_mut().map(Life::step);
            assert_eq!(first, second, "{spec:?}, slot {slot}");
            used += first.len();
        }
        assert!(used > 400, "{spec:?} used {used} channels in 400 slots");
    });
}

#[test]
fn nothing_arrives_nothing_is_chosen() {
    each(|cluster, spec| {
        let mut scheduler = scheduler(cluster, spec, 0);
        for _ in 0..5 {
            let decision = scheduler.decide(&Arrivals::new(vec![0; 4]), None).unwrap();
            assert!(decision.channels().is_empty(), "{spec:?}");
        }
    });
}

#[test]
fn nothing_is_free_nothing_is_chosen() {
    each(|cluster, spec| {
        let mut scheduler = scheduler(cluster, spec, 0);
        let none = Capacity::cluster_wide(vec![0, 0]);
        for _ in 0..5 {
            let decision = scheduler.decide(&Arrivals::new(vec![2; 4]), Some(&none)).unwrap();
            assert!(decision.channels().is_empty(), "{spec:?}");
        }
        assert!(!scheduler.decide(&Arrivals::everywhere(4), None).unwrap().channels().is_empty());
    });
}

#[test]
fn a_checkpoint_continues_with_identical_decisions() {
    each(|cluster, spec| {
        let mut original = Life::new(scheduler(cluster, spec, 5));
        let mut copies: Vec<Life> = Vec::new();
        for slot in 0..240 {
            if [0, 1, 2, 7, 50, 123, 200].contains(&slot) {
                let saved = serde_json::to_string(&original.scheduler.checkpoint()).unwrap();
                let checkpoint: Checkpoint = serde_json::from_str(&saved).unwrap();
                let mut copy = scheduler(cluster, spec, 5);
                copy.restore(checkpoint).unwrap();
                assert_eq!(copy.checkpoint(), original.scheduler.checkpoint(), "{spec:?}");
                copies.push(Life { scheduler: copy, waiting: original.waiting.clone() });
            }
            let expected = original.step();
            for copy in &mut copies {
                assert_eq!(copy.step(), expected, "{spec:?}, slot {}", slot + 1);
            }
        }
        let end = original.scheduler.checkpoint();
        assert!(copies.iter().all(|copy| copy.scheduler.checkpoint() == end), "{spec:?}");
    });
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

/// Files of version 1, written before states knew names, from the life of `a_checkpoint_continues_...` after 60 slots.
#[test]
fn checkpoints_of_version_1_continue_with_identical_decisions() {
    let [one, ..] = capacities();
    let cluster = cluster(one);
    for (index, spec) in policies().iter().enumerate() {
        let mut original = Life::new(scheduler(&cluster, spec, 5));
        (0..60).for_each(|_| drop(original.step()));
        let path =
            format!("{}/tests/fixtures/checkpoint-v1/{index:02}-{}.json", env!("CARGO_MANIFEST_DIR"), spec.name());
        let saved = Checkpoint::from_text(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((saved.version, &saved.names), (1, &None), "{path}");
        assert_eq!(saved.experience().unwrap_err(), RestoreError::NoNames);
        let mut copy = scheduler(&cluster, spec, 5);
        copy.restore(saved).unwrap();
        assert_eq!(copy.checkpoint(), original.scheduler.checkpoint(), "{spec:?}");
        let mut copy = Life { scheduler: copy, waiting: original.waiting.clone() };
        for slot in 61..=100 {
            assert_eq!(copy.step(), original.step(), "{spec:?}, slot {slot}");
        }
    }
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
        for (at, byte) in text.bytes().enumerate().skip(body).filter(|(_, byte)| byte.is_ascii_digit()).step_by(7) {
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

/// Counts that no run can lead to, put into every number of a state: it is refused, or lived with, and never panics.
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
                scheduler.observe(&Observation { slot, channel, outcome: Outcome::Ran(mean(channel)) }).unwrap();
            }
        }
        assert_eq!(most, 3 * cluster.channels_of(PortId(1)).len(), "{spec:?}");
    }
}
