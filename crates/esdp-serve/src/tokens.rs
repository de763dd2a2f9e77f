//! Who may do what. A token is 256 random bits; only its hash is kept, beside the journal, in `tokens.json`.
//! Without this file everybody who can reach the service may use it. Once the file exists, the service is
//! closed for good: if its last token is revoked, nobody may come in.
//!
//! A random token needs no slow hash: nobody guesses 256 bits. Hashes are compared in constant time, all of
//! them for every request, so that the time of an answer says nothing about which one was near.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// What a token starts with, so that scanners of leaked secrets know it.
const PREFIX: &str = "esdp_";
/// How often the file is looked at.
const LOOK: Duration = Duration::from_secs(1);

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
    let (path, beside) = (path(directory), directory.join(format!(".tokens.{}.part", std::process::id())));
    let mut options = fs::File::options();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut to = options.open(&beside)?;
    io::Write::write_all(&mut to, &serde_json::to_vec_pretty(file)?)?;
    // Root makes tokens for a service that runs as somebody else, who must be able to read them.
    #[cfg(unix)]
    if let Ok(owner) = fs::metadata(directory) {
        use std::os::unix::fs::{MetadataExt, fchown};
        if to.metadata()?.uid() != owner.uid() {
            fchown(&to, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    to.sync_all()?;
    fs::rename(beside, path)?;
    // The new name is on the disk as well when this returns.
    #[cfg(unix)]
    fs::File::open(directory)?.sync_all()?;
    Ok(())
}

/// Waits until no other process changes the tokens of a directory; held until it is dropped.
fn lock(directory: &Path) -> io::Result<fs::File> {
    let mut options = fs::File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(directory.join("tokens.lock"))?;
    file.lock()?;
    Ok(file)
}

/// Makes a token and keeps its hash; the token itself is shown once and never again.
///
/// # Errors
/// When the name is taken or the file cannot be written.
pub fn create(directory: &Path, name: &str, role: Role) -> io::Result<String> {
    fs::create_dir_all(directory)?;
    let _lock = lock(directory)?;
    let mut file = read(directory)?;
    if file.tokens.iter().any(|token| token.name == name) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("a token named `{name}` exists")));
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let token = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&bytes));
    let hash = HEXLOWER.encode(&Sha256::digest(token.as_bytes()));
    file.tokens.push(TokenEntry { name: name.to_owned(), role, hash, created: crate::clock::now() });
    write(directory, &file)?;
    Ok(token)
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

#[derive(Debug, Default)]
struct Known {
    looked: Option<Instant>,
    /// What tells one file from the next: a change replaces it.
    seen: Option<(SystemTime, u64, u64)>,
    /// Whether a token is needed.
    any: bool,
    hashes: Vec<(TokenEntry, [u8; 32])>,
}

/// The tokens of a running service, read again when the file changes.
#[derive(Debug)]
pub struct Tokens {
    directory: PathBuf,
    known: Mutex<Known>,
}

impl Tokens {
    /// The tokens of a data directory.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), known: Mutex::default() }
    }

    /// What is known of a token; nothing if it is unknown.
    pub fn find(&self, token: &str) -> Option<TokenEntry> {
        let given: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let known = self.fresh();
        let mut found = u32::MAX;
        for (index, (_, hash)) in (0..).zip(&known.hashes) {
            let same: Choice = hash.ct_eq(&given);
            found = u32::conditional_select(&found, &index, same);
        }
        known.hashes.get(found as usize).map(|(token, _)| token.clone())
    }

    /// Whether a token is needed: one was made here, even if it was revoked since, or may have been.
    pub fn any(&self) -> bool {
        self.fresh().any
    }

    fn fresh(&self) -> std::sync::MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return known;
        }
        known.looked = Some(Instant::now());
        let seen = seen(&path(&self.directory));
        if !matches!(&seen, Ok(seen) if known.seen == Some(*seen)) {
            // A file that cannot be read lets nobody in, and one that has been there stays in force.
            let read = read(&self.directory);
            if let Err(error) = &read {
                let file = path(&self.directory).display().to_string();
                tracing::error!(file, %error, "the tokens cannot be read; nobody is let in");
            }
            known.any |= !matches!(&seen, Err(error) if error.kind() == io::ErrorKind::NotFound);
            let tokens = read.map(|file| file.tokens).unwrap_or_default();
            let hash = |token: &TokenEntry| HEXLOWER.decode(token.hash.as_bytes()).ok()?.try_into().ok();
            let hashed = |token: TokenEntry| Some((hash(&token)?, token)).map(|(hash, token)| (token, hash));
            known.hashes = tokens.into_iter().filter_map(hashed).collect();
            known.seen = seen.ok();
        }
        known
    }
}

fn seen(path: &Path) -> io::Result<(SystemTime, u64, u64)> {
    let file = fs::metadata(path)?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&file);
    #[cfg(not(unix))]
    let inode = 0;
    Ok((file.modified()?, inode, file.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(tokens: &Tokens, token: &str) -> Option<Role> {
        tokens.find(token).map(|token| token.role)
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
        running.known.lock().unwrap().looked = None;
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
    fn a_file_that_cannot_be_read_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!Tokens::new(dir.path()).any());
        let token = create(dir.path(), "ops", Role::Operator).unwrap();
        assert!(Tokens::new(dir.path()).any());
        fs::write(path(dir.path()), "{").unwrap();
        let tokens = Tokens::new(dir.path());
        assert_eq!((tokens.any(), role(&tokens, &token)), (true, None));
    }
}
