//! The claims of the paper's evaluation, each judged from the data by a stated rule.
//!
//! Differences are taken seed by seed, since all policies of a seed meet the same fate. One is *clear* when
//! its 95 % confidence interval (Student's t over the seeds) excludes 0. A claim is `not reproduced` when the
//! opposite is clear or a stated threshold is missed, and `unclear` when the seeds do not tell. One whose
//! figure was not measured is left out. Every claim is judged under every reading of the paper.

mod judge;
mod judged;
mod scalability;
mod sensitivity;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod theory;
mod time;
mod trend;

pub(super) use judge::{Difference, amount};
pub(super) use judged::{FIRST, Judged, Tally, csv, judge, tallies, tallies_csv};
pub(super) use theory::{FITTED_FROM, lines, lost};

use super::evidence::{Evidence, Measured};
use super::reading::Reading;
use judge::Sign;
use serde::Serialize;

/// The paper's policy and the baselines of its figures.
const PAPER: &str = "esdp-paper";
pub(super) const BASELINES: [&str; 3] = ["hauf", "lcf", "lwtf"];
/// The policies of its figures.
const FIGURED: [&str; 4] = [PAPER, "hauf", "lcf", "lwtf"];

/// What the data say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// It holds.
    Reproduced,
    /// It holds in part, or more weakly than printed.
    Partly,
    /// It does not hold.
    NotReproduced,
    /// The seeds do not tell: what decides is not clear either way.
    Unclear,
}

impl Verdict {
    pub(super) fn text(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Partly => "partly",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Unclear => "unclear",
        }
    }

    /// Reproduced where everything holds, partly where something does, not where the opposite is clear.
    fn of(all: bool, some: bool, opposite: bool) -> Self {
        match (all, some, opposite) {
            (true, ..) => Verdict::Reproduced,
            (_, true, _) => Verdict::Partly,
            (.., true) => Verdict::NotReproduced,
            _ => Verdict::Unclear,
        }
    }

    /// The same of differences that should all be clearly above 0, or all below.
    fn of_signs(differences: &[Difference], wanted: Sign) -> Self {
        let count = differences.iter().filter(|difference| difference.sign == wanted).count();
        let unclear = differences.iter().filter(|difference| difference.sign == Sign::Unclear).count();
        Self::of(count > 0 && count == differences.len(), count > 0, count + unclear < differences.len())
    }
}

/// A claim and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Claim {
    pub(super) id: &'static str,
    /// The figure that shows it.
    pub(super) figure: &'static str,
    /// What the paper says.
    pub(super) claim: &'static str,
    /// When it counts as reproduced.
    pub(super) rule: &'static str,
    /// What we found, in words.
    pub(super) measured: String,
    /// The number that decides.
    pub(super) value: f64,
    /// Its standard error over seeds.
    pub(super) stderr: f64,
    pub(super) unit: &'static str,
    pub(super) verdict: Verdict,
}

/// Judges every claim whose figure was measured, under a reading.
fn under(evidence: &Evidence, reading: Reading) -> Vec<Claim> {
    let evidence = &evidence.under(reading);
    let parts = [
        time::claims(evidence, reading.margin),
        theory::claims(evidence),
        sensitivity::claims(evidence),
        scalability::claims(evidence),
    ];
    parts.into_iter().flatten().collect()
}

/// A verdict, unless a single seed would have to give it.
fn decided(points: &[Measured], verdict: Verdict) -> Verdict {
    let seeds = points.iter().map(|point| point.outcome.seeds.len()).min().unwrap_or(0);
    if seeds < 2 { Verdict::Unclear } else { verdict }
}
