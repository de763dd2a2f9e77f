//! A description for people.

use super::describe::Document;
use super::input::{Account, Cause};
use esdp_report::table::{TextTable, percent};
use esdp_trace::event::unit;
use esdp_trace::replay::time;
use esdp_trace::summary::{Dispersion, JobOnKind, Quantiles, TraceDescription};
use std::fmt::Write;

/// How many rows of a long list are shown.
const SHOWN: usize = 12;

/// A job type on a kind of server: name, servers, samples, mean speed, variation in time and across servers.
pub(super) fn speed_cells(row: &JobOnKind) -> Vec<String> {
    let variation = |value: Option<f64>| value.map_or_else(String::new, short);
    vec![
        format!("{} on {} x {}", row.job, row.devices, row.kind),
        row.servers.to_string(),
        row.samples.to_string(),
        short(row.mean),
        variation(row.within_server),
        variation(row.across_servers),
    ]
}

/// A number in about four digits.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Amounts with their devices: `cpu 0.5, mem-share 0.2`.
pub(super) fn amounts(devices: &[String], values: &[f64]) -> String {
    let parts = devices.iter().zip(values).filter(|(_, value)| **value > 0.0);
    parts.map(|(name, value)| format!("{name} {}", short(*value))).collect::<Vec<_>>().join(", ")
}

/// The devices with their units: `cpu (cores), gpu (GPUs)`.
pub(super) fn units(devices: &[String]) -> String {
    devices.iter().map(|name| format!("{name} ({})", unit(name))).collect::<Vec<_>>().join(", ")
}

/// A line of quantiles, with its name.
pub(super) fn quantile_row(name: &str, found: Option<Quantiles>) -> Option<Vec<String>> {
    let found = found?;
    let values = [
        found.mean, found.min, found.p5, found.p25, found.p50, found.p75, found.p90, found.p95, found.p99,
        found.max,
    ];
    Some([name.to_owned()].into_iter().chain(values.map(short)).collect())
}

/// The heads of quantile rows.
pub(super) const QUANTILES: [&str; 11] =
    ["", "mean", "min", "p5", "p25", "p50", "p75", "p90", "p95", "p99", "max"];

/// A reason counts rows that another one leaves out.
pub(super) const SEVERAL: &str = "A row may have several reasons; it is left out if one of them says so.";

/// Every distribution the trace has.
pub(super) fn quantile_rows(told: &TraceDescription) -> Vec<Vec<String>> {
    let tasks = told.tasks.as_ref();
    let instances = told.instances.as_ref();
    let rows = [
        ("task duration, s", tasks.and_then(|tasks| tasks.durations)),
        ("wait before its start, s", tasks.and_then(|tasks| tasks.waits)),
        ("instances a task", tasks.and_then(|tasks| tasks.instances)),
        ("tasks a job", tasks.and_then(|tasks| tasks.jobs.tasks)),
        ("instances a job", tasks.and_then(|tasks| tasks.jobs.instances)),
        ("instance duration, s", instances.and_then(|instances| instances.durations)),
        ("variation within a task", instances.and_then(|instances| instances.variation)),
        ("speed relative to the task's median", instances.and_then(|instances| instances.relative_speed)),
    ];
    rows.into_iter().filter_map(|(name, found)| quantile_row(name, found)).collect()
}

/// Arrivals of jobs and tasks, a second and a minute.
pub(super) fn arrival_rows(told: &TraceDescription) -> Vec<Vec<String>> {
    let Some(tasks) = &told.tasks else { return Vec::new() };
    let row = |what: &str, found: Option<Dispersion>| {
        let found = found?;
        let cells = [found.mean, found.variance_over_mean].map(short);
        let range = [found.min, found.max].map(|count| count.to_string());
        Some([format!("{what} in {} s", found.width)].into_iter().chain(cells).chain(range).collect())
    };
    let rows = [
        ("jobs", tasks.jobs.per_second),
        ("jobs", tasks.jobs.per_minute),
        ("tasks", tasks.per_second),
        ("tasks", tasks.per_minute),
    ];
    rows.into_iter().filter_map(|(what, found)| row(what, found)).collect()
}

/// The heads of arrival rows.
pub(super) const ARRIVALS: [&str; 5] = ["arrivals", "mean", "variance/mean", "min", "max"];

fn grid(out: &mut String, head: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let mut table = TextTable::new(head);
    rows.into_iter().for_each(|row| table.row(row));
    let _ = write!(out, "\n{}", table.render());
}

/// What is wrong with rows, file by file.
pub(super) fn causes(document: &Document) -> impl Iterator<Item = (&Account, &Cause)> {
    document.files.iter().flat_map(|file| file.reasons.iter().map(move |cause| (file, cause)))
}

/// The whole text.
pub(super) fn render(document: &Document) -> String {
    let mut out = String::new();
    let files = document.files.iter().map(|file| {
        let numbers = [file.rows, file.clean, file.repaired, file.skipped, file.set_aside]
            .map(|count| count.to_string());
        [file.file.clone(), file.format.to_owned()].into_iter().chain(numbers).collect()
    });
    grid(&mut out, &["file", "format", "rows", "clean", "repaired", "skipped", "set aside"], files.collect());
    let causes = causes(document).map(|(file, cause)| {
        let place =
            format!("line {}, column {}: `{}`", cause.first_line, cause.first_column, cause.first_value);
        vec![cause.words.to_owned(), cause.count.to_string(), cause.rule.to_owned(), file.title(), place]
    });
    grid(&mut out, &["not as it should be", "rows", "rule", "file", "first"], causes.collect());
    if document.files.iter().any(|file| file.skipped > 0) {
        let _ = writeln!(out, "{SEVERAL}");
    }
    let told = &document.told;
    if let Some(machines) = &told.machines {
        let total = amounts(&machines.devices, &machines.total);
        let _ = writeln!(
            out,
            "\n{} machines in {} records, {} shapes, {} failure domains; together {total}",
            machines.count, machines.records, machines.distinct_shapes, machines.domains
        );
        let _ = writeln!(out, "devices: {}", units(&machines.devices));
        let rows = machines.shapes.iter().take(SHOWN).map(|shape| {
            vec![amounts(&machines.devices, &shape.capacity), shape.kind.clone(), shape.machines.to_string()]
        });
        grid(&mut out, &["shape", "kind", "machines"], rows.collect());
    }
    if let Some(tasks) = &told.tasks {
        let _ = writeln!(
            out,
            "\n{} tasks of {} jobs in {} s ({}); {} durations are not known",
            tasks.count,
            tasks.jobs.count,
            short(tasks.last_arrival - tasks.first_arrival),
            time(tasks.last_arrival - tasks.first_arrival),
            tasks.unknown_durations
        );
        let _ =
            writeln!(out, "{} request vectors; devices: {}", tasks.distinct_requests, units(&tasks.devices));
        let rows = tasks.requests.iter().take(SHOWN).map(|vector| {
            let request = amounts(&tasks.devices, &vector.request);
            vec![request, vector.tasks.to_string(), percent(vector.share), percent(vector.coverage)]
        });
        grid(&mut out, &["request", "tasks", "share", "covered"], rows.collect());
    }
    grid(&mut out, &ARRIVALS, arrival_rows(told));
    grid(&mut out, &QUANTILES, quantile_rows(told));
    speeds(&mut out, told);
    out.trim_start().to_owned()
}

fn speeds(out: &mut String, told: &TraceDescription) {
    let Some(speeds) = &told.speeds else { return };
    let _ = writeln!(
        out,
        "\n{} speeds of {} job types on {} servers; {} say that a job cannot run so",
        speeds.samples, speeds.jobs, speeds.servers, speeds.cannot_run
    );
    let rows = speeds.kinds.iter().map(|ratio| {
        let name = format!("{} / {}", ratio.kind, ratio.than);
        vec![name, ratio.jobs.to_string(), short(ratio.min), short(ratio.median), short(ratio.max)]
    });
    grid(out, &["speed of one kind over another's", "jobs", "min", "median", "max"], rows.collect());
    let rows = speeds.sharing.iter().map(|sharing| {
        let share = &sharing.share;
        let over = sharing.over_partners.map_or_else(String::new, short);
        vec![sharing.kind.clone(), short(share.p5), short(share.p50), short(share.p95), over]
    });
    grid(out, &["share of speed left next to another job", "p5", "p50", "p95", "variation"], rows.collect());
    let rows = speeds.by_job.iter().take(2 * SHOWN).map(speed_cells);
    grid(
        out,
        &["job type", "servers", "samples", "mean", "varies in time", "across servers"],
        rows.collect(),
    );
    if speeds.by_job.len() > 2 * SHOWN {
        let _ = writeln!(out, "({} more: --format json has all)", speeds.by_job.len() - 2 * SHOWN);
    }
}
