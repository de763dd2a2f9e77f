//! Saved values as text: a first line that says what it is, its version and a checksum, and the values as
//! JSON.
//!
//! ```text
//! {"format":"esdp-checkpoint","version":2,"checksum":"0123456789abcdef"}
//! {"version":2,"slot":17,...}
//! ```

use crate::model::Fnv;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a text was not read. Fatal for this text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    /// The first line is not the one it should be.
    #[error("expected a first line with the format `{format}`, its version and a checksum")]
    NoHeader {
        /// The format expected.
        format: &'static str,
    },
    /// Another kind of value.
    #[error("the text has the format `{found}`, expected `{format}`")]
    Format {
        /// The format found.
        found: String,
        /// The format expected.
        format: &'static str,
    },
    /// Written by a later version of the library.
    #[error("the `{format}` has version {found}, this library reads versions 1 to {latest}")]
    Version {
        /// The format.
        format: &'static str,
        /// The version found.
        found: u32,
        /// The latest version that is read.
        latest: u32,
    },
    /// The values are not those that were written.
    #[error("the `{format}` is damaged: its checksum is {found}, expected {expected}")]
    Checksum {
        /// The format.
        format: &'static str,
        /// The checksum of the values.
        found: String,
        /// The checksum that was written.
        expected: String,
    },
    /// The values cannot be read or written.
    #[error("the values of the `{format}`: {cause}")]
    Values {
        /// The format.
        format: &'static str,
        /// What is wrong.
        cause: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    checksum: String,
}

/// Writes both lines; `size` is about how many bytes they will have.
pub(crate) fn write<T: Serialize>(
    format: &'static str,
    version: u32,
    values: &T,
    size: usize,
) -> Result<String, TextError> {
    let failed = |cause: String| TextError::Values { format, cause };
    // The checksum is written over this when the values are known, so that megabytes of them are not copied.
    let checksum = "0".repeat(16);
    let header = Header { format: format.to_owned(), version, checksum };
    let mut text = Vec::with_capacity(size);
    serde_json::to_writer(&mut text, &header).map_err(|cause| failed(cause.to_string()))?;
    let end = text.len() - r#""}"#.len();
    text.push(b'\n');
    let body = text.len();
    serde_json::to_writer(&mut text, values).map_err(|cause| failed(cause.to_string()))?;
    let checksum = format!("{:016x}", Fnv::of(&text[body..]));
    text[end - checksum.len()..end].copy_from_slice(checksum.as_bytes());
    text.push(b'\n');
    String::from_utf8(text).map_err(|cause| failed(cause.to_string()))
}

/// Reads both lines.
pub(crate) fn read<T: DeserializeOwned>(
    format: &'static str,
    latest: u32,
    text: &str,
) -> Result<T, TextError> {
    let (first, body) = text.split_once('\n').ok_or(TextError::NoHeader { format })?;
    let header: Header = serde_json::from_str(first).map_err(|_| TextError::NoHeader { format })?;
    if header.format != format {
        return Err(TextError::Format { found: header.format.replace('\n', "\\n"), format });
    }
    if !(1..=latest).contains(&header.version) {
        return Err(TextError::Version { format, found: header.version, latest });
    }
    let body = body.trim_end_matches(['\n', '\r']);
    let found = format!("{:016x}", Fnv::of(body.as_bytes()));
    if found != header.checksum {
        return Err(TextError::Checksum { format, found, expected: header.checksum.replace('\n', "\\n") });
    }
    values(format, body)
}

/// Reads values alone.
pub(crate) fn values<T: DeserializeOwned>(format: &'static str, body: &str) -> Result<T, TextError> {
    // The cause may quote a name, and a name may have a line break.
    let one_line = |cause: serde_json::Error| cause.to_string().replace('\n', "\\n");
    serde_json::from_str(body).map_err(|cause| TextError::Values { format, cause: one_line(cause) })
}

/// Whether a text has values alone.
pub(crate) fn is_bare(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    serde_json::from_str::<Header>(first).is_err()
}
