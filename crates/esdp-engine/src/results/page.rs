//! The report of a run.

use super::{RunResults, found, learned, queues, resolved, tables};
use crate::rows::Row;
use crate::{Difference, PolicyOutcome, RunOutcome, seeds_in_words};
use esdp::model::Cluster;
use esdp::sim::{CurvePoint, Summary};
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Report, Section};

const TERMS: &str = "Every policy meets the same arrivals and speeds under the same seed, so \
                     policies are compared seed by seed. The oracle knows the true speeds; it is the \
                     yardstick, not a rival.";

/// The page.
pub(super) fn report(results: &RunResults, cluster: Option<&Cluster>, remarks: &[String]) -> Report {
    let (scenario, outcome, rows) = (results.scenario(), results.outcome(), results.rows());
    let held = scenario.holds_devices();
    let (done, asked) = (outcome.seeds.len(), outcome.asked.len());
    let seeds = seeds_in_words(&outcome.seeds);
    let subtitle = match scenario.description() {
        "" => scenario.name().to_owned(),
        description => format!("{}: {description}", scenario.name()),
    };
    let mut result = Section::new("Result");
    if done < asked {
        result = result.text(format!("The run was interrupted: {done} of {asked} seeds are done and shown."));
    }
    let head = if held { tables::completion(outcome, rows) } else { tables::results(outcome, rows) };
    result = tables::explained(result, head);
    result = against_first(outcome).into_iter().fold(result, Section::figure);
    result = remarks.iter().fold(result, |result, remark| result.text(remark.clone()));
    let mut jobs = tables::explained(Section::new("Jobs"), tables::jobs(outcome, rows));
    if held {
        jobs = queues::by_port(tables::explained(jobs, queues::worst(rows)), rows);
    }
    let behaviour = tables::explained(Section::new("Behaviour"), tables::behaviour(outcome, rows));
    let page = Report::new("esdp run", subtitle)
        .made_by(concat!("esdp ", env!("CARGO_PKG_VERSION")))
        .meta("Version", env!("CARGO_PKG_VERSION"))
        .meta("Slots", outcome.slots.to_string())
        .meta("Seeds", if done < asked { format!("{seeds} ({done} of {asked} asked for)") } else { seeds });
    let load = results.load().map(queues::LoadReport::sentence);
    let page = match load.as_ref().and_then(|load| load.strip_prefix("load ")) {
        Some(load) => page.meta("Load", load),
        None => page,
    };
    page.section(result.text(TERMS))
        .section(Section::new("Policies in this run").table(tables::policies(outcome)))
        .section(over_time(outcome))
        .sections(cluster.and_then(|cluster| learned::section(outcome, cluster)))
        .sections(cluster.and_then(|cluster| found::section(outcome, cluster, &bands(done, ""))))
        .section(jobs)
        .section(behaviour.figure(utilisation(rows, cluster)))
        .section(Section::new("Scenario").code("Resolved scenario (TOML)", resolved(scenario)))
}

/// What the bands of a figure are.
fn bands(seeds: usize, of: &str) -> String {
    match seeds {
        ..=1 => String::new(),
        _ => format!("Mean of {seeds} seeds; bands show one standard error{of}."),
    }
}

fn over_time(outcome: &RunOutcome) -> Section {
    type Points = fn(&PolicyOutcome) -> Vec<(f64, f64, f64)>;
    let figure = |id: &str, title: &str, y: Axis, of: &str, points: Points, oracle: bool| {
        let caption = bands(outcome.seeds.len(), of);
        let figure = Figure::new(id, title, Axis::new("slot"), y).caption(caption);
        let shown = outcome.policies.iter().filter(|policy| oracle || !policy.is_oracle());
        shown.fold(figure, |figure, policy| figure.with(Series::line(&policy.label).points(points(policy))))
    };
    let average = Axis::new("average AOU").unit("per slot").including(0.0);
    let measured = outcome.policies.iter().all(|policy| policy.regret().is_some());
    let of = if measured { " of the difference to the oracle under the same seed" } else { "" };
    let average = figure("average-aou", "Average AOU", average, of, paired_average, true);
    if outcome.policies.iter().any(|policy| policy.completion().is_some()) {
        let caption = "The mean number of waiting jobs between two points. ".to_owned()
            + &bands(outcome.seeds.len(), "");
        return Section::new("Over time").figure(queues::figure(outcome, caption)).figure(average);
    }
    if !measured {
        return Section::new("Over time").figure(average);
    }
    // Good policies differ by what is nothing beside the loss of bad ones.
    let lost = Axis::new("regret").including(0.0).log().or_log();
    Section::new("Over time")
        .figure(figure("regret", "Regret", lost, "", regrets, false))
        .figure(figure("oracle-ratio", "Oracle ratio", Axis::new("AOU / oracle's AOU"), "", ratios, false))
        .figure(average)
}

/// Every policy against the first, seed by seed; none where there is nobody to compare or one seed.
fn against_first(outcome: &RunOutcome) -> Option<Figure> {
    let mut rivals = outcome.policies.iter().filter(|policy| !policy.is_oracle());
    let first = rivals.next()?;
    let others: Vec<&PolicyOutcome> = rivals.collect();
    if others.is_empty() || outcome.seeds.len() < 2 {
        return None;
    }
    let ratios = |policy: &PolicyOutcome| policy.each(Summary::oracle_ratio);
    let aou = |policy: &PolicyOutcome| policy.each(|summary| Some(summary.aou)).unwrap_or_default();
    let own = &first.label;
    let jct = |policy: &PolicyOutcome| policy.each(|summary| summary.jobs.mean_completion());
    let (label, unit, what) = match ratios(first) {
        _ if jct(first).is_some() => {
            (format!("completion against that of {own}"), "%", "mean completion time")
        }
        Some(_) => (format!("oracle ratio less that of {own}"), "percentage points", "oracle ratio"),
        None => (format!("AOU against that of {own}"), "%", "AOU"),
    };
    let of = |policy: &PolicyOutcome| match (ratios(policy), ratios(first)) {
        _ if jct(first).is_some() => {
            Difference::gain(&jct(policy).unwrap_or_default(), &jct(first).unwrap_or_default())
        }
        (Some(ratio), Some(first)) => Difference::between(&ratio, &first),
        _ => Difference::gain(&aou(policy), &aou(first)),
    };
    let values = others.iter().map(|policy| {
        let Difference { spread, .. } = of(policy);
        (policy.label.as_str(), 100.0 * spread.mean, 100.0 * of(policy).half_interval())
    });
    let (drawn, far) = near_and_far(values.collect());
    let names = drawn.iter().map(|(name, ..)| *name);
    let y = Axis::new(label).unit(unit).including(0.0);
    let figure = Figure::new("against", format!("Against {own}"), Axis::categories("policy", names), y);
    let off = far.iter().map(|(name, mean, half)| {
        let sign = if *mean < 0.0 { '\u{2212}' } else { '+' };
        format!("{name} ({sign}{:.1} ± {half:.1})", mean.abs())
    });
    let off = match off.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        all => format!(" Too far off to be drawn: {}.", all.join(", ")),
    };
    let figure = figure.error("half_of_95_percent_interval").caption(format!(
        "The {what} of each policy against that of {own} under the same seed: mean of {} seeds and 95 % \
         interval (Student's t). Where the interval holds 0, the two are not told apart.{off}",
        outcome.seeds.len()
    ));
    let one = |(at, (name, mean, half)): (usize, &(&str, f64, f64))| {
        Series::markers(*name).points([(at as f64, *mean, *half)])
    };
    let figure = drawn.iter().enumerate().map(one).fold(figure, Figure::with);
    let level = (0..drawn.len()).map(|at| (at as f64, 0.0, 0.0));
    Some(figure.with(Series::guide("no difference").points(level)))
}

/// A policy, how far it is off, and half of the interval.
type Off<'a> = (&'a str, f64, f64);

/// Whoever is so far off that the others would seem to be one apart from the rest, in their order.
fn near_and_far(values: Vec<Off<'_>>) -> (Vec<Off<'_>>, Vec<Off<'_>>) {
    // So many times as far as whoever comes before; less than a point, or a percent, is near in any case.
    const APART: f64 = 6.0;
    let reach = |(_, mean, half): &Off<'_>| (mean.abs() + half).max(1.0);
    let mut reaches: Vec<f64> = values.iter().map(reach).collect();
    reaches.sort_unstable_by(f64::total_cmp);
    let gap = reaches.windows(2).find(|pair| pair[1] > APART * pair[0]);
    let most = gap.map_or(f64::INFINITY, |pair| pair[0]);
    values.into_iter().partition(|value| reach(value) <= most)
}

/// The average AOU, with the standard error of its difference to the oracle's if there is one.
pub(super) fn paired_average(policy: &PolicyOutcome) -> Vec<(f64, f64, f64)> {
    let mut points = policy.curve(CurvePoint::average);
    let behind = policy.spreads(|point| Some(point.regret()? / point.slot as f64));
    points.iter_mut().zip(behind).for_each(|(point, (_, behind))| point.2 = behind.stderr);
    points
}

fn ratios(policy: &PolicyOutcome) -> Vec<(f64, f64, f64)> {
    drawn(policy, CurvePoint::oracle_ratio)
}

/// What only rounding leaves of a regret is none: it would stretch a logarithmic axis.
fn regrets(policy: &PolicyOutcome) -> Vec<(f64, f64, f64)> {
    let mut points = drawn(policy, CurvePoint::regret);
    let largest = points.iter().map(|point| point.1.abs()).fold(0.0, f64::max);
    points.iter_mut().filter(|point| point.1.abs() < 1e-9 * largest).for_each(|point| point.1 = 0.0);
    points
}

fn drawn(policy: &PolicyOutcome, value: fn(&CurvePoint) -> Option<f64>) -> Vec<(f64, f64, f64)> {
    policy
        .spreads(value)
        .into_iter()
        .map(|(slot, spread)| (slot as f64, spread.mean, spread.stderr))
        .collect()
}

fn utilisation(rows: &[Row], cluster: Option<&Cluster>) -> Figure {
    let devices = rows.first().map_or(0, |row| row.utilisation.len());
    let named = |device: usize| cluster.and_then(|cluster| cluster.devices().get(device).cloned());
    let names: Vec<String> =
        (0..devices).map(|device| named(device).unwrap_or_else(|| format!("device-{device}"))).collect();
    let y = Axis::new("share used").including(0.0).including(1.0);
    let figure =
        Figure::new("utilisation", "Utilisation of the devices", Axis::categories("device", names), y);
    rows.iter().fold(figure, |figure, row| {
        let points = row.utilisation.iter().enumerate().map(|(device, &share)| (device as f64, share, 0.0));
        figure.with(Series::bars(&row.name).points(points.collect::<Vec<_>>()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_far_off_is_told_and_not_drawn() {
        let names = |values: &[Off<'_>]| values.iter().map(|(name, ..)| name.to_string()).collect::<String>();
        let split = |values: Vec<Off<'_>>| {
            let (near, far) = near_and_far(values);
            (names(&near), names(&far))
        };
        let told = |near: &str, far: &str| (near.to_owned(), far.to_owned());
        assert_eq!(split(vec![("a", -0.3, 0.2), ("b", -24.0, 4.0), ("c", 0.5, 0.5)]), told("ac", "b"));
        assert_eq!(split(vec![("a", -20.0, 2.0), ("b", -60.0, 4.0)]), told("ab", ""), "all are far");
        assert_eq!(split(vec![("a", 0.001, 0.0), ("b", 0.5, 0.1)]), told("ab", ""), "all are near");
        assert_eq!(split(Vec::new()), told("", ""));
    }
}
