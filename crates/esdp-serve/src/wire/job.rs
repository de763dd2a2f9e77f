//! Jobs over the wire: one that is found, a page of them, and what changes of one that waits.

use super::{ApiError, TicketName};
use data_encoding::HEXLOWER;
use esdp::live::{
    ExpectedLength, Feature, FoundJob, JobCursor, JobPage, JobState, JobTraits, MOST_FEATURES, Placement,
};
use esdp::model::{Fnv, JobId, Ticket};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A page of jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobsWire {
    /// Those that were found.
    pub jobs: Vec<JobView>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The slot of the state.
    pub slot: u64,
}

/// What is known of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobView {
    /// Its name.
    pub id: String,
    /// Its port; none of a job that is over and of which nothing but the name is kept.
    pub port: Option<String>,
    /// What it does.
    pub state: JobState,
    /// Whom it belongs to: what was said, else its port.
    pub tenant: Option<String>,
    /// How long it is expected to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedLength>,
    /// What else is said of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Feature>,
    /// What is known while it waits or runs, or while outcomes are awaited.
    #[serde(flatten)]
    pub known: Option<KnownJob>,
    /// Of a job that waits.
    #[serde(flatten)]
    pub waits: Option<WaitingView>,
    /// Of a job that was started.
    #[serde(flatten)]
    pub start: Option<StartView>,
}

/// What is known of a job that waits or runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnownJob {
    /// How urgent it is.
    pub weight: f64,
    /// The slot after which it was submitted.
    pub submitted: u64,
    /// How many slots ago that was.
    pub age: u64,
}

/// Where and why a job waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingView {
    /// Its place in the queue of its port, from 1.
    pub position: usize,
    /// How many jobs wait there.
    pub queue: usize,
    /// Why it waits, for programs.
    pub reason: &'static str,
    /// Why it waits, for people.
    pub detail: String,
    /// The version of what can be changed, for `If-Match`.
    pub tag: String,
}

/// Where a job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StartView {
    /// The start.
    pub ticket: String,
    /// The slot of its decision.
    pub started: u64,
    /// Where its tasks are.
    pub placements: Vec<PlaceView>,
}

/// Tasks of a job on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceView {
    /// The group of tasks.
    pub group: String,
    /// The server.
    pub server: String,
    /// How many tasks.
    pub count: u32,
    /// The name of these tasks, for outcomes.
    pub ticket: String,
    /// Of how many of them nothing more is awaited: their outcomes have come.
    pub reported: u32,
}

impl JobsWire {
    /// A page of the state of a slot.
    pub fn of(page: JobPage, slot: u64) -> Self {
        let next = page.next.map(written);
        Self { jobs: page.jobs.into_iter().map(|job| JobView::of(job, slot)).collect(), next, slot }
    }
}

impl JobView {
    /// A job as of a slot.
    pub fn of(job: FoundJob, slot: u64) -> Self {
        let tag = tag(&job);
        let is_known = job.waits.is_some() || job.start.is_some();
        let submitted = job.submitted.0;
        let known = KnownJob { weight: job.weight, submitted, age: slot.saturating_sub(submitted) };
        let waits = job.waits.map(|place| WaitingView {
            position: place.position,
            queue: place.of,
            reason: crate::engine::reason_name(place.reason),
            detail: place.detail,
            tag,
        });
        let start = job.start.map(|(start, reported)| {
            let ticket = start.ticket;
            let name = |first| TicketName { ticket, first }.to_string();
            let view = |(place, reported): (Placement, u32)| PlaceView {
                group: place.group,
                server: place.server,
                count: place.count,
                ticket: name(Some(place.first)),
                reported,
            };
            let placements = start.placements.into_iter().zip(reported).map(view).collect();
            StartView { ticket: name(None), started: start.slot.0, placements }
        });
        let JobTraits { tenant, expected, features } = job.traits;
        Self {
            id: job.name,
            tenant: tenant.or_else(|| job.port.clone()),
            port: job.port,
            state: job.state,
            expected,
            features,
            known: is_known.then_some(known),
            waits,
            start,
        }
    }
}

/// The tag of what can be changed of a job.
pub fn tag(job: &FoundJob) -> String {
    let text = serde_json::to_vec(&(job.weight, &job.traits)).unwrap_or_default();
    format!("\"{}\"", HEXLOWER.encode(&Fnv::of(&text).to_be_bytes()))
}

fn written(cursor: JobCursor) -> String {
    match cursor {
        JobCursor::Submitted(job) => format!("s{}", job.0),
        JobCursor::Queued(weight, job) => format!("q{:016x}.{}", weight.to_bits(), job.0),
        JobCursor::Started(ticket) => format!("t{}", ticket.0),
    }
}

/// The cursor of a page, as an answer has told it.
///
/// # Errors
/// When no answer has.
pub fn cursor(text: &str) -> Result<JobCursor, ApiError> {
    let parsed = || {
        let rest = text.get(1..)?;
        match text.get(..1)? {
            "s" => rest.parse().ok().map(|job| JobCursor::Submitted(JobId(job))),
            "t" => rest.parse().ok().map(|ticket| JobCursor::Started(Ticket(ticket))),
            "q" => {
                let (weight, job) = rest.split_once('.')?;
                let weight = f64::from_bits(u64::from_str_radix(weight, 16).ok()?);
                Some(JobCursor::Queued(weight, JobId(job.parse().ok()?)))
            }
            _ => None,
        }
    };
    parsed().ok_or_else(wrong_cursor)
}

/// A cursor that is of no page of this search.
pub fn wrong_cursor() -> ApiError {
    ApiError::value("cursor", "the cursor was rejected", "`next` of an answer to the same search")
}

/// `PATCH /v1/jobs/{job}`, a JSON merge patch: what is left out stays, `null` is as if it had never been said.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobPatch {
    #[serde(default, alias = "priority", deserialize_with = "given")]
    weight: Option<Option<f64>>,
    #[serde(default, deserialize_with = "given")]
    tenant: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    expected: Option<Option<ExpectedLength>>,
    #[serde(default, deserialize_with = "given_features")]
    features: Option<Option<Vec<Feature>>>,
}

impl JobPatch {
    /// The weight and the traits of a job after it.
    ///
    /// # Errors
    /// With the field that is wrong.
    pub fn apply(&self, job: &FoundJob) -> Result<(f64, JobTraits), ApiError> {
        let mut traits = job.traits.clone();
        if let Some(tenant) = &self.tenant {
            traits.tenant.clone_from(tenant);
        }
        if let Some(expected) = self.expected {
            traits.expected = expected;
        }
        if let Some(features) = &self.features {
            traits.features = features.clone().unwrap_or_default();
        }
        let weight = self.weight.map_or(job.weight, |weight| weight.unwrap_or(1.0));
        check_weight(|| "weight".to_owned(), weight)?;
        check_traits("", &traits)?;
        Ok((weight, traits))
    }
}

/// Checks how urgent a job is said to be.
pub(super) fn check_weight(field: impl Fn() -> String, weight: f64) -> Result<(), ApiError> {
    match weight.is_finite() && weight > 0.0 {
        true => Ok(()),
        false => Err(ApiError::value(field(), format!("{weight} was rejected"), "a finite number above 0")),
    }
}

/// Checks what is said of a job, which stands at a place of the request.
pub(super) fn check_traits(place: &str, traits: &JobTraits) -> Result<(), ApiError> {
    let shown = |key: &str| format!("`{key}` was rejected");
    traits
        .check()
        .map_err(|error| ApiError::value(format!("{place}{}", error.key), shown(&error.key), error.accepted))
}

/// What is there, also if it is `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn given_features<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<Vec<Feature>>>, D::Error> {
    features(deserializer).map(Some)
}

/// Features, of which one more is kept than is accepted, however many there are.
pub(super) fn features<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Feature>>, D::Error> {
    struct Features;

    impl<'de> Visitor<'de> for Features {
        type Value = Vec<Feature>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of numbers and words")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut kept = Vec::new();
            while kept.len() <= MOST_FEATURES {
                match list.next_element()? {
                    Some(feature) => kept.push(feature),
                    None => return Ok(kept),
                }
            }
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(kept)
        }
    }

    struct Listed(Vec<Feature>);

    impl<'de> Deserialize<'de> for Listed {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_seq(Features).map(Listed)
        }
    }

    Ok(Option::<Listed>::deserialize(deserializer)?.map(|Listed(features)| features))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_are_written() {
        for sound in [
            JobCursor::Submitted(JobId(0)),
            JobCursor::Queued(0.1, JobId(u64::MAX)),
            JobCursor::Started(Ticket(7)),
        ] {
            assert_eq!(cursor(&written(sound)), Ok(sound));
        }
        for text in ["", "s", "x1", "s-1", "q1", "q.1", "qg.1", "é", "s99999999999999999999999"] {
            assert_eq!(cursor(text).unwrap_err().field.as_deref(), Some("cursor"), "{text}");
        }
    }

    #[test]
    fn a_patch_says_what_changes() {
        fn read(text: &str) -> Result<JobPatch, serde_json::Error> {
            serde_json::from_str(text)
        }
        let job = esdp::live::FoundJob {
            weight: 2.0,
            traits: JobTraits { tenant: Some("lab".into()), ..JobTraits::default() },
            ..found()
        };
        let apply = |text: &str| read(text).unwrap().apply(&job);
        assert_eq!(apply("{}"), Ok((2.0, job.traits.clone())));
        assert_eq!(apply(r#"{"priority":3,"tenant":null}"#), Ok((3.0, JobTraits::default())));
        let (weight, traits) = apply(r#"{"weight":null,"expected":{"work":5},"features":["a",1]}"#).unwrap();
        assert_eq!((weight, traits.expected), (1.0, Some(ExpectedLength::Work(5.0))));
        assert_eq!(traits.features, [Feature::Word("a".into()), Feature::Number(1.0)]);
        for (text, field) in [
            (r#"{"weight":0}"#, "weight"),
            (r#"{"tenant":""}"#, "tenant"),
            (r#"{"expected":{"seconds":-1}}"#, "expected.seconds"),
            (r#"{"features":["ok",""]}"#, "features[1]"),
            (r#"{"features":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}"#, "features"),
        ] {
            assert_eq!(apply(text).unwrap_err().field.as_deref(), Some(field), "{text}");
        }
        for text in [
            r#"{"weights":1}"#,
            r#"{"weight":"1"}"#,
            r#"{"weight":1,"priority":1}"#,
            r#"{"expected":5}"#,
            r#"{"features":[[]]}"#,
            r#"{"features":7}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    fn found() -> FoundJob {
        FoundJob {
            name: "j".into(),
            port: None,
            state: JobState::Over,
            weight: 1.0,
            submitted: esdp::model::Slot(0),
            traits: JobTraits::default(),
            waits: None,
            start: None,
        }
    }
}
