//! A queue of held jobs on many nodes, all real: how long a turn of the driver takes, and how much of that is
//! its own.
//!
//! `cargo xtask slurm-scale` runs it with 1,000 jobs and 500 nodes. Times are printed and not checked.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "it tells what it has measured")]

mod slurm_bed;

use slurm_bed::Bed;

/// A number in a line of the log: `own=17`.
fn number(line: &str, key: &str) -> Option<u64> {
    line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}

#[test]
fn a_long_queue_is_decided_and_placed() {
    let jobs: usize = std::env::var("ESDP_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let nodes = jobs / 2;
    let mut bed = Bed::new(nodes);
    // Whole nodes, so that half of the queue cannot start at once.
    let held: Vec<u64> =
        (0..jobs).map(|_| bed.submit(&["-N4", "-c4", "--ntasks-per-node=1"], "sleep 1")).collect();
    bed.start_driver();
    let decided = |bed: &Bed| bed.ledger().lines().filter(|line| line.contains(",decided,")).count();
    bed.wait("jobs on all nodes", |bed| decided(bed) >= nodes / 4);
    bed.wait("the end of the first turn", |bed| bed.log().lines().any(|line| number(line, "own").is_some()));
    let log = bed.log();
    let turns = log.lines().filter_map(|line| Some((number(line, "millis")?, number(line, "own")?)));
    let (whole, own) = turns.clone().max_by_key(|&(_, own)| own).expect("a turn");
    println!(
        "{jobs} held jobs, {nodes} nodes: the longest turn took {whole} ms, {own} ms of them the driver's own"
    );
    for line in log.lines().filter(|line| line.contains("decision")).take(4) {
        println!("{line}");
    }
    if jobs <= 100 {
        held.iter().for_each(|&job| drop(bed.wait_for(job, "ended")));
        bed.assert_agreement(&held);
    }
}
