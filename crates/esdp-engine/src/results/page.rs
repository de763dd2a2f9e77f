//! The report of a run.

use super::{found, resolved};
use crate::rows::Row;
use crate::{RunOutcome, seeds_in_words};
use esdp::scenario::Scenario;
use esdp::sim::CurvePoint;
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Cell, Column, Report, Section, Table};
use esdp_report::table::{duration, percent};

const TERMS: &str = "AOU is the sum over the slots of the expected net utility of what was chosen. The \
                     oracle knows \
     the true speeds and decides the same arrivals; the oracle ratio is the AOU as a share of its AOU, \
     regret the \
     difference. Every policy meets the same arrivals and speeds. Decision times are of this machine and \
     differ from \
     run to run.";
const MORE_TERMS: &str = "The realised AOU is the utility actually obtained, including noise. Exploration \
                          is the share of \
     uses that went to channels with few observations so far; proved is the share of decisions whose \
     optimality was \
     proved.";

const JOB_TERMS: &str = "Deferred: job-slots spent waiting. Jain's \
     index tells whether all ports have the same share of their jobs started: 1 is even. Completion times \
     (JCT), from \
     arrival to end, waiting and makespan are in slots, of jobs that hold their devices until they are done.";

/// The page.
pub(super) fn report(scenario: &Scenario, outcome: &RunOutcome, rows: &[Row], remarks: &[String]) -> Report {
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
    result = result.table(results(outcome, rows));
    result = remarks.iter().fold(result, |result, remark| result.text(remark.clone()));
    let bands = if done > 1 {
        format!("Mean of {done} seeds; bands show one standard error.")
    } else {
        String::new()
    };
    Report::new("esdp run", subtitle)
        .meta("Version", env!("CARGO_PKG_VERSION"))
        .meta("Slots", outcome.slots.to_string())
        .meta("Seeds", if done < asked { format!("{seeds} ({done} of {asked} asked for)") } else { seeds })
        .section(result.text(TERMS))
        .section(over_time(outcome, &bands))
        .sections(found::section(outcome, &bands))
        .section(Section::new("Jobs").table(jobs(outcome, rows)).text(JOB_TERMS))
        .section(
            Section::new("Behaviour")
                .table(behaviour(outcome, rows))
                .text(MORE_TERMS)
                .figure(utilisation(rows)),
        )
        .section(Section::new("Scenario").code("Resolved scenario (TOML)", resolved(scenario)))
}

fn over_time(outcome: &RunOutcome, bands: &str) -> Section {
    let curve = |id: &str, title: &str, y: Axis, value: fn(&CurvePoint) -> f64, oracle: bool| {
        let figure = Figure::new(id, title, Axis::new("slot"), y).caption(bands);
        let shown = outcome.policies.iter().filter(|policy| oracle || !policy.is_oracle());
        shown.fold(figure, |figure, policy| {
            figure.with(Series::line(&policy.label).points(policy.curve(value)))
        })
    };
    let ratio = |point: &CurvePoint| match point.oracle {
        Some(oracle) if oracle > 0.0 => point.aou / oracle,
        _ => 1.0,
    };
    let average = Axis::new("average AOU").unit("per slot").including(0.0);
    let lost = Axis::new("regret").including(0.0);
    Section::new("Over time")
        .figure(curve("average-aou", "Average AOU", average, CurvePoint::average, true))
        .figure(curve("oracle-ratio", "Oracle ratio", Axis::new("AOU / oracle's AOU"), ratio, false))
        .figure(curve("regret", "Regret", lost, |point| point.regret().unwrap_or(0.0), false))
}

/// What a policy is worth, and what it takes.
fn results(outcome: &RunOutcome, rows: &[Row]) -> Table {
    let columns = vec![
        Column::text("Policy"),
        Column::number("Oracle ratio").highest(),
        Column::number("AOU").highest(),
        Column::number("Regret").lowest(),
        Column::number("Decision p50"),
        Column::number("p99"),
    ];
    let mut table = Table::new(over_seeds(outcome), columns);
    for (policy, row) in outcome.policies.iter().zip(rows) {
        let ranked = |cell: Cell| if policy.is_oracle() { cell.unranked() } else { cell };
        table.row(vec![
            Cell::text(&row.name),
            ranked(mean(outcome, row.oracle_ratio_mean, row.oracle_ratio_stderr, 4)),
            ranked(mean(outcome, row.aou_mean, row.aou_stderr, 1)),
            ranked(mean(outcome, row.regret_mean, row.regret_stderr, 1)),
            Cell::text(duration(row.decision_us_p50)),
            Cell::text(duration(row.decision_us_p99)),
        ]);
    }
    table
}

/// What became of the jobs.
fn jobs(outcome: &RunOutcome, rows: &[Row]) -> Table {
    let counts = ["Started", "Deferred", "Jain"].map(Column::number).into_iter();
    let times =
        ["JCT mean", "JCT p50", "JCT p99", "Waiting", "Makespan"].map(|name| Column::number(name).lowest());
    let held = rows.iter().any(|row| row.jct_mean.is_some());
    let times = times.into_iter().filter(|_| held);
    let mut table = Table::new(
        over_seeds(outcome),
        [Column::text("Policy")].into_iter().chain(counts).chain(times).collect(),
    );
    for (policy, row) in outcome.policies.iter().zip(rows) {
        let mut cells = vec![
            Cell::text(&row.name),
            Cell::text(percent(row.started_share)),
            Cell::text(format!("{:.0}", row.deferred_mean)),
            Cell::text(format!("{:.3}", row.jain_mean)),
        ];
        if held {
            let number = |value: Option<f64>, stderr: Option<f64>| match (value, stderr) {
                (Some(value), Some(stderr)) => mean(outcome, value, stderr, 2),
                (Some(value), None) => Cell::mean(format!("{value:.1}"), String::new(), value),
                (None, _) => Cell::text(""),
            };
            let times = [
                number(row.jct_mean, row.jct_stderr),
                number(row.jct_p50, None),
                number(row.jct_p99, None),
                number(row.wait_mean, None),
                number(row.makespan_mean, None),
            ];
            cells.extend(times.map(|cell| if policy.is_oracle() { cell.unranked() } else { cell }));
        }
        table.row(cells);
    }
    table
}

/// How it got there.
fn behaviour(outcome: &RunOutcome, rows: &[Row]) -> Table {
    let columns = ["Realised AOU", "Exploration", "Proved"].map(Column::number);
    let mut table =
        Table::new(over_seeds(outcome), [Column::text("Policy")].into_iter().chain(columns).collect());
    for row in rows {
        table.row(vec![
            Cell::text(&row.name),
            mean(outcome, row.realised_aou_mean, row.realised_aou_stderr, 1),
            Cell::text(percent(row.exploration_share)),
            Cell::text(percent(row.proved_share)),
        ]);
    }
    table
}

fn over_seeds(outcome: &RunOutcome) -> &'static str {
    if outcome.seeds.len() > 1 { "Mean and standard error over seeds" } else { "One seed" }
}

fn mean(outcome: &RunOutcome, value: f64, stderr: f64, digits: usize) -> Cell {
    let error = if outcome.seeds.len() > 1 { format!("{stderr:.digits$}") } else { String::new() };
    Cell::mean(format!("{value:.digits$}"), error, value)
}

fn utilisation(rows: &[Row]) -> Figure {
    let devices = rows.first().map_or(0, |row| row.utilisation.len());
    let names: Vec<String> = (0..devices).map(|device| format!("device {device}")).collect();
    let y = Axis::new("share used").including(0.0).including(1.0);
    let figure =
        Figure::new("utilisation", "Utilisation of the devices", Axis::categories("device", names), y);
    rows.iter().fold(figure, |figure, row| {
        let points = row.utilisation.iter().enumerate().map(|(device, &share)| (device as f64, share, 0.0));
        figure.with(Series::bars(&row.name).points(points.collect::<Vec<_>>()))
    })
}
