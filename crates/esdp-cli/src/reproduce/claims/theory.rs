//! What the theorems and the complexity say, as far as it can be measured, and how the policy starts.

use super::super::contenders::UNCOVERED;
use super::super::evidence::{Evidence, Measured, decision_us};
use super::super::source::Source;
use super::judge::{Difference, Sign, amount, percent};
use super::trend::{Fit, fit};
use super::{Claim, PAPER, Verdict, decided};
use esdp::sim::CurvePoint;
use esdp_engine::Spread;

/// A line explains at least so much.
const FITS: f64 = 0.9;
/// What the exponent of a factor may be to count as linear, beside what the clock adds.
const LINEAR: f64 = 1.2;
/// From which share of the horizon on regret is fitted: before it, every policy tries every channel.
pub(in super::super) const FITTED_FROM: f64 = 1.0 / 16.0;
/// Where in the first slots the start is judged: slot 100 of 500.
const EARLY: f64 = 0.2;

pub(super) fn claims(evidence: &Evidence) -> Vec<Claim> {
    let each = [
        evidence.single(Source::Time).map(regret),
        evidence.single(Source::Start).map(start),
        evidence.points(Source::OverheadBudgets).and_then(budgets),
        evidence.points(Source::OverheadCapacity).and_then(capacities),
    ];
    each.into_iter().flatten().collect()
}

/// What was lost against the oracle so far.
pub(in super::super) fn lost(point: &CurvePoint) -> f64 {
    point.oracle.unwrap_or(f64::NAN) - point.aou
}

/// The lines through regret over *ln T*, one a seed.
pub(in super::super) fn lines(run: &Measured, label: &str) -> Vec<Fit> {
    let from = FITTED_FROM * run.outcome.slots as f64;
    let line = |curve: &&[CurvePoint]| {
        let late = curve.iter().filter(|point| point.slot as f64 >= from);
        fit(late.map(|point| ((point.slot as f64).ln(), lost(point))))
    };
    run.curves(label).iter().filter_map(line).collect()
}

fn regret(run: &Measured) -> Claim {
    let at = |label: &str, share| run.at(label, share, lost);
    let grown = |from, to| -> Vec<f64> {
        at(PAPER, to).iter().zip(at(PAPER, from)).map(|(to, from)| to - from).collect()
    };
    let (before, last) = (grown(0.25, 0.5), grown(0.5, 1.0));
    let more = Difference::between(&last, &before);
    let twice: Vec<f64> = before.iter().map(|growth| 2.0 * growth).collect();
    let slower = Difference::between(&last, &twice).is_below();
    let told = |label: &str| {
        let lines = lines(run, label);
        let slope = Spread::of(lines.iter().map(|line| line.slope));
        let explained = Spread::of(lines.iter().map(|line| line.explained)).mean;
        (format!("{label} {} (R2 {explained:.2})", amount(slope)), explained)
    };
    let (own, explained) = told(PAPER);
    let logarithmic = !more.is_above() && explained >= FITS;
    let spread = Spread::of(last);
    Claim {
        id: "regret-log",
        figure: "regret",
        claim: "The regret is bounded by O(ln T) (Theorem 2).",
        rule: "Doubling the horizon to T adds no clearly larger regret to esdp-paper's than the doubling \
               before, and a line in ln T explains it with R2 of at least 0.9; partly: clearly less than \
               twice as much, which is slower than T.",
        measured: format!(
            "The last doubling adds {}, the one before {}. Slope per unit of ln T: {own}, {}, {}.",
            amount(spread),
            amount(Spread::of(before)),
            told("esdp-index").0,
            told("esdp").0
        ),
        value: spread.mean,
        stderr: spread.stderr,
        unit: "AOU",
        verdict: one(run, Verdict::of(logarithmic, slower, more.is_above())),
    }
}

fn start(run: &Measured) -> Claim {
    let gain = |share| {
        let aou = |label: &str| run.at(label, share, |point| point.aou);
        Difference::gain(&aou(PAPER), &aou(UNCOVERED))
    };
    let (early, end) = (gain(EARLY), gain(1.0));
    let slots = run.outcome.slots as f64;
    Claim {
        id: "initial-solution",
        figure: "start",
        claim: "ESDP is boosted with a well designed initial solution.",
        rule: "In the first fifth the AOU of esdp-paper, which tries every channel first, is clearly above \
               that of the same policy without this round.",
        measured: format!(
            "{} after {:.0} slots, {} after {slots:.0}.",
            percent(early.spread),
            EARLY * slots,
            percent(end.spread)
        ),
        value: 100.0 * early.spread.mean,
        stderr: 100.0 * early.spread.stderr,
        unit: "%",
        verdict: one(run, Verdict::of_signs(&[early], Sign::Above)),
    }
}

fn budgets(points: &[Measured]) -> Option<Claim> {
    let claim = "Algorithm 2 is of O(|E| |S| prod c_k): linear in the number of budgets |S|.";
    factor(points, ("overhead-budgets", claim, "the scale xi of the budgets"))
}

fn capacities(points: &[Measured]) -> Option<Claim> {
    let claim = "Algorithm 2 is of O(|E| |S| prod c_k): linear in the product of the capacities.";
    factor(points, ("overhead-capacity", claim, "prod (c_k + 1)"))
}

/// The time per decision of Algorithm 2 against one factor of its complexity.
fn factor(
    points: &[Measured],
    (id, claim, axis): (&'static str, &'static str, &'static str),
) -> Option<Claim> {
    let time = |point: &Measured| Some(Spread::of(decision_us(point.dynamic_program()?)));
    let times: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((point.x, time(point)?.mean))).collect();
    let line = fit(times.iter().map(|&(x, us)| (x.ln(), us.ln())))?;
    let (first, last) = (points.first()?, points.last()?);
    let (from, to) = (time(first)?, time(last)?);
    let fits = line.explained >= FITS;
    Some(Claim {
        id,
        figure: "overhead",
        claim,
        rule: "The time per decision of Algorithm 2 against it is a line in log-log with R2 of at least 0.9 \
               and a slope of at most 1.2; partly: a line.",
        measured: format!(
            "Time by {axis} to the power {:.2} (R2 {:.3}): {:.2} ms a decision at {:.0}, {:.2} ms at {:.0}.",
            line.slope,
            line.explained,
            from.mean / 1e3,
            first.x,
            to.mean / 1e3,
            last.x
        ),
        value: line.slope,
        stderr: 0.0,
        unit: "power",
        verdict: decided(points, Verdict::of(fits && line.slope <= LINEAR, fits, true)),
    })
}

fn one(run: &Measured, verdict: Verdict) -> Verdict {
    decided(std::slice::from_ref(run), verdict)
}

#[cfg(test)]
mod tests {
    /// The probability that every port has a job, and the bound that Theorem 1 prints for it.
    fn all_present(ports: i32, rho: f64) -> (f64, f64) {
        let missing = f64::from(ports) * (1.0 - rho);
        (rho.powi(ports), (-missing * missing / 3.0).exp())
    }

    #[test]
    fn the_probability_of_theorem_1_is_a_bound_for_table_2_and_none_where_ports_are_often_empty() {
        let (true_one, printed) = all_present(8, 0.9);
        assert!((true_one - 0.430).abs() < 1e-3 && (printed - 0.808).abs() < 1e-3);
        assert!(true_one <= printed);
        let (true_one, printed) = all_present(8, 0.3);
        assert!(true_one > 2.0 * printed, "{true_one} {printed}: the Chernoff step lost a factor");
    }
}
