//! `curves.csv`: what the report draws over time, as numbers.

use super::seeds::cell;
use crate::{PolicyOutcome, RunOutcome, Spread};
use esdp::sim::CurvePoint;
use esdp_report::csv;

/// A number of a curve: its name, and its value where it has one.
type Measure = (&'static str, fn(&CurvePoint) -> Option<f64>);

/// `behind_oracle` is the oracle's average AOU less the policy's under the same seed: the report's bands.
const MEASURES: [Measure; 4] = [
    ("average_aou", |point| Some(point.average())),
    ("behind_oracle", |point| Some(point.regret()? / point.slot as f64)),
    ("oracle_ratio", CurvePoint::oracle_ratio),
    ("regret", CurvePoint::regret),
];

/// One row per policy and point of its curve: the mean over the seeds and its standard error. Empty where
/// there is no oracle, and the errors of one seed. `waiting` is the mean number of waiting jobs since the point
/// before.
pub(super) fn csv(outcome: &RunOutcome) -> String {
    let columns =
        MEASURES.iter().flat_map(|(name, _)| ["mean", "stderr"].map(|what| format!("{name}_{what}")));
    let columns = columns.chain(["waiting_mean", "waiting_stderr"].map(str::to_owned));
    let mut text = csv::line(["policy", "slot"].map(str::to_owned).into_iter().chain(columns));
    for policy in &outcome.policies {
        let curves = MEASURES.map(|(_, value)| values(policy, value));
        let queue = if policy.completion().is_some() { policy.queue() } else { Vec::new() };
        for (at, (slot, average)) in curves[0].iter().enumerate() {
            let mut cells = vec![policy.label.clone(), slot.to_string()];
            let rest = curves[1..].iter().map(|curve| curve.get(at).map(|(_, spread)| *spread));
            let queue = queue.get(at).map(|(_, spread)| *spread);
            for spread in [Some(*average)].into_iter().chain(rest).chain([queue]) {
                cells.push(cell(spread.map(|spread| spread.mean)));
                cells.push(cell(spread.and_then(|spread| spread.error())));
            }
            text += &csv::line(cells);
        }
    }
    text
}

fn values(policy: &PolicyOutcome, value: fn(&CurvePoint) -> Option<f64>) -> Vec<(u64, Spread)> {
    policy.spreads(value)
}
