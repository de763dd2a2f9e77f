//! How the driver works: rules for job types, and how patient it is.

use serde::Deserialize;
use std::path::Path;

/// What a file says; all of it may be left out.
///
/// ```toml
/// [[port]]
/// name = "train"            # the job type's name
/// job = "train-*"           # jobs whose name is like this
/// account = "ml"            # and of this account
/// gres = "gpu"              # and that request this device
/// reference_seconds = 60    # how long a job takes at speed 1, for jobs that do not report their work
/// # the comment of a job may say so itself, within these bounds: `esdp-seconds=60`
/// comment_seconds = [1, 3600]
/// ```
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The rules, the first that fits counts.
    pub port: Vec<TypeRule>,
    /// The seconds in which a job that was placed has to run.
    pub patience_seconds: Option<f64>,
    /// The seconds that reports may be late.
    pub grace_seconds: Option<f64>,
    /// The most work of a decision, in visits of the solver.
    pub work: Option<u64>,
}

/// Which jobs are of a type; what is left out fits all.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypeRule {
    /// The type's name.
    pub name: String,
    /// A pattern for the job's name, in which `*` stands for anything.
    pub job: Option<String>,
    /// A pattern for the account.
    pub account: Option<String>,
    /// A pattern for the owner's name.
    pub user: Option<String>,
    /// A device that the job requests.
    pub gres: Option<String>,
    /// A number of nodes.
    pub nodes: Option<u32>,
    /// How long a job takes at speed 1.
    pub reference_seconds: Option<f64>,
    /// From how many seconds to how many the owner's comment may say how long a job takes at speed 1
    /// (`esdp-seconds=60`); it is not read if this is left out.
    pub comment_seconds: Option<(f64, f64)>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// With the file, the key and what is wrong.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let config: Self = toml::from_str(&text)
            .map_err(|error| format!("{}: {}", path.display(), error.to_string().trim_end()))?;
        config.check().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        for (index, rule) in self.port.iter().enumerate() {
            let sound =
                !rule.name.is_empty() && rule.name.len() <= 64 && !rule.name.contains(char::is_whitespace);
            if !sound {
                let name = &rule.name;
                return Err(format!(
                    "`port[{index}].name` is `{name}`, expected 1 to 64 characters without blanks"
                ));
            }
            positive(&format!("port[{index}].reference_seconds"), rule.reference_seconds)?;
            if let Some((least, most)) = rule.comment_seconds
                && !(least > 0.0 && least <= most && most.is_finite())
            {
                return Err(format!(
                    "`port[{index}].comment_seconds` is [{least}, {most}], expected two numbers above 0, the \
                     smaller one first"
                ));
            }
        }
        positive("patience_seconds", self.patience_seconds)?;
        positive("grace_seconds", self.grace_seconds)
    }
}

fn positive(key: &str, value: Option<f64>) -> Result<(), String> {
    match value.filter(|value| !(value.is_finite() && *value > 0.0)) {
        Some(value) => Err(format!("`{key}` is {value}, expected a number above 0")),
        None => Ok(()),
    }
}

/// Whether a text is like a pattern, in which `*` stands for anything.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("train-*", "train-7", true),
            ("train-*", "retrain-7", false),
            ("*", "", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("a*a", "a", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |text: &str| match toml::from_str::<Config>(text) {
            Ok(config) => config.check().unwrap_err(),
            Err(error) => error.to_string(),
        };
        assert!(refused("[[port]]\njob = 'a'").contains("port[0].name"));
        assert!(refused("[[port]]\nname = 'a'\nreference_seconds = 0").contains("above 0"));
        assert!(refused("[[port]]\nname = 'a'\ncomment_seconds = [9, 1]").contains("the smaller one first"));
        assert!(refused("ports = []").contains("unknown field"));
    }
}
