//! The two sequences of the paper: exploration *g(t)* and slack *delta(t)*.
//!
//! Both use `ln(t + 1)`, as the paper's own evaluation does, so that slot 1 is no special
//! case. *m* is the largest number of channels that a slot can hold; the paper writes
//! `alpha |E|` for it.

use crate::model::Slot;
use serde::{Deserialize, Serialize};

/// How much a policy explores: *g(t)*, the factor of every width (eq. st2).
///
/// Every variant is positive and grows with *t*.
///
/// ```
/// use esdp::model::Slot;
/// use esdp::stats::Exploration;
///
/// let ours = Exploration::Log { kappa: 0.25 };
/// assert_eq!(ours.at(Slot(1), 16.0), 0.25 * f64::ln(2.0));
/// assert!(Exploration::Printed.at(Slot(8000), 16.0) > 60.0 * ours.at(Slot(8000), 16.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Exploration {
    /// `ln(t+1) + 4 m ln(ln(t+1) + 1)`: the paper's default.
    #[default]
    Printed,
    /// `4 m ln(ln(t+1) + 1)`: its second variant.
    LogLog,
    /// `kappa ln(t+1)`: its third variant with kappa 1, and ours with less.
    Log {
        /// The factor; 0 never explores.
        #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e6)))]
        kappa: f64,
    },
}

impl Exploration {
    /// *g(t)*, where a slot holds at most `most` channels, *m*.
    pub fn at(&self, slot: Slot, most: f64) -> f64 {
        let log = log(slot);
        match self {
            Exploration::Printed => log + 4.0 * most * log.ln_1p(),
            Exploration::LogLog => 4.0 * most * log.ln_1p(),
            Exploration::Log { kappa } => kappa * log,
        }
    }
}

/// How coarsely `esdp-paper` may round: *delta(t)*, falling to 0.
///
/// The scale of the rounding is `ceil(m / delta(t))`, so a smaller slack is finer and slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Slack {
    /// `1 / (ln(t+1) + 1)`.
    Log,
    /// `1 / (ln(ln(t+1) + 1) + 1)`: the paper's default. Its sensitivity section prints it
    /// without the last "+1", which is above 1 at first and is not meant.
    #[default]
    LogLog,
    /// `1 / (ln(ln(ln(t+1) + 1) + 1) + 1)`.
    LogLogLog,
}

impl Slack {
    /// *delta(t)*, in (0, 1).
    pub fn at(&self, slot: Slot) -> f64 {
        let log = log(slot);
        match self {
            Slack::Log => 1.0 / (log + 1.0),
            Slack::LogLog => 1.0 / (log.ln_1p() + 1.0),
            Slack::LogLogLog => 1.0 / (log.ln_1p().ln_1p() + 1.0),
        }
    }
}

/// `ln(t + 1)`.
fn log(slot: Slot) -> f64 {
    (slot.0 as f64).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> impl Iterator<Item = Slot> {
        (0..60).map(|power| Slot(1 << power))
    }

    #[test]
    fn exploration_is_positive_and_grows() {
        for rate in [Exploration::Printed, Exploration::LogLog, Exploration::Log { kappa: 0.25 }] {
            let mut before = 0.0;
            for slot in slots() {
                let now = rate.at(slot, 16.0);
                assert!(now > before && now.is_finite(), "{rate:?} at {slot}: {now}");
                before = now;
            }
        }
    }

    #[test]
    fn slack_is_positive_and_falls() {
        for slack in [Slack::Log, Slack::LogLog, Slack::LogLogLog] {
            let mut before = 1.0;
            for slot in slots() {
                let now = slack.at(slot);
                assert!(now > 0.0 && now < before, "{slack:?} at {slot}: {now}");
                before = now;
            }
        }
    }

    #[test]
    fn known_values() {
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        // ln 8001 = 8.98732..., and |E| = 32 at alpha 0.5 makes m = 16.
        close(Exploration::Printed.at(Slot(8000), 16.0), 156.271_575_887_5);
        close(Exploration::LogLog.at(Slot(8000), 16.0), 147.284_254_074_7);
        close(Exploration::Log { kappa: 0.25 }.at(Slot(8000), 16.0), 2.246_830_453_2);
        close(Slack::Log.at(Slot(1)), 1.0 / 1.693_147_180_56);
        close(Slack::LogLog.at(Slot(1)), 1.0 / 1.526_589_034_139);
        close(Slack::LogLogLog.at(Slot(1)), 1.0 / 1.423_035_857_16);
    }

    #[test]
    fn written_as_in_a_scenario() {
        let read = |text: &str| serde_json::from_str::<Exploration>(text);
        assert_eq!(read(r#""log-log""#).unwrap(), Exploration::LogLog);
        assert_eq!(read(r#"{"log": {"kappa": 0.5}}"#).unwrap(), Exploration::Log { kappa: 0.5 });
        assert!(read(r#"{"log": {"kappa": 0.5, "alpha": 1}}"#).is_err());
        assert_eq!(serde_json::to_string(&Slack::LogLogLog).unwrap(), r#""log-log-log""#);
    }
}
