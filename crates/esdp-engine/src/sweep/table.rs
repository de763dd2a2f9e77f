//! The result of a sweep on a terminal: one line per point, a column per key and per policy.

use super::worth::Worth;
use super::{SweepResults, SweepRow, short_names};
use crate::TOO_FEW_SEEDS;
use crate::results::shortened;
use esdp_report::table::{NONE, TextTable, wrapped};

/// Nothing is wider, however wide the terminal is; files and pipes get this.
pub(super) const WIDTH: usize = 80;
const LONGEST_VALUE: usize = 24;

/// The table; policies that do not fit beside each other go below.
pub(super) fn render(results: &SweepResults, width: usize) -> String {
    let width = width.min(WIDTH);
    let rivals: Vec<&SweepRow> = results.rows().iter().filter(|line| !line.oracle).collect();
    let policies = policies(&rivals);
    let points: Vec<&[&SweepRow]> = rivals.chunk_by(|one, next| one.point == next.point).collect();
    let keys = short_names(&results.plan().vary);
    let values: Vec<Vec<String>> = points.iter().map(|lines| values(results, lines[0])).collect();
    let wide = |at: usize| values.iter().map(|values| values[at].chars().count()).max().unwrap_or(0);
    let taken: usize = keys.iter().enumerate().map(|(at, key)| wide(at).max(key.chars().count()) + 2).sum();
    let worth = Worth::of_lines(&rivals);
    let mut text = wrapped(&headline(worth, &rivals), width) + "\n";
    let cells = |policy: &str| -> Vec<String> {
        let of = |lines: &&[&SweepRow]| {
            let line = lines.iter().find(|line| line.row.name == policy);
            line.map_or_else(|| NONE.to_owned(), |line| cell(line, worth))
        };
        points.iter().map(of).collect()
    };
    let columns: Vec<PolicyColumn<'_>> = policies.iter().map(|&policy| (policy, cells(policy))).collect();
    for block in blocks(&columns, width.saturating_sub(taken)) {
        let header: Vec<&str> =
            keys.iter().map(String::as_str).chain(block.iter().map(|column| column.0)).collect();
        let mut table = TextTable::new(&header);
        for (at, values) in values.iter().enumerate() {
            table.row(values.iter().cloned().chain(block.iter().map(|column| column.1[at].clone())));
        }
        text += &format!("\n{}", table.render());
    }
    text
}

fn headline(worth: Worth, rivals: &[&SweepRow]) -> String {
    let what = match worth {
        Worth::OracleRatio => "oracle ratio",
        Worth::Aou => "AOU (accumulated overall utility)",
        Worth::Completion => {
            "mean completion time in slots, ! if the queue grows, ? if the run does not tell"
        }
    };
    let errors = rivals.iter().any(|line| line.row.aou_stderr.is_some());
    let how = if errors { ", mean ± standard error over the seeds" } else { ", one seed" };
    let star = match rivals.iter().any(|line| line.leads) {
        true => "; *: the best of the point, and all that are not clearly worse seed by seed".to_owned(),
        false if rivals.iter().all(|line| line.is_of_few_seeds()) && policies(rivals).len() > 1 => {
            format!("; {TOO_FEW_SEEDS}")
        }
        false => String::new(),
    };
    format!("{what}{how}{star}")
}

/// The policies of some lines, in the order in which they come.
pub(super) fn policies<'a>(lines: &[&'a SweepRow]) -> Vec<&'a str> {
    let mut policies: Vec<&str> = Vec::new();
    for line in lines {
        if !policies.contains(&line.row.name.as_str()) {
            policies.push(&line.row.name);
        }
    }
    policies
}

/// The values of the keys at a line's point.
fn values(results: &SweepResults, line: &SweepRow) -> Vec<String> {
    results.point(line).at.iter().map(|(_, value)| shortened(value, LONGEST_VALUE)).collect()
}

/// A policy and its cells.
type PolicyColumn<'a> = (&'a str, Vec<String>);

/// As many policies side by side as fit.
fn blocks<'a, 'b>(columns: &'a [PolicyColumn<'b>], width: usize) -> Vec<Vec<&'a PolicyColumn<'b>>> {
    let mut blocks: Vec<Vec<&PolicyColumn<'_>>> = Vec::new();
    let mut taken = usize::MAX;
    for column in columns {
        let cells = column.1.iter().map(String::as_str).chain([column.0]);
        let needed = cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
        match blocks.last_mut() {
            Some(block) if taken.saturating_add(needed) <= width => {
                block.push(column);
                taken += needed;
            }
            _ => {
                blocks.push(vec![column]);
                taken = needed;
            }
        }
    }
    blocks
}

/// The number of a policy at a point.
fn cell(line: &SweepRow, worth: Worth) -> String {
    let ((mean, error), digits) = (worth.mean(&line.row), worth.digits());
    let Some(mean) = mean else { return NONE.to_owned() };
    let error = error.map(|error| format!(" ± {error:.digits$}")).unwrap_or_default();
    let queue = match (line.row.queue, line.row.unstable) {
        (None, _) => "",
        (_, Some(true)) => "!",
        (_, None) => "?",
        (_, Some(false)) => " ",
    };
    format!("{mean:.digits$}{error}{queue}{}", if line.leads { '*' } else { ' ' })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runner;
    use esdp::scenario::Scenario;

    #[test]
    fn the_best_of_a_point_is_marked_seed_by_seed() {
        let runner = |seeds: u64| {
            let runner = Runner::new(Scenario::preset("default").unwrap());
            let runner = runner.policies(["oracle", "lcf", "esdp"]).unwrap().slots(60).unwrap();
            let vary = ["arrivals.rho=0.5,1", "speeds.deviation=0.1"].map(|vary| vary.parse().unwrap());
            runner.seeds(0, seeds).unwrap().sweep(vary.to_vec()).unwrap().table_within(60)
        };
        let text = runner(6);
        let words = text.replace('\n', " ");
        assert!(words.contains("*: the best of the point"), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with(['0', '1'])).collect();
        assert_eq!(rows.len(), 2, "{text}");
        assert!(rows.iter().all(|row| row.ends_with('*') && row.matches('*').count() == 1), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        // One seed has no standard error, and nobody is best.
        let one = runner(1);
        assert!(one.starts_with("oracle ratio, one seed\n") && !one.contains(['±', '*']), "{one}");
        let few = runner(3).replace('\n', " ");
        assert!(few.contains("tell policies apart: marks need 5") && !few.contains('*'), "{few}");
    }

    #[test]
    fn policies_go_below_each_other_when_they_must() {
        let column = |name: &'static str| (name, vec!["0.9".to_owned()]);
        let names = |width: usize, columns: &[(&str, Vec<String>)]| -> Vec<Vec<String>> {
            let blocks = blocks(columns, width);
            blocks.iter().map(|block| block.iter().map(|column| column.0.to_owned()).collect()).collect()
        };
        let columns = ["esdp", "cts", "esdp-paper"].map(column);
        assert_eq!(names(20, &columns), [vec!["esdp", "cts"], vec!["esdp-paper"]]);
        assert_eq!(names(5, &[column("a-name-that-is-too-long")]).len(), 1);
        assert!(names(20, &[]).is_empty());
    }
}
