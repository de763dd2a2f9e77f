//! The result on a terminal: a table within 80 columns, with a curve a policy.

use super::spark;
use crate::{PolicyOutcome, RunOutcome, Spread, seeds_in_words};
use esdp::scenario::Scenario;
use esdp_report::table::duration;
use esdp_report::visible::{self, BEST, FAINT, RESET};

const WIDTH: usize = 80;
const GAP: usize = 2;
/// A longer label is cut: the numbers matter more.
const LONGEST_LABEL: usize = 16;
/// As wide as its heading.
const SHORTEST_CURVE: usize = CURVE.len();
const CURVE: &str = "AOU / slot";
const LONGEST_CURVE: usize = 16;

/// A column: one text a policy, and which of them is the best.
struct Column {
    head: &'static str,
    cells: Vec<String>,
    best: Option<usize>,
}

/// The whole text: what was run, the table, and what is not done.
pub(super) fn render(scenario: &Scenario, outcome: &RunOutcome, colour: bool) -> String {
    let mut text = title(scenario, outcome);
    text.push('\n');
    let columns = columns(outcome);
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let taken = widths.iter().sum::<usize>() + GAP * widths.len();
    let room = WIDTH.saturating_sub(taken).min(LONGEST_CURVE);
    let curves = if room >= SHORTEST_CURVE { curves(&outcome.policies, room) } else { Vec::new() };
    for row in 0..=outcome.policies.len() {
        let mut line = String::new();
        for (position, (column, &width)) in columns.iter().zip(&widths).enumerate() {
            let (cell, best) = column.at(row);
            let pad = " ".repeat(width - cell.chars().count());
            let cell = if best && colour { format!("{BEST}{cell}{RESET}") } else { cell };
            line += &if position == 0 { format!("{cell}{pad}") } else { format!("{:GAP$}{pad}{cell}", "") };
        }
        if !curves.is_empty() {
            let curve = if row == 0 { CURVE } else { &curves[row - 1] };
            line += &format!("{:GAP$}{curve}", "");
        }
        let line = line.trim_end();
        text += &if row == 0 && colour { format!("{FAINT}{line}{RESET}\n") } else { format!("{line}\n") };
    }
    text
}

fn title(scenario: &Scenario, outcome: &RunOutcome) -> String {
    let (done, asked) = (outcome.seeds.len(), outcome.asked.len());
    let of = if done < asked { format!("{done} of {asked}") } else { done.to_string() };
    let seeds = match outcome.seeds.as_slice() {
        [seed] if asked == 1 => format!("seed {seed}"),
        seeds => format!("{of} seeds ({})", shortened(&seeds_in_words(seeds), 24)),
    };
    let rivals = outcome.policies.iter().filter(|policy| !policy.is_oracle()).count();
    let error = if done > 1 { "; mean ± standard error" } else { "" };
    let star = if rivals > 1 { "; * best" } else { "" };
    let name = match scenario.description() {
        "" => scenario.name().to_owned(),
        description => format!("{}: {description}", scenario.name()),
    };
    format!("{}\n{} slots, {seeds}{error}{star}\n", shortened(&name, WIDTH), outcome.slots)
}

fn columns(outcome: &RunOutcome) -> Vec<Column> {
    let policies = &outcome.policies;
    let label = |policy: &PolicyOutcome| shortened(&policy.label, LONGEST_LABEL);
    let time = |policy: &PolicyOutcome| duration(policy.decision_us(0.5));
    let column = |head, spread: fn(&PolicyOutcome) -> Spread, digits: Option<usize>, highest: bool| {
        let spreads: Vec<Spread> = policies.iter().map(spread).collect();
        let best = best(policies, &spreads, highest);
        let digits = digits.unwrap_or_else(|| digits_for(&spreads));
        // Every cell of the column keeps a place for the star, so that digits line up.
        let cell = |(row, spread): (usize, &Spread)| {
            let star = if best == Some(row) { '*' } else { ' ' };
            format!("{}{star}", shown(spread, digits))
        };
        Column { head, cells: spreads.iter().enumerate().map(cell).collect(), best }
    };
    let mut columns =
        vec![Column { head: "policy", cells: policies.iter().map(label).collect(), best: None }];
    columns.push(column("oracle ratio ", PolicyOutcome::oracle_ratio, Some(3), true));
    if policies.iter().all(|policy| policy.completion().is_some()) {
        // Where jobs wait and hold their devices, how soon they are done is what matters.
        let waited =
            |policy: &PolicyOutcome| policy.spread(|summary| summary.jobs.mean_wait().unwrap_or(0.0));
        let p99 = |policy: &PolicyOutcome| {
            policy.completion_within(0.99).map_or_else(String::new, |p| format!("{p:.0}"))
        };
        columns.push(column("JCT, slots ", |policy| policy.completion().expect("all have one"), None, false));
        columns.push(Column { head: "p99", cells: policies.iter().map(p99).collect(), best: None });
        columns.push(column("waiting ", waited, None, false));
    } else {
        columns.push(column("AOU ", PolicyOutcome::aou, None, true));
        columns.push(column("regret ", PolicyOutcome::regret, None, false));
    }
    columns.push(Column { head: "decision", cells: policies.iter().map(time).collect(), best: None });
    columns
}

impl Column {
    fn width(&self) -> usize {
        self.cells
            .iter()
            .map(String::as_str)
            .chain([self.head])
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    }

    /// A cell and whether it is the best; row 0 is the head.
    fn at(&self, row: usize) -> (String, bool) {
        match row.checked_sub(1) {
            None => (self.head.to_owned(), false),
            Some(row) => (self.cells[row].clone(), self.best == Some(row)),
        }
    }
}

/// The best policy of a column; the oracle is no rival, and a single policy beats nobody.
fn best(policies: &[PolicyOutcome], spreads: &[Spread], highest: bool) -> Option<usize> {
    let rivals = || (0..policies.len()).filter(|&at| !policies[at].is_oracle());
    if rivals().count() < 2 {
        return None;
    }
    let worth = |at: usize| if highest { spreads[at].mean } else { -spreads[at].mean };
    rivals().reduce(|best, at| if worth(at) > worth(best) { at } else { best })
}

fn shown(spread: &Spread, digits: usize) -> String {
    match spread.n {
        0 | 1 => format!("{:.digits$}", spread.mean),
        _ => format!("{:.digits$} ± {:.digits$}", spread.mean, spread.stderr),
    }
}

/// Fewer digits for larger numbers: a column stays narrow.
fn digits_for(spreads: &[Spread]) -> usize {
    match spreads.iter().map(|spread| spread.mean.abs()).fold(0.0, f64::max) {
        large if large >= 1000.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 3,
    }
}

/// The average AOU over time of every policy, on one scale.
fn curves(policies: &[PolicyOutcome], width: usize) -> Vec<String> {
    let average =
        |policy: &PolicyOutcome| policy.curve(|point| point.average()).into_iter().map(|point| point.1);
    let all: Vec<Vec<f64>> = policies.iter().map(|policy| average(policy).collect()).collect();
    let values = || all.iter().flatten().copied();
    let range = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    all.iter().map(|values| spark::line(values, width, range)).collect()
}

pub(crate) fn shortened(text: &str, longest: usize) -> String {
    let text = visible::line(text);
    if text.chars().count() <= longest {
        return text;
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contender, Options, simulate};

    fn rendered(seeds: &[u64], policies: &str, slots: u64) -> String {
        let scenario = Scenario::preset("default").unwrap().set("policies", policies).unwrap();
        let outcome =
            simulate(&scenario, &Contender::of(&scenario), slots, seeds, &Options::default()).unwrap();
        render(&scenario, &outcome, false)
    }

    #[test]
    fn it_fits_a_terminal() {
        for text in [rendered(&[0, 1, 2], "oracle,esdp,epsilon-greedy,lcf", 120), rendered(&[3], "esdp", 5)] {
            for line in text.lines() {
                assert!(line.chars().count() <= WIDTH && line == line.trim_end(), "{line}");
            }
        }
        // Millions of slots make wide numbers.
        let wide = Spread { mean: 12_345_678.9, stderr: 123_456.7, n: 10 };
        assert_eq!(shown(&wide, digits_for(&[wide])), "12345679 ± 123457");
    }

    #[test]
    fn the_best_is_marked_and_it_is_not_the_oracle() {
        let text = rendered(&[0, 1], "oracle,esdp,lcf", 200);
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert_eq!(line("esdp").matches('*').count(), 3, "{text}");
        assert!(!line("oracle").contains('*') && !line("lcf").contains('*'), "{text}");
        assert!(line("oracle").contains("1.000 ± 0.000") && line("esdp").contains('▇'), "{text}");
    }

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(shortened("esdp", 4), "esdp");
        assert_eq!(shortened("esdp-paper", 5), "esdp…");
    }
}
