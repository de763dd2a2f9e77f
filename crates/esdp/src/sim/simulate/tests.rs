use super::*;
use crate::model::Cluster;
use crate::sim::{ArrivalSpec, Curve, Delay, Drift, RandomCluster, Spacing, SpeedSpec, Summary};
use std::cell::Cell;

fn setting(delay: Delay, drift: Drift) -> Setting {
    let cluster: Cluster = RandomCluster::default().generate(2).unwrap();
    let speeds = SpeedSpec { drift, ..SpeedSpec::default() };
    Setting::build(cluster, ArrivalSpec::default(), &speeds, delay, 2).unwrap()
}

fn plain() -> Setting {
    setting(Delay::default(), Drift::None)
}

fn summary(setting: &Setting, policy: &str, slots: u64) -> Summary {
    let mut summary = Summary::new(setting.cluster());
    let mut simulation =
        Simulation::new(setting, &policy.parse().unwrap()).unwrap().against_live_oracle(setting);
    assert!(simulation.run(slots, &mut summary).unwrap().is_continue());
    summary
}

#[test]
fn a_run_can_be_cut_in_two() {
    let setting = plain();
    let total = |parts: &[u64]| {
        let mut summary = Summary::new(setting.cluster());
        let mut simulation = Simulation::new(&setting, &"hauf".parse().unwrap()).unwrap();
        parts.iter().for_each(|&slots| assert!(simulation.run(slots, &mut summary).unwrap().is_continue()));
        summary
    };
    assert_eq!(total(&[200]), total(&[80, 120]));
}

#[test]
fn the_oracle_is_its_own_yardstick() {
    for drift in [
        Drift::None,
        Drift::Switch { share: 0.35, factor: 0.4, every: 20 },
        Drift::Sine { amplitude: 0.5, period: 90 },
    ] {
        let setting = setting(Delay::default(), drift.clone());
        let live = summary(&setting, "oracle", 200);
        assert_eq!((live.oracle_ratio(), live.regret()), (Some(1.0), Some(0.0)), "{drift:?}");

        let track = OracleTrack::new(&setting, 200).unwrap();
        let mut tracked = Summary::new(setting.cluster());
        let mut simulation = Simulation::new(&setting, &"oracle".parse().unwrap()).unwrap().against(&track);
        assert!(simulation.run(200, &mut tracked).unwrap().is_continue());
        assert_eq!(tracked, live);
        assert!(summary(&setting, "random", 200).oracle_ratio().unwrap() < 0.8);
    }
}

#[test]
fn beyond_the_track_there_is_no_oracle() {
    let setting = plain();
    let track = OracleTrack::new(&setting, 10).unwrap();
    let mut summary = Summary::new(setting.cluster());
    let mut simulation = Simulation::new(&setting, &"lcf".parse().unwrap()).unwrap().against(&track);
    assert!(simulation.run(10, &mut summary).unwrap().is_continue());
    assert!(summary.regret().is_some());
    assert!(simulation.run(1, &mut summary).unwrap().is_continue());
    assert_eq!((summary.regret(), summary.oracle_ratio()), (None, None));
}

#[test]
fn the_measures_are_what_they_say() {
    let found = summary(&plain(), "esdp", 1500);
    // Outcomes scatter around their means: 1500 slots of about 8 draws, each with a deviation below 0.5.
    assert!((found.realised - found.aou).abs() < 4.0 * 0.5 * (found.uses as f64).sqrt(), "{found:?}");
    assert!((found.jobs.all_arrived() as f64 / 12_000.0 - 0.9).abs() < 0.02);
    assert!(found.utilisation().iter().all(|share| (0.5..=1.0).contains(share)), "{:?}", found.utilisation());
    assert!((0.01..0.3).contains(&found.exploration_share()), "{}", found.exploration_share());
    assert_eq!((found.proved_share(), found.solved, found.slots), (1.0, 1500, 1500));
    assert_eq!(found.decision_us(0.5), None);
}

#[test]
fn the_clock_is_read_around_decisions() {
    let setting = plain();
    let ticks = Cell::new(0);
    let clock = || {
        ticks.set(ticks.get() + 2000);
        ticks.get()
    };
    let mut summary = Summary::new(setting.cluster());
    let mut simulation = Simulation::new(&setting, &"lcf".parse().unwrap()).unwrap().timed(&clock);
    assert!(simulation.run(30, &mut summary).unwrap().is_continue());
    assert_eq!(summary.times.count(), 30);
    assert!((summary.decision_us(0.5).unwrap() - 2.0).abs() < 2.0 / 32.0);
}

#[test]
fn late_news_costs_and_is_complete() {
    let aou = |delay| summary(&setting(delay, Drift::None), "esdp", 800).aou;
    let (now, late, later) = (aou(Delay(0, 0)), aou(Delay(0, 60)), aou(Delay(300, 300)));
    assert!(now > late && late > later, "{now} {late} {later}");
    assert_eq!(aou(Delay(0, 60)), late, "the same seed, the same delays");
}

#[test]
fn a_recorder_may_break_off() {
    struct Stop(u64);
    impl Recorder for Stop {
        fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
            if record.slot.0 >= self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let setting = plain();
    let mut recorders = (Stop(7), Curve::new(100, 200, Spacing::Linear));
    let mut simulation = Simulation::new(&setting, &"lcf".parse().unwrap()).unwrap();
    assert!(simulation.run(100, &mut recorders).unwrap().is_break());
    assert_eq!(recorders.1.points().len(), 7);
    assert_eq!(recorders.1.points()[6].slot, 7);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let bytes = || serde_json::to_string(&summary(&setting(Delay(1, 5), Drift::None), "cts", 300)).unwrap();
    assert_eq!(bytes(), bytes());
}
