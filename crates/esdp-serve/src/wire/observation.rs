//! Outcomes over the wire, in every form.

use super::{ApiError, Code, check_name};
use esdp::live::SpeedReport;
use serde::{Deserialize, Serialize};

/// One outcome. Whose: a `ticket`; or a `job`, with its `server` if it runs on several; or a `port` and a
/// `server`, with an `id`, if others have placed it. How it went: `utility`; or `rate`; or `work` and
/// `seconds`; or `outcome`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ObservationWire {
    /// The ticket of a placement.
    pub ticket: Option<String>,
    /// The job.
    pub job: Option<String>,
    /// The port, of what others have placed.
    pub port: Option<String>,
    /// The group of tasks.
    pub group: Option<String>,
    /// The server.
    pub server: Option<String>,
    /// A name for this report, so that it counts once.
    pub id: Option<String>,
    /// Net utility from 0 to 1.
    pub utility: Option<f64>,
    /// Speed in any unit.
    pub rate: Option<f64>,
    /// Work in any unit.
    pub work: Option<f64>,
    /// The time it took.
    pub seconds: Option<f64>,
    /// The unit of the work, for people.
    pub unit: Option<String>,
    /// `lost`: it tells nothing about speed.
    pub outcome: Option<String>,
    /// Who says so, if an operator reports for others: a Slurm user, a service account.
    pub source: Option<String>,
}

impl ObservationWire {
    /// Checks names.
    ///
    /// # Errors
    /// With the field that is wrong.
    pub fn check(&self) -> Result<(), ApiError> {
        let names = [
            ("job", &self.job),
            ("port", &self.port),
            ("server", &self.server),
            ("id", &self.id),
            ("source", &self.source),
        ];
        names.iter().filter_map(|(key, name)| Some((key, name.as_ref()?))).try_for_each(|(key, name)| {
            check_name(|| (*key).to_owned(), name).map_err(|error| ApiError { code: Code::Conflict, ..error })
        })
    }

    /// How it went.
    ///
    /// # Errors
    /// When it is told in no way, in several, or by numbers that cannot be.
    pub fn report(&self) -> Result<SpeedReport, ApiError> {
        let forms = "exactly one of `utility`, `rate`, `work` with `seconds`, or `outcome`";
        let number = |key: &str, value: f64, sound: bool, accepted: &str| match sound && value.is_finite() {
            true => Ok(value),
            false => Err(ApiError::clash(key, format!("{value} was rejected"), accepted)),
        };
        match (self.utility, self.rate, self.work, self.seconds, self.outcome.as_deref()) {
            (Some(utility), None, None, None, None) => {
                let sound = (0.0..=1.0).contains(&utility);
                number("utility", utility, sound, "a number from 0 to 1").map(SpeedReport::Utility)
            }
            (None, Some(rate), None, None, None) => {
                number("rate", rate, rate >= 0.0, "a finite number, at least 0").map(SpeedReport::Rate)
            }
            (None, None, Some(work), Some(seconds), None) => {
                number("work", work, work >= 0.0, "a finite number, at least 0")?;
                number("seconds", seconds, seconds > 0.0, "a finite number above 0")?;
                if !(work / seconds).is_finite() {
                    return Err(ApiError::clash("work", "the speed is not finite", "a speed that is finite"));
                }
                Ok(SpeedReport::Work { work, seconds })
            }
            (None, None, None, None, Some("lost")) => Ok(SpeedReport::Lost),
            (None, None, None, None, Some(_)) => Err(ApiError::clash("outcome", "unknown outcome", "`lost`")),
            (None, None, Some(_), None, None) => {
                Err(ApiError::clash("seconds", "`work` without `seconds`", forms))
            }
            (None, None, None, Some(_), None) => {
                Err(ApiError::clash("work", "`seconds` without `work`", forms))
            }
            (None, None, None, None, None) => {
                Err(ApiError::clash("utility", "the observation says nothing", forms))
            }
            _ => Err(ApiError::clash("utility", "the observation says several things", forms)),
        }
    }
}

/// What became of the observations.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ObservedAnswer {
    /// Outcomes of tasks that were learned.
    pub learned: u64,
    /// Reports that are doubted; see `GET /v1/outcomes/aside`.
    pub set_aside: u64,
    /// Reports that were known before.
    pub duplicates: u64,
    /// Reports that were taken, known ones included.
    pub accepted: u64,
    /// Reports that were not.
    pub refused: Vec<RefusedObservation>,
}

/// An observation that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedObservation {
    /// Its place in the list.
    pub index: usize,
    /// Why.
    #[serde(flatten)]
    pub error: ApiError,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_mixtures_are_refused() {
        let read = |text: &str| serde_json::from_str::<ObservationWire>(text).unwrap().report();
        assert_eq!(read(r#"{"job":"j","utility":0.73}"#), Ok(SpeedReport::Utility(0.73)));
        assert_eq!(
            read(r#"{"work":1000,"seconds":9.5}"#),
            Ok(SpeedReport::Work { work: 1000.0, seconds: 9.5 })
        );
        assert_eq!(read(r#"{"outcome":"lost"}"#), Ok(SpeedReport::Lost));
        for (text, field) in [
            (r#"{"utility":1.01}"#, "utility"),
            (r#"{"work":1}"#, "seconds"),
            (r#"{"work":1,"seconds":0}"#, "seconds"),
            (r#"{"work":1e308,"seconds":1e-308}"#, "work"),
            (r#"{"rate":-1}"#, "rate"),
            (r#"{"utility":0.5,"rate":1}"#, "utility"),
            (r#"{"outcome":"won"}"#, "outcome"),
            ("{}", "utility"),
        ] {
            assert_eq!(read(text).unwrap_err().field.as_deref(), Some(field), "{text}");
        }
    }
}
