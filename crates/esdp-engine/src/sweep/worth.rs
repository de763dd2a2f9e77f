//! What policies are compared by at the points of a sweep.

use super::SweepRow;
use crate::PolicyOutcome;
use crate::rows::Row;
use esdp::sim::Summary;

/// The number that tells who is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// The share of the oracle's utility.
    OracleRatio,
    /// The accumulated utility, where there is no oracle.
    Aou,
    /// The mean completion time, where jobs wait and hold their devices.
    Completion,
}

impl Worth {
    /// That of the policies of a point.
    pub(super) fn of(policies: &[PolicyOutcome]) -> Self {
        match () {
            () if policies.iter().any(|policy| policy.completion().is_some()) => Self::Completion,
            () if policies.iter().all(|policy| policy.oracle_ratio().is_some()) => Self::OracleRatio,
            () => Self::Aou,
        }
    }

    /// That of all lines of a sweep.
    pub(super) fn of_lines(lines: &[&SweepRow]) -> Self {
        let any = |number: fn(&Row) -> Option<f64>| lines.iter().any(|line| number(&line.row).is_some());
        match () {
            () if any(|row| row.jct_mean) => Self::Completion,
            () if any(|row| row.oracle_ratio_mean) => Self::OracleRatio,
            () => Self::Aou,
        }
    }

    /// The number of a run.
    pub(super) fn each(self) -> fn(&Summary) -> Option<f64> {
        match self {
            Self::OracleRatio => Summary::oracle_ratio,
            Self::Aou => |summary| Some(summary.aou),
            Self::Completion => |summary| summary.jobs.mean_completion(),
        }
    }

    /// Whether more is better.
    pub(super) fn is_highest(self) -> bool {
        self != Self::Completion
    }

    /// Its mean over the seeds, and the standard error.
    pub(super) fn mean(self, row: &Row) -> (Option<f64>, Option<f64>) {
        match self {
            Self::OracleRatio => (row.oracle_ratio_mean, row.oracle_ratio_stderr),
            Self::Aou => (Some(row.aou_mean), row.aou_stderr),
            Self::Completion => (row.jct_mean, row.jct_stderr),
        }
    }

    pub(super) fn digits(self) -> usize {
        if self == Self::OracleRatio { 3 } else { 1 }
    }

    /// Its name in sentences.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OracleRatio => "oracle ratio",
            Self::Aou => "AOU",
            Self::Completion => "mean completion time",
        }
    }
}
