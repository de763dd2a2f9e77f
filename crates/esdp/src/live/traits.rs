//! What is said of a job besides its port. It is kept, shown and carried through events and snapshots; no
//! decision of ours uses it yet.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The most features of a job.
pub const MOST_FEATURES: usize = 16;
/// The longest feature that is a word, in characters.
pub const LONGEST_FEATURE: usize = 64;
/// The longest name of a tenant, in characters.
pub const LONGEST_TENANT: usize = 253;

/// What is said of a job besides its port.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobTraits {
    /// The user, account or queue that it belongs to; its port stands for it if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// How long it is expected to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedLength>,
    /// What says more about it than its port does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Feature>,
}

/// How long a job is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedLength {
    /// Its work for each task, in the unit in which the work of its port is reported.
    Work(f64),
    /// Its duration in seconds.
    Seconds(f64),
}

/// A property of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Feature {
    /// A number, such as a batch size.
    Number(f64),
    /// A word, such as the name of a model.
    Word(String),
}

impl<'de> Deserialize<'de> for Feature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = Feature;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a word")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Feature, E> {
                Ok(Feature::Number(number as f64))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Feature, E> {
                Ok(Feature::Number(number as f64))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Feature, E> {
                Ok(Feature::Number(number))
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Feature, E> {
                Ok(Feature::Word(word.to_owned()))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// Why traits of a job were rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` was rejected, expected {accepted}")]
pub struct TraitError {
    /// Which of them, as a path such as `features[2]`.
    pub key: String,
    /// What is accepted.
    pub accepted: String,
}

impl JobTraits {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks numbers and lengths.
    ///
    /// # Errors
    /// With the first that was rejected.
    pub fn check(&self) -> Result<(), TraitError> {
        let wrong = |key: String, accepted: String| Err(TraitError { key, accepted });
        if self.tenant.as_ref().is_some_and(|tenant| !is_word(tenant, LONGEST_TENANT)) {
            return wrong("tenant".to_owned(), words(LONGEST_TENANT));
        }
        let (key, length) = match self.expected {
            None => ("", 1.0),
            Some(ExpectedLength::Work(work)) => ("expected.work", work),
            Some(ExpectedLength::Seconds(seconds)) => ("expected.seconds", seconds),
        };
        if !(length.is_finite() && length > 0.0) {
            return wrong(key.to_owned(), "a finite number above 0".to_owned());
        }
        if self.features.len() > MOST_FEATURES {
            return wrong("features".to_owned(), format!("at most {MOST_FEATURES} of them"));
        }
        let sound = |feature: &Feature| match feature {
            Feature::Number(number) => number.is_finite(),
            Feature::Word(word) => is_word(word, LONGEST_FEATURE),
        };
        match self.features.iter().position(|feature| !sound(feature)) {
            None => Ok(()),
            Some(place) => {
                let accepted = format!("a finite number, or a word of {}", words(LONGEST_FEATURE));
                wrong(format!("features[{place}]"), accepted)
            }
        }
    }
}

fn is_word(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

fn words(longest: usize) -> String {
    format!("1 to {longest} characters, none of them a control character")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_are_checked_and_written_as_they_are_read() {
        let text = r#"{"tenant":"lab","expected":{"seconds":90.0},"features":["bert",128.0]}"#;
        let traits: JobTraits = serde_json::from_str(text).unwrap();
        assert_eq!(traits.features, [Feature::Word("bert".into()), Feature::Number(128.0)]);
        assert_eq!((traits.check(), serde_json::to_string(&traits).unwrap().as_str()), (Ok(()), text));
        assert!(JobTraits::default().check().is_ok() && JobTraits::default().is_empty());
        let word = |length| Feature::Word("x".repeat(length));
        let features = |features| JobTraits { features, ..JobTraits::default() };
        let expected = |expected| JobTraits { expected: Some(expected), ..JobTraits::default() };
        let tenant = |tenant: &str| JobTraits { tenant: Some(tenant.into()), ..JobTraits::default() };
        assert!(features(vec![word(LONGEST_FEATURE); MOST_FEATURES]).check().is_ok());
        for (wrong, key) in [
            (tenant(""), "tenant"),
            (tenant("a\nb"), "tenant"),
            (tenant(&"é".repeat(254)), "tenant"),
            (expected(ExpectedLength::Work(0.0)), "expected.work"),
            (expected(ExpectedLength::Seconds(f64::INFINITY)), "expected.seconds"),
            (features(vec![word(1); MOST_FEATURES + 1]), "features"),
            (features(vec![word(1), Feature::Number(f64::NAN)]), "features[1]"),
            (features(vec![word(LONGEST_FEATURE + 1)]), "features[0]"),
        ] {
            assert_eq!(wrong.check().unwrap_err().key, key, "{wrong:?}");
        }
    }
}
