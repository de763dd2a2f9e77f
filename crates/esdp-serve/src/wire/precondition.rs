//! Which version of the cluster a change is meant for: `If-Match` and `If-None-Match` (RFC 9110).

use super::{ApiError, Code};

/// What must hold for a change to be made; nothing by default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Precondition {
    /// The present version is one of these.
    pub matches: Option<Tags>,
    /// The present version is none of these.
    pub matches_none: Option<Tags>,
}

/// Versions, by their tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tags {
    /// `*`: whatever there is, if there is anything.
    Any,
    /// These, with their quotes, and whether each is weak.
    List(Vec<(bool, String)>),
}

impl Tags {
    /// Reads a header: `*`, or tags in quotes with commas in between.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(header: &str, text: &str) -> Result<Self, ApiError> {
        let wrong = || {
            let accepted = "`*`, or tags in quotes as in the header ETag of an answer";
            ApiError::value(header, format!("the header {header} was rejected"), accepted)
        };
        if text.trim() == "*" {
            return Ok(Self::Any);
        }
        let mut tags = Vec::new();
        let mut rest = text.trim();
        if rest.is_empty() {
            // A list of none, which the standard allows.
            return Ok(Self::List(tags));
        }
        loop {
            let (weak, tag) = match rest.strip_prefix("W/") {
                Some(tag) => (true, tag),
                None => (false, rest),
            };
            let (tag, after) = tag.strip_prefix('"').and_then(|tag| tag.split_once('"')).ok_or_else(wrong)?;
            tags.push((weak, format!("\"{tag}\"")));
            rest = match after.trim_start().strip_prefix(',') {
                Some(more) => more.trim_start(),
                None if after.trim().is_empty() => return Ok(Self::List(tags)),
                None => return Err(wrong()),
            };
        }
    }

    fn hold(&self, present: Option<&str>, weak: bool) -> bool {
        match (self, present) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::List(tags), Some(present)) => {
                tags.iter().any(|(is_weak, tag)| (weak || !is_weak) && tag == present)
            }
        }
    }
}

impl Precondition {
    /// The version is this one.
    pub fn exactly(tag: &str) -> Self {
        Self { matches: Some(Tags::List(vec![(false, tag.to_owned())])), matches_none: None }
    }

    /// Whether it always holds.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it holds for the tag of what is there (`the cluster`, a job), or none.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(&self, what: &str, present: Option<&str>) -> Result<(), ApiError> {
        let failed = |header: &str, accepted: String| ApiError {
            field: Some(header.to_owned()),
            accepted: Some(accepted),
            ..ApiError::new(
                Code::PreconditionFailed,
                match present {
                    Some(tag) => format!("{what} is another one; its tag is {tag}"),
                    None => "no cluster has been described yet".to_owned(),
                },
            )
        };
        if self.matches.as_ref().is_some_and(|tags| !tags.hold(present, false)) {
            let accepted = present.map_or_else(|| "no If-Match".to_owned(), ToOwned::to_owned);
            return Err(failed("If-Match", accepted));
        }
        if self.matches_none.as_ref().is_some_and(|tags| tags.hold(present, true)) {
            return Err(failed("If-None-Match", "If-Match with the present tag".to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_and_compared_as_the_standard_has_it() {
        let tags = |text: &str| Tags::parse("If-Match", text);
        let both = Tags::List(vec![(false, "\"a,\"".to_owned()), (true, "\"\"".to_owned())]);
        assert_eq!([tags(" * "), tags("\"a,\" , W/\"\" ")], [Ok(Tags::Any), Ok(both)]);
        for wrong in [",", "a", "\"a", "\"a\" \"b\"", "\"a\",", "*, \"a\"", "w/\"a\"", "\"a\"b"] {
            assert_eq!(tags(wrong).unwrap_err().code, Code::InvalidValue, "{wrong:?}");
        }
        let holds = |header: &str, text: &str, present: Option<&str>| {
            let tags = Some(tags(text).unwrap());
            let precondition = match header {
                "If-Match" => Precondition { matches: tags, matches_none: None },
                _ => Precondition { matches: None, matches_none: tags },
            };
            precondition.check("it", present).is_ok()
        };
        for (header, text, present, expected) in [
            ("If-Match", "\"b\", \"a\"", Some("\"a\""), true),
            ("If-Match", "\"b\"", Some("\"a\""), false),
            ("If-Match", "W/\"a\"", Some("\"a\""), false),
            ("If-Match", "*", Some("\"a\""), true),
            ("If-Match", "*", None, false),
            ("If-None-Match", "*", None, true),
            ("If-None-Match", "*", Some("\"a\""), false),
            ("If-None-Match", "W/\"a\"", Some("\"a\""), false),
            ("If-None-Match", "\"b\"", Some("\"a\""), true),
            ("If-Match", "", Some("\"a\""), false),
            ("If-None-Match", " ", Some("\"a\""), true),
        ] {
            assert_eq!(holds(header, text, present), expected, "{header}: {text} {present:?}");
        }
        assert!(Precondition::default().is_nothing() && Precondition::default().check("it", None).is_ok());
    }
}
