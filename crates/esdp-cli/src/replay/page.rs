//! The result as a page: first what was assumed, measured and gained, and how sure that is.

use super::play::Runs;
use super::told::{Told, longer};
use crate::provenance;
use esdp_report::figure::Figure;
use esdp_report::report::{Cell, Column, Report, Section, Table};
use esdp_trace::replay::{Played, time};

/// The page.
pub(super) fn render(played: &Played, told: &Told, runs: &Runs, figures: &[Figure]) -> String {
    let mut report = Report::new("esdp replay", told.headline.join(" "))
        .meta("Version", env!("CARGO_PKG_VERSION"))
        .meta("Jobs", played.jobs.len().to_string())
        .meta("Servers", played.servers.len().to_string())
        .meta("Slot", time(played.window.slot));
    let mut first = Section::new("The answer");
    for (head, sentences) in [
        ("Assumed", &told.assumed),
        ("Measured", &told.measured),
        ("Gained", &told.gained),
        ("How sure", &told.sure),
    ] {
        if !sentences.is_empty() {
            first = first.text(format!("{head}: {}", sentences.join(" ")));
        }
    }
    for (name, compared) in &told.answers {
        let caption = match name.as_str() {
            "" => format!("The same {} jobs under every policy", compared.jobs),
            name => format!("The same {} jobs; fastest over slowest server: {name}", compared.jobs),
        };
        let against = format!("Against {}", told.labels[told.base]);
        let columns = ["Completion", &against, "95 % interval", "Wait", "Wait p99", "Slowdown", "Busy"];
        let columns = columns.map(Column::number).into_iter();
        let mut table = Table::new(caption, [Column::text("Policy")].into_iter().chain(columns).collect());
        for (at, label) in told.labels.iter().enumerate() {
            let row = &compared.rows[at];
            let gain = compared.gain(at, told.base);
            let (shorter, interval) = match (at == told.base, gain.interval) {
                (true, _) => (String::new(), String::new()),
                (_, None) => (format!("{} %", longer(gain.percent)), String::new()),
                (_, Some((low, high))) => {
                    let interval = format!("{} to {} %", longer(high), longer(low));
                    (format!("{} %", longer(gain.percent)), interval)
                }
            };
            let cells = [
                label.clone(),
                time(row.completion),
                shorter,
                interval,
                time(row.wait),
                time(row.wait_p99),
                format!("{:.2}", row.slowdown),
                format!("{:.0} %", 100.0 * row.utilisation),
            ];
            table.row(cells.into_iter().map(Cell::text).collect());
        }
        first = first.table(table);
    }
    report = report.section(first);
    let pictures =
        figures.iter().fold(Section::new("Pictures"), |section, figure| section.figure(figure.clone()));
    provenance::page(report.section(pictures).section(places(played, runs)).section(jobs(played)))
}

/// Who ran where: by job type and kind of server, for each policy.
fn places(played: &Played, runs: &Runs) -> Section {
    let mut section =
        Section::new("Who ran where").text("Shares of the tasks of a type by kind of server, all seeds.");
    let Some(answer) = runs.runs.last() else { return section };
    for (policy, label) in runs.labels.iter().enumerate() {
        let columns = [Column::text("Job type")].into_iter().chain(runs.kinds.iter().map(Column::number));
        let mut table = Table::new(label.clone(), columns.collect());
        for (kind, sort) in played.types.iter().enumerate() {
            let mut counts = vec![0.0_f64; runs.kinds.len()];
            for run in answer.iter().map(|seed| &seed[policy]) {
                let own = played.jobs.iter().zip(&run.done).filter(|(job, _)| job.kind == kind);
                for server in own.filter_map(|(_, done)| done.as_ref()).flat_map(|done| &done.servers) {
                    let name = played.servers[*server as usize].sort();
                    if let Some(at) = runs.kinds.iter().position(|kind| kind == name) {
                        counts[at] += 1.0;
                    }
                }
            }
            let all = counts.iter().sum::<f64>().max(1.0);
            let shares = counts.iter().map(|count| format!("{:.0} %", 100.0 * count / all));
            table.row([sort.words.clone()].into_iter().chain(shares).map(Cell::text).collect());
        }
        section = section.table(table);
    }
    section
}

fn jobs(played: &Played) -> Section {
    let columns =
        vec![Column::text("Job type"), Column::number("Jobs"), Column::number("Servers that may run it")];
    let mut table = Table::new("Job types", columns);
    for sort in &played.types {
        let cells = [sort.words.clone(), sort.jobs.to_string(), sort.servers.len().to_string()];
        table.row(cells.into_iter().map(Cell::text).collect());
    }
    Section::new("Jobs").text(played.words()).table(table)
}
