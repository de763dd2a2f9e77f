//! `esdp token`: who may use a service.

use crate::output;
use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use esdp_serve::clock::utc;
use esdp_serve::settings::DEFAULT_DATA;
use esdp_serve::tokens::{self, NewToken, Role, TokenEntry};
use std::path::PathBuf;
use std::time::Duration;

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
        #[arg(long, value_enum, required_unless_present = "ports")]
        role: Option<RoleName>,
        /// Job types for which it may report; it may do nothing else then
        #[arg(long, value_name = "PORT,...", value_delimiter = ',')]
        ports: Vec<String>,
        /// How long it is valid, such as 30d or 12h [default: until it is revoked]
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires: Option<Duration>,
        #[command(flatten)]
        data: Data,
    },
    /// List all tokens: when they were made and used last, role, name, ports, end
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
    /// Also report outcomes of what the service has started
    Reporter,
    /// Also report outcomes of what others have started
    Observer,
    /// Everything
    Operator,
}

pub(crate) fn run(args: &TokenArgs) -> anyhow::Result<()> {
    match &args.action {
        Action::Create { name, role, ports, expires, data } => {
            let role = match role {
                Some(RoleName::Reader) => Role::Reader,
                Some(RoleName::Observer) => Role::Observer,
                Some(RoleName::Operator) => Role::Operator,
                Some(RoleName::Reporter) | None => Role::Reporter,
            };
            let new = NewToken { name: name.clone(), role, lifetime: *expires, ports: ports.clone() };
            let token = new.create(&data.data).with_context(|| data.data.display().to_string())?;
            output::print(&format!("{token}\n"))
        }
        Action::List { data } => {
            let all = tokens::list(&data.data).with_context(|| data.data.display().to_string())?;
            let uses = tokens::last_uses(&data.data);
            let line = |token: &TokenEntry| line(token, uses.get(&token.hash).copied());
            output::print(&all.iter().map(line).collect::<String>())
        }
        Action::Revoke { name, data } => {
            tokens::revoke(&data.data, name).with_context(|| data.data.display().to_string())
        }
    }
}

fn line(token: &TokenEntry, used: Option<u64>) -> String {
    let role = format!("{:?}", token.role).to_lowercase();
    let used = used.map_or_else(|| "never used".to_owned(), |at| format!("used {}", utc(at)));
    let mut line = format!("{}  {role:<8}  {}  {used}", utc(token.created), token.name);
    if !token.ports.is_empty() {
        line += &format!("  ports {}", token.ports.join(","));
    }
    if let Some(end) = token.expires {
        line += &format!("  {} {}", if token.is_expired() { "expired" } else { "expires" }, utc(end));
    }
    line + "\n"
}

/// A time such as `30d`, `12h`, `90m` or `600s`.
fn lifetime(text: &str) -> Result<Duration, String> {
    let units = [('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)];
    let found = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, *seconds)));
    let seconds = found.and_then(|(number, unit)| number.parse::<u64>().ok()?.checked_mul(unit));
    let sound = seconds.filter(|seconds| (1..=100 * 365 * 86_400).contains(seconds));
    let expected = || "expected a time up to a hundred years, such as 30d, 12h or 90m".to_owned();
    sound.map(Duration::from_secs).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_read() {
        for (text, seconds) in [("30d", 2_592_000), ("12h", 43_200), ("90m", 5400), ("1s", 1)] {
            assert_eq!(lifetime(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "d", "0d", "-1d", "30", "1.5h", "99999999999999999999d", "40000d", "30 d"] {
            assert!(lifetime(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_line_says_what_a_token_may() {
        let token = TokenEntry {
            name: "ci".to_owned(),
            role: Role::Reporter,
            hash: String::new(),
            created: 0,
            expires: Some(1000),
            ports: vec!["a".to_owned(), "b".to_owned()],
        };
        let expected =
            "1970-01-01T00:00:00Z  reporter  ci  never used  ports a,b  expired 1970-01-01T00:00:01Z\n";
        assert_eq!(line(&token, None), expected);
        assert!(line(&TokenEntry { expires: None, ..token }, Some(0)).contains("used 1970-01-01T00:00:00Z"));
    }
}
