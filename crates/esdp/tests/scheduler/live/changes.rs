//! Clusters that change, and states that are merged.

use super::cluster::{outcomes, policy, report, single, slot, submit};
use esdp::live::{Effect, Event, Live, SpeedReport};
use esdp::model::{ChannelId, ClusterDescription, ServerSpec};
use esdp::scheduler::DEPARTED_CHANNELS;

#[test]
fn a_change_keeps_jobs_and_learning_by_name() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    (0..3).for_each(|job| drop(submit(&mut live, &format!("j{job}"))));
    let starts = slot(&mut live, 1);
    starts.iter().for_each(|start| drop(live.apply(&report(start.ticket, SpeedReport::Utility(0.5)))));
    let on_n1 = starts.iter().find(|start| start.placements[0].server == "n1").unwrap();
    let mut next = single();
    next.servers = vec![ServerSpec::new("n2", &[("gpu", 2)]), ServerSpec::new("n0", &[("gpu", 4)])];
    let effects = live.apply(&Event::Described { cluster: next.clone() });
    assert_eq!(
        effects,
        [Effect::Lost { job: on_n1.job.clone(), why: "its server has left the cluster".into() }]
    );
    let counts: Vec<(String, f64)> =
        live.beliefs().map(|belief| (belief.channel.server, belief.count)).collect();
    assert_eq!(counts, [("n2".into(), 0.0), ("n0".into(), 2.0)]);
    live.apply(&Event::Described { cluster: single() });
    assert_eq!(outcomes(&live), 3.0, "n1 is back with its history");
    live.apply(&Event::Described { cluster: next });
    live.apply(&Event::Forgotten { server: "n1".into() });
    live.apply(&Event::Described { cluster: single() });
    assert_eq!(outcomes(&live), 2.0);
    let broken = ClusterDescription::default();
    assert!(matches!(&live.apply(&Event::Described { cluster: broken })[..], [Effect::Rejected { .. }]));
    assert_eq!(live.described(), &single());
}

/// Nodes have new names every day: those that left first are forgotten, and those of yesterday are known.
#[test]
fn what_left_is_kept_within_a_bound() {
    let mut live = Live::new(single(), policy("hauf")).unwrap();
    let at_once = 4096;
    let version = |day: usize| {
        let server = |number| ServerSpec::new(&format!("d{day}-{number}"), &[("gpu", 2)]);
        ClusterDescription { servers: (0..at_once).map(server).collect(), ..single() }
    };
    let days = DEPARTED_CHANNELS / at_once + 3;
    for day in 0..days {
        live.apply(&Event::Described { cluster: version(day) });
        slot(&mut live, day as u64 + 1);
        for server in version(day).servers {
            let (port, group, report) = ("train".into(), "task".into(), SpeedReport::Utility(0.5));
            live.apply(&Event::Observed {
                id: server.name.clone(),
                port,
                group,
                server: server.name,
                report,
                source: String::new(),
            });
        }
    }
    live.apply(&Event::Described { cluster: single() });
    let departed: Vec<&str> = live.scheduler().departed().map(|(key, _)| key.server.as_str()).collect();
    assert_eq!(departed.len(), DEPARTED_CHANNELS);
    assert!(
        !departed.contains(&"d0-0") && !departed.contains(&"d2-9"),
        "those that left first are forgotten"
    );
    live.apply(&Event::Described { cluster: version(days - 1) });
    assert_eq!(outcomes(&live), at_once as f64, "those that left last come back with their history");
}

#[test]
fn another_state_is_merged_as_an_event() {
    let mut veteran = Live::new(single(), policy("hauf")).unwrap();
    let mut fresh = Live::new(single(), policy("esdp-index")).unwrap();
    for live in [&mut veteran, &mut fresh] {
        slot(live, 1);
    }
    for id in 0..20 {
        let (port, group, server) = ("train".into(), "task".into(), "n1".into());
        let report = SpeedReport::Utility(0.75);
        veteran.apply(&Event::Observed {
            id: id.to_string(),
            port,
            group,
            server,
            report,
            source: String::new(),
        });
    }
    let state = Box::new(veteran.scheduler().checkpoint());
    let merged = fresh.apply(&Event::Merged { state: state.clone(), share: 0.5 });
    assert_eq!(merged, [Effect::Merged { channels: 1 }]);
    let belief = fresh.belief(ChannelId(1)).unwrap();
    assert_eq!((belief.estimate, belief.count), (0.75, 10.0), "of another policy, by name, half as much");
    let refused = fresh.apply(&Event::Merged { state, share: 1.5 });
    assert!(matches!(&refused[..], [Effect::Rejected { .. }]));
}
