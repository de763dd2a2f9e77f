//! Two varied keys: a heat map per policy, and of the lead of the first policy over the second.

use super::table::policies;
use super::worth::Worth;
use super::{SweepResults, SweepRow, short_names};
use crate::Difference;
use esdp_report::report::{Cell, Column, Section, Table};
use esdp_report::table::NONE;

/// More policies than this have their numbers in the table.
const MOST_POLICIES: usize = 8;
/// Wider maps do not fit a page.
const MOST_COLUMNS: usize = 24;
/// The strongest colour: text must stay readable on it.
const STRONGEST: f64 = 0.5;

/// The section; none but for two keys of several values each.
pub(super) fn section(results: &SweepResults) -> Option<Section> {
    let [down, across] = results.plan().vary.as_slice() else { return None };
    if down.values.len() < 2 || !(2..=MOST_COLUMNS).contains(&across.values.len()) {
        return None;
    }
    let rivals: Vec<&SweepRow> = results.rows().iter().filter(|line| !line.oracle).collect();
    let shown = policies(&rivals);
    let by = Worth::of_lines(&rivals);
    let what = by.name();
    let mut section = Section::new("Heat maps").text(format!(
        "The {what} at every combination: the stronger the colour, the higher. Every map has a scale of its \
         own. Bold: the best of the combination, and all that are not clearly worse seed by seed."
    ));
    for &policy in shown.iter().take(MOST_POLICIES) {
        let worths =
            rivals.iter().filter(|line| line.row.name == policy).filter_map(|line| by.mean(&line.row).0);
        let (low, high) = worths
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), worth| (low.min(worth), high.max(worth)));
        let share = |worth: f64| if high > low { STRONGEST * (worth - low) / (high - low) } else { 0.0 };
        let cell = |line: &&SweepRow| {
            let (worth, digits) = (by.mean(&line.row).0?, by.digits());
            Some(Cell::number(format!("{worth:.digits$}"), worth).heat(share(worth)).best(line.leads))
        };
        section = section.table(map(results, format!("{policy}: {what}"), |lines| {
            let line = lines.iter().find(|line| line.row.name == policy);
            line.and_then(cell).unwrap_or_else(|| Cell::text(NONE))
        }));
    }
    if let [first, second, ..] = shown.as_slice() {
        section = section.table(lead(results, &rivals, (first, second), what));
    }
    Some(section)
}

/// The first policy less the second, seed by seed; what is clear is marked.
fn lead(results: &SweepResults, rivals: &[&SweepRow], (first, second): (&str, &str), what: &str) -> Table {
    let between = |lines: &[&SweepRow]| {
        let of =
            |policy: &str| lines.iter().find(|line| line.row.name == policy).map(|line| line.each.as_slice());
        Some(Difference::between(of(first)?, of(second)?))
    };
    let points = rivals.chunk_by(|one, next| one.point == next.point);
    let most = points.filter_map(between).map(|lead| lead.spread.mean.abs()).fold(0.0, f64::max);
    let digits = if most < 1.0 { 3 } else { 1 };
    let caption = format!(
        "{first} less {second}: {what}, ± standard error seed by seed. Marked: where the difference is clear \
         (95 %)"
    );
    map(results, caption, |lines| match between(lines) {
        None => Cell::text(NONE),
        Some(lead) => {
            let (mean, error) = (lead.spread.mean, lead.spread.error());
            let error = error.map(|error| format!("{error:.digits$}")).unwrap_or_default();
            let share = if most > 0.0 { STRONGEST * mean.max(0.0) / most } else { 0.0 };
            Cell::mean(format!("{mean:+.digits$}"), error, mean)
                .heat(share)
                .best(lead.is_above() || lead.is_below())
        }
    })
}

/// A table of all combinations of the two keys.
fn map(results: &SweepResults, caption: String, cell: impl Fn(&[&SweepRow]) -> Cell) -> Table {
    let (vary, names) = (&results.plan().vary, short_names(&results.plan().vary));
    let heads = vary[1].values.iter().map(|value| Column::number(format!("{} = {value}", names[1])));
    let columns = [Column::text(&names[0]).about(&vary[0].key)].into_iter().chain(heads).collect();
    let mut table = Table::new(caption, columns);
    for down in &vary[0].values {
        let of = |across: &String| {
            let here = |line: &&SweepRow| {
                let at = &results.point(line).at;
                !line.oracle && at[0].1 == *down && at[1].1 == *across
            };
            cell(&results.rows().iter().filter(here).collect::<Vec<_>>())
        };
        table.row([Cell::text(down)].into_iter().chain(vary[1].values.iter().map(of)).collect());
    }
    table
}
