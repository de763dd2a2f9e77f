//! Names, tables of servers, kinds by label, outages and weights.

use super::*;
use crate::model::{ChannelId, PortId, ServerId, Slot};
use crate::sim::{OracleTrack, Recorder, Simulation, SlotRecord, Summary};
use std::ops::ControlFlow;

/// Not included: a package of this crate has no examples beside it.
fn example() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/two-gpu-kinds.toml");
    std::fs::read_to_string(path).unwrap()
}

fn refused(text: &str) -> String {
    match Scenario::from_toml(text) {
        Ok(_) => panic!("{text} was accepted"),
        Err(error) => error.to_string(),
    }
}

/// Which servers start something in each slot, and how often.
#[derive(Default)]
struct Starts(Vec<Vec<u32>>);

impl Recorder for Starts {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        let mut uses = vec![0; record.cluster.servers().len()];
        for &channel in record.decision.channels() {
            uses[record.cluster.channel(channel).server.index()] += 1;
        }
        self.0.push(uses);
        ControlFlow::Continue(())
    }
}

#[test]
fn the_example_has_names_and_runs() {
    let scenario = Scenario::from_toml(&example()).unwrap();
    assert_eq!(Scenario::from_toml(&scenario.to_toml()).unwrap(), scenario);
    assert_eq!(scenario.servers(), 12);
    let setting = scenario.setting(1).unwrap();
    let cluster = setting.cluster();
    assert_eq!(cluster.ports(), ["bert", "resnet", "speech", "batch"]);
    assert_eq!(cluster.devices(), ["cpu", "gpu"]);
    assert_eq!((cluster.servers()[5].as_str(), cluster.servers()[6].as_str()), ("a100-5", "v100-0"));
    assert_eq!(cluster.labels(ServerId(5)), ["a100", "rack-2"]);
    assert_eq!(cluster.minimum(PortId(1)), 3);
    let oracle = OracleTrack::new(&setting, 50).unwrap();
    for policy in scenario.policies() {
        let (starts, aou) = run(&setting, &policy.spec, &oracle);
        assert!(aou > 10.0, "{}: {aou}", policy.label);
        for (slot, uses) in (1..).zip(&starts.0) {
            assert!(!(20..40).contains(&slot) || uses[0] == 0, "{}: a100-0 in slot {slot}", policy.label);
        }
    }
}

/// 50 slots of a policy.
fn run(setting: &Setting, policy: &crate::policy::PolicySpec, oracle: &OracleTrack) -> (Starts, f64) {
    let mut simulation = Simulation::new(setting, policy).unwrap().against(oracle);
    let (mut summary, mut starts) = (Summary::new(setting.cluster()), Starts::default());
    assert!(simulation.run(50, &mut (&mut summary, &mut starts)).unwrap().is_continue());
    if *policy == "oracle".parse().unwrap() {
        assert_eq!(summary.oracle_ratio(), Some(1.0), "it is its own yardstick");
    }
    (starts, summary.aou)
}

#[test]
fn a_rack_that_is_out_is_left_alone_by_all() {
    let text = example().replace("server = \"a100-0\"", "label = \"rack-1\"");
    let setting = Scenario::from_toml(&text).unwrap().setting(1).unwrap();
    let oracle = OracleTrack::new(&setting, 50).unwrap();
    for name in ["oracle", "esdp", "hauf", "lcf", "lwtf", "random"] {
        let (starts, _) = run(&setting, &name.parse().unwrap(), &oracle);
        let on_rack = |slots: std::ops::Range<usize>| -> u32 {
            starts.0[slots.start - 1..slots.end - 1].iter().flat_map(|uses| &uses[..4]).sum()
        };
        assert_eq!(on_rack(20..40), 0, "{name}");
        assert!(on_rack(1..20) > 0 && on_rack(40..51) > 0, "{name}");
    }
}

#[test]
fn kinds_follow_labels_under_every_seed() {
    let text =
        example().replace("server_deviation = 0.1", "deviation = 0.0").replace("deviation = 0.2\n", "");
    let scenario = Scenario::from_toml(&text).unwrap();
    for seed in 0..5 {
        let setting = scenario.setting(seed).unwrap();
        let cluster = setting.cluster();
        let mut speeds = setting.environment();
        for (id, channel) in cluster.channels().iter().enumerate() {
            let kind = &cluster.labels(channel.server)[0];
            let expected = match (cluster.ports()[channel.port.index()].as_str(), kind.as_str()) {
                ("bert", "a100") => 0.9,
                ("bert", "v100") => 0.4,
                ("resnet", "a100") => 0.8,
                ("resnet" | "speech", "v100") => 0.6,
                ("speech", "a100") => 0.7,
                // The batch jobs have a law of their own, which is clipped.
                _ => continue,
            };
            let is_slow = cluster.labels(channel.server)[1] == "rack-2";
            let id = ChannelId::at(id);
            for (slot, factor) in [(25, 1.0), (26, if is_slow { 0.4 } else { 1.0 })] {
                let expected = (expected * factor - cluster.cost(id)).clamp(0.0, 1.0);
                let found = crate::sim::Environment::mean(&mut speeds, Slot(slot), id);
                assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
            }
        }
    }
    // Labels of a list bind kinds as well.
    let listed = "[graph]\nports = [\"a\"]\nservers = 3\nprobability = 1.0\n[servers]\nlist = [[\"new\"], \
                  [\"old\"], [\"rack\", \"new\"]]\n[speeds]\ndeviation = 0.0\nkinds = { new = 0.9, old = \
                  [0.5] }\n\
                  [costs]\nscale = 0.0";
    let setting = Scenario::from_toml(listed).unwrap().setting(3).unwrap();
    assert_eq!(setting.truth().means(Slot(1)), [0.9, 0.5, 0.9]);
}

#[test]
fn held_jobs_drain_when_their_server_goes_out() {
    let text = "policies = [\"first-fit\"]\n[graph]\nports = 1\nservers = 1\nprobability = 1.0\n[devices]\n\
                count = 1\nrequest = [1, 1]\nserver_capacity = [4, 4]\n[jobs]\nheld = true\nwork = [5.0, \
                5.0]\n\
                [speeds]\nmean = [1.0, 1.0]\ndeviation = 0.0\n[costs]\nscale = 0.0\n[arrivals]\nlaw = \
                \"list\"\n\
                jobs = [[1], [0], [1]]\nrepeat = false\n[[servers.outages]]\n\
                server = \"server-0\"\nfrom = 3\nuntil = 9";
    let setting = Scenario::from_toml(text).unwrap().setting(0).unwrap();
    for rule in [None, Some(crate::sim::QueueRule::Easy), Some(crate::sim::QueueRule::Conservative)] {
        let mut done: Vec<(u64, u64)> = Vec::new();
        struct Done<'a>(&'a mut Vec<(u64, u64)>);
        impl Recorder for Done<'_> {
            fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
                self.0.extend(record.finished.iter().map(|job| (job.started.0, job.finished.0)));
                ControlFlow::Continue(())
            }
        }
        let mut simulation = match rule {
            None => Simulation::new(&setting, &"first-fit".parse().unwrap()).unwrap(),
            Some(rule) => Simulation::with_rule(&setting, rule).unwrap(),
        };
        assert!(simulation.run(20, &mut Done(&mut done)).unwrap().is_continue());
        // The first runs on through the window; the second waits for its end.
        assert_eq!(done, [(1, 5), (9, 13)]);
    }
}

#[test]
fn weights_weigh_decisions() {
    // Two ports, room for one: the slower one wins when it counts more.
    let text = "[graph]\nports = [\"slow\", \"fast\"]\nservers = 1\nprobability = 1.0\n[devices]\ncount = 1\n\
                request = [1, 1]\namounts = [1]\n[arrivals]\nrho = 1.0\n[speeds]\ndeviation = 0.0\n\
                kinds = [[0.4], [0.8]]\n[costs]\nscale = 0.0\n";
    let aou = |text: &str, policy: &str| {
        let setting = Scenario::from_toml(text).unwrap().setting(0).unwrap();
        let mut summary = Summary::new(setting.cluster());
        let oracle = OracleTrack::new(&setting, 40).unwrap();
        let mut simulation = Simulation::new(&setting, &policy.parse().unwrap()).unwrap().against(&oracle);
        assert!(simulation.run(40, &mut summary).unwrap().is_continue());
        (summary.aou, oracle.at(Slot(1)).unwrap())
    };
    let weighted =
        text.replace("probability = 1.0\n", "probability = 1.0\nweights = { slow = 3, fast = 1 }\n");
    let (found, oracle) = aou(text, "oracle");
    assert!((found - 40.0 * 0.8).abs() < 1e-9 && oracle == 0.8, "{found} {oracle}");
    let (found, oracle) = aou(&weighted, "oracle");
    assert!((found - 40.0 * 0.4).abs() < 1e-9 && oracle == 0.4, "{found} {oracle}: unweighted numbers");
    assert!(aou(&weighted, "esdp").0 < 20.0);
}

#[test]
fn servers_are_numbered_under_their_names() {
    let text = "[devices]\ncount = 1\n[servers]\nkinds = [{ name = \"big\" }, { kind = \"a\", count = 2 \
    }, { label = \
                \"x\", count = 2 }, { kind = \"a\" }]";
    let cluster = Scenario::from_toml(text).unwrap().setting(0).unwrap();
    let cluster = cluster.cluster();
    assert_eq!(cluster.servers(), ["big", "a-0", "a-1", "server-0", "server-1", "a-2"]);
    assert_eq!(cluster.labels(ServerId(0)), [""; 0]);
    assert_eq!(
        (cluster.labels(ServerId(1)), cluster.labels(ServerId(3))),
        (&["a".into()][..], &["x".into()][..])
    );
    assert!(cluster.capacity().server(ServerId(0)).is_none(), "without capacities the cluster limits");
}

#[test]
fn contradictions_are_told_with_the_way_out() {
    let kinds = "[servers]\nkinds = [{ kind = \"a100\", count = 3 }, { kind = \"v100\", count = 2 }]\n";
    let list = "[graph]\nservers = 2\n[servers]\nlist = [[\"a100\"], [\"v100\"]]\n";
    let cases = [
        (
            format!("{list}[speeds]\nkinds = 2"),
            "line 6: `speeds.kinds`: the kinds would be drawn anew for every seed, whatever \
            `servers.list` says; key \
             them by label, such as kinds = { a100",
        ),
        (
            format!("{kinds}[speeds]\nkinds = {{ a100 = 0.9, h100 = 0.5 }}"),
            "line 2: `servers.kinds[1].kind` is \"v100\", expected one of `a100`, `h100`",
        ),
        (
            format!("{kinds}[speeds]\nkinds = {{ a100 = 0.9, v100 = 0.5, h100 = 1.0 }}"),
            "line 4: `speeds.kinds.h100`: no server is of this kind",
        ),
        (
            format!("{list}[speeds]\nkinds = {{ a100 = 0.9, p100 = 0.5 }}"),
            "line 4: `servers.list[1]`: has no kind among its labels, expected one of `a100`, `p100`",
        ),
        (
            "[graph]\nservers = 1\n[servers]\nlist = [[\"a\", \"b\"]]\n[speeds]\nkinds = { a = 0.9, b = \
            0.5 }"
                .into(),
            "line 4: `servers.list[0]`: is of two kinds, `a` and `b`, expected one",
        ),
        (
            "[speeds]\nkinds = { a = 0.9 }".into(),
            "line 2: `speeds.kinds`: keyed by label, but servers have none; give `servers.kinds` or \
            `servers.list`",
        ),
        (
            format!("{kinds}[speeds]\nkinds = {{ a100 = [0.9], v100 = 0.5 }}"),
            "line 4: `speeds.kinds.a100` is a list of 1 numbers, expected one number, or 8, one per port",
        ),
        (
            format!(
                "[graph]\nports = [\"x\", \"y\"]\n{kinds}[speeds]\nkinds = {{ a100 = {{ x = 1 }}, \
            v100 = 0.5 }}"
            ),
            "line 6: `speeds.kinds.a100` is a table without `y`, expected one number per port",
        ),
        ("[graph]\nports = [\"x\", \"x\"]".into(), "line 2: `graph.ports[1]`: the name `x` is used twice"),
        (
            "[graph]\nports = [\"x\"]\nchannels = [{ port = \"z\", server = 0 }]".into(),
            "line 3: `graph.channels[0].port` is \"z\", expected `x`",
        ),
        (
            "[graph]\nports = [\"x\", \"y\"]\nchannels = [{ port = \"x\", server = 0 }]".into(),
            "line 3: `graph.channels`: port `y` has no channel",
        ),
        (
            "[graph]\nports = 1.5".into(),
            "line 2: `graph.ports` is 1.5, expected a whole number or a list \
        of names",
        ),
        (
            "[devices]\nnames = [\"cpu\", \"gpu\"]\ncount = 3".into(),
            "line 3: `devices.count` is 3, expected 2, as many as there are `devices.names`",
        ),
        (
            "[[servers.outages]]\nserver = \"a\"\nfrom = 1\nuntil = 5\n[graph]\nservers = 2".into(),
            "line 2: `servers.outages[0].server` is \"a\", expected one of `server-0`, `server-1`",
        ),
        (
            "[[servers.outages]]\nserver = \"server-1\"\nfrom = 5\nuntil = 5".into(),
            "line 4: `servers.outages[0].until` is 5, expected a whole number from 6 to",
        ),
        (
            "[[servers.outages]]\nlabel = \"rack\"\nfrom = 1\nuntil = 5".into(),
            "line 2: `servers.outages[0].label`: servers have no labels",
        ),
        (
            "[[servers.outages]]\nfrom = 1\nuntil = 5".into(),
            "line 1: `servers.outages[0]` is without servers, expected `server` or `label`",
        ),
        (
            format!(
                "{kinds}[speeds]\ndrift = {{ kind = \"ramp\", label = \"rack\", factor = 0.3, from = \
            9 }}"
            ),
            "line 4: `speeds.drift.label` is \"rack\", expected one of `a100`, `v100`",
        ),
        (
            "[speeds]\nports = { port-9 = { law = \"gamma\" } }".into(),
            "line 2: `speeds.ports` is a table with `port-9`, expected the ports port-0, port-1",
        ),
        (
            "[speeds]\nports = { port-1 = { mean = [0.5, 0.1] } }".into(),
            "line 2: `speeds.ports.port-1.mean` is [0.5, 0.1], expected two ascending numbers",
        ),
        (
            "[graph]\nweights = { port-0 = 0 }".into(),
            "line 2: `graph.weights.port-0` is 0, expected a number from 0.000001 to 1000000",
        ),
        (
            "[speeds]\nlaw = \"cauchy\"".into(),
            "line 2: `speeds.law` is \"cauchy\", expected one of \
        `normal`, ",
        ),
        (
            "[[sweep]]\nkey = \"slots\"\nvalues = \"1..9\"".into(),
            "line 3: `sweep[0].values` is \"1..9\", expected FROM..TO:STEP or FROM..TO:*FACTOR, such as \
            0.1..1.0:0.1",
        ),
        (
            "[[sweep]]\nkey = \"slots\"\nvalues = [1]\n[[sweep]]\nkey = \"slots\"\nvalues = [2]".into(),
            "line 5: `sweep[1].key`: `slots` is varied twice",
        ),
        ("version = 2".into(), "line 1: `version` is 2, expected 1, the only version of the format so far"),
        (
            "extends = \"defualt\"".into(),
            "line 1: `extends`: `defualt` is neither a preset nor a file that can be read",
        ),
        (
            "[speeds]\ntable = \"speeds.csv\"".into(),
            "line 2: `speeds.table`: speeds.csv: a text that \
        stands alone",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = refused(&text);
        if !found.starts_with(expected) || found.contains('\n') {
            wrong.push(format!("{text:?}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn laws_of_ports_are_their_own() {
    let text = "[graph]\nports = [\"calm\", \"wild\"]\nservers = 5\nprobability = \
    1.0\n[speeds]\ndeviation = 0.0\n\
                mean = [0.4, 0.4]\nports = { wild = { law = \"uniform\", mean = [0.6, 0.6], deviation = \
                0.4 } }\n\
                [costs]\nscale = 0.0";
    let setting = Scenario::from_toml(text).unwrap().setting(2).unwrap();
    let mut speeds = setting.environment();
    let channels: Vec<ChannelId> = (0..10).map(ChannelId).collect();
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for slot in 1..=500 {
        let mut utilities = Vec::new();
        crate::sim::Environment::run(&mut speeds, Slot(slot), &channels, &mut utilities);
        assert!(utilities[..5].iter().all(|utility| *utility == 0.4), "{utilities:?}");
        utilities[5..].iter().for_each(|&utility| (low, high) = (low.min(utility), high.max(utility)));
    }
    let half = 0.6 * 0.4 * 3f64.sqrt();
    assert!(low >= 0.6 - half && low < 0.6 - 0.95 * half, "{low}");
    assert!(high <= 1.0 && high > 0.6 + 0.95 * half.min(0.4), "{high}");
}
