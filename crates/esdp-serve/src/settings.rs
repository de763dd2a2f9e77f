//! How a service runs: from a file, from flags, which win, and defaults for the rest.

mod listen;

pub use listen::Listen;

use crate::engine::Directions;
use crate::http::Limits;
use esdp::live::Mode;
use esdp::policy::PolicySpec;
use esdp::scheduler::Objective;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a file or flags say; all of it may be left out.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SettingsFile {
    /// Where the data is.
    pub data: Option<PathBuf>,
    /// Where it listens.
    pub listen: Option<Listen>,
    /// The policy: a name, or a table with its parameters.
    pub policy: Option<PolicyChoice>,
    /// The seed of policies that draw.
    pub seed: Option<u64>,
    /// Who decides.
    pub mode: Option<Mode>,
    /// What a slot maximises.
    pub objective: Option<Objective>,
    /// The largest share of exploration.
    pub max_exploration: Option<f64>,
    /// Whether other addresses than loopback may do without TLS.
    pub insecure: Option<bool>,
    /// Whether no token is made at the first start.
    pub no_token: Option<bool>,
    /// The file for the token that is made at the first start; it is printed if there is none.
    pub token_file: Option<PathBuf>,
    /// Names of this service that may stand in `Host` and `Origin`.
    pub allow_host: Option<Vec<String>>,
    /// Users of this machine who are operators at the unix socket.
    pub allow_uid: Option<Vec<u32>>,
    /// The certificates, PEM.
    pub tls_certificate: Option<PathBuf>,
    /// Their key, PEM.
    pub tls_key: Option<PathBuf>,
    /// What is logged: off, error, warn, info, debug, trace.
    pub log_level: Option<String>,
    /// Whether logs are JSON.
    pub log_json: Option<bool>,
    /// After how many events a snapshot is written.
    pub snapshot_events: Option<u64>,
    /// The answers of how many slots are kept.
    pub kept_slots: Option<u64>,
    /// The most connections at a time.
    pub max_connections: Option<usize>,
    /// The largest body of most requests, in bytes.
    pub max_body_bytes: Option<usize>,
    /// The seconds in which a request must arrive.
    pub request_seconds: Option<f64>,
    /// SQLite's `synchronous`. Anything but `FULL` breaks the promise that what was answered is kept.
    pub synchronous: Option<String>,
}

/// A policy by its name, or with parameters.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum PolicyChoice {
    /// By its name.
    Name(String),
    /// With parameters.
    Spec(PolicySpec),
}

/// Who may do what before any token was made. Once one was made, a token is needed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// A token is made at the first start, and written to a file or printed.
    Token(Option<PathBuf>),
    /// Everybody on this machine may do everything.
    Open,
    /// Everybody on this machine may read.
    ReadOnly,
}

/// How a service runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Where the data is.
    pub data: PathBuf,
    /// Where it listens.
    pub listen: Listen,
    /// The policy.
    pub policy: PolicySpec,
    /// The seed of policies that draw.
    pub seed: u64,
    /// Who decides, and how.
    pub directions: Directions,
    /// Whether other addresses than loopback may do without TLS.
    pub insecure: bool,
    /// Who may do what before any token was made.
    pub access: Access,
    /// Names of this service that may stand in `Host` and `Origin`.
    pub allow_host: Vec<String>,
    /// Users of this machine who are operators at the unix socket, apart from root and the service's own.
    pub allow_uid: Vec<u32>,
    /// The certificates and their key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// What is logged.
    pub log_level: String,
    /// Whether logs are JSON.
    pub log_json: bool,
    /// After how many events a snapshot is written.
    pub snapshot_events: u64,
    /// The answers of how many slots are kept.
    pub kept_slots: u64,
    /// How much is taken from clients.
    pub limits: Limits,
    /// SQLite's `synchronous`.
    pub synchronous: String,
    /// Whether to go on although the journal gives another state than when it was written; only a flag says
    /// so, for one start.
    pub accept_divergence: bool,
    /// The version with its commit, for `GET /v1/status` and the dashboard.
    pub version: String,
}

/// Where data is kept if nothing else is said.
pub const DEFAULT_DATA: &str = "esdp-data";
/// Where the service listens if nothing else is said.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7070";

impl SettingsFile {
    /// Reads a file.
    ///
    /// # Errors
    /// With the file, the key and what is wrong.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| format!("{}: {}", path.display(), error.to_string().trim_end()))
    }

    /// What is said here, and by `other` where nothing is said here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            data: self.data.or(other.data),
            listen: self.listen.or(other.listen),
            policy: self.policy.or(other.policy),
            seed: self.seed.or(other.seed),
            mode: self.mode.or(other.mode),
            objective: self.objective.or(other.objective),
            max_exploration: self.max_exploration.or(other.max_exploration),
            insecure: self.insecure.or(other.insecure),
            no_token: self.no_token.or(other.no_token),
            token_file: self.token_file.or(other.token_file),
            allow_host: self.allow_host.or(other.allow_host),
            allow_uid: self.allow_uid.or(other.allow_uid),
            tls_certificate: self.tls_certificate.or(other.tls_certificate),
            tls_key: self.tls_key.or(other.tls_key),
            log_level: self.log_level.or(other.log_level),
            log_json: self.log_json.or(other.log_json),
            snapshot_events: self.snapshot_events.or(other.snapshot_events),
            kept_slots: self.kept_slots.or(other.kept_slots),
            max_connections: self.max_connections.or(other.max_connections),
            max_body_bytes: self.max_body_bytes.or(other.max_body_bytes),
            request_seconds: self.request_seconds.or(other.request_seconds),
            synchronous: self.synchronous.or(other.synchronous),
        }
    }

    /// Checks what is said and fills in the rest.
    ///
    /// # Errors
    /// With the key and what is accepted.
    pub fn settle(self) -> Result<Settings, String> {
        let policy = match self.policy.unwrap_or_else(|| PolicyChoice::Name("esdp".to_owned())) {
            PolicyChoice::Name(name) => name.parse::<PolicySpec>().map_err(|error| error.to_string())?,
            PolicyChoice::Spec(spec) => spec,
        };
        if let Some(share) = self.max_exploration.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(format!("`max_exploration` is {share}, expected a number from 0 to 1"));
        }
        let tls = match (self.tls_certificate, self.tls_key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("`tls_certificate` and `tls_key` belong together".to_owned()),
        };
        let mut limits = Limits::default();
        limits.connections = self.max_connections.unwrap_or(limits.connections);
        limits.body = self.max_body_bytes.unwrap_or(limits.body);
        if let Some(seconds) = self.request_seconds {
            let time =
                Duration::try_from_secs_f64(seconds).ok().filter(|time| *time >= Duration::from_millis(10));
            let time =
                time.ok_or_else(|| format!("`request_seconds` is {seconds}, expected at least 0.01"))?;
            (limits.body_time, limits.head_time) = (time, time);
        }
        if !(1..=1 << 20).contains(&limits.connections) {
            return Err(format!("`max_connections` is {}, expected 1 to 1048576", limits.connections));
        }
        let synchronous = self.synchronous.unwrap_or_else(|| "FULL".to_owned()).to_uppercase();
        if !["FULL", "EXTRA", "NORMAL", "OFF"].contains(&synchronous.as_str()) {
            return Err(format!("`synchronous` is {synchronous}, expected FULL, EXTRA, NORMAL or OFF"));
        }
        let listen = self.listen.unwrap_or_else(|| Listen::from(([127, 0, 0, 1], 7070)));
        let access = match (self.no_token.unwrap_or(false), self.token_file) {
            (true, Some(_)) => return Err("`no_token` and `token_file` exclude each other".to_owned()),
            (true, None) if listen.is_public() => {
                let why = "needs an address of this machine or a unix socket";
                return Err(format!("`no_token` {why}: others can reach {listen}"));
            }
            (true, None) => Access::Open,
            (false, file) => Access::Token(file),
        };
        let allow_host = self.allow_host.unwrap_or_default();
        let sound = |host: &String| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            (1..=253).contains(&host.len()) && host.bytes().all(plain)
        };
        if let Some(host) = allow_host.iter().find(|host| !sound(host)) {
            return Err(format!(
                "`allow_host` has {host:?}, expected a name such as esdp.example.org, without a port"
            ));
        }
        Ok(Settings {
            data: self.data.unwrap_or_else(|| PathBuf::from(DEFAULT_DATA)),
            listen,
            policy,
            seed: self.seed.unwrap_or(0),
            directions: Directions {
                mode: self.mode.unwrap_or_default(),
                most_exploration: self.max_exploration,
                objective: self.objective.unwrap_or_default(),
            },
            insecure: self.insecure.unwrap_or(false),
            access,
            allow_host,
            allow_uid: self.allow_uid.unwrap_or_default(),
            tls,
            log_level: self.log_level.unwrap_or_else(|| "info".to_owned()),
            log_json: self.log_json.unwrap_or(false),
            snapshot_events: self.snapshot_events.unwrap_or(400_000).max(1),
            kept_slots: self.kept_slots.unwrap_or(20_000),
            limits,
            synchronous,
            accept_divergence: false,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file_and_the_rest_has_defaults() {
        let file: SettingsFile = toml::from_str(
            "listen = '127.0.0.1:1'\nmode = 'advise'\nmax_exploration = 0.1\n[policy]\nname = \
             'esdp-index'\nkappa = 0.5",
        )
        .unwrap();
        let flags = SettingsFile { listen: "127.0.0.1:2".parse().ok(), ..SettingsFile::default() };
        let settings = flags.or(file).settle().unwrap();
        assert_eq!(
            (settings.listen.to_string().as_str(), settings.directions.mode),
            ("127.0.0.1:2", Mode::Advise)
        );
        assert_eq!(
            (settings.directions.most_exploration, settings.synchronous.as_str()),
            (Some(0.1), "FULL")
        );
        assert!(format!("{:?}", settings.policy).contains("0.5"));
        assert_eq!(SettingsFile::default().settle().unwrap().listen.to_string(), DEFAULT_LISTEN);
    }

    #[test]
    fn it_listens_at_an_address_and_at_a_socket() {
        let listen = |text: &str| toml::from_str::<SettingsFile>(text).unwrap().settle().unwrap().listen;
        let both = listen("listen = ['unix:/run/esdp.sock', '[::1]:7']");
        assert_eq!(both.to_string(), "[::1]:7 and unix:/run/esdp.sock");
        assert!(!both.is_public() && listen("listen = '0.0.0.0:1'").is_public());
        assert!(listen("listen = 'unix:/a'").tcp.is_none());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |text: &str| {
            toml::from_str::<SettingsFile>(text).map_or_else(|e| e.to_string(), |f| f.settle().unwrap_err())
        };
        assert!(refused("max_exploration = 2").contains("from 0 to 1"));
        assert!(refused("policy = 'nope'").contains("unknown policy"));
        assert!(refused("tls_key = 'k'").contains("belong together"));
        assert!(refused("modes = 'place'").contains("unknown field"));
        assert!(refused("synchronous = 'maybe'").contains("FULL"));
        assert!(refused("listen = 'here'").contains("unix:/PATH"));
        assert!(refused("listen = ['[::1]:1', '127.0.0.1:1']").contains("one address and one socket"));
        assert!(refused("listen = []").contains("empty"));
        assert!(refused("no_token = true\nlisten = ['unix:/a', '0.0.0.0:1']").contains("others can reach"));
        assert!(refused("no_token = true\ntoken_file = 'x'").contains("exclude"));
        assert!(refused("allow_host = ['https://a']").contains("without a port"));
    }
}
