//! Computation overhead and the sensitivity section: solution space, delta, g, rho, edges.

use super::super::evidence::{Evidence, Measured, decision_us, summaries};
use super::super::source::Source;
use super::judge::{Difference, Sign, amount, list, percent, points as in_points, share};
use super::trend::{Trend, fit, rising};
use super::{BASELINES, Claim, FIGURED, PAPER, Verdict, decided};
use esdp_engine::{PolicyOutcome, Spread};

/// A line in log-log explains at least so much of the overhead.
const FITS: f64 = 0.9;
/// What counts as little effect, and as some.
const LITTLE: f64 = 0.02;
const SOME: f64 = 0.05;
/// What counts as a strong effect on the overhead: slowest over fastest.
const STRONG: f64 = 1.5;
/// What counts as an overwhelming advantage.
const OVERWHELMING: f64 = 0.05;

pub(super) fn claims(evidence: &Evidence) -> Vec<Claim> {
    let each = [
        evidence.points(Source::Overhead).and_then(overhead),
        evidence.points(Source::SolutionSpace).map(space_grows),
        evidence.points(Source::SolutionSpace).map(space_most),
        evidence.single(Source::Delta).map(delta_aou),
        evidence.single(Source::DeltaOverhead).map(delta_overhead),
        evidence.single(Source::G).and_then(g_best),
        evidence.single(Source::G).and_then(g_exploits),
        evidence.points(Source::Rho).map(rho_rises),
        evidence.points(Source::Rho).and_then(rho_falls),
        evidence.points(Source::Edges).map(edges_harder),
    ];
    each.into_iter().flatten().collect()
}

fn overhead(points: &[Measured]) -> Option<Claim> {
    let time = |policy: &PolicyOutcome| Spread::of(decision_us(policy));
    let printed: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((point.x, time(point.dynamic_program()?).mean))).collect();
    let line = fit(printed.iter().map(|&(x, us)| (x.ln(), us.ln())))?;
    let last = points.last()?;
    let (dp, ours) = (time(last.dynamic_program()?), time(last.policy("esdp")?));
    let measured = format!(
        "Algorithm 2 takes time by |E| to the power {:.1} (R2 {:.3}), {:.2} ms a decision at |E| = {:.0}; \
         esdp takes {:.3} ms there, {:.0} times less.",
        line.slope,
        line.explained,
        dp.mean / 1e3,
        last.x,
        ours.mean / 1e3,
        dp.mean / ours.mean
    );
    Some(Claim {
        id: "overhead-polynomial",
        figure: "overhead",
        claim: "The computation overhead of ESDP grows polynomially with the size of the graph.",
        rule: "The time per decision of Algorithm 2 against |E| is a line in log-log with R2 of at least \
               0.9.",
        measured,
        value: dp.mean / 1e3,
        stderr: dp.stderr / 1e3,
        unit: "ms",
        verdict: decided(
            points,
            Verdict::of(line.explained >= FITS && line.slope > 0.0, line.slope > 0.0, true),
        ),
    })
}

fn space_grows(points: &[Measured]) -> Claim {
    let trends = FIGURED.map(|label| Trend::of(points, |point| point.aou(label)));
    let rising = rising(&FIGURED, &trends);
    let (total, falls) = (trends[0].total.spread, trends.iter().any(Trend::falls_somewhere));
    Claim {
        id: "space-grows",
        figure: "solution-space",
        claim: "The AOU of all algorithms increases with the size of the solution space.",
        rule: "The AOU at the largest is clearly above that at the smallest and falls clearly at no step, \
               for all four; partly: for some.",
        measured: format!("It rises for {}; esdp-paper gains {}.", list(&rising), amount(total)),
        value: total.mean,
        stderr: total.stderr,
        unit: "AOU",
        verdict: decided(points, Verdict::of(rising.len() == FIGURED.len(), !rising.is_empty(), falls)),
    }
}

fn space_most(points: &[Measured]) -> Claim {
    let growth = |label: &str| Trend::of(points, |point| point.aou(label)).changes;
    let own = growth(PAPER);
    let leads = BASELINES.map(|label| Difference::between(&own, &growth(label)));
    let least = leads
        .iter()
        .min_by(|a, b| a.spread.mean.total_cmp(&b.spread.mean))
        .map_or(Spread::of([]), |lead| lead.spread);
    let told: Vec<String> = BASELINES
        .iter()
        .zip(&leads)
        .map(|(label, lead)| format!("{} over {label}", amount(lead.spread)))
        .collect();
    Claim {
        id: "space-most-for-esdp",
        figure: "solution-space",
        claim: "ESDP's AOU grows most with the solution space.",
        rule: "From the smallest to the largest, esdp-paper's AOU clearly grows more than that of all three \
               baselines; partly: than of some.",
        measured: format!("esdp-paper's growth exceeds theirs by {}.", list(&told)),
        value: least.mean,
        stderr: least.stderr,
        unit: "AOU",
        verdict: decided(points, Verdict::of_signs(&leads, Sign::Above)),
    }
}

/// The variants with the highest and the lowest mean of something.
fn extremes<'a>(
    variants: impl Iterator<Item = &'a PolicyOutcome>,
    value: impl Fn(&PolicyOutcome) -> Vec<f64>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut all: Vec<Vec<f64>> = variants.map(value).collect();
    all.sort_by(|a, b| Spread::of(a.iter().copied()).mean.total_cmp(&Spread::of(b.iter().copied()).mean));
    Some((all.last()?.clone(), all.first()?.clone()))
}

fn delta_aou(run: &Measured) -> Claim {
    let aou = |policy: &PolicyOutcome| summaries(policy, |summary| summary.aou);
    let (best, worst) = extremes(run.paper_variants(), aou).unwrap_or_default();
    let gain = Difference::gain(&best, &worst).spread;
    Claim {
        id: "delta-little-on-aou",
        figure: "delta",
        claim: "The sequence delta(t) has little effect on the AOU.",
        rule: "The best of the three sequences has at most 2 % more AOU than the worst; partly: at most 5 %.",
        measured: format!("The best has {} more than the worst.", percent(gain)),
        value: 100.0 * gain.mean,
        stderr: 100.0 * gain.stderr,
        unit: "%",
        verdict: decided(
            std::slice::from_ref(run),
            Verdict::of(gain.mean <= LITTLE, gain.mean <= SOME, true),
        ),
    }
}

fn delta_overhead(run: &Measured) -> Claim {
    let (slow, fast) = extremes(run.paper_variants(), decision_us).unwrap_or_default();
    let gain = Difference::gain(&slow, &fast);
    let factor = Spread { mean: gain.spread.mean + 1.0, ..gain.spread };
    let strong = gain.is_above() && factor.mean >= STRONG;
    Claim {
        id: "delta-strong-on-overhead",
        figure: "delta",
        claim: "The sequence delta(t) has a strong effect on the computation overhead.",
        rule: "Algorithm 2 takes at least 1.5 times as long a decision under the slowest of the three as \
               under the fastest; \
               partly: clearly longer.",
        measured: format!(
            "The slowest takes {:.2} ± {:.2} times as long as the fastest.",
            factor.mean, factor.stderr
        ),
        value: factor.mean,
        stderr: factor.stderr,
        unit: "times",
        verdict: decided(
            std::slice::from_ref(run),
            Verdict::of(strong, gain.is_above(), gain.spread.mean <= 0.0),
        ),
    }
}

/// The three sequences *g(t)* in the paper's order.
fn sequences(run: &Measured) -> Option<[&PolicyOutcome; 3]> {
    run.paper_variants().collect::<Vec<_>>().try_into().ok()
}

fn g_best(run: &Measured) -> Option<Claim> {
    let aou = |policy: &PolicyOutcome| summaries(policy, |summary| summary.aou);
    let [first, second, third] = sequences(run)?.map(aou);
    let gains = [Difference::gain(&third, &first), Difference::gain(&third, &second)];
    let least = if gains[0].spread.mean < gains[1].spread.mean { gains[0] } else { gains[1] };
    let clear = gains.iter().all(Difference::is_above);
    Some(Claim {
        id: "g-third-best",
        figure: "g",
        claim: "The third sequence, g(t) = ln(t+1), has an overwhelming advantage.",
        rule: "Its AOU is clearly, and by at least 5 %, above that of both others; partly: clearly above.",
        measured: format!(
            "{} over the first, {} over the second.",
            percent(gains[0].spread),
            percent(gains[1].spread)
        ),
        value: 100.0 * least.spread.mean,
        stderr: 100.0 * least.spread.stderr,
        unit: "%",
        verdict: decided(
            std::slice::from_ref(run),
            Verdict::of(
                clear && least.spread.mean >= OVERWHELMING,
                clear,
                gains.iter().any(Difference::is_below),
            ),
        ),
    })
}

fn g_exploits(run: &Measured) -> Option<Claim> {
    let explored = |policy: &PolicyOutcome| summaries(policy, |summary| summary.exploration_share());
    let all = sequences(run)?.map(explored);
    let [first, second, third] = &all;
    let less = [Difference::between(third, first), Difference::between(third, second)];
    let [first, second, third] = all.clone().map(Spread::of);
    Some(Claim {
        id: "g-smaller-exploits",
        figure: "g",
        claim: "A smaller g(t) leads to more exploitation.",
        rule: "The share of uses that go to channels still little known is clearly lower under the third \
               sequence than under both others.",
        measured: format!(
            "{} under the third, {} under the first, {} under the second.",
            share(third),
            share(first),
            share(second)
        ),
        value: third.mean,
        stderr: third.stderr,
        unit: "share",
        verdict: decided(std::slice::from_ref(run), Verdict::of_signs(&less, Sign::Below)),
    })
}

fn rho_rises(points: &[Measured]) -> Claim {
    let trends = FIGURED.map(|label| Trend::of(points, |point| point.aou(label)));
    let rising = rising(&FIGURED, &trends);
    let (total, falls) = (trends[0].total.spread, trends.iter().any(Trend::falls_somewhere));
    Claim {
        id: "rho-rises",
        figure: "rho",
        claim: "The AOU of nearly all algorithms rises with the arrival probability rho.",
        rule: "For at least three of the four the AOU at the highest rho is clearly above that at the \
               lowest and falls clearly at no step; \
               partly: for one or two.",
        measured: format!("It rises for {}; esdp-paper gains {}.", list(&rising), amount(total)),
        value: total.mean,
        stderr: total.stderr,
        unit: "AOU",
        verdict: decided(points, Verdict::of(rising.len() >= 3, !rising.is_empty(), falls)),
    }
}

fn rho_falls(points: &[Measured]) -> Option<Claim> {
    let at = |rho: f64| points.iter().find(|point| (point.x - rho).abs() < 1e-9);
    let (from, to) = (at(0.8)?, at(1.0)?);
    let change = |label: &str| Difference::between(&to.aou(label), &from.aou(label));
    let (own, ours) = (change(PAPER), change("esdp"));
    Some(Claim {
        id: "rho-falls-at-the-end",
        figure: "rho",
        claim: "From rho = 0.8 to 1.0 contention reduces the reward of ESDP.",
        rule: "The AOU of esdp-paper at rho = 1.0 is clearly below that at 0.8.",
        measured: format!("It changes by {}; that of esdp by {}.", amount(own.spread), amount(ours.spread)),
        value: own.spread.mean,
        stderr: own.spread.stderr,
        unit: "AOU",
        verdict: decided(points, Verdict::of_signs(&[own], Sign::Below)),
    })
}

fn edges_harder(points: &[Measured]) -> Claim {
    let trend = |label: &str| Trend::of(points, |point| point.oracle_ratio(label)).total;
    let (own, ours) = (trend(PAPER), trend("esdp"));
    Claim {
        id: "edges-harder",
        figure: "edges",
        claim: "More channels make the optimal solution much harder to find for ESDP.",
        rule: "The share of the oracle's AOU that esdp-paper gets is clearly lower with the most channels \
               than with the fewest.",
        measured: format!(
            "It changes by {}; that of esdp by {}.",
            in_points(own.spread),
            in_points(ours.spread)
        ),
        value: 100.0 * own.spread.mean,
        stderr: 100.0 * own.spread.stderr,
        unit: "points",
        verdict: decided(points, Verdict::of_signs(&[own], Sign::Below)),
    }
}
