//! Ports whose speeds have a law of their own.

use super::{FASTEST, SpeedLaw, SpeedSpec};
use crate::model::PortId;
use crate::sim::parameter::{ParameterError, check_number};
use serde::{Deserialize, Serialize};

/// What is different about the speeds of a port's jobs; what is left out is as for all ports.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PortSpeeds {
    /// The shape. Default: `speeds.law`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<SpeedLaw>,
    /// The range that the mean speeds of its channels are drawn from. Default: `speeds.mean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = FASTEST)))]
    pub mean: Option<(f64, f64)>,
    /// The standard deviation as a share of the mean, at least 0. Default: `speeds.deviation`, and then
    /// `speeds.later_deviation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 1e3, "x-unit" = "share")))]
    pub deviation: Option<f64>,
}

/// Checks a range of mean speeds.
pub(super) fn check_mean(key: &str, (from, to): (f64, f64)) -> Result<(), ParameterError> {
    check_number(format!("{key}[0]"), from, 0.0..=FASTEST)?;
    check_number(format!("{key}[1]"), to, 0.0..=FASTEST)?;
    if from > to {
        return Err(ParameterError::new(key, format!("[{from}, {to}]"), "two ascending numbers"));
    }
    Ok(())
}

/// Checks everything that does not depend on which ports there are.
pub(super) fn check(spec: &SpeedSpec) -> Result<(), ParameterError> {
    for (port, own) in &spec.ports {
        let key = |name: &str| format!("ports.{port}.{name}");
        if let Some(mean) = own.mean {
            check_mean(&key("mean"), mean)?;
            if spec.draws_no_means() {
                let accepted = "no range, since mean speeds come from `speeds.kinds` or `speeds.table`";
                return Err(ParameterError::new(key("mean"), format!("[{}, {}]", mean.0, mean.1), accepted));
            }
        }
        if let Some(deviation) = own.deviation {
            check_number(key("deviation"), deviation, 0.0..=1e3)?;
        }
        if spec.measured.is_some() && (own.law.is_some() || own.deviation.is_some()) {
            let accepted = "no law and no deviation, since `speeds.measured` has the fluctuation";
            return Err(ParameterError::new(format!("ports.{port}"), "a law of its own", accepted));
        }
    }
    Ok(())
}

/// The law of each port of a cluster.
#[derive(Debug, Clone)]
pub(super) struct PortLaws(Vec<PortSpeeds>);

impl PortLaws {
    pub(super) fn new(spec: &SpeedSpec, ports: &[String]) -> Result<Self, ParameterError> {
        if let Some(name) = spec.ports.keys().find(|name| !ports.contains(name)) {
            let accepted = format!("the ports {}", ports.join(", "));
            return Err(ParameterError::new("ports", format!("a table with `{name}`"), accepted));
        }
        Ok(Self(ports.iter().map(|port| spec.ports.get(port).cloned().unwrap_or_default()).collect()))
    }

    pub(super) fn of(&self, port: PortId) -> &PortSpeeds {
        &self.0[port.index()]
    }
}
