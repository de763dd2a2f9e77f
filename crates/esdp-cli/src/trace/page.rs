//! A description as a page.

use super::describe::Document;
use super::table::{
    ARRIVALS, QUANTILES, SEVERAL, amounts, arrival_rows, causes, quantile_rows, short, speed_cells, units,
};
use crate::provenance;
use esdp_report::figure::{Axis, Figure, Series};
use esdp_report::report::{Cell, Column, Report, Section, Table};
use esdp_report::table::percent;
use esdp_trace::summary::TraceDescription;

/// Quantiles that are in `describe.json` and on the terminal only: all of them are wider than the page.
const LEFT_OUT: [&str; 3] = ["p5", "p75", "p90"];

/// The figures: whatever the trace has something for.
pub(super) fn figures(told: &TraceDescription) -> Vec<Figure> {
    let mut figures = Vec::new();
    let points = |curve: &[(f64, f64)]| curve.iter().map(|&(x, y)| (x, y, 0.0)).collect::<Vec<_>>();
    if let Some(tasks) = &told.tasks {
        let hours = tasks.jobs.curve.iter().map(|&(at, jobs)| (at / 3600.0, jobs, 0.0));
        figures.push(
            Figure::new(
                "arrivals",
                "Arrivals",
                Axis::new("time since the first").unit("hours"),
                Axis::new("jobs").unit("per minute").including(0.0),
            )
            .caption("Jobs a minute; the mean over several minutes where the trace is long.")
            .with(Series::line("jobs").points(hours)),
        );
        let names =
            tasks.requests.iter().take(12).map(|vector| {
                vector.request.iter().map(|amount| short(*amount)).collect::<Vec<_>>().join(" / ")
            });
        let shares =
            tasks.requests.iter().take(12).enumerate().map(|(at, vector)| (at as f64, vector.share, 0.0));
        figures.push(
            Figure::new(
                "requests",
                "Request vectors",
                Axis::categories(tasks.devices.join(" / "), names),
                Axis::new("share of tasks").including(0.0),
            )
            .caption(format!(
                "The most frequent of {}, by {}.",
                tasks.distinct_requests,
                units(&tasks.devices)
            ))
            .with(Series::bars("tasks").points(shares)),
        );
        if !tasks.curve.is_empty() {
            figures.push(
                Figure::new(
                    "durations",
                    "Durations",
                    Axis::new("duration").unit("seconds").log(),
                    Axis::new("share of tasks that end by then").including(0.0).including(1.0),
                )
                .with(Series::line("tasks").points(points(&tasks.curve))),
            );
        }
    }
    if let Some(instances) = told.instances.as_ref().filter(|instances| !instances.curve.is_empty()) {
        figures.push(
            Figure::new(
                "relative-speed",
                "Speed of instances",
                Axis::new("speed relative to the task's median").log(),
                Axis::new("share of instances that are slower").including(0.0).including(1.0),
            )
            .caption(
                "Tasks of at least 10 instances with a median of at least 5 s; the first 64 instances \
                      of each.",
            )
            .with(Series::line("instances").points(points(&instances.curve))),
        );
    }
    if let Some(speeds) = told.speeds.as_ref().filter(|speeds| !speeds.kinds.is_empty()) {
        let names: Vec<&str> = speeds.kinds.iter().map(|ratio| ratio.kind.as_str()).collect();
        let series = |name: &str, value: fn(&esdp_trace::summary::KindRatio) -> f64| {
            let values = speeds.kinds.iter().enumerate().map(|(at, ratio)| (at as f64, value(ratio), 0.0));
            Series::bars(name).points(values.collect::<Vec<_>>())
        };
        figures.push(
            Figure::new(
                "kinds",
                "Kinds of server",
                Axis::categories("kind", names),
                Axis::new(format!("speed / {}'s", speeds.kinds[0].than)).including(0.0),
            )
            .caption("Over job types, each on one device.")
            .with(series("slowest job type", |ratio| ratio.min))
            .with(series("median", |ratio| ratio.median))
            .with(series("fastest job type", |ratio| ratio.max)),
        );
    }
    figures
}

fn grid(caption: impl Into<String>, head: &[&str], rows: Vec<Vec<String>>) -> Table {
    let column =
        |(at, name): (usize, &&str)| if at == 0 { Column::text(*name) } else { Column::number(*name) };
    let mut table = Table::new(caption, head.iter().enumerate().map(column).collect());
    rows.into_iter().for_each(|row| table.row(row.into_iter().map(Cell::text).collect()));
    table
}

/// The page.
pub(super) fn render(document: &Document, names: &str, figures: &[Figure]) -> String {
    let told = &document.told;
    let mut report = Report::new("esdp trace", names).meta("Version", env!("CARGO_PKG_VERSION"));
    if let Some(tasks) = &told.tasks {
        report = report
            .meta("Jobs", tasks.jobs.count.to_string())
            .meta("Tasks", tasks.count.to_string())
            .meta("Hours", short((tasks.last_arrival - tasks.first_arrival) / 3600.0));
    }
    if let Some(machines) = &told.machines {
        report = report.meta("Machines", machines.count.to_string());
    }
    if let Some(speeds) = &told.speeds {
        report = report.meta("Speed samples", speeds.samples.to_string());
    }
    let mut section = Section::new("Distributions");
    let (arrivals, quantiles) = (arrival_rows(told), quantile_rows(told));
    if !arrivals.is_empty() {
        section =
            section.table(grid("Arrivals; a Poisson process has a variance/mean of 1", &ARRIVALS, arrivals));
    }
    if !quantiles.is_empty() {
        let shown: Vec<usize> =
            (0..QUANTILES.len()).filter(|at| !LEFT_OUT.contains(&QUANTILES[*at])).collect();
        let head: Vec<&str> = shown.iter().map(|at| QUANTILES[*at]).collect();
        let cells = |row: Vec<String>| shown.iter().map(|at| row[*at].clone()).collect();
        let rows = quantiles.into_iter().map(cells).collect();
        section = section.table(grid("Quantiles, within 1 %", &head, rows));
    }
    section = figures.iter().fold(section, |section, figure| section.figure(figure.clone()));
    report = report.section(section);
    if let Some(tasks) = &told.tasks {
        let rows = tasks.requests.iter().map(|vector| {
            let request = amounts(&tasks.devices, &vector.request);
            vec![
                request,
                vector.tasks.to_string(),
                vector.instances.to_string(),
                percent(vector.share),
                percent(vector.coverage),
            ]
        });
        let caption = format!("The most frequent of {}; {}", tasks.distinct_requests, units(&tasks.devices));
        let head = ["Request of an instance", "Tasks", "Instances", "Share", "Covered"];
        report = report.section(Section::new("Requests").table(grid(caption, &head, rows.collect())));
    }
    if let Some(machines) = &told.machines {
        let rows = machines.shapes.iter().map(|shape| {
            vec![amounts(&machines.devices, &shape.capacity), shape.kind.clone(), shape.machines.to_string()]
        });
        let caption = format!("{} machines; {}", machines.count, units(&machines.devices));
        let table = grid(caption, &["Shape", "Kind", "Machines"], rows.collect());
        report = report.section(Section::new("Machines").table(table));
    }
    if let Some(speeds) = &told.speeds {
        let rows = speeds.by_job.iter().take(200).map(speed_cells);
        let head = ["Job type", "Servers", "Samples", "Mean speed", "Varies in time", "Across servers"];
        let caption = "Variation is the coefficient of variation";
        report = report.section(Section::new("Speeds").table(grid(caption, &head, rows.collect())));
    }
    provenance::page(report.section(rows_section(document)))
}

fn rows_section(document: &Document) -> Section {
    let files = document.files.iter().map(|file| {
        let numbers = [file.rows, file.clean, file.repaired, file.skipped, file.set_aside]
            .map(|count| count.to_string());
        [format!("{} ({})", file.title(), file.format)].into_iter().chain(numbers).collect()
    });
    let head = ["File", "Rows", "Clean", "Repaired", "Skipped", "Set aside"];
    let section = Section::new("Rows").table(grid("What became of the rows", &head, files.collect()));
    let causes = causes(document).map(|(file, cause)| {
        let place =
            format!("line {}, column {}: {}", cause.first_line, cause.first_column, cause.first_value);
        vec![cause.words.to_owned(), cause.count.to_string(), cause.rule.to_owned(), file.title(), place]
    });
    let causes: Vec<Vec<String>> = causes.collect();
    if causes.is_empty() {
        return section;
    }
    section.text(SEVERAL).table(grid(
        "Not as it should be",
        &["What", "Rows", "Rule", "File", "First"],
        causes,
    ))
}
