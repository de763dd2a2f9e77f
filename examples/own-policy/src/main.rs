//! Runs the policy of this crate beside `esdp` and the oracle and prints a table.
//!
//! ```sh
//! cargo run --release -p own-policy
//! ```
#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use esdp::policy::{Policy, PolicySpec};
use esdp::sim::{OracleTrack, RandomCluster, Setting, Simulation, Summary};
use own_policy::ExploreThenCommit;
use std::error::Error;

const SLOTS: u64 = 2000;
const SEEDS: u64 = 5;

// begin: main
type Made = Result<Box<dyn Policy>, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{SEEDS} seeds of {SLOTS} slots, the paper's default scenario\n");
    println!("policy                    oracle ratio    regret");
    for name in ["oracle", "esdp"] {
        let spec: PolicySpec = name.parse()?;
        show(name, |setting| Ok(spec.build(setting.cluster(), setting.seed(), Some(setting.truth()))?))?;
    }
    for tries in [1, 5, 20] {
        let name = format!("{} {tries}", ExploreThenCommit::NAME);
        show(&name, |setting| Ok(Box::new(ExploreThenCommit::new(setting.cluster(), tries))))?;
    }
    Ok(())
}

/// Simulates every seed with a policy made for its cluster and prints the means.
fn show(name: &str, make: impl Fn(&Setting) -> Made) -> Result<(), Box<dyn Error>> {
    let (mut ratio, mut regret) = (0.0, 0.0);
    for seed in 0..SEEDS {
        // The same seed gives every policy the same cluster, arrivals and speeds.
        let setting = Setting::new(&RandomCluster::default(), 0.9, seed)?;
        let oracle = OracleTrack::new(&setting, SLOTS)?;
        let mut summary = Summary::new(setting.cluster());
        let _ = Simulation::with_policy(&setting, make(&setting)?).against(&oracle).run(SLOTS, &mut summary)?;
        ratio += summary.oracle_ratio().unwrap_or(1.0) / SEEDS as f64;
        regret += summary.regret().unwrap_or(0.0) / SEEDS as f64;
    }
    println!("{name:<24}  {ratio:>12.3}  {regret:>8.1}");
    Ok(())
}
// end: main
