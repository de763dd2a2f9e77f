//! The tokens of a running service: looked up, read again when the file changes, and noted when used.

use super::{TokenEntry, USES, last_uses, path, read};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// How often the file is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Why a token was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenRefusal {
    /// Nobody has made it, or it was revoked.
    Unknown,
    /// Its time is over.
    Expired,
    /// The tokens cannot be read.
    Unreadable(String),
}

#[derive(Debug, Default)]
struct Known {
    looked: Option<Instant>,
    /// What tells one file from the next: a change replaces it.
    seen: Option<(SystemTime, u64, u64)>,
    /// Whether a token is needed.
    any: bool,
    /// Why the file cannot be read, if so.
    unreadable: Option<String>,
    hashes: Vec<(TokenEntry, [u8; 32])>,
    /// When tokens were used, by their hash.
    uses: HashMap<String, u64>,
    /// Whether that is news.
    used: bool,
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
        let known = Known { uses: last_uses(directory), ..Known::default() };
        Self { directory: directory.to_owned(), known: Mutex::new(known) }
    }

    /// What is known of a token that is valid.
    ///
    /// # Errors
    /// When it is not valid.
    pub fn find(&self, token: &str) -> Result<TokenEntry, TokenRefusal> {
        let given: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let mut known = self.fresh();
        let mut found = u32::MAX;
        for (index, (_, hash)) in (0..).zip(&known.hashes) {
            let same: Choice = hash.ct_eq(&given);
            found = u32::conditional_select(&found, &index, same);
        }
        match known.hashes.get(found as usize).map(|(token, _)| token.clone()) {
            Some(token) if token.is_expired() => Err(TokenRefusal::Expired),
            Some(token) => {
                match known.uses.get_mut(&token.hash) {
                    Some(at) => *at = crate::clock::now(),
                    None => drop(known.uses.insert(token.hash.clone(), crate::clock::now())),
                }
                known.used = true;
                Ok(token)
            }
            None => Err(known.unreadable.clone().map_or(TokenRefusal::Unknown, TokenRefusal::Unreadable)),
        }
    }

    /// Whether a token is needed: one was made here, even if it was revoked since, or may have been.
    pub fn any(&self) -> bool {
        self.fresh().any
    }

    /// Why the tokens cannot be read, if so: nobody is let in then.
    pub fn unreadable(&self) -> Option<String> {
        self.fresh().unreadable.clone()
    }

    /// How many tokens are valid.
    pub fn valid(&self) -> usize {
        self.fresh().hashes.iter().filter(|(token, _)| !token.is_expired()).count()
    }

    /// Reads them anew with the next question.
    pub fn reload(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (known.looked, known.seen) = (None, None);
    }

    /// Writes down when tokens were used last, if that is news.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_uses(&self) -> io::Result<()> {
        let mut known = self.fresh();
        if !std::mem::take(&mut known.used) {
            return Ok(());
        }
        let Known { uses, hashes, unreadable, .. } = &mut *known;
        if unreadable.is_none() {
            uses.retain(|hash, _| hashes.iter().any(|(token, _)| token.hash == *hash));
        }
        let text = serde_json::to_vec(uses)?;
        drop(known);
        crate::private::replace(&self.directory.join(USES), &text)
    }

    fn fresh(&self) -> std::sync::MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return known;
        }
        known.looked = Some(Instant::now());
        let seen = seen(&path(&self.directory));
        // One that could not be read may be readable now without having changed.
        if known.unreadable.is_some() || !matches!(&seen, Ok(seen) if known.seen == Some(*seen)) {
            // A file that cannot be read lets nobody in, and one that has been there stays in force.
            let read = read(&self.directory);
            let unreadable = read.as_ref().err().map(ToString::to_string);
            if unreadable != known.unreadable {
                let file = path(&self.directory).display().to_string();
                match &unreadable {
                    Some(error) => tracing::error!(
                        file,
                        error,
                        "the tokens cannot be read; no token is accepted. The user that runs the service \
                         must be able to read this file"
                    ),
                    None => tracing::info!(file, "the tokens can be read again"),
                }
            }
            known.unreadable = unreadable;
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
