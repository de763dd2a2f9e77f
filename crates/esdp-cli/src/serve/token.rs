//! `esdp token`: who may use a service.

use crate::output;
use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use esdp_serve::clock::utc;
use esdp_serve::settings::DEFAULT_DATA;
use esdp_serve::tokens::{self, Role};
use std::path::PathBuf;

/// Makes, lists and revokes tokens of a service.
#[derive(Debug, Args)]
pub struct TokenArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a token and print it; it is kept as a hash only and cannot be shown again
    Create {
        /// A name to list and revoke it by
        name: String,
        /// What it allows
        #[arg(long, value_enum)]
        role: RoleName,
        #[command(flatten)]
        data: Data,
    },
    /// List the names and roles of all tokens
    List {
        #[command(flatten)]
        data: Data,
    },
    /// Take a token back; a running service notices within two seconds
    Revoke {
        /// Its name
        name: String,
        #[command(flatten)]
        data: Data,
    },
}

#[derive(Debug, Args)]
struct Data {
    /// The service's data directory
    #[arg(long, value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleName {
    /// Read everything
    Reader,
    /// Also report outcomes
    Reporter,
    /// Everything
    Operator,
}

pub(crate) fn run(args: &TokenArgs) -> anyhow::Result<()> {
    match &args.action {
        Action::Create { name, role, data } => {
            let role = match role {
                RoleName::Reader => Role::Reader,
                RoleName::Reporter => Role::Reporter,
                RoleName::Operator => Role::Operator,
            };
            let token =
                tokens::create(&data.data, name, role).with_context(|| data.data.display().to_string())?;
            output::print(&format!("{token}\n"))
        }
        Action::List { data } => {
            let all = tokens::list(&data.data).with_context(|| data.data.display().to_string())?;
            let line = |token: &tokens::TokenEntry| {
                let role = format!("{:?}", token.role).to_lowercase();
                format!("{}  {role:<8}  {}\n", utc(token.created), token.name)
            };
            output::print(&all.iter().map(line).collect::<String>())
        }
        Action::Revoke { name, data } => {
            tokens::revoke(&data.data, name).with_context(|| data.data.display().to_string())
        }
    }
}
