//! The result on a terminal: a table as wide as it may be, with a curve per policy.

use super::tables::paired_aou;
use super::{LoadReport, spark};
use crate::paired::has_too_few_seeds;
use crate::rows::Row;
use crate::{Difference, PolicyOutcome, RunOutcome, Spread, TOO_FEW_SEEDS, leaders, seeds_in_words, verdict};
use esdp::scenario::Scenario;
use esdp::sim::Summary;
use esdp_report::table::{NONE, duration, percent, wrapped};
use esdp_report::visible::{self, BEST, FAINT, RESET};

/// Nothing is wider, however wide the terminal is; files and pipes get this.
pub(super) const WIDTH: usize = 80;
const GAP: usize = 2;
/// A longer label is cut: the numbers matter more.
const LONGEST_LABEL: usize = 16;
/// As wide as its heading.
const SHORTEST_CURVE: usize = CURVE.len();
const CURVE: &str = "AOU / slot";
const QUEUE: &str = "queue";
const LONGEST_CURVE: usize = 16;

const AOU: &str = "AOU: accumulated overall utility";
const PAIRED: &str = "; its ± is that of the difference to the oracle";
const STAR: &str = "*: the best, and all that are not clearly worse seed by seed (95 %)";

/// A column: one text per policy, and which of them are marked.
struct Column {
    head: &'static str,
    cells: Vec<String>,
    marked: Vec<bool>,
    /// Where room is short, the column with the highest goes first; 0 stays.
    spare: u8,
}

/// The whole text: what was run, the table, and what its words mean.
pub(super) fn render(
    scenario: &Scenario,
    outcome: &RunOutcome,
    load: Option<&LoadReport>,
    width: usize,
    colour: bool,
) -> String {
    let width = width.min(WIDTH);
    let mut text = title(scenario, outcome, width);
    if let Some(load) = load {
        text += &(wrapped(&load.sentence(), width) + "\n");
    }
    text.push('\n');
    let columns = fitting(columns(outcome), width);
    let room = width.saturating_sub(taken(&columns)).min(LONGEST_CURVE);
    let curves = if room >= SHORTEST_CURVE { curves(&outcome.policies, room) } else { Vec::new() };
    let head = if has_queues(outcome) { QUEUE } else { CURVE };
    text += &grid(&columns, (head, &curves), colour);
    if has_queues(outcome) {
        text += &format!("\n{}", grid(&fitting(hidden(outcome), width), ("", &[]), colour));
    }
    text + &legend(&columns, outcome, width)
}

/// The rows of a table, each with its curve if there are any.
fn grid(columns: &[Column], (head, curves): (&str, &[String]), colour: bool) -> String {
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let mut text = String::new();
    for row in 0..=columns[0].cells.len() {
        let mut line = String::new();
        for (position, (column, &width)) in columns.iter().zip(&widths).enumerate() {
            let (cell, marked) = column.at(row);
            let pad = " ".repeat(width - cell.chars().count());
            let cell = if marked && colour { format!("{BEST}{cell}{RESET}") } else { cell };
            line += &if position == 0 { format!("{cell}{pad}") } else { format!("{:GAP$}{pad}{cell}", "") };
        }
        if !curves.is_empty() {
            let curve = if row == 0 { head } else { &curves[row - 1] };
            line += &format!("{:GAP$}{curve}", "");
        }
        let line = line.trim_end();
        text += &if row == 0 && colour { format!("{FAINT}{line}{RESET}\n") } else { format!("{line}\n") };
    }
    text
}

/// What the means of a queue hide: the seeds in the middle and at the worst end, and who waits longest.
fn hidden(outcome: &RunOutcome) -> Vec<Column> {
    let rows: Vec<Row> = Row::all(outcome);
    let column = |head, spare, cell: &dyn Fn(&Row) -> String| {
        let cells: Vec<String> = rows.iter().map(cell).collect();
        Column { head, marked: vec![false; cells.len()], cells, spare }
    };
    let slots = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.digits$}"))
    };
    let share = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), percent);
    vec![
        column("policy", 0, &|row| shortened(&row.name, LONGEST_LABEL)),
        column("median seed", 3, &|row| slots(row.jct_median_seed, 1)),
        column("worst seed", 2, &|row| slots(row.jct_worst_seed, 1)),
        column("wait p50", 6, &|row| slots(row.wait_p50, 0)),
        column("longest", 0, &|row| slots(row.wait_max, 0)),
        column("not started", 1, &|row| slots(row.never_started_mean, 1)),
        column("oldest", 1, &|row| slots(row.oldest_waiting, 0)),
        column("reserved", 4, &|row| share(row.lost_to_reservations)),
        column("held", 5, &|row| share(row.lost_to_holds)),
    ]
}

/// Drops columns until the rest fits.
fn fitting(mut columns: Vec<Column>, width: usize) -> Vec<Column> {
    while taken(&columns) > width + GAP {
        let Some(spare) = columns.iter().map(|column| column.spare).max().filter(|&spare| spare > 0) else {
            break;
        };
        columns.retain(|column| column.spare != spare);
    }
    columns
}

/// The width of columns, each with a gap.
fn taken(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width() + GAP).sum()
}

/// What the words and the star mean.
fn legend(columns: &[Column], outcome: &RunOutcome, width: usize) -> String {
    let mut said = Vec::new();
    if columns.iter().any(|column| column.head.starts_with("AOU")) {
        let paired =
            outcome.seeds.len() > 1 && outcome.policies.iter().all(|policy| policy.regret().is_some());
        said.push(format!("{AOU}{}", if paired { PAIRED } else { "" }));
    }
    if columns.iter().any(|column| column.head == TO_ORACLE) {
        said.push(ORACLE.to_owned());
    }
    if has_queues(outcome) {
        said.push(HIDDEN.to_owned());
    }
    if columns.iter().any(|column| column.marked.contains(&true)) {
        said.push(STAR.to_owned());
    } else if has_too_few_seeds(outcome) {
        said.push(TOO_FEW_SEEDS.to_owned());
    }
    said.iter().map(|line| format!("{}\n", wrapped(line, width))).collect()
}

fn title(scenario: &Scenario, outcome: &RunOutcome, width: usize) -> String {
    let (done, asked) = (outcome.seeds.len(), outcome.asked.len());
    let of = if done < asked { format!("{done} of {asked}") } else { done.to_string() };
    let seeds = match outcome.seeds.as_slice() {
        [seed] if asked == 1 => format!("seed {seed}"),
        seeds => format!("{of} seeds ({})", shortened(&seeds_in_words(seeds), 24)),
    };
    let error = if done > 1 { "; mean ± standard error" } else { "" };
    let name = match scenario.description() {
        "" => scenario.name().to_owned(),
        description => format!("{}: {description}", scenario.name()),
    };
    let run = wrapped(&format!("{} slots, {seeds}{error}", outcome.slots), width);
    format!("{}\n{run}\n", shortened(&name, width))
}

fn columns(outcome: &RunOutcome) -> Vec<Column> {
    type Each = fn(&Summary) -> Option<f64>;
    let policies = &outcome.policies;
    let plain =
        |head, cells: Vec<String>, spare| Column { head, marked: vec![false; cells.len()], cells, spare };
    let column = |head, spreads: Vec<Option<Spread>>, each: Each, highest: bool, spare: u8| {
        let digits = if head == RATIO { 3 } else { digits_for(spreads.iter().flatten()) };
        let marked = leaders(policies, each, highest);
        // Every cell of the column keeps a place for the star, so that digits line up.
        let cell = |(spread, &marked): (&Option<Spread>, &bool)| {
            let star = if marked { '*' } else { ' ' };
            format!("{}{star}", spread.map_or_else(|| NONE.to_owned(), |spread| shown(&spread, digits)))
        };
        let cells = spreads.iter().zip(&marked).map(cell).collect();
        spreads.iter().any(Option::is_some).then_some(Column { head, cells, marked, spare })
    };
    let all = |spread: fn(&PolicyOutcome) -> Option<Spread>| policies.iter().map(spread).collect::<Vec<_>>();
    let label = |policy: &PolicyOutcome| shortened(&policy.label, LONGEST_LABEL);
    let mut columns = vec![plain("policy", policies.iter().map(label).collect(), 0)];
    if has_queues(outcome) {
        // Where jobs wait and hold their devices, how soon they are done is what matters.
        let p99 = |policy: &PolicyOutcome| {
            let p99 = policy.slots_within(0.99, |jobs| &jobs.wait);
            p99.map_or_else(|| NONE.to_owned(), |p| format!("{p:.0}"))
        };
        let stability = |policy: &PolicyOutcome| {
            verdict(policy, outcome.slots)
                .map_or_else(|| NONE.to_owned(), |found| found.stability.word().to_owned())
        };
        let waits: Each = |summary| summary.jobs.mean_wait();
        let waited = |policy: &PolicyOutcome| policy.each(|summary| summary.jobs.mean_wait()).map(Spread::of);
        let completion: Each = |summary| summary.jobs.mean_completion();
        columns.extend(column("JCT, slots ", all(PolicyOutcome::completion), completion, false, 0));
        if let Some(oracle) = policies.iter().find(|policy| policy.is_oracle()).and_then(completions) {
            let of = |policy: &PolicyOutcome| match completions(policy) {
                Some(own) => percent_more(&Difference::gain(&own, &oracle).spread),
                None => NONE.to_owned(),
            };
            columns.push(plain(TO_ORACLE, policies.iter().map(of).collect(), 2));
        }
        columns.extend(column("waiting ", all(waited), waits, false, 3));
        columns.push(plain("p99", policies.iter().map(p99).collect(), 4));
        columns.push(plain("stable?", policies.iter().map(stability).collect(), 1));
    } else {
        columns.extend(column(RATIO, all(PolicyOutcome::oracle_ratio), Summary::oracle_ratio, true, 0));
        let aou: Each = |summary| Some(summary.aou);
        columns.extend(column("AOU ", all(|policy| Some(paired_aou(policy))), aou, true, 3));
        columns.extend(column("regret ", all(PolicyOutcome::regret), Summary::regret, false, 2));
    }
    let time = |policy: &PolicyOutcome| duration(policy.decision_us(0.5));
    columns.push(plain("decision", policies.iter().map(time).collect(), 5));
    columns
}

const RATIO: &str = "oracle ratio ";
const TO_ORACLE: &str = "to oracle";
const ORACLE: &str = "JCT: completion, from arrival to end, in slots; to oracle: how much longer than under \
                      the oracle; jobs left over count with the slots they have had";

const HIDDEN: &str = "seeds: the mean JCT of one; longest: the longest wait; not started: jobs that still \
                      waited at the end, and the wait of the oldest; reserved, held: device time that idled \
                      for a job with a reservation, and for jobs that wait for a faster server";

/// Whether jobs wait and hold their devices.
fn has_queues(outcome: &RunOutcome) -> bool {
    outcome.policies.iter().any(|policy| policy.completion().is_some())
}

/// The mean completion time under each seed.
fn completions(policy: &PolicyOutcome) -> Option<Vec<f64>> {
    policy.each(|summary| summary.jobs.mean_completion())
}

/// A share as so many percent more, or less.
fn percent_more(share: &Spread) -> String {
    let error = share.error().map(|error| format!(" ± {:.1}", 100.0 * error)).unwrap_or_default();
    format!("{:+.1}{error} %", 100.0 * share.mean)
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

    /// A cell and whether it is marked; row 0 is the head.
    fn at(&self, row: usize) -> (String, bool) {
        match row.checked_sub(1) {
            None => (self.head.to_owned(), false),
            Some(row) => (self.cells[row].clone(), self.marked[row]),
        }
    }
}

fn shown(spread: &Spread, digits: usize) -> String {
    match spread.error() {
        None => format!("{:.digits$}", spread.mean),
        Some(error) => format!("{:.digits$} ± {error:.digits$}", spread.mean),
    }
}

/// Fewer digits for larger numbers: a column stays narrow.
fn digits_for<'a>(spreads: impl IntoIterator<Item = &'a Spread>) -> usize {
    match spreads.into_iter().map(|spread| spread.mean.abs()).fold(0.0, f64::max) {
        large if large >= 1000.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 3,
    }
}

/// The average AOU over time of every policy, on one scale; the queue length where jobs wait.
fn curves(policies: &[PolicyOutcome], width: usize) -> Vec<String> {
    let average = |policy: &PolicyOutcome| -> Vec<f64> {
        match policy.completion() {
            Some(_) => policy.queue().into_iter().map(|point| point.1.mean).collect(),
            None => policy.curve(|point| point.average()).into_iter().map(|point| point.1).collect(),
        }
    };
    let all: Vec<Vec<f64>> = policies.iter().map(average).collect();
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

    fn rendered(seeds: &[u64], policies: &str, slots: u64, width: usize) -> String {
        let scenario = Scenario::preset("default").unwrap().set("policies", policies).unwrap();
        let outcome =
            simulate(&scenario, &Contender::of(&scenario), slots, seeds, &Options::default()).unwrap();
        render(&scenario, &outcome, None, width, false)
    }

    #[test]
    fn it_fits_a_terminal() {
        let few = ["oracle,esdp,epsilon-greedy,lcf", "esdp"];
        for width in [30, 42, 60, 80, 200] {
            for (seeds, policies, slots) in [(&[0, 1, 2][..], few[0], 120), (&[3], few[1], 5)] {
                let text = rendered(seeds, policies, slots, width);
                for line in text.lines() {
                    assert!(line.chars().count() <= width.min(WIDTH) && line == line.trim_end(), "{text}");
                }
                assert!(text.contains("oracle ratio"), "{text}");
                // The time goes first, then the AOU; what is left is whole.
                assert_eq!(
                    text.contains("decision"),
                    width >= 80 || seeds.len() == 1 && width > 42,
                    "{text}"
                );
            }
        }
        // Millions of slots make wide numbers.
        let wide = Spread { mean: 12_345_678.9, stderr: 123_456.7, n: 10 };
        assert_eq!(shown(&wide, digits_for(&[wide])), "12345679 ± 123457");
    }

    #[test]
    fn the_best_is_marked_and_it_is_not_the_oracle() {
        let text = rendered(&[0, 1, 2, 3, 4], "oracle,esdp,lcf", 200, WIDTH);
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert_eq!(line("esdp").matches('*').count(), 3, "{text}");
        assert!(!line("oracle").contains('*') && !line("lcf").contains('*'), "{text}");
        assert!(line("oracle").contains("1.000 ± 0.000") && line("esdp").contains('▇'), "{text}");
        assert!(text.contains("\n*: the best") && text.contains("\nAOU: accumulated overall utility; its ±"));
        // One seed has no standard error and decides nothing.
        let one = rendered(&[0], "oracle,esdp,lcf", 200, WIDTH);
        assert!(!one.contains('±') && !one.contains('*') && !one.contains("too few"), "{one}");
        // Four have one, and decide nothing either.
        let four = rendered(&[0, 1, 2, 3], "oracle,esdp,lcf", 200, WIDTH);
        assert!(four.contains('±') && !four.contains('*'), "{four}");
        assert!(four.ends_with("\ntoo few seeds to tell policies apart: marks need 5\n"), "{four}");
    }

    #[test]
    fn what_does_not_apply_is_not_a_number() {
        let scenario = Scenario::preset("default").unwrap().set("policies", "esdp,lcf").unwrap();
        let scenario = scenario.set("jobs.held", "true").unwrap().set("jobs.drain", "true").unwrap();
        let outcome =
            simulate(&scenario, &Contender::of(&scenario), 60, &[0, 1], &Options::default()).unwrap();
        let text = render(&scenario, &outcome, None, WIDTH, false);
        assert!(text.contains("JCT, slots") && !text.contains("oracle ratio"), "{text}");
        assert!(!text.contains("to oracle"), "without the oracle: {text}");
        assert!(outcome.policies.iter().all(|policy| policy.oracle_ratio().is_none()));
    }

    #[test]
    fn queues_are_measured_by_completion_and_have_a_verdict() {
        let scenario = crate::verdict::n_model("oracle,esdp,lwtf,random");
        let outcome =
            simulate(&scenario, &Contender::of(&scenario), 6000, &[0, 1, 2, 3, 4], &Options::default())
                .unwrap();
        let load = LoadReport::new(&scenario, &outcome);
        let text = render(&scenario, &outcome, load.as_ref(), WIDTH, false);
        assert!(text.contains("\nload 0.8") && text.contains(" of capacity"), "{text}");
        assert!(!text.contains("oracle ratio") && !text.contains("AOU"), "{text}");
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(line("lwtf").contains(" stable ") && line("oracle").contains(" +0.0 ± 0.0 % "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let narrow = render(&scenario, &outcome, load.as_ref(), 40, false);
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        assert!(narrow.contains("JCT, slots") && narrow.contains("stable?"), "{narrow}");
        let heads = ["median seed", "worst seed", "longest", "not started", "oldest", "reserved", "held"];
        assert!(heads.iter().all(|head| text.contains(head)), "{text}");
        assert!(narrow.contains("longest") && !narrow.contains("median seed"), "{narrow}");
    }

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(shortened("esdp", 4), "esdp");
        assert_eq!(shortened("esdp-paper", 5), "esdp…");
    }
}
