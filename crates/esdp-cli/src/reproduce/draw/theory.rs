//! What the theorems and the complexity say, and how the policy starts.

use super::super::claims::{FITTED_FROM, amount, lines as fits, lost};
use super::super::evidence::{Evidence, Measured, decision_us};
use super::super::source::Source;
use super::{curves, seeds, shown, swept};
use esdp_engine::{PolicyOutcome, Spread};
use esdp_report::figure::{Axis, Figure, Series};

/// Regret against *ln T*: the paper's policy, and ours, which lose far less.
pub(in super::super) fn regret(evidence: &Evidence) -> Vec<Figure> {
    let Some(run) = evidence.single(Source::Time) else { return Vec::new() };
    vec![
        fitted(run, "regret", "Regret of esdp-paper against ln T", &["esdp-paper"]),
        fitted(run, "regret-ours", "Regret of esdp and esdp-index against ln T", &["esdp-index", "esdp"]),
    ]
}

/// Regret over a logarithmic axis, on which *a + b ln T* is a line, with the lines.
fn fitted(run: &Measured, id: &str, title: &str, labels: &[&str]) -> Figure {
    let x = Axis::new("horizon T").unit("slots").log();
    let mut figure = Figure::new(id, title, x, Axis::new("regret").unit("AOU").including(0.0));
    let mut caption = String::new();
    let slots = run.outcome.slots as f64;
    for label in labels {
        let Some(policy) = run.policy(label) else { continue };
        figure = figure.with(Series::line(*label).points(policy.curve(lost)));
        let lines = fits(run, label);
        let mean = |of: fn(&_) -> f64| Spread::of(lines.iter().map(of));
        let (slope, start) = (mean(|line| line.slope), mean(|line| line.start));
        let explained = mean(|line| line.explained).mean;
        let at = |t: f64| (t, start.mean + slope.mean * t.ln(), 0.0);
        let line = Series::guide(format!("{label}, fitted"))
            .like(*label)
            .points([at(FITTED_FROM * slots), at(slots)]);
        figure = figure.with(line);
        caption += &format!(
            "{label}: {} per unit of ln T from T = {:.0} on, R2 {explained:.3} on average. ",
            amount(slope),
            FITTED_FROM * slots
        );
    }
    figure.caption(caption + &seeds(run))
}

/// The first slots, with and without a round that tries every channel.
pub(in super::super) fn start(evidence: &Evidence) -> Vec<Figure> {
    let Some(run) = evidence.single(Source::Start) else { return Vec::new() };
    let y = Axis::new("regret").unit("AOU").including(0.0);
    let figure = Figure::new("start", "Regret in the first slots", Axis::new("slot"), y);
    let rivals = |label: &str| shown(label) && label != "oracle";
    vec![curves(figure, run, rivals, lost)]
}

/// The time of a decision against each factor of the complexity.
pub(in super::super) fn overhead(evidence: &Evidence) -> Vec<Figure> {
    let caption = "Median of a seed's decisions; `esdp-paper (Algorithm 2)` is the printed dynamic program.";
    let value = |policy: &PolicyOutcome| {
        let time = Spread::of(decision_us(policy));
        Spread { mean: time.mean / 1e3, stderr: time.stderr / 1e3, ..time }
    };
    let figures = [
        (Source::Overhead, "overhead", "Computation overhead", Axis::new("channels |E|, expected")),
        (
            Source::OverheadBudgets,
            "overhead-budgets",
            "Computation overhead against the number of budgets |S|",
            Axis::new("scale xi of the budgets, to which |S| is proportional").log(),
        ),
        (
            Source::OverheadCapacity,
            "overhead-capacity",
            "Computation overhead against the capacities",
            Axis::new("product of the c_k + 1").log(),
        ),
    ];
    let one = |(source, id, title, x)| {
        let y = Axis::new("time per decision").unit("ms").log();
        swept(evidence, source, Figure::new(id, title, x, y), caption, value)
    };
    figures.into_iter().flat_map(one).collect()
}
