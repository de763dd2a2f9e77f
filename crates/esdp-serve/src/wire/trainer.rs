//! The status that Kubeflow Trainer's runtimes report: `{"trainerStatus": {"progressPercentage": 40,
//! "metrics": [...]}}`.

use serde::Deserialize;

/// A status report. Keys that we do not use are let through: the format is not ours.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct TrainerWire {
    /// The status.
    #[serde(rename = "trainerStatus")]
    pub status: TrainerStatus,
}

/// The status itself.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TrainerStatus {
    /// From 0 to 100.
    pub progress_percentage: Option<f64>,
    /// Whatever the trainer measures.
    pub metrics: Vec<TrainerMetric>,
}

/// A metric; the value is a number or a text that is one.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct TrainerMetric {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: serde_json::Value,
}

impl TrainerWire {
    /// The speed, if a metric tells one: the first whose name ends with `per_second`.
    pub fn rate(&self) -> Option<f64> {
        let speed = |metric: &&TrainerMetric| metric.name.to_ascii_lowercase().ends_with("per_second");
        let metric = self.status.metrics.iter().find(speed)?;
        let value = metric.value.as_f64().or_else(|| metric.value.as_str()?.trim().parse().ok())?;
        (value.is_finite() && value >= 0.0).then_some(value)
    }

    /// The progress in percent, if it is one.
    pub fn progress(&self) -> Option<f64> {
        self.status.progress_percentage.filter(|percent| (0.0..=100.0).contains(percent))
    }
}
