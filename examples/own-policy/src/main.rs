//! Runs the policy of this crate beside `esdp` and the oracle: a table, a report, and a sweep.
//!
//! ```sh
//! cargo run --release -p own-policy
//! ```
#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use esdp::scenario::Scenario;
use esdp_engine::Runner;
use own_policy::ExploreThenCommit;
use std::error::Error;

// begin: main
fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::preset("default").ok_or("there is no such preset")?;
    let mut runner = Runner::new(scenario).policies(["oracle", "esdp"])?.slots(2000)?.seeds(0, 5)?;
    for tries in [1, 5, 20] {
        let label = format!("explore {tries}");
        runner =
            runner.policy(label, move |cluster, _seed| Box::new(ExploreThenCommit::policy(cluster, tries)));
    }

    let results = runner.run()?;
    println!("{}", results.table(false));
    std::fs::create_dir_all("out")?;
    std::fs::write("out/own-policy.html", results.report(&[]).render())?;

    let sweep = runner.slots(500)?.sweep(vec!["arrivals.rho=0.3,0.6,0.9".parse()?])?;
    println!("{}", sweep.table());
    std::fs::write("out/own-policy-sweep.html", sweep.report().render())?;
    Ok(())
}
// end: main
