//! The report of a run.

use super::{found, learned, resolved, tables};
use crate::rows::Row;
use crate::{PolicyOutcome, RunOutcome, seeds_in_words};
use esdp::model::Cluster;
use esdp::scenario::Scenario;
use esdp::sim::CurvePoint;
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Report, Section};

const TERMS: &str = "Every policy meets the same arrivals and speeds under the same seed, so \
                     policies are compared seed by seed. The oracle knows the true speeds; it is \
                     the yardstick and no rival.";

/// The page.
pub(super) fn report(
    scenario: &Scenario,
    outcome: &RunOutcome,
    rows: &[Row],
    cluster: Option<&Cluster>,
    remarks: &[String],
) -> Report {
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
    result = tables::explained(result, tables::results(outcome, rows));
    result = remarks.iter().fold(result, |result, remark| result.text(remark.clone()));
    let behaviour = tables::explained(Section::new("Behaviour"), tables::behaviour(outcome, rows));
    Report::new("esdp run", subtitle)
        .made_by(concat!("esdp ", env!("CARGO_PKG_VERSION")))
        .meta("Version", env!("CARGO_PKG_VERSION"))
        .meta("Slots", outcome.slots.to_string())
        .meta("Seeds", if done < asked { format!("{seeds} ({done} of {asked} asked for)") } else { seeds })
        .section(result.text(TERMS))
        .section(Section::new("Policies in this run").table(tables::policies(outcome)))
        .section(over_time(outcome))
        .sections(cluster.and_then(|cluster| learned::section(outcome, cluster)))
        .sections(cluster.and_then(|cluster| found::section(outcome, cluster, &bands(done, ""))))
        .section(tables::explained(Section::new("Jobs"), tables::jobs(outcome, rows)))
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
    let section = Section::new("Over time").figure(figure(
        "average-aou",
        "Average AOU",
        average,
        of,
        paired_average,
        true,
    ));
    if !measured {
        return section;
    }
    let lost = Axis::new("regret").including(0.0).or_log();
    section
        .figure(figure("oracle-ratio", "Oracle ratio", Axis::new("AOU / oracle's AOU"), "", ratios, false))
        .figure(figure("regret", "Regret", lost, "", regrets, false))
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

fn regrets(policy: &PolicyOutcome) -> Vec<(f64, f64, f64)> {
    drawn(policy, CurvePoint::regret)
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
