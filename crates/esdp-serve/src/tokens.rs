//! Who may do what. A token is 256 random bits; only its hash is kept, beside the journal, in `tokens.json`.
//! Without this file everybody who can reach the service may use it. Once the file exists, the service is
//! closed for good: if its last token is revoked, nobody may come in.
//!
//! A random token needs no slow hash: nobody guesses 256 bits. Hashes are compared in constant time, all of
//! them for every request, so that the time of an answer says nothing about which one was near.

mod running;

pub use running::{TokenRefusal, Tokens};

use crate::wire::check_name;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a token starts with, so that scanners of leaked secrets know it.
const PREFIX: &str = "esdp_";
/// The name of the token that a service makes at its first start.
pub const FIRST: &str = "first";
/// The file with the times of last uses. It is a file of its own: only the service writes it, so that it
/// never brings back a token that somebody revokes at the same time.
const USES: &str = "tokens.used";

/// What a token allows, from little to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads everything.
    Reader,
    /// Also reports outcomes of what was started here.
    Reporter,
    /// Also reports outcomes of what others have started: a port, a server and an id, which nothing confirms.
    Observer,
    /// Everything.
    Operator,
}

/// A token, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenEntry {
    /// A name to list and revoke it by.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// SHA-256 of the token, in hexadecimal digits.
    pub hash: String,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// When it ends, in milliseconds since 1970; never if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// The ports for which it reports, and it does nothing else; it is not limited if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
}

impl TokenEntry {
    /// Whether it has ended.
    pub fn is_expired(&self) -> bool {
        self.expires.is_some_and(|end| end <= crate::clock::now())
    }
}

/// A token that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// A name to list and revoke it by.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// How long it is valid; for ever if none.
    pub lifetime: Option<Duration>,
    /// The ports for which it reports; it is not limited if there are none.
    pub ports: Vec<String>,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct TokenFile {
    version: u32,
    tokens: Vec<TokenEntry>,
}

fn path(directory: &Path) -> PathBuf {
    directory.join("tokens.json")
}

fn read(directory: &Path) -> io::Result<TokenFile> {
    match fs::read(path(directory)) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(TokenFile { version: 1, tokens: Vec::new() })
        }
        Err(error) => Err(error),
    }
}

fn write(directory: &Path, file: &TokenFile) -> io::Result<()> {
    crate::private::replace(&path(directory), &serde_json::to_vec_pretty(file)?)
}

/// Waits until no other process changes the tokens of a directory; held until it is dropped.
fn lock(directory: &Path) -> io::Result<fs::File> {
    let file = crate::private::options().create(true).truncate(false).open(directory.join("tokens.lock"))?;
    file.lock()?;
    crate::private::give_to_owner(&file, directory)?;
    Ok(file)
}

/// Makes a token without limits and keeps its hash; the token itself is shown once and never again.
///
/// # Errors
/// When the name is taken or the file cannot be written.
pub fn create(directory: &Path, name: &str, role: Role) -> io::Result<String> {
    NewToken { name: name.to_owned(), role, lifetime: None, ports: Vec::new() }.create(directory)
}

/// Makes the first token of a directory, for an operator; none if a token was ever made there.
///
/// # Errors
/// When the file cannot be read or written.
pub fn create_first(directory: &Path) -> io::Result<Option<String>> {
    let _lock = lock(directory)?;
    if path(directory).try_exists()? {
        return Ok(None);
    }
    let token = NewToken { name: FIRST.to_owned(), role: Role::Operator, lifetime: None, ports: Vec::new() };
    token.add(directory).map(Some)
}

/// Takes the first token back as if it had never been made: nobody has seen it.
pub(crate) fn unmake(directory: &Path) -> io::Result<()> {
    let _lock = lock(directory)?;
    match read(directory)?.tokens.as_slice() {
        [only] if only.name == FIRST => fs::remove_file(path(directory)),
        _ => Ok(()),
    }
}

impl NewToken {
    /// Makes it and keeps its hash; the token itself is shown once and never again.
    ///
    /// # Errors
    /// When it contradicts itself, the name is taken, or the file cannot be written.
    pub fn create(&self, directory: &Path) -> io::Result<String> {
        let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        for name in std::iter::once(&self.name).chain(&self.ports) {
            check_name(|| "name".to_owned(), name).map_err(|error| {
                wrong(format!("{error}, expected {}", error.accepted.as_deref().unwrap_or_default()))
            })?;
        }
        if !self.ports.is_empty() && !matches!(self.role, Role::Reporter | Role::Observer) {
            return Err(wrong(
                "a token that is limited to ports is for a reporter or an observer".to_owned(),
            ));
        }
        crate::private::make_directory(directory)?;
        let _lock = lock(directory)?;
        self.add(directory)
    }

    /// Adds it while the lock is held.
    fn add(&self, directory: &Path) -> io::Result<String> {
        let Self { name, role, lifetime, ports } = self;
        let mut file = read(directory)?;
        if file.tokens.iter().any(|token| token.name == *name) {
            let why = format!("a token named `{name}` exists");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let token = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&bytes));
        let (hash, created) = (HEXLOWER.encode(&Sha256::digest(token.as_bytes())), crate::clock::now());
        let expires = lifetime.map(|time| created.saturating_add(time.as_millis() as u64));
        let (name, ports) = (name.clone(), ports.clone());
        file.tokens.push(TokenEntry { name, role: *role, hash, created, expires, ports });
        write(directory, &file)?;
        Ok(token)
    }
}

/// When tokens were used last, by their hash, in milliseconds since 1970; a running service writes it down
/// every minute.
pub fn last_uses(directory: &Path) -> HashMap<String, u64> {
    let text = fs::read(directory.join(USES)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// All tokens.
///
/// # Errors
/// When the file cannot be read.
pub fn list(directory: &Path) -> io::Result<Vec<TokenEntry>> {
    Ok(read(directory)?.tokens)
}

/// Takes a token back; a running service notices within a second or two.
///
/// # Errors
/// When there is none of this name or the file cannot be written.
pub fn revoke(directory: &Path, name: &str) -> io::Result<()> {
    let _lock = lock(directory)?;
    let mut file = read(directory)?;
    let before = file.tokens.len();
    file.tokens.retain(|token| token.name != name);
    if file.tokens.len() == before {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no token named `{name}`")));
    }
    write(directory, &file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(tokens: &Tokens, token: &str) -> Option<Role> {
        tokens.find(token).ok().map(|token| token.role)
    }

    #[test]
    fn a_token_is_known_until_it_is_revoked_and_its_text_is_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let reader = create(dir.path(), "grafana", Role::Reader).unwrap();
        let operator = create(dir.path(), "ops", Role::Operator).unwrap();
        assert!(create(dir.path(), "ops", Role::Reader).is_err());
        let tokens = Tokens::new(dir.path());
        assert_eq!(
            (role(&tokens, &reader), role(&tokens, &operator)),
            (Some(Role::Reader), Some(Role::Operator))
        );
        assert_eq!(role(&tokens, &reader[..reader.len() - 1]), None);
        assert_eq!(role(&tokens, ""), None);
        let text = fs::read_to_string(path(dir.path())).unwrap();
        assert!(!text.contains(&reader[PREFIX.len()..]) && text.contains("grafana"));
        revoke(dir.path(), "grafana").unwrap();
        assert!(revoke(dir.path(), "grafana").is_err());
        assert_eq!(role(&Tokens::new(dir.path()), &reader), None);
        assert_eq!(list(dir.path()).unwrap().len(), 1);
    }

    #[test]
    fn the_last_token_does_not_open_the_service() {
        let dir = tempfile::tempdir().unwrap();
        create(dir.path(), "ops", Role::Operator).unwrap();
        revoke(dir.path(), "ops").unwrap();
        assert!(Tokens::new(dir.path()).any());
        let running = Tokens::new(dir.path());
        assert!(running.any());
        fs::remove_file(path(dir.path())).unwrap();
        running.reload();
        assert!(running.any(), "a file that has gone is no reason to let anybody in");
    }

    #[test]
    fn tokens_that_are_made_and_revoked_at_once_are_kept_and_gone() {
        let dir = tempfile::tempdir().unwrap();
        create(dir.path(), "first", Role::Reader).unwrap();
        for round in 0..25 {
            let dir = dir.path();
            std::thread::scope(|scope| {
                for number in 0..8 {
                    scope.spawn(move || create(dir, &format!("t{round}-{number}"), Role::Reader).unwrap());
                }
                if round > 0 {
                    scope.spawn(move || revoke(dir, &format!("t{}-0", round - 1)).unwrap());
                }
            });
        }
        let names: Vec<String> = list(dir.path()).unwrap().into_iter().map(|token| token.name).collect();
        assert_eq!(names.len(), 1 + 25 * 8 - 24, "{names:?}");
        assert!((0..24).all(|round| !names.contains(&format!("t{round}-0"))));
    }

    #[test]
    fn a_token_may_end_and_be_limited_and_its_last_use_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let new = |name: &str, seconds, ports: &[&str]| NewToken {
            name: name.to_owned(),
            role: Role::Reporter,
            lifetime: Some(Duration::from_secs(seconds)),
            ports: ports.iter().map(|&port| port.to_owned()).collect(),
        };
        let (old, limited) = (new("old", 0, &[]).create(dir.path()).unwrap(), new("l", 60, &["a", "b"]));
        let limited = limited.create(dir.path()).unwrap();
        let tokens = Tokens::new(dir.path());
        assert_eq!(tokens.find(&old), Err(TokenRefusal::Expired));
        assert_eq!(tokens.find("esdp_x"), Err(TokenRefusal::Unknown));
        assert_eq!(last_uses(dir.path()).len(), 0);
        let found = tokens.find(&limited).unwrap();
        assert_eq!(
            (found.ports.as_slice(), tokens.valid()),
            (["a".to_owned(), "b".to_owned()].as_slice(), 1)
        );
        tokens.save_uses().unwrap();
        let used = last_uses(dir.path());
        assert!(used[&found.hash] >= found.created && used.len() == 1, "{used:?}");
        for wrong in [NewToken { role: Role::Operator, ..new("x", 1, &["a"]) }, new("a\nb", 1, &[])] {
            assert!(wrong.create(dir.path()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_first_token_is_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let token = create_first(dir.path()).unwrap().unwrap();
        assert_eq!(role(&Tokens::new(dir.path()), &token), Some(Role::Operator));
        assert_eq!(create_first(dir.path()).unwrap(), None);
        revoke(dir.path(), FIRST).unwrap();
        assert_eq!(create_first(dir.path()).unwrap(), None, "it was closed for good");
    }

    #[test]
    fn a_file_that_cannot_be_read_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!Tokens::new(dir.path()).any());
        let token = create(dir.path(), "ops", Role::Operator).unwrap();
        assert!(Tokens::new(dir.path()).any());
        fs::write(path(dir.path()), "{").unwrap();
        let tokens = Tokens::new(dir.path());
        assert_eq!((tokens.any(), role(&tokens, &token)), (true, None));
        assert!(matches!(tokens.find(&token), Err(TokenRefusal::Unreadable(_))));
        assert!(tokens.unreadable().is_some());
    }
}
