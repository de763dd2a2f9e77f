//! What the commands of `esdp slurm` share: which cluster, which partition, where the data is.

use anyhow::{Context, anyhow};
use clap::Args;
use esdp::live::Mode;
use esdp_cluster::slurm::client::{CallError, SlurmClient};
use esdp_cluster::slurm::cluster::{RestChoice, Slurm};
use esdp_cluster::slurm::config::Config;
use esdp_cluster::slurm::driver::DriverSettings;
use esdp_cluster::slurm::reports;
use esdp_serve::settings::{Access, PolicyChoice, Settings, SettingsFile};
use esdp_serve::{Started, engine};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a driver waits for a controller that does not answer yet.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which cluster.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClusterOptions {
    /// slurm.conf, an absolute path [default: $SLURM_CONF, or where Slurm looks for it]
    #[arg(long, value_name = "FILE")]
    conf: Option<PathBuf>,
    /// The partition
    #[arg(long, default_value = "main")]
    pub(crate) partition: String,
    /// Slurm's REST interface, from 24.11 on: the socket of slurmrestd, `auto` or `off`
    #[arg(long, value_name = "SOCKET", default_value = "auto")]
    rest: PathBuf,
}

impl ClusterOptions {
    /// The cluster, if it answers within a minute: a service may be started before slurmctld is.
    fn probe_patiently(&self) -> anyhow::Result<Slurm> {
        let due = Instant::now() + PATIENCE;
        loop {
            match self.probe() {
                Err(error) if Instant::now() < due && is_away(&error) => {
                    crate::output::note(&format!("{error:#}; trying again"));
                    std::thread::sleep(Duration::from_secs(2));
                }
                other => return other,
            }
        }
    }

    /// The cluster, if it answers.
    pub(crate) fn probe(&self) -> anyhow::Result<Slurm> {
        if let Some(conf) = self.conf.as_ref().filter(|conf| !conf.is_absolute() || !conf.is_file()) {
            anyhow::bail!("--conf {}: expected an absolute path of a slurm.conf", conf.display());
        }
        // Slurm's clients would look for one in the network, for many seconds.
        let set = std::env::var_os("SLURM_CONF")
            .filter(|name| self.conf.is_none() && !name.is_empty())
            .map(PathBuf::from);
        if let Some(conf) = set.filter(|conf| !conf.is_file()) {
            anyhow::bail!("SLURM_CONF is {}, where no file is", conf.display());
        }
        let client = SlurmClient { conf: self.conf.clone(), time_out: None };
        let rest = match self.rest.to_str() {
            Some("auto") => RestChoice::Auto,
            Some("off") => RestChoice::Off,
            _ => RestChoice::At(self.rest.clone()),
        };
        Slurm::probe(client, &rest).map_err(|error| match error {
            CallError::Start { .. } => anyhow::Error::from(error)
                .context("Slurm's clients are needed on this machine (Debian: slurm-client)"),
            error => anyhow::Error::from(error).context("Slurm cannot be asked"),
        })
    }

    /// An error if the cluster has no such partition.
    fn check(&self, slurm: &Slurm) -> anyhow::Result<()> {
        let nodes = slurm.nodes()?;
        let known: BTreeSet<&str> =
            nodes.iter().flat_map(|node| &node.partitions).map(String::as_str).collect();
        if known.contains(self.partition.as_str()) {
            return Ok(());
        }
        let list = known.into_iter().collect::<Vec<_>>().join(", ");
        anyhow::bail!("--partition {}: no node is in it; the partitions are {list}", self.partition)
    }
}

fn is_away(error: &anyhow::Error) -> bool {
    error.downcast_ref::<CallError>().is_some_and(CallError::is_away)
}

/// How the driver and the service around it run.
#[derive(Debug, Clone, Args)]
pub(crate) struct DriverOptions {
    #[command(flatten)]
    pub(crate) cluster: ClusterOptions,
    /// Where everything is kept
    #[arg(long, value_name = "DIR", default_value = "esdp-slurm")]
    pub(crate) data: PathBuf,
    /// The longest time from turn to turn, such as 5s or 500ms
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    slot: Duration,
    /// A file that job_submit.lua writes to for each job it holds, so that a turn begins at once
    #[arg(long, value_name = "FILE")]
    wake: Option<PathBuf>,
    /// Where jobs report their speeds [default: $ESDP_REPORTS, or `reports` in the data directory]
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
    /// A TOML file with rules for job types
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address of the dashboard and the metrics; port 0 is a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The policy that decides
    #[arg(long, value_name = "NAME", default_value = "esdp-pooled")]
    policy: String,
    /// The largest share of recently started tasks that may be exploration, from 0 to 1 [default: no limit]
    #[arg(long, value_name = "SHARE")]
    max_exploration: Option<f64>,
    /// What is logged: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: String,
    /// Log as JSON, one object per line
    #[arg(long)]
    log_json: bool,
}

impl DriverOptions {
    /// The service around the driver.
    fn settings(&self, mode: Mode) -> anyhow::Result<Settings> {
        let file = SettingsFile {
            data: Some(self.data.clone()),
            listen: Some(self.listen.into()),
            policy: Some(PolicyChoice::Name(self.policy.clone())),
            mode: Some(mode),
            max_exploration: self.max_exploration,
            log_level: Some(self.log_level.clone()),
            log_json: Some(self.log_json),
            ..SettingsFile::default()
        };
        // Whoever is on the machine may look; nobody changes anything before a token was made.
        Ok(Settings { access: Access::ReadOnly, ..crate::serve::settled(file)? })
    }

    /// The rules for job types.
    pub(crate) fn rules(&self) -> anyhow::Result<Config> {
        let config = self.config.as_deref().map(Config::read).transpose().map_err(|error| anyhow!(error))?;
        Ok(config.unwrap_or_default())
    }

    fn driver(&self, mode: Mode) -> anyhow::Result<DriverSettings> {
        let config = self.rules()?;
        let named =
            || std::env::var_os(reports::DIRECTORY).filter(|name| !name.is_empty()).map(PathBuf::from);
        Ok(DriverSettings {
            partition: self.cluster.partition.clone(),
            mode,
            slot: self.slot,
            wake: self.wake.clone(),
            data: self.data.clone(),
            reports: self.reports.clone().or_else(named).unwrap_or_else(|| self.data.join("reports")),
            config,
        })
    }

    /// Runs a service with something that drives it, until it ends or is told to stop.
    pub(crate) fn serve(
        &self,
        mode: Mode,
        drive: impl FnOnce(Slurm, &engine::Client, DriverSettings) -> Result<(), String> + Send + 'static,
    ) -> anyhow::Result<()> {
        let (settings, driver) = (self.settings(mode)?, self.driver(mode)?);
        esdp_serve::log::start(&settings.log_level, settings.log_json).map_err(|error| anyhow!(error))?;
        let slurm = self.cluster.probe_patiently()?;
        self.cluster.check(&slurm)?;
        std::fs::create_dir_all(&driver.reports).with_context(|| driver.reports.display().to_string())?;
        let found = format!("Slurm {} ({}), partition {}", slurm.version, slurm.ways(), driver.partition);
        let ready = |started: &Started| {
            let _ = crate::output::print(&format!("{found}; dashboard at {}\n", started.url()));
        };
        esdp_serve::run_with(&settings, ready, move |client| drive(slurm, client, driver))?;
        Ok(())
    }
}

/// A time such as `5s`, `500ms` or `2m`; a plain number is in seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 500ms, 5s or 2m".to_owned()),
    };
    let seconds = digits.parse::<f64>().ok().map(|number| number * unit);
    let sound = seconds.filter(|seconds| (0.01..=1e6).contains(seconds));
    sound
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a time from 10ms up, such as 500ms, 5s or 2m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, millis) in [("5s", 5000), ("500ms", 500), ("1", 1000), ("1.5s", 1500), ("2m", 120_000)] {
            assert_eq!(time(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "0s", "-1s", "5d", "nan"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
