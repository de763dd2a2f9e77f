//! Speeds in any unit.

use super::cluster::{described, live, policy, slot, submit};
use esdp::live::{Effect, Event, Live, Mode, SpeedReport, WhichTasks};
use esdp::model::ChannelId;
use esdp::scheduler::Objective;

/// Speeds in a unit that nobody told: tiny, huge, and suddenly ten times faster.
#[test]
fn speeds_come_in_any_unit() {
    for unit in [1e-30, 1.0, 1e30] {
        for name in ["esdp", "esdp-index", "esdp-drift", "esdp-pooled", "cucb"] {
            let mut live = Live::new(described(), policy(name)).unwrap();
            let speeds = [("n0", 3.0 * unit), ("n1", 1.0 * unit)];
            let mut number = 0;
            let mut run = |live: &mut Live, slots: std::ops::Range<u64>, faster: f64| {
                for at in slots {
                    number += 1;
                    submit(live, &format!("j{number}"));
                    for start in slot(live, at) {
                        for place in &start.placements {
                            let speed = speeds.iter().find(|(server, _)| *server == place.server).unwrap().1;
                            let report = SpeedReport::Work { work: speed * faster * 8.0, seconds: 8.0 };
                            let tasks = WhichTasks::On(place.server.clone());
                            live.apply(&Event::Reported {
                                ticket: start.ticket,
                                tasks,
                                report,
                                source: String::new(),
                            });
                        }
                        live.apply(&Event::Ended { job: start.job });
                    }
                }
            };
            run(&mut live, 1..60, 1.0);
            let speed = |live: &Live, at| live.belief(ChannelId(at)).unwrap().speed / unit;
            assert!((speed(&live, 0) - 3.0).abs() < 0.2, "{name} at {unit}: {}", speed(&live, 0));
            let factors = live.server_beliefs();
            assert!(
                factors[0].factor > factors[1].factor || factors[1].factor.is_none(),
                "{name}: {factors:?}"
            );
            assert!(live.beliefs().all(|belief| (0.0..=1.0).contains(&belief.estimate)), "{name}");
            let before = live.counts().starts;
            run(&mut live, 60..600, 10.0);
            assert_eq!(live.counts().starts, before + 540, "{name}: jobs still start");
            let best = speed(&live, 0).max(speed(&live, 1));
            assert!((5.0..=30.1).contains(&best), "{name} at {unit}: {best}");
            assert!(live.beliefs().all(|belief| (-0.01..=1.0).contains(&belief.estimate)), "{name}");
        }
    }
}

/// Raising the scale is exact: the state is the one that a scale known from the start would have given.
#[test]
fn a_scale_that_grows_leaves_no_trace() {
    let rates = [0.3, 0.5, 0.2, 0.9, 1.7, 0.4, 2.5];
    for name in ["esdp-index", "esdp-drift"] {
        let mut lives = [None, Some(4.0)].map(|reference| {
            let mut described = described();
            described.ports[0].reference = reference;
            let mut live = Live::new(described, policy(name)).unwrap();
            // Under the rule for queues a port has a reference of its own.
            let objective = Some(Objective::Sum);
            live.apply(&Event::Directed { mode: Mode::Place, most_exploration: None, objective });
            slot(&mut live, 1);
            live
        });
        for (id, rate) in rates.into_iter().enumerate() {
            for live in &mut lives {
                let (port, group, server) = ("train".into(), "task".into(), "n0".into());
                let report = SpeedReport::Rate(rate);
                live.apply(&Event::Observed {
                    id: id.to_string(),
                    port,
                    group,
                    server,
                    report,
                    source: String::new(),
                });
            }
        }
        let [learned, told] = lives.map(|live| live.scheduler().checkpoint().policy);
        assert_eq!(learned, told, "{name}");
    }
}

#[test]
fn a_port_can_be_reset_after_an_absurd_report() {
    let mut live = live();
    slot(&mut live, 1);
    let seen = |id: &str, rate| Event::Observed {
        id: id.into(),
        port: "train".into(),
        group: "task".into(),
        server: "n0".into(),
        report: SpeedReport::Rate(rate),
        source: String::new(),
    };
    live.apply(&seen("a", 1e200));
    live.apply(&seen("b", 2.0));
    // Who is right is not known yet: the second is set aside, as it contradicts the first.
    assert_eq!(live.belief(ChannelId(0)).unwrap().speed, 1e200);
    live.apply(&Event::Reset { port: Some("train".into()), server: None });
    live.apply(&seen("c", 2.0));
    assert_eq!(live.belief(ChannelId(0)).unwrap().estimate, 1.0);
    assert!(matches!(&live.apply(&seen("d", f64::INFINITY))[..], [Effect::Rejected { .. }]));
}
