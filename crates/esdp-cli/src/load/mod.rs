//! `esdp load`: plays a scenario against a service and measures it.
//!
//! A player turns a simulated cluster as `esdp run` does, but asks a service over HTTP what to start. Rounds are due at a
//! fixed rate, whatever the service does: one that is late delays those behind it, and their time counts from when they
//! were due. Otherwise a service that stalls would be measured when it is well.

pub(crate) mod client;
mod connections;
mod learned;
pub(crate) mod player;
mod tally;

use crate::engine::Cancel;
use crate::output::{self, Format};
use crate::source::SourceArgs;
use anyhow::bail;
use clap::Args;
use client::Target;
use player::Player;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tally::Kind;

const DETAILS: &str = "\
The scenario's cluster is described to the service, its jobs are sent slot by slot, and their
outcomes are reported, as a cluster would do it. A service that has another cluster is left alone
unless --replace is given: never play against one that is in use. Jobs that are left in the end
are ended.

A round is the requests of one slot. Its time counts from when it was due, so that a service that
falls behind the rate is seen to do so. Exit code 1 if any request failed.

Examples:
  esdp serve --data /tmp/esdp-load &
  esdp load --target http://127.0.0.1:7070 --rate 20 --duration 10
  esdp load --target http://127.0.0.1:7070 --rate 5 --duration 60 --preset gang
  esdp load --target http://127.0.0.1:7070 --rate 50 --duration 30 my.toml --format json";

/// Plays a scenario against a service: latencies, errors, learned against true speeds.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp load --help` for examples.")]
pub struct LoadArgs {
    /// The service
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7070")]
    target: String,
    /// Slots per second
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    rate: f64,
    /// How long to play, in seconds
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    duration: f64,
    /// Connections to send requests over
    #[arg(long, value_name = "N", default_value_t = 8)]
    connections: u16,
    /// Replace the service's cluster by the simulated one
    #[arg(long)]
    replace: bool,
    /// A token of an operator [default: the environment's ESDP_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// A scenario that comes with esdp [default: `default`, if no file is given]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The seed of the scenario [default: its first]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The scenario, a TOML file
    #[arg(value_name = "SCENARIO.toml", conflicts_with = "preset")]
    file: Option<PathBuf>,
}

/// A name that no earlier run has used.
fn run_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis());
    format!("{now:x}-")
}

/// Plays and reports.
pub(crate) fn run(args: &LoadArgs) -> anyhow::Result<()> {
    for (flag, value, most) in [("--rate", args.rate, 1e6), ("--duration", args.duration, 1e6)] {
        if !(value > 0.0 && value <= most) {
            bail!("{flag} {value}: expected a number above 0, at most {most}");
        }
    }
    if !(1..=256).contains(&args.connections) {
        bail!("--connections {}: expected a whole number from 1 to 256", args.connections);
    }
    let token = args.token.clone().or_else(|| std::env::var("ESDP_TOKEN").ok());
    let target = Target::parse(&args.target, token)?;
    let scenario = SourceArgs::one(args.file.clone(), args.preset.clone(), args.seed).scenario()?;
    let seed = scenario.seeds()[0];
    let setting = scenario.setting(seed)?;
    let mut player = Player::new(&setting, &target, &run_name(), usize::from(args.connections))?;
    player.describe_to_service(&player.describe(), args.replace)?;
    let cancel = Cancel::on_ctrl_c();
    let started = Instant::now();
    let mut rounds = 0_u64;
    let outcome = loop {
        let due = Duration::from_secs_f64(rounds as f64 / args.rate);
        if due.as_secs_f64() >= args.duration || started.elapsed().as_secs_f64() >= args.duration || cancel.is_set() {
            break Ok(());
        }
        std::thread::sleep(due.saturating_sub(started.elapsed()));
        if let Err(error) = player.play() {
            break Err(error);
        }
        rounds += 1;
        player.tally().count(Kind::Round, Ok(started.elapsed().saturating_sub(due)));
    };
    let seconds = started.elapsed().as_secs_f64();
    // What is left is ended also after a failure, if the service still answers.
    let cleared = player.clear();
    outcome.and(cleared)?;
    let learned = learned::compare(&setting, rounds, &player.ask("GET", "/v1/channels", None)?)?;
    // The last round is over before the next one would be due.
    let reached = rounds as f64 / seconds.max(rounds as f64 / args.rate);
    match args.format {
        Format::Json => output::print_json(&json!({
            "scenario": scenario.name(), "seed": seed, "rate": args.rate, "seconds": seconds, "rounds": rounds,
            "reached_rate": reached, "requests": player.tally().json(), "learned": learned,
        }))?,
        Format::Table => output::print(&format!(
            "scenario {}, seed {seed}: {rounds} slots in {seconds:.1} s, {reached:.1} per second of {} asked for\n\n{}\n{}",
            scenario.name(),
            args.rate,
            player.tally().render(),
            learned.render(),
        ))?,
    }
    match player.tally().errors() {
        0 => Ok(()),
        1 => Err(crate::exit::End::Unmet(vec!["1 request failed".to_owned()]).into()),
        errors => Err(crate::exit::End::Unmet(vec![format!("{errors} requests failed")]).into()),
    }
}
