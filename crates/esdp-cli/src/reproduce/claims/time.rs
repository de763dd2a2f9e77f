//! Performance over time: the paper's first three figures, and its abstract.

use super::super::evidence::{Evidence, Measured};
use super::super::reading::Margin;
use super::super::source::Source;
use super::judge::{Difference, Sign, amount, list, percent, points, share};
use super::{BASELINES, Claim, PAPER, Verdict};
use esdp::sim::CurvePoint;
use esdp_engine::Spread;

/// The printed margins over the baselines. Which belongs to which is not said: largest first.
const MARGINS: [(f64, &str, &str); 3] = [
    (
        0.73,
        "margin-73",
        "ESDP outperforms the baselines by up to 73 %, 36 % and 28 % within 8000 slots: the largest, 73 %.",
    ),
    (
        0.36,
        "margin-36",
        "ESDP outperforms the baselines by up to 73 %, 36 % and 28 % within 8000 slots: the second, 36 %.",
    ),
    (
        0.28,
        "margin-28",
        "ESDP outperforms the baselines by up to 73 %, 36 % and 28 % within 8000 slots: the third, 28 %.",
    ),
];
/// How near a margin must be to count as that margin.
const NEAR: f64 = 0.05;
/// The share of the oracle that counts as having converged to it.
const CONVERGED: f64 = 0.95;

pub(super) fn claims(evidence: &Evidence, margin: Margin) -> Vec<Claim> {
    let Some(run) = evidence.single(Source::Time) else { return Vec::new() };
    let mut claims = vec![ahead(run)];
    claims.extend(margins(run, evidence.single(Source::Literal), margin));
    claims.extend([
        overtakes(run),
        widens(run),
        ratio_rises(run),
        flattens(run),
        converges(run),
        oscillates(run),
    ]);
    claims
}

fn ahead(run: &Measured) -> Claim {
    let gains = BASELINES.map(|baseline| Difference::gain(&run.aou(PAPER), &run.aou(baseline)));
    let least = gains
        .iter()
        .min_by(|a, b| a.spread.mean.total_cmp(&b.spread.mean))
        .map_or(Spread::of([]), |gain| gain.spread);
    let told: Vec<String> = BASELINES
        .iter()
        .zip(&gains)
        .map(|(name, gain)| format!("{} over {name}", percent(gain.spread)))
        .collect();
    Claim {
        id: "ahead",
        figure: "aou",
        claim: "ESDP has a higher AOU than HAUF, LCF and LWTF.",
        rule: "The AOU of esdp-paper at T is clearly above that of all three; partly: of one or two.",
        measured: format!("esdp-paper: {}.", list(&told)),
        value: 100.0 * least.mean,
        stderr: 100.0 * least.stderr,
        unit: "%",
        verdict: verdict_of(run, Verdict::of_signs(&gains, Sign::Above)),
    }
}

/// The gains over the baselines, largest first.
fn ranked(run: &Measured, margin: Margin) -> Vec<(&'static str, Difference)> {
    let gain = |baseline| (baseline, margin.of(&run.aou(PAPER), &run.aou(baseline)));
    let mut gains = BASELINES.map(gain).to_vec();
    gains.sort_by(|a, b| b.1.spread.mean.total_cmp(&a.1.spread.mean));
    gains
}

fn margins(run: &Measured, literal: Option<&Measured>, estimator: Margin) -> Vec<Claim> {
    let printed = literal.map(|run| ranked(run, estimator));
    let each = ranked(run, estimator).into_iter().zip(MARGINS).enumerate();
    each.map(|(rank, ((baseline, gain), (margin, id, claim)))| {
        let ours = estimator.of(&run.aou("esdp"), &run.aou(baseline));
        let mut measured =
            format!("esdp-paper {} over {baseline}, esdp {}", percent(gain.spread), percent(ours.spread));
        if let Some((baseline, gain)) = printed.as_ref().and_then(|ranked| ranked.get(rank)) {
            measured +=
                &format!("; with the printed capacities esdp-paper {} over {baseline}", percent(gain.spread));
        }
        let near = gain.is_above() && (gain.spread.mean - margin).abs() <= NEAR;
        Claim {
            id,
            figure: "aou",
            claim,
            rule: "The gain of esdp-paper at T, ranked among the three, is clear and within 5 points of the \
                   printed; \
                   partly: clear, but of another size.",
            measured: measured + ".",
            value: 100.0 * gain.spread.mean,
            stderr: 100.0 * gain.spread.stderr,
            unit: "%",
            verdict: verdict_of(run, Verdict::of(near, gain.is_above(), gain.is_below())),
        }
    })
    .collect()
}

fn overtakes(run: &Measured) -> Claim {
    let lead = |share: f64| Difference::between(&run.at(PAPER, share, aou), &run.at("hauf", share, aou));
    let behind = (1..=25).map(|percent| f64::from(percent) / 100.0).any(|share| lead(share).is_below());
    let end = lead(1.0);
    let crossing = (1..=200)
        .map(|step| f64::from(step) / 200.0)
        .rev()
        .take_while(|&share| lead(share).spread.mean > 0.0)
        .last();
    let when = match crossing {
        Some(share) => format!("it leads from about slot {:.0} on", share * run.outcome.slots as f64),
        None => "it is behind at the end".to_owned(),
    };
    let start = if behind {
        "HAUF is clearly ahead at first"
    } else {
        "HAUF is at no time in the first quarter clearly ahead"
    };
    Claim {
        id: "overtakes-hauf",
        figure: "aou",
        claim: "In the beginning HAUF is better than ESDP, then ESDP overtakes it.",
        rule: "HAUF's AOU is clearly ahead at some time in the first quarter, and esdp-paper's clearly at \
               T; partly: one of the two.",
        measured: format!("{start}; esdp-paper: {when}, by {} at T.", amount(end.spread)),
        value: end.spread.mean,
        stderr: end.spread.stderr,
        unit: "AOU",
        verdict: verdict_of(
            run,
            Verdict::of(behind && end.is_above(), behind || end.is_above(), end.is_below()),
        ),
    }
}

fn widens(run: &Measured) -> Claim {
    let lead = |share: f64| minus(&run.at(PAPER, share, aou), &run.at("hauf", share, aou));
    let steps = [(0.25, 0.5), (0.5, 0.75), (0.75, 1.0)];
    let growth = steps.map(|(from, to)| Difference::between(&lead(to), &lead(from)));
    Claim {
        id: "gap-widens",
        figure: "aou",
        claim: "The gap between ESDP and HAUF keeps widening.",
        rule: "The lead in AOU of esdp-paper over hauf clearly grows in each of the last three quarters; \
               partly: in one or two.",
        measured: format!(
            "The lead changes by {} in these quarters.",
            list(&growth.map(|step| amount(step.spread)))
        ),
        value: growth[2].spread.mean,
        stderr: growth[2].spread.stderr,
        unit: "AOU",
        verdict: verdict_of(run, Verdict::of_signs(&growth, Sign::Above)),
    }
}

fn ratio_rises(run: &Measured) -> Claim {
    let ratio = |baseline: &str, share: f64| -> Vec<f64> {
        run.at(PAPER, share, aou)
            .iter()
            .zip(run.at(baseline, share, aou))
            .map(|(own, other)| own / other)
            .collect()
    };
    let growth = BASELINES.map(|baseline| Difference::between(&ratio(baseline, 1.0), &ratio(baseline, 0.25)));
    let told: Vec<String> = BASELINES
        .iter()
        .zip(&growth)
        .map(|(name, growth)| format!("{} to {name}", points(growth.spread)))
        .collect();
    let least = growth
        .iter()
        .min_by(|a, b| a.spread.mean.total_cmp(&b.spread.mean))
        .map_or(Spread::of([]), |g| g.spread);
    Claim {
        id: "ratio-rises",
        figure: "ratio",
        claim: "The ratio of ESDP's AOU to the baselines' increases with the slots available to explore.",
        rule: "The ratio at T is clearly above that at T/4 for all three baselines; partly: for one or two.",
        measured: format!("From T/4 to T the ratio changes by {}.", list(&told)),
        value: 100.0 * least.mean,
        stderr: 100.0 * least.stderr,
        unit: "points",
        verdict: verdict_of(run, Verdict::of_signs(&growth, Sign::Above)),
    }
}

fn flattens(run: &Measured) -> Claim {
    let rise = |label: &str, from, to| {
        Difference::between(
            &run.at(label, to, CurvePoint::average),
            &run.at(label, from, CurvePoint::average),
        )
    };
    let (early, late) = (rise(PAPER, 0.0, 0.25), rise(PAPER, 0.75, 1.0));
    let flat = late.spread.mean.abs() <= 0.25 * early.spread.mean;
    let rises = early.is_above() && flat;
    let contrary = early.is_below() || late.is_below() || (early.is_above() && !flat);
    let baselines = BASELINES.map(|label| rise(label, 0.0, 1.0).spread.mean);
    let steepest = baselines.into_iter().fold(0.0, f64::max);
    let own = rise(PAPER, 0.0, 1.0).spread.mean;
    Claim {
        id: "steep-then-flat",
        figure: "average",
        claim: "Unlike the baselines', the average AOU of ESDP rises steeply and then flattens.",
        rule: "The average AOU of esdp-paper clearly rises in the first quarter, by at least 4 times what \
               it changes in the last, \
               and rises more than any baseline's; partly: it rises and flattens.",
        measured: format!(
            "First quarter {}, last quarter {}; over all {own:+.2}, the steepest baseline {steepest:+.2}.",
            amount(early.spread),
            amount(late.spread)
        ),
        value: early.spread.mean,
        stderr: early.spread.stderr,
        unit: "AOU/slot",
        verdict: verdict_of(run, Verdict::of(rises && own > steepest, rises, contrary)),
    }
}

fn converges(run: &Measured) -> Claim {
    let quarter = |label: &str, from: f64, to: f64| -> Vec<f64> {
        let oracle = |point: &CurvePoint| point.oracle.unwrap_or(f64::NAN);
        let own = minus(&run.at(label, to, aou), &run.at(label, from, aou));
        let best = minus(&run.at(label, to, oracle), &run.at(label, from, oracle));
        own.iter().zip(best).map(|(own, best)| own / best).collect()
    };
    let (first, last) = (quarter(PAPER, 0.0, 0.25), quarter(PAPER, 0.75, 1.0));
    let (rise, reached) = (Difference::between(&last, &first), Spread::of(last));
    let ours = Spread::of(quarter("esdp", 0.75, 1.0));
    Claim {
        id: "converges-to-oracle",
        figure: "average",
        claim: "The average AOU of ESDP converges to that of the oracle.",
        rule: "In the last quarter esdp-paper gets at least 95 % of the oracle's AOU; partly: clearly more \
               than in the first quarter.",
        measured: format!(
            "In the last quarter esdp-paper gets {} of the oracle's AOU, esdp {}.",
            share(reached),
            share(ours)
        ),
        value: reached.mean,
        stderr: reached.stderr,
        unit: "of the oracle",
        verdict: verdict_of(run, Verdict::of(reached.mean >= CONVERGED, rise.is_above(), rise.is_below())),
    }
}

fn oscillates(run: &Measured) -> Claim {
    let average = |point: &CurvePoint| point.realised / point.slot as f64;
    // The largest fall between neighbouring points of the curve.
    let fall = |curve: &[CurvePoint]| {
        curve.windows(2).map(|pair| average(&pair[0]) - average(&pair[1])).fold(0.0, f64::max)
    };
    let slots = run.outcome.slots as f64;
    let early = |curve: &[CurvePoint]| {
        fall(&curve[..curve.partition_point(|point| point.slot as f64 <= 0.1 * slots)])
    };
    let late = |curve: &[CurvePoint]| {
        fall(&curve[curve.partition_point(|point| (point.slot as f64) < 0.5 * slots)..])
    };
    let curves = run.curves(PAPER);
    let difference = Difference::of(curves.iter().map(|curve| early(curve) - late(curve)));
    let [early, late] =
        [Spread::of(curves.iter().map(|c| early(c))), Spread::of(curves.iter().map(|c| late(c)))];
    Claim {
        id: "oscillates-at-first",
        figure: "average",
        claim: "The rewards oscillate in the first slots.",
        rule: "The largest fall of esdp-paper's realised average AOU is clearly larger in the first tenth \
               than in the second half.",
        measured: format!(
            "Largest fall {} in the first tenth, {} in the second half.",
            share(early),
            share(late)
        ),
        value: early.mean,
        stderr: early.stderr,
        unit: "AOU/slot",
        verdict: verdict_of(run, Verdict::of_signs(&[difference], Sign::Above)),
    }
}

fn aou(point: &CurvePoint) -> f64 {
    point.aou
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn verdict_of(run: &Measured, verdict: Verdict) -> Verdict {
    super::decided(std::slice::from_ref(run), verdict)
}
