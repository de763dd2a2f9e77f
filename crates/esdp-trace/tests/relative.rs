//! Speeds from accounting, held against the hidden ones of generated weeks.

use esdp_trace::generate::{MadeWeek, Week};
use esdp_trace::relative::{Cells, NodeSpeeds, SpeedTrial};
use esdp_trace::{Import, Ledger, Sink, Source, Task};
use std::collections::HashMap;

fn estimate(week: &MadeWeek) -> NodeSpeeds {
    let mut cells = Cells::default();
    let text = week.accounting();
    Import::open(text.as_bytes(), None).unwrap().stream(&mut Ledger::new(false), &mut cells).unwrap();
    cells.estimate().unwrap()
}

/// The hidden speed of every node that was estimated, relative to the geometric mean of its group.
fn hidden(week: &MadeWeek, found: &NodeSpeeds) -> Vec<f64> {
    let speeds: HashMap<&str, f64> = week.nodes.iter().map(|node| (node.name.as_str(), node.speed)).collect();
    let log = |name: &str| speeds[name].ln();
    let mean = |group: usize| {
        let own: Vec<f64> = found.nodes.iter().filter(|n| n.group == group).map(|n| log(&n.name)).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    found.nodes.iter().map(|node| (log(&node.name) - mean(node.group)).exp()).collect()
}

#[test]
fn intervals_hold_the_hidden_speeds_as_often_as_they_say() {
    let (mut inside, mut nodes, mut squares) = (0, 0, 0.0);
    for seed in 0..12 {
        let week = Week::new(seed).make();
        let found = estimate(&week);
        assert_eq!(found.nodes.len(), 40, "seed {seed}: every node is estimated");
        assert!(found.tells(), "seed {seed}");
        for (node, truth) in found.nodes.iter().zip(hidden(&week, &found)) {
            inside += usize::from(node.low <= truth && truth <= node.high);
            nodes += 1;
            squares += (node.speed / truth).ln().powi(2);
        }
    }
    let (share, error) = (f64::from(inside as u32) / f64::from(nodes), (squares / f64::from(nodes)).sqrt());
    assert!((0.90..=0.99).contains(&share), "{inside} of {nodes}");
    assert!(error < 0.03, "{error}");
}

#[test]
fn speeds_are_the_same_in_the_same_file_and_draws_are_around_them() {
    let week = Week::new(3).make();
    let found = estimate(&week);
    assert_eq!(found, estimate(&week));
    assert_eq!(found.draw(1), found.draw(1));
    let draws: Vec<Vec<f64>> = (0..400).map(|seed| found.draw(seed)).collect();
    let mut inside = 0;
    for (at, node) in found.nodes.iter().enumerate() {
        inside += draws.iter().filter(|draw| node.low <= draw[at] && draw[at] <= node.high).count();
    }
    let share = inside as f64 / (400 * found.nodes.len()) as f64;
    assert!((0.93..=0.97).contains(&share), "{share}");
}

#[test]
fn alike_nodes_are_not_told_apart_and_few_jobs_tell_nothing() {
    let alike = estimate(&Week { spread: 0.0, ..Week::new(1) }.make());
    // The two models of GPU differ by design; processors do not.
    let apart = |node: &&esdp_trace::relative::NodeSpeed| {
        node.name.starts_with("cpu") && (node.low > 1.0 || node.high < 1.0)
    };
    assert!(alike.nodes.iter().filter(apart).count() <= 3);
    let short = estimate(&Week { seconds: 4 * 3600, names: 300, load: 0.2, ..Week::new(2) }.make());
    assert!(!short.tells(), "{} against {}", short.typical_error, short.spread);
    let mut cells = Cells::default();
    let text = "JobID|User|JobName|Submit|Elapsed|NodeList|State|ReqTRES\n\
                1|u|a|2024-01-01T00:00:00|00:10:00|n1|COMPLETED|cpu=1\n\
                2|u|b|2024-01-01T00:00:00|00:10:00|n2|COMPLETED|cpu=1\n";
    Import::open(text.as_bytes(), None).unwrap().stream(&mut Ledger::new(false), &mut cells).unwrap();
    assert!(cells.estimate().is_none(), "no job ran on two nodes");
    // The same job twice, on two nodes: nobody knows how much its durations scatter.
    let mut cells = Cells::default();
    let text = text.replace("|b|", "|a|").replace("00:10:00|n2", "00:20:00|n2");
    Import::open(text.as_bytes(), None).unwrap().stream(&mut Ledger::new(false), &mut cells).unwrap();
    let two = cells.estimate().unwrap();
    assert!(!two.tells() && two.freedom == 0.0, "{}", two.freedom);
}

/// Every other job that tells of a node, and the rest.
#[derive(Default)]
struct Halves([Cells; 2], usize);

impl Sink for Halves {
    fn task(&mut self, task: &Task<'_>) {
        self.1 += usize::from(self.0[self.1 % 2].add(task));
    }
}

fn tried(text: &str) -> SpeedTrial {
    let mut halves = Halves::default();
    Import::open(text.as_bytes(), None).unwrap().stream(&mut Ledger::new(false), &mut halves).unwrap();
    SpeedTrial::new(&halves.0).unwrap()
}

#[test]
fn speeds_foretell_jobs_that_they_were_not_estimated_from() {
    let told = tried(&Week::new(1).make().accounting());
    // Nodes differ by 15 %, and more between models: without their speeds durations are that much further
    // off.
    assert!(told.jobs > 10_000 && told.with_speeds < 1.1 * told.luck, "{told:?}");
    let (alike, differ) = (told.alike.powi(2), told.luck.powi(2) + 0.15_f64.powi(2));
    assert!((alike / differ - 1.0).abs() < 0.4, "{told:?}");
    // Where nodes are alike, as those without GPUs are here, there is nothing to gain.
    let alike = Week { spread: 0.0, ..Week::new(1) }.make().accounting();
    let cpus: String =
        alike.lines().filter(|line| !line.contains("|gpu|")).map(|line| format!("{line}\n")).collect();
    let told = tried(&cpus);
    assert!((told.alike / told.with_speeds - 1.0).abs() < 0.01, "{told:?}");
}

#[test]
fn groups_that_no_job_joins_are_kept_apart() {
    let found = estimate(&Week::new(5).make());
    assert_eq!(found.groups, 2, "jobs with GPUs run on other nodes than those without");
    for group in 0..2 {
        let logs: Vec<f64> = found.nodes.iter().filter(|n| n.group == group).map(|n| n.speed.ln()).collect();
        assert!(logs.iter().sum::<f64>().abs() < 1e-9, "a geometric mean of 1");
    }
}
