//! Many answers as a few figures.

use super::FamilyCase;
use super::measure::{Compared, Rivals, Solved};
use crate::bench::summary::{percentile, sorted};
use esdp::sim::families::{Family, IndexKind};
use serde::Serialize;

/// Two sums of the same means may be so far apart, relative.
const ROUNDING: f64 = 1e-12;

/// What was measured of a family at a size, with one index.
#[derive(Debug, Serialize)]
pub(in crate::bench) struct FamilyReport {
    pub(super) family: Family,
    pub(super) size: String,
    pub(super) index: IndexKind,
    pub(super) instances: u64,
    pub(super) exact: Figures,
    /// How far `exact` is below the best value that anybody found.
    pub(super) exact_loss: Loss,
    pub(super) rivals: Vec<RivalReport>,
}

/// Times and certified gaps.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) p50_us: f64,
    pub(super) p95_us: f64,
    pub(super) max_us: f64,
    pub(super) proved_share: f64,
    pub(super) median_gap: f64,
    pub(super) largest_gap: f64,
}

/// Relative distances below a value, at least 0.
#[derive(Debug, Serialize)]
pub(super) struct Loss {
    pub(super) median: f64,
    pub(super) largest: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct RivalReport {
    pub(super) name: &'static str,
    pub(super) version: Option<String>,
    pub(super) decisions: usize,
    /// Those of them that were not proved when the time limit came.
    pub(super) unfinished: usize,
    pub(super) figures: Option<Figures>,
    /// Its median time over that of `exact` on the same instances.
    pub(super) ratio_p50: Option<f64>,
    /// How far it is below the better of the two.
    pub(super) loss: Option<Loss>,
    /// How far `exact` is below the better of the two.
    pub(super) exact_loss: Option<Loss>,
    pub(super) refused: usize,
    /// Why, for the first of them.
    pub(super) refusal: Option<String>,
}

impl FamilyReport {
    pub(in crate::bench) fn new(case: &FamilyCase, rivals: &Rivals, compared: &[Compared]) -> Self {
        let best = |of: &Compared| {
            of.rivals.iter().flatten().map(|rival| rival.value).fold(of.exact.value, f64::max)
        };
        let exact: Vec<&Solved> = compared.iter().map(|of| &of.exact).collect();
        let reports = rivals.list.iter().enumerate().map(|(place, rival)| RivalReport {
            version: rival.version(),
            ..RivalReport::new(rival.name(), place, compared)
        });
        Self {
            family: case.sized.family,
            size: case.sized.size.to_string(),
            index: case.index,
            instances: case.instances,
            exact: Figures::of(&exact),
            exact_loss: Loss::of(compared.iter().map(|of| (of.exact.value, best(of)))),
            rivals: reports.collect(),
        }
    }

    /// `family:size`.
    pub(super) fn name(&self) -> String {
        format!("{}:{}", self.family, self.size)
    }
}

impl RivalReport {
    fn new(name: &'static str, place: usize, compared: &[Compared]) -> Self {
        let answered: Vec<(&Solved, &Solved)> =
            compared.iter().filter_map(|of| Some((&of.exact, of.rivals[place].as_ref().ok()?))).collect();
        let refusal = compared.iter().find_map(|of| of.rivals[place].as_ref().err().cloned());
        let (exact, rival): (Vec<&Solved>, Vec<&Solved>) = answered.iter().copied().unzip();
        let any = !answered.is_empty();
        let better = |(exact, rival): &(&Solved, &Solved)| exact.value.max(rival.value);
        let figures = any.then(|| Figures::of(&rival));
        Self {
            name,
            version: None,
            decisions: answered.len(),
            unfinished: rival.iter().filter(|rival| !rival.proved).count(),
            ratio_p50: figures.as_ref().map(|figures| figures.p50_us / Figures::of(&exact).p50_us),
            figures,
            loss: any.then(|| Loss::of(answered.iter().map(|pair| (pair.1.value, better(pair))))),
            exact_loss: any.then(|| Loss::of(answered.iter().map(|pair| (pair.0.value, better(pair))))),
            refused: compared.len() - answered.len(),
            refusal,
        }
    }
}

impl Figures {
    fn of(solved: &[&Solved]) -> Self {
        let times = sorted(solved.iter().map(|solved| solved.micros));
        let gaps = sorted(solved.iter().map(|solved| solved.gap()));
        Self {
            p50_us: percentile(&times, 0.5),
            p95_us: percentile(&times, 0.95),
            max_us: percentile(&times, 1.0),
            proved_share: solved.iter().filter(|solved| solved.proved).count() as f64
                / solved.len().max(1) as f64,
            median_gap: percentile(&gaps, 0.5),
            largest_gap: percentile(&gaps, 1.0),
        }
    }
}

impl Loss {
    /// Of pairs of a value and the best one. What the order of a sum explains is none.
    fn of(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let loss = |(value, best): (f64, f64)| (best - value) / best.abs().max(f64::MIN_POSITIVE);
        let losses = sorted(pairs.map(loss).map(|loss| if loss < ROUNDING { 0.0 } else { loss }));
        Self { median: percentile(&losses, 0.5), largest: percentile(&losses, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_against_the_best() {
        let solved = |micros, value, bound, proved| Solved { micros, value, bound, proved };
        let compared = [
            Compared {
                exact: solved(1.0, 9.0, 10.0, false),
                rivals: vec![Ok(solved(50.0, 10.0, 10.0, true))],
            },
            Compared {
                exact: solved(2.0, 5.0, 5.0, true),
                rivals: vec![Ok(solved(9.0, 4.0, f64::INFINITY, false))],
            },
            Compared { exact: solved(4.0, 5.0, 5.0, true), rivals: vec![Err("no".to_owned())] },
        ];
        let rival = RivalReport::new("highs", 0, &compared);
        assert_eq!((rival.decisions, rival.unfinished, rival.refused), (2, 1, 1));
        let (ours, its) = (rival.exact_loss.unwrap(), rival.loss.unwrap());
        assert!((ours.largest - 0.1).abs() < 1e-12 && (its.largest - 0.2).abs() < 1e-12);
        assert_eq!((ours.median, its.median), (0.0, 0.0));
        let figures = rival.figures.unwrap();
        assert_eq!((figures.p50_us, figures.largest_gap, rival.ratio_p50), (9.0, 1.0, Some(9.0)));
    }
}
