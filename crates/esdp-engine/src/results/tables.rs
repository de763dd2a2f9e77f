//! The tables of a run's report, and what their columns mean.

use super::queues;
use crate::paired::has_too_few_seeds;
use crate::rows::Row;
use crate::{PolicyOutcome, RunOutcome, Spread, TOO_FEW_SEEDS, leaders};
use esdp::policy::PolicySpec;
use esdp::sim::Summary;
use esdp_report::report::{Cell, Column, Section, Table};
use esdp_report::table::{NONE, duration, percent};

const AOU: &str = "Accumulated overall utility: the sum over the slots of the expected net \
                   utility (speed less supply cost) of what was chosen. The noise of single jobs is not in \
                   it.";
const PAIRED: &str = " Its ± is the standard error of the difference to the oracle under the same seed; that \
                      between clusters is in summary.csv.";

/// A table, and below it a list of what its columns mean.
pub(super) fn explained(section: Section, table: Table) -> Section {
    let terms: Vec<(String, String)> = table
        .columns
        .iter()
        .filter(|column| !column.about.is_empty())
        .map(|column| (column.name.clone(), column.about.clone()))
        .collect();
    section.table(table).terms("What the columns mean", terms)
}

/// Who ran: the name, what it does, its parameters.
pub(super) fn policies(outcome: &RunOutcome) -> Table {
    let columns = vec![Column::text("Policy"), Column::text("What it does"), Column::text("Parameters")];
    let mut table = Table::new("In the order of the scenario", columns);
    for policy in &outcome.policies {
        let (what, parameters) = match &policy.spec {
            Some(spec) => (described(policy, spec), parameters(spec)),
            None => ("a policy of the caller's own".to_owned(), String::new()),
        };
        let parameters = if parameters.is_empty() { NONE.to_owned() } else { parameters };
        table.row(vec![Cell::text(&policy.label), Cell::text(what), Cell::text(parameters)]);
    }
    table
}

fn described(policy: &PolicyOutcome, spec: &PolicySpec) -> String {
    let name = if policy.label == spec.name() { String::new() } else { format!("{}: ", spec.name()) };
    format!("{name}{}", spec.summary())
}

/// `kappa = 0.25, sigma = 0.1`, as in a scenario.
fn parameters(spec: &PolicySpec) -> String {
    let Ok(serde_json::Value::Object(keys)) = serde_json::to_value(spec) else { return String::new() };
    let given = keys.iter().filter(|(key, value)| *key != "name" && !value.is_null());
    given.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

/// What a policy is worth, and what it takes.
pub(super) fn results(outcome: &RunOutcome, rows: &[Row]) -> Table {
    let paired = outcome.policies.iter().all(|policy| policy.regret().is_some());
    let aou = format!("{AOU}{}", if paired && outcome.seeds.len() > 1 { PAIRED } else { "" });
    let columns = vec![
        Column::text("Policy"),
        Column::number("Oracle ratio").about(
            "The AOU as a share of the oracle's. The oracle knows the true speeds and decides the same \
             arrivals.",
        ),
        Column::number("AOU").about(aou),
        Column::number("Regret")
            .about("The oracle's AOU minus the policy's: the price of not knowing the speeds."),
        Column::number("Decision p50")
            .about("The median time of a decision, on this machine; differs from run to run."),
        Column::number("p99").about("The time within which 99 % of the decisions were taken."),
    ];
    let marks = [
        leaders(&outcome.policies, Summary::oracle_ratio, true),
        leaders(&outcome.policies, |summary| Some(summary.aou), true),
        leaders(&outcome.policies, Summary::regret, false),
    ];
    let mut table = Table::new(caption(outcome, true, &marks), columns);
    for (at, row) in rows.iter().enumerate() {
        let aou_error = row.regret_stderr.or(row.aou_stderr);
        table.row(vec![
            Cell::text(&row.name),
            mean(row.oracle_ratio_mean, row.oracle_ratio_stderr, 4).best(marks[0][at]),
            mean(Some(row.aou_mean), aou_error, 1).best(marks[1][at]),
            mean(row.regret_mean, row.regret_stderr, 1).best(marks[2][at]),
            time(row.decision_us_p50),
            time(row.decision_us_p99),
        ]);
    }
    table
}

/// Where jobs wait and hold their devices: how soon they are done, and whether the queue is stable.
pub(super) fn completion(outcome: &RunOutcome, rows: &[Row]) -> Table {
    let columns = vec![
        Column::text("Policy"),
        Column::number("Completion").about(
            "The mean time of a job from arrival to end, in slots. Jobs that are left over at the end count \
             with the slots they have had so far.",
        ),
        Column::number("To the oracle").about(
            "How much longer that is than under the oracle, seed by seed. The oracle knows the true speeds; \
             it does not know how much work a job has, and need not be best over time.",
        ),
        Column::number("To the first").about(
            "How much longer than under the first policy other than the oracle, seed by seed: the 95 % \
             interval. The policies differ if 0 is outside.",
        ),
        Column::number("Waiting").about("The mean time from arrival to start, in slots."),
        Column::number("Wait p99").about("99 % of the jobs of all seeds waited no longer."),
        Column::text("Queue").about(
            "Growing: more than 1 % of the jobs that come pile up, in most seeds and with a 95 % interval \
             above 0, or a port starves. Stable: nothing grows. Undecided: this run does not \
             tell; more slots or seeds will.",
        ),
        Column::text("Objective").about(
            "What a decision maximises: relative, the rule for queues; sum, the utilities of the slot; \
             maxweight, backlog times speed; none, for rules that solve no problem.",
        ),
        Column::number("Decision p50")
            .about("The median time of a decision, on this machine; differs from run to run."),
        Column::number("p99").about("The time within which 99 % of the decisions were taken."),
    ];
    let policies = &outcome.policies;
    let marks = [
        leaders(policies, |summary| summary.jobs.mean_completion(), false),
        leaders(policies, |summary| summary.jobs.mean_wait(), false),
    ];
    let mut table = Table::new(caption(outcome, true, &marks), columns);
    for (at, row) in rows.iter().enumerate() {
        let to_oracle = match row.jct_to_oracle_mean {
            Some(share) => {
                let error = row.jct_to_oracle_stderr.map(|error| format!("{:.1}", 100.0 * error));
                Cell::mean(format!("{:+.1} %", 100.0 * share), error.unwrap_or_default(), share)
            }
            None => Cell::text(NONE),
        };
        let to_first = match (row.jct_to_first_mean, row.jct_to_first_low.zip(row.jct_to_first_high)) {
            (Some(share), Some((low, high))) => {
                Cell::number(format!("{:+.1} to {:+.1} %", 100.0 * low, 100.0 * high), share)
            }
            _ => Cell::text(NONE),
        };
        table.row(vec![
            Cell::text(&row.name),
            mean(row.jct_mean, row.jct_stderr, 2).best(marks[0][at]),
            to_oracle,
            to_first,
            mean(row.wait_mean, row.wait_stderr, 2).best(marks[1][at]),
            mean(row.wait_p99, None, 0),
            queues::verdict_cell(row),
            Cell::text(row.objective),
            time(row.decision_us_p50),
            time(row.decision_us_p99),
        ]);
    }
    table
}

/// What became of the jobs.
pub(super) fn jobs(outcome: &RunOutcome, rows: &[Row]) -> Table {
    let held = rows.iter().any(|row| row.jct_mean.is_some());
    let mut columns = vec![
        Column::text("Policy"),
        Column::number("Started").about("The share of the jobs that started."),
        Column::number("Deferred").about("Job-slots spent waiting: the mean over the seeds."),
        Column::number("Jain").about(
            "Jain's index: whether all ports have the same share of their jobs started. 1 is even, 1/n if \
             one of n ports has everything.",
        ),
    ];
    if held {
        columns.extend([
            Column::number("JCT mean").about("Job completion time, from arrival to end, in slots."),
            Column::number("JCT p50").about("The completion time within which half of the jobs were done."),
            Column::number("JCT p99").about("The completion time within which 99 % of the jobs were done."),
            Column::number("Wait p50").about("The time that half of the jobs waited at most, in slots."),
            Column::number("Makespan").about("The last slot in which a job was done."),
        ]);
    }
    let policies = &outcome.policies;
    let marks = [
        leaders(policies, |summary| summary.jobs.mean_completion(), false),
        leaders(policies, |summary| Some(summary.jobs.makespan as f64), false),
    ];
    let mut table = Table::new(caption(outcome, held, if held { &marks } else { &[] }), columns);
    for (at, row) in rows.iter().enumerate() {
        let mut cells = vec![
            Cell::text(&row.name),
            Cell::number(percent(row.started_share), row.started_share),
            Cell::number(format!("{:.0}", row.deferred_mean), row.deferred_mean),
            Cell::number(format!("{:.3}", row.jain_mean), row.jain_mean),
        ];
        if held {
            cells.extend([
                mean(row.jct_mean, row.jct_stderr, 2).best(marks[0][at]),
                mean(row.jct_p50, None, 1),
                mean(row.jct_p99, None, 1),
                mean(row.wait_p50, None, 1),
                mean(row.makespan_mean, None, 1).best(marks[1][at]),
            ]);
        }
        table.row(cells);
    }
    table
}

/// How it got there.
pub(super) fn behaviour(outcome: &RunOutcome, rows: &[Row]) -> Table {
    let columns = vec![
        Column::text("Policy"),
        Column::number("Realised AOU").about("The utility actually obtained, including noise."),
        Column::number("Exploration").about(
            "The share of uses that went to channels with few observations so far; only for policies that \
             learn.",
        ),
        Column::number("Proved").about(
            "The share of decisions whose optimality was proved; only for policies that solve a problem.",
        ),
    ];
    let mut table = Table::new(caption(outcome, true, &[]), columns);
    for row in rows {
        let share = |share: Option<f64>| match share {
            Some(share) => Cell::number(percent(share), share),
            None => Cell::text(NONE),
        };
        table.row(vec![
            Cell::text(&row.name),
            mean(Some(row.realised_aou_mean), row.realised_aou_stderr, 1),
            share(row.exploration_share),
            share(row.proved_share),
        ]);
    }
    table
}

/// What the numbers of a table are, and what its marks mean if it has any.
fn caption(outcome: &RunOutcome, has_errors: bool, marks: &[Vec<bool>]) -> String {
    let seeds = outcome.seeds.len();
    let numbers = match (seeds, has_errors) {
        (..=1, _) => return "One seed: no standard errors, and nothing is marked".to_owned(),
        (_, false) => format!("Means over {seeds} seeds"),
        (_, true) => format!("Mean ± standard error over {seeds} seeds"),
    };
    match marks.iter().flatten().any(|&marked| marked) {
        true => {
            format!("{numbers}. Marked: the best, and all that are not clearly worse seed by seed (95 %)")
        }
        false if !marks.is_empty() && has_too_few_seeds(outcome) => format!("{numbers}; {TOO_FEW_SEEDS}"),
        false => numbers,
    }
}

fn mean(value: Option<f64>, error: Option<f64>, digits: usize) -> Cell {
    let Some(value) = value else { return Cell::text(NONE) };
    let error = error.map(|error| format!("{error:.digits$}")).unwrap_or_default();
    Cell::mean(format!("{value:.digits$}"), error, value)
}

fn time(micros: f64) -> Cell {
    Cell::number(duration(micros), micros)
}

/// The AOU with the standard error of its difference to the oracle, if there is one.
pub(super) fn paired_aou(policy: &PolicyOutcome) -> Spread {
    let aou = policy.aou();
    Spread { stderr: policy.regret().map_or(aou.stderr, |regret| regret.stderr), ..aou }
}
