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
use esdp::scheduler::Objective;
use esdp_serve::settings::{DEFAULT_DATA, DEFAULT_LISTEN, Listen, PolicyChoice, Settings, SettingsFile};
use std::io::Write;
use std::path::PathBuf;

const DETAILS: &str = "\
The service keeps everything in the data directory and may be killed at any time: every answer is
on disk before it is sent. Stop it with Ctrl-C or SIGTERM; SIGHUP reads the settings, tokens and
certificate anew. The first start makes a token and prints a link with it; programs send it as
`authorization: Bearer TOKEN`. `esdp token create` makes more. Users of this machine need none at a
unix socket: root and the service's own user may do everything there. It listens on the loopback
address only; any other address needs TLS, or --insecure.

docs/service.md describes the API, docs/operate.md how to run it.

Examples:
  esdp serve
  esdp serve --data /var/lib/esdp --mode observe
  esdp serve --mode place --max-exploration 0.1
  esdp serve --no-token                      for tests: anybody on this machine may do everything
  esdp serve --listen unix:/run/esdp/socket
  curl --unix-socket /run/esdp/socket http://localhost/v1/status
  esdp serve --listen 0.0.0.0:7070 --tls-certificate cert.pem --tls-key key.pem
  curl localhost:7070/v1/status -H 'authorization: Bearer esdp_...'";

/// Runs the live scheduler: HTTP API, metrics, dashboard, durable learning.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp serve --help` for examples.")]
pub struct ServeArgs {
    #[arg(long, value_name = "DIR", help = format!("Where everything is kept [default: {DEFAULT_DATA}]"))]
    data: Option<PathBuf>,
    #[arg(long, value_name = "ADDRESS")]
    #[arg(help = format!(
        "The address to listen on, or unix:/PATH for a socket; may be given twice, once for each [default: \
         {DEFAULT_LISTEN}]"
    ))]
    listen: Vec<Listen>,
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
    /// What a slot maximises: the rule for queues, or the paper's sum of net utilities [default: relative]
    #[arg(long, value_enum)]
    objective: Option<ObjectiveName>,
    /// The largest share of recently started tasks that may be exploration, from 0 to 1 [default: no limit]
    #[arg(long, value_name = "SHARE")]
    max_exploration: Option<f64>,
    /// Allow an address that others can reach without TLS, for a proxy that has it
    #[arg(long)]
    insecure: bool,
    /// Make no token at the first start: everybody on this machine may do everything, until one is made
    #[arg(long, conflicts_with = "token_file")]
    no_token: bool,
    /// Write the token of the first start to this file, for its owner alone, instead of printing it
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A name of this service that browsers and clients may use, such as esdp.example.org; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// A user of this machine who may do everything at the unix socket; may be repeated [default: root and
    /// the user that runs the service]
    #[arg(long, value_name = "UID")]
    allow_uid: Vec<u32>,
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ObjectiveName {
    /// Relative speed, backlog and slowdown; nobody starves, and units do not matter
    Relative,
    /// The paper's: the sum of net utilities
    Sum,
}

impl ServeArgs {
    fn flags(&self) -> Result<SettingsFile, String> {
        let mode = |mode| match mode {
            ModeName::Observe => Mode::Observe,
            ModeName::Advise => Mode::Advise,
            ModeName::Place => Mode::Place,
        };
        let listen = self.listen.iter().cloned().map(Ok).reduce(|a, b| a?.and(b?)).transpose()?;
        let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        Ok(SettingsFile {
            data: self.data.clone(),
            listen,
            policy: self.policy.clone().map(PolicyChoice::Name),
            seed: self.seed,
            mode: self.mode.map(mode),
            objective: self.objective.map(|objective| match objective {
                ObjectiveName::Relative => Objective::Relative,
                ObjectiveName::Sum => Objective::Sum,
            }),
            max_exploration: self.max_exploration,
            insecure: self.insecure.then_some(true),
            no_token: self.no_token.then_some(true),
            token_file: self.token_file.clone(),
            allow_host: some(&self.allow_host),
            allow_uid: (!self.allow_uid.is_empty()).then(|| self.allow_uid.clone()),
            tls_certificate: self.tls_certificate.clone(),
            tls_key: self.tls_key.clone(),
            log_level: self.log_level.clone(),
            log_json: self.log_json.then_some(true),
            synchronous: self.synchronous.clone(),
            snapshot_events: self.snapshot_events,
            ..SettingsFile::default()
        })
    }

    /// The settings of the flags and of the file, as it is now.
    fn settings(&self) -> Result<Settings, String> {
        let file = self.config.as_deref().map(SettingsFile::read).transpose()?;
        let mut file = file.unwrap_or_default();
        // A flag wins over the other way to say the same.
        if self.no_token {
            file.token_file = None;
        }
        if self.token_file.is_some() {
            file.no_token = None;
        }
        let settings = self.flags()?.or(file).settle()?;
        Ok(Settings {
            accept_divergence: self.accept_divergence,
            version: provenance::VERSION.to_owned(),
            ..settings
        })
    }
}

/// Settings that were checked, for a service that says which build it is.
pub(crate) fn settled(file: SettingsFile) -> anyhow::Result<Settings> {
    let settings = file.settle().map_err(|error| anyhow!(error))?;
    Ok(Settings { version: provenance::VERSION.to_owned(), ..settings })
}

/// Runs the service until it is told to stop.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let settings = args.settings().map_err(|error| anyhow!(error))?;
    esdp_serve::log::start(&settings.log_level, settings.log_json).map_err(|error| anyhow!(error))?;
    let again = args.clone();
    let reload = Box::new(move || again.settings());
    esdp_serve::run_reloading(&settings, reload, |started| {
        // Programs that start a service read the first line to learn its port.
        let mut text = format!("listening on {}\n", started.url());
        if let Some(token) = &started.token {
            let link = match started.address {
                Some(_) => format!("{}/?token={token}", started.url()),
                None => format!("token={token}"),
            };
            text += &format!("open {link}\nThis token is shown once; `esdp token create` makes others.\n");
        }
        let mut out = std::io::stdout();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    })?;
    Ok(())
}
