//! What is wrong with a scenario, in one sentence.

use std::fmt;
use thiserror::Error;

/// Why a scenario was rejected. Fatal: the caller's data is wrong.
///
/// Reads as one sentence, which starts with the line where that is known; whoever has a file name
/// puts it in front.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ScenarioError {
    /// The path of the key, such as `arrivals.rho[2]`; empty where no key is to blame.
    pub key: String,
    /// The line in the text, from 1.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The text is no TOML.
    Syntax(String),
    /// Its value is not accepted.
    Value {
        /// The value found.
        value: String,
        /// What is accepted.
        accepted: String,
    },
    /// There is no such key.
    Unknown {
        /// The keys there are.
        accepted: String,
    },
    /// Anything else, as the end of a sentence that starts with the key.
    Other(String),
}

impl ScenarioError {
    pub(super) fn value(
        key: impl Into<String>,
        value: impl fmt::Display,
        accepted: impl Into<String>,
    ) -> Self {
        let fault = Fault::Value { value: clipped(&value.to_string()), accepted: accepted.into() };
        Self { key: key.into(), line: None, fault }
    }

    pub(super) fn other(key: impl Into<String>, message: impl fmt::Display) -> Self {
        Self { key: key.into(), line: None, fault: Fault::Other(message.to_string()) }
    }
}

/// What may be anything, as much of it as a sentence has room for.
pub(super) fn clipped(text: &str) -> String {
    one_line(text, 60)
}

/// The first characters of a text that may be anything, on one line.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let cut = if text.chars().nth(most).is_some() { "..." } else { "" };
    text.chars().take(most).collect::<String>().replace('\n', "\\n") + cut
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        let key = &self.key;
        match &self.fault {
            Fault::Syntax(message) => write!(f, "{message}"),
            Fault::Value { value, accepted } => write!(f, "`{key}` is {value}, expected {accepted}"),
            Fault::Unknown { accepted } => write!(f, "unknown key `{key}`, expected {accepted}"),
            Fault::Other(message) if key.is_empty() => write!(f, "{message}"),
            Fault::Other(message) => write!(f, "`{key}`: {message}"),
        }
    }
}
