//! `esdp serve`, `esdp journal` and `esdp token`: the service and what is around it.

mod journal;
mod token;

pub use journal::JournalArgs;
pub(crate) use journal::run as run_journal;
pub use token::TokenArgs;
pub(crate) use token::run as run_token;

use crate::provenance;
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use esdp::live::Mode;
use esdp_serve::settings::{DEFAULT_DATA, DEFAULT_LISTEN, PolicyChoice, Settings, SettingsFile};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

const DETAILS: &str = "\
The service keeps everything in the data directory and may be killed at any time: every answer is
on disk before it is sent. Stop it with Ctrl-C or SIGTERM. It listens on the loopback address only;
any other address needs a token (`esdp token create`) and TLS, or --insecure.

docs/service.md describes the API, docs/operate.md how to run it.

Examples:
  esdp serve
  esdp serve --data /var/lib/esdp --mode observe
  esdp serve --mode place --max-exploration 0.1
  esdp serve --listen 0.0.0.0:7070 --tls-certificate cert.pem --tls-key key.pem
  curl -X PUT localhost:7070/v1/cluster -H 'content-type: application/json' -d @cluster.json";

/// Runs the live scheduler: HTTP API, metrics, dashboard, durable learning.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp serve --help` for examples.")]
pub struct ServeArgs {
    #[arg(long, value_name = "DIR", help = format!("Where everything is kept [default: {DEFAULT_DATA}]"))]
    data: Option<PathBuf>,
    #[arg(long, value_name = "ADDRESS")]
    #[arg(help = format!("The address to listen on [default: {DEFAULT_LISTEN}]"))]
    listen: Option<SocketAddr>,
    /// The policy that decides [default: esdp]
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Seed for policies that draw random numbers [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// A TOML file with settings; flags win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Who decides what runs where [default: place]
    #[arg(long, value_enum)]
    mode: Option<ModeName>,
    /// The largest share of recently started tasks that may be exploration, from 0 to 1 [default: no limit]
    #[arg(long, value_name = "SHARE")]
    max_exploration: Option<f64>,
    /// Allow an address that others can reach without tokens and TLS
    #[arg(long)]
    insecure: bool,
    /// The certificate chain, PEM
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's key, PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// What is logged: off, error, warn, info, debug or trace [default: info]
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Log as JSON, one object per line
    #[arg(long)]
    log_json: bool,
    /// Go on if the journal gives another state than when it was written: what it says is booked as far as it
    /// can be, and the log names the place
    #[arg(long)]
    accept_divergence: bool,
    /// SQLite's `synchronous`; for tests of the durability checks, never for data that matters
    #[arg(long, hide = true)]
    synchronous: Option<String>,
    /// Write a snapshot after this many events
    #[arg(long, hide = true)]
    snapshot_events: Option<u64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeName {
    /// Learn from what others placed, decide nothing
    Observe,
    /// Decide, but only as advice, and compare it with what was done
    Advise,
    /// Decide
    Place,
}

impl ServeArgs {
    fn flags(&self) -> SettingsFile {
        let mode = |mode| match mode {
            ModeName::Observe => Mode::Observe,
            ModeName::Advise => Mode::Advise,
            ModeName::Place => Mode::Place,
        };
        SettingsFile {
            data: self.data.clone(),
            listen: self.listen,
            policy: self.policy.clone().map(PolicyChoice::Name),
            seed: self.seed,
            mode: self.mode.map(mode),
            max_exploration: self.max_exploration,
            insecure: self.insecure.then_some(true),
            tls_certificate: self.tls_certificate.clone(),
            tls_key: self.tls_key.clone(),
            log_level: self.log_level.clone(),
            log_json: self.log_json.then_some(true),
            synchronous: self.synchronous.clone(),
            snapshot_events: self.snapshot_events,
            ..SettingsFile::default()
        }
    }
}

/// Settings that were checked, for a service that says which build it is.
pub(crate) fn settled(file: SettingsFile) -> anyhow::Result<Settings> {
    let settings = file.settle().map_err(|error| anyhow!(error))?;
    Ok(Settings { version: provenance::VERSION.to_owned(), ..settings })
}

/// Runs the service until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let file = args.config.as_deref().map(SettingsFile::read).transpose().map_err(|error| anyhow!(error))?;
    let mut settings = settled(args.flags().or(file.unwrap_or_default()))?;
    settings.accept_divergence = args.accept_divergence;
    esdp_serve::log::start(&settings.log_level, settings.log_json).map_err(|error| anyhow!(error))?;
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    esdp_serve::run(&settings, |address| {
        // Programs that start a service read this line to learn its port.
        let mut out = std::io::stdout();
        let _ = writeln!(out, "listening on {scheme}://{address}").and_then(|()| out.flush());
    })?;
    Ok(())
}
