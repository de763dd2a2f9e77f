//! The report and the table on a terminal.

use super::catalogue::Entry;
use super::claims::{Claim, Verdict};
use super::source::Scale;
use esdp::scenario::Scenario;
use esdp_report::figure::Figure;
use esdp_report::report::{Cell, Column, Report, Section, Table};

const TERMS: &str = "esdp-paper is the paper's ESDP as printed, obvious slips fixed; esdp is ours. AOU is \
                     the \
     accumulated overall utility by true means, so no luck is in it. All policies of a seed meet the same \
     arrivals and \
     speeds, and differences are taken seed by seed. A difference is clear where its 95 % confidence \
     interval \
     (Student's t over the seeds) excludes 0.";

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
    claims: &[Claim],
    scenarios: &[Scenario],
) -> String {
    let size = if quick { "quick: few seeds, short horizons" } else { "full" };
    let mut report = Report::new("esdp reproduce", "The figures and claims of the paper's evaluation")
        .meta("Version", env!("CARGO_PKG_VERSION"))
        .meta("Size", size)
        .meta(
            "Seeds",
            format!(
                "{} ({} where decisions are timed, {} of fleets)",
                scale.seeds, scale.timed_seeds, scale.fleet_seeds
            ),
        )
        .meta("Slots", format!("{} over time, {} a point elsewhere", scale.time_slots, scale.slots))
        .section(Section::new("Claims").text(TERMS).table(table(claims)));
    for EntryFigures { entry, figures } in drawn {
        let section =
            Section::new(heading(entry, figures)).text(format!("In the paper: \"{}\".", entry.caption));
        report = report.section(figures.iter().cloned().fold(section, Section::figure));
    }
    let resolved = scenarios.iter().fold(Section::new("Scenarios"), |section, scenario| {
        section.code(format!("{} (TOML)", scenario.name()), scenario.to_toml())
    });
    report.section(resolved).render()
}

fn heading(entry: &Entry, figures: &[Figure]) -> String {
    figures.first().map_or_else(|| entry.name.to_owned(), |figure| figure.title.clone())
}

fn table(claims: &[Claim]) -> Table {
    let columns = ["Figure", "Verdict", "The paper says", "We measured", "Rule"].map(Column::text);
    let mut table =
        Table::new("Claims of the evaluation, judged from the data by the rule beside them", columns.into());
    for claim in claims {
        let verdict = match claim.verdict {
            Verdict::Reproduced => Cell::good(claim.verdict.text()),
            Verdict::NotReproduced => Cell::bad(claim.verdict.text()),
            Verdict::Partly | Verdict::Unclear => Cell::neutral(claim.verdict.text()),
        };
        let [claimed, measured, rule] = [claim.claim, &claim.measured, claim.rule].map(Cell::text);
        table.row(vec![Cell::text(claim.figure), verdict, claimed, measured, rule]);
    }
    table
}

/// The claims on a terminal, within 80 columns.
pub(super) fn terminal(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return "The paper makes no claim of what was drawn.\n".to_owned();
    }
    let mut table = esdp_report::table::TextTable::new(&["claim", "measured", "unit", "verdict"]);
    for claim in claims {
        let digits = if claim.value.abs() < 10.0 { 3 } else { 1 };
        let measured = format!("{:.digits$} ± {:.digits$}", claim.value, claim.stderr);
        table.row([claim.id.to_owned(), measured, claim.unit.to_owned(), claim.verdict.text().to_owned()]);
    }
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let [good, partly] = [Verdict::Reproduced, Verdict::Partly].map(count);
    let [bad, open] = [Verdict::NotReproduced, Verdict::Unclear].map(count);
    format!("{}\n{good} reproduced, {partly} partly, {bad} not, {open} unclear\n", table.render())
}
