//! The report and the table on a terminal.

use super::catalogue::Entry;
use super::claims::{FIRST, Judged, Tally, Verdict, tallies};
use super::reading::{BASELINES, Margin, Reading, Setting};
use super::scale::Scale;
use crate::provenance;
use esdp::scenario::Scenario;
use esdp::sim::ArrivalSpec;
use esdp_report::figure::Figure;
use esdp_report::report::{Cell, Column, Report, Section, Table};
use esdp_report::table::TextTable;

const TERMS: &str = "esdp-paper is the paper's ESDP as printed, obvious slips fixed; esdp is ours, and \
     esdp-index what is ours without learning across channels. AOU is the accumulated overall utility by \
     true means, so no luck is in it. All policies of a seed meet the same arrivals and speeds, and \
     differences are taken seed by seed. A difference is clear where its 95 % confidence interval (Student's \
     t over the seeds) excludes 0.";

const OPEN: &str = "The paper's text can be read in several ways. HAUF (highest accumulated utility first) \
     may rank ports, or channels one by one; the baselines, which set channels \"in turn until (cons1) can \
     not be satisfied\", may skip what does not fit or stop there; a margin may be the mean of the seeds' \
     ratios or the ratio of the mean AOUs; and in the figure on the servers the capacities may be fixed or \
     grow. Each column is a reading of the baselines; the other two points have rows of their own where they \
     matter.";

/// A figure of the paper with what was drawn of it.
pub(super) struct EntryFigures {
    pub(super) entry: &'static Entry,
    pub(super) figures: Vec<Figure>,
}

/// The page.
pub(super) fn render(
    scale: Scale,
    quick: bool,
    drawn: &[EntryFigures],
    claims: &[Judged],
    scenarios: &[Scenario],
) -> String {
    let size = if quick { "quick: few seeds, short horizons" } else { "full" };
    let seeds = format!(
        "{} ({} where decisions are timed, {} of fleets)",
        scale.seeds, scale.timed_seeds, scale.fleet_seeds
    );
    let mut report = Report::new("esdp reproduce", "The figures and claims of the paper's evaluation")
        .meta("Version", env!("CARGO_PKG_VERSION"))
        .meta("Size", size)
        .meta("Seeds", seeds)
        .meta("Slots", format!("{} over time, {} a point elsewhere", scale.time_slots, scale.slots))
        .section(Section::new("Claims").text(TERMS).text(OPEN).table(table(claims)))
        .section(Section::new("Readings").table(readings(claims)).table(settings(claims)));
    for EntryFigures { entry, figures } in drawn {
        let section =
            Section::new(heading(entry, figures)).text(format!("In the paper: \"{}\".", entry.caption));
        report = report.section(figures.iter().cloned().fold(section, Section::figure));
    }
    // Those from a trace list every arrival: they are among the files only.
    let short = |scenario: &&Scenario| !matches!(scenario.spec().arrivals, ArrivalSpec::List { .. });
    let resolved = scenarios.iter().filter(short).fold(Section::new("Scenarios"), |section, scenario| {
        section.code(format!("{} (TOML)", scenario.name()), scenario.to_toml())
    });
    provenance::page(report.section(resolved))
}

fn heading(entry: &Entry, figures: &[Figure]) -> String {
    figures.first().map_or_else(|| entry.name.to_owned(), |figure| figure.title.clone())
}

fn badge(verdict: Option<Verdict>) -> Cell {
    match verdict {
        Some(verdict @ Verdict::Reproduced) => Cell::good(verdict.text()),
        Some(verdict @ Verdict::NotReproduced) => Cell::bad(verdict.text()),
        Some(verdict) => Cell::neutral(verdict.text()),
        None => Cell::text("–"),
    }
}

/// The readings of a claim's rows: the first, and those of the margin and of the servers that matter.
fn rows(claim: &Judged) -> Vec<Reading> {
    let first = Reading::FIRST;
    let others = [Reading { margin: Margin::RatioOfMeans, ..first }, Reading { growing: true, ..first }];
    let matters = |reading: &Reading| claim.readings.iter().any(|variant| variant.read == *reading);
    std::iter::once(first).chain(others.into_iter().filter(matters)).collect()
}

/// A row's reading with other baselines.
fn with(reading: Reading, (hauf, stop): (esdp::policy::Rank, bool)) -> Reading {
    Reading { hauf, stop, ..reading }
}

/// What was measured in a row, and under other baselines where that changes the verdict.
fn measured(claim: &Judged, row: Reading) -> String {
    let mut text = String::new();
    let mut said = None;
    for baselines in BASELINES {
        let Some((verdict, measured)) = claim.under(with(row, baselines)) else { continue };
        if said.is_none() {
            text.push_str(measured);
        } else if said != Some(verdict) {
            text += &format!(" {}: {measured}", with(row, baselines).baselines());
        }
        said = said.or(Some(verdict));
    }
    text
}

fn table(claims: &[Judged]) -> Table {
    let mut columns = vec![Column::text("Figure"), Column::text("The paper says")];
    let heading = |baselines| with(Reading::FIRST, baselines).baselines();
    columns.extend(BASELINES.map(heading).map(Column::text));
    columns.extend(["We measured", "Rule"].map(Column::text));
    let mut table =
        Table::new("Claims of the evaluation, judged from the data by the rule in the last column", columns);
    for claim in claims {
        for row in rows(claim) {
            let mut said = claim.claim.claim.to_owned();
            if row != Reading::FIRST {
                said += &format!(" ({})", row.words());
            }
            let mut cells = vec![Cell::text(claim.claim.figure), Cell::text(said)];
            let verdicts = BASELINES.map(|baselines| claim.under(with(row, baselines)));
            cells.extend(verdicts.map(|told| badge(told.map(|(verdict, _)| verdict))));
            cells.extend([Cell::text(measured(claim, row)), Cell::text(claim.claim.rule)]);
            table.row(cells);
        }
    }
    table
}

fn readings(claims: &[Judged]) -> Table {
    let columns = ["Reproduced", "Partly", "Not", "Unclear"].map(Column::number);
    let columns = [Column::text("Reading")].into_iter().chain(columns).collect();
    let mut table =
        Table::new("How many claims each reading of the whole evaluation makes true at once", columns);
    for Tally { reading, reproduced, partly, not, unclear } in tallies(claims) {
        let number = |count: usize| Cell::number(count.to_string(), count as f64);
        let mut cells = vec![Cell::text(reading)];
        cells.extend([reproduced, partly, not, unclear].map(number));
        table.row(cells);
    }
    table
}

/// The claims over time in other settings than the first.
fn settings(claims: &[Judged]) -> Table {
    let ranks = [BASELINES[0], BASELINES[1]];
    let mut columns = vec![Column::text("The paper says")];
    for setting in Setting::ALL {
        for baselines in ranks {
            let words = with(Reading::FIRST, baselines).baselines();
            columns.push(Column::text(format!("{}: {words}", setting.words())));
        }
    }
    let mut table = Table::new("Claims over time in other settings", columns);
    for claim in claims {
        let under = |setting, baselines| {
            claim.under(Reading { setting, ..with(Reading::FIRST, baselines) }).map(|(verdict, _)| verdict)
        };
        let cells: Vec<Option<Verdict>> = Setting::ALL
            .into_iter()
            .flat_map(|setting| ranks.map(|baselines| under(setting, baselines)))
            .collect();
        // Claims that are not over time were measured in the first setting only.
        if cells[ranks.len()..].iter().any(Option::is_some) {
            let said = Cell::text(claim.claim.claim);
            table.row(std::iter::once(said).chain(cells.into_iter().map(badge)).collect());
        }
    }
    table
}

/// The claims on a terminal, within 80 columns.
pub(super) fn terminal(claims: &[Judged]) -> String {
    if claims.is_empty() {
        return "The paper makes no claim of what was drawn.\n".to_owned();
    }
    let short = |verdict: Verdict| match verdict {
        Verdict::Reproduced => "yes",
        Verdict::Partly => "part",
        Verdict::NotReproduced => "no",
        Verdict::Unclear => "?",
    };
    let mut table = TextTable::new(&["claim", "measured", "unit", "port", "chan", "stop", "both"]);
    for judged in claims {
        let claim = &judged.claim;
        let digits = if claim.value.abs() < 10.0 { 3 } else { 1 };
        let number = format!("{:.digits$} ± {:.digits$}", claim.value, claim.stderr);
        let verdict = |baselines| {
            let told = judged.under(with(Reading::FIRST, baselines));
            told.map_or("–", |(verdict, _)| short(verdict)).to_owned()
        };
        let [port, channel, stop, both] = BASELINES.map(verdict);
        table.row([claim.id.to_owned(), number, claim.unit.to_owned(), port, channel, stop, both]);
    }
    let mut text = table.render();
    text += "\nport, chan: HAUF ranks ports, or channels; stop, both: the same, and all\n\
             baselines stop at what does not fit. What is measured is under the first;\n\
             other readings are in the report.\n";
    let all = tallies(claims);
    let told = |tally: &Tally| {
        let Tally { reproduced, partly, not, unclear, .. } = tally;
        format!("{reproduced} reproduced, {partly} partly, {not} not, {unclear} unclear")
    };
    if let Some(first) = all.iter().find(|tally| tally.reading == FIRST) {
        text += &format!("\n{}\n", told(first));
    }
    if let Some(best) = all.first().filter(|best| best.reading != FIRST) {
        text += &format!("at best {}:\n{}\n", told(best), best.reading);
    }
    text
}
