//! `esdp load`: plays a scenario against a service and measures it.
//!
//! A player turns a simulated cluster as `esdp run` does, but asks a service over HTTP what to start. Rounds
//! are due at a fixed rate, whatever the service does: one that is late delays those behind it, and their
//! time counts from when they were due. Otherwise a service that stalls would be measured when it is well.

pub(crate) mod client;
mod footprint;
mod learned;
pub(crate) mod player;
mod reporter;
mod tally;

use crate::output::{self, OutputFormat};
use crate::provenance;
use crate::source::SourceArgs;
use anyhow::bail;
use clap::Args;
use client::{Client, Target};
use esdp::sim::CostPer;
use esdp_engine::Cancel;
use footprint::Footprint;
use player::Player;
use reporter::Reporter;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tally::{Kind, Tally};

const DETAILS: &str = "\
The scenario's cluster is described to the service, its jobs are sent slot by slot, and their
outcomes are reported, as a cluster would do it. A service that has another cluster is left alone
unless --replace is given: never play against one that is in use. Jobs that are left in the end
are ended.

A round is the requests of one slot, or of --batch slots that are decided in one request. Its time
counts from when it was due, so a service that falls behind the rate shows it. With
--clients, several play at once and share the cluster: one may be asked to start what another has
sent and ignores it, so less is learned. Exit code 1 if any request failed.

Examples:
  esdp serve --no-token --data /tmp/esdp-load &
  esdp load --target http://127.0.0.1:7070 --rate 20 --duration 10
  esdp load --target http://127.0.0.1:7070 --rate 3000 --batch 32
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
    /// Slots that one request decides
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch: u16,
    /// Clients that play at once, each with a connection and jobs of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    clients: u16,
    /// Outcomes per second of jobs that others have placed, in addition to those of the scenario
    #[arg(long, value_name = "N", default_value_t = 0.0)]
    outcomes: f64,
    /// Replace the service's cluster by the simulated one
    #[arg(long)]
    replace: bool,
    /// A token of an operator [default: the environment's ESDP_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// The certificate to trust if the service speaks https, PEM
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
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
    if !(0.0..=1e6).contains(&args.outcomes) {
        bail!("--outcomes {}: expected a number from 0 to 1000000", args.outcomes);
    }
    for (flag, value, most) in [("--batch", args.batch, 1000), ("--clients", args.clients, 256)] {
        if !(1..=most).contains(&value) {
            bail!("{flag} {value}: expected a whole number from 1 to {most}");
        }
    }
    let token = args.token.clone().or_else(|| std::env::var("ESDP_TOKEN").ok());
    let target = Target::parse(&args.target, token, args.tls_certificate.as_deref())?;
    let scenario = SourceArgs::one(args.file.clone(), args.preset.clone(), args.seed).scenario()?;
    if scenario.spec().costs.per == CostPer::Channel {
        bail!("`costs.per` is \"channel\": a service knows costs by device and amount, expected \"amount\"");
    }
    let seed = scenario.seeds()[0];
    let setting = scenario.setting(seed)?;
    let run = run_name();
    let players = (0..args.clients)
        .map(|number| Player::new(&setting, &target, &format!("{run}{number}-"), args.batch));
    let mut players = players.collect::<anyhow::Result<Vec<Player>>>()?;
    let described = players[0].describe();
    players[0].describe_to_service(&described, args.replace)?;
    let mut reporter = Reporter::new(&setting, Client::new(&target), &run);
    let cancel = crate::interrupt::on_ctrl_c();
    let started = Instant::now();
    let (footprint, outcomes) = std::thread::scope(|scope| {
        let clients = u64::from(args.clients);
        let play = |(first, player)| scope.spawn(move || play(player, args, first, clients, started, cancel));
        let threads: Vec<_> = (0_u64..).zip(&mut players).map(play).collect();
        let report = || reporter.report(args.outcomes, started, args.duration, cancel);
        let reports = (args.outcomes > 0.0).then(|| scope.spawn(report));
        let mut footprint = Footprint::new(Client::new(&target), Duration::from_secs_f64(args.duration));
        while threads.iter().any(|thread| !thread.is_finished()) {
            footprint.sample(started.elapsed());
            std::thread::sleep(Duration::from_millis(20));
        }
        let join =
            |thread: std::thread::ScopedJoinHandle<'_, anyhow::Result<u64>>| thread.join().expect("no panic");
        let mut outcomes: Vec<_> = threads.into_iter().map(join).collect();
        outcomes.extend(reports.map(|thread| thread.join().expect("no panic").map(|()| 0)));
        (footprint, outcomes)
    });
    let seconds = started.elapsed().as_secs_f64();
    let mut rounds = 0;
    for outcome in outcomes {
        rounds += outcome?;
    }
    let slots = rounds * u64::from(args.batch);
    let learned = learned::compare(&setting, slots, &players[0].ask("GET", "/v1/channels", None)?)?;
    let mut tally = Tally::default();
    players.into_iter().for_each(|player| tally.merge(player.tally));
    tally.merge(reporter.tally);
    // The last round is over before the next one would be due.
    let time = seconds.max(slots as f64 / args.rate);
    let (reached, outcomes) = (slots as f64 / time, tally.outcomes as f64 / time);
    match args.format {
        OutputFormat::Json => output::print_json(&provenance::stamped(&json!({
            "scenario": scenario.name(), "seed": seed, "rate": args.rate, "seconds": seconds,
            "rounds": rounds, "slots": slots, "reached_rate": reached, "outcomes_rate": outcomes,
            "requests": tally.json(), "service": footprint.json(), "learned": learned,
        })))?,
        OutputFormat::Table => output::print(&format!(
            "scenario {}, seed {seed}: {slots} slots in {seconds:.1} s, {reached:.1} per second of {} asked \
             for, \
             {outcomes:.0} outcomes per second\n\n{}\n{}{}",
            scenario.name(),
            args.rate,
            tally.render(),
            footprint.render(),
            learned.render(),
        ))?,
    }
    match tally.errors() {
        0 => Ok(()),
        1 => Err(crate::exit::End::Unmet(vec!["1 request failed".to_owned()]).into()),
        errors => Err(crate::exit::End::Unmet(vec![format!("{errors} requests failed")]).into()),
    }
}

/// Plays every so many rounds, from the first on, until the time is over; how many there were.
fn play(
    player: &mut Player,
    args: &LoadArgs,
    first: u64,
    clients: u64,
    started: Instant,
    cancel: &Cancel,
) -> anyhow::Result<u64> {
    let mut rounds = 0;
    let outcome = loop {
        let due = (first + rounds * clients) as f64 * f64::from(args.batch) / args.rate;
        if due >= args.duration || started.elapsed().as_secs_f64() >= args.duration || cancel.is_set() {
            break Ok(rounds);
        }
        let due = Duration::from_secs_f64(due);
        std::thread::sleep(due.saturating_sub(started.elapsed()));
        if let Err(error) = player.play() {
            break Err(error);
        }
        rounds += 1;
        player.tally.count(Kind::Round, Ok(started.elapsed().saturating_sub(due)));
    };
    // What is left is ended also after a failure, if the service still answers.
    let cleared = player.clear();
    outcome.and_then(|rounds| cleared.map(|()| rounds))
}
