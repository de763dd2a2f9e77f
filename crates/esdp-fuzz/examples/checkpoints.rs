//! Writes a checkpoint of every policy on both small clusters into the corpus, for when their layout changes:
//! `cargo run -p esdp-fuzz --example checkpoints`. Those that are there already under other names stay.

use esdp::policy::PolicySpec;
use esdp_fuzz::checkpoint::{live, setting};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/checkpoint");
    for (cluster, kind) in ["base", "gangs"].into_iter().enumerate() {
        for spec in PolicySpec::all() {
            let mut scheduler = setting(cluster).scheduler(&spec)?;
            live(&mut scheduler);
            std::fs::write(
                corpus.join(format!("{kind}-{}", spec.name())),
                scheduler.checkpoint().to_text()?,
            )?;
        }
    }
    Ok(())
}
