//! `esdp healthcheck`: whether a service can decide, for containers, which have no other HTTP client.

use crate::exit::End;
use crate::load::client::{Client, Target};
use crate::output;
use clap::Args;
use std::path::PathBuf;

/// Asks a service whether it can decide and write: exit code 0 if it can, 1 if not
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esdp healthcheck
  esdp healthcheck --target https://scheduler:7070 --tls-certificate cert.pem")]
pub(crate) struct HealthcheckArgs {
    /// Where the service is
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7070")]
    target: String,
    /// The certificate to trust, PEM, for https
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &HealthcheckArgs) -> anyhow::Result<()> {
    let target = Target::parse(&args.target, None, args.tls_certificate.as_deref())?;
    match Client::new(&target).ask("GET", "/readyz", None) {
        Ok(_) => output::print("ready\n"),
        // Supervisors know 0 and 1 only.
        Err(error) => Err(End::Unmet(vec![format!("{error:#}")]).into()),
    }
}
