//! The result of a sweep on a terminal: the oracle ratio, one line per point, one column per policy.

use super::{SweepResults, SweepRow};
use crate::results::shortened;
use esdp_report::table::TextTable;

const WIDTH: usize = 80;
const LONGEST_POINT: usize = 36;

/// The table; policies that do not fit beside each other go below.
pub(super) fn render(results: &SweepResults) -> String {
    let rivals: Vec<&SweepRow> = results.rows().iter().filter(|line| !line.oracle).collect();
    let mut policies: Vec<&str> = Vec::new();
    for line in &rivals {
        if !policies.contains(&line.row.name.as_str()) {
            policies.push(&line.row.name);
        }
    }
    let points: Vec<&[&SweepRow]> = rivals.chunk_by(|one, next| one.point == next.point).collect();
    let names: Vec<String> =
        points.iter().map(|lines| shortened(&results.place(lines[0]), LONGEST_POINT)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(5);
    let mut text = String::from("oracle ratio, mean over the seeds; * best of the point\n");
    for policies in blocks(&policies, WIDTH - widest) {
        let header: Vec<&str> = ["point"].into_iter().chain(policies.iter().copied()).collect();
        let mut table = TextTable::new(&header);
        for (lines, name) in points.iter().zip(&names) {
            let cells = policies.iter().map(|policy| cell(lines, policy));
            table.row([name.clone()].into_iter().chain(cells));
        }
        text += &format!("\n{}", table.render());
    }
    text
}

/// As many policies side by side as fit.
fn blocks<'a>(policies: &[&'a str], width: usize) -> Vec<Vec<&'a str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut taken = usize::MAX;
    for policy in policies {
        let needed = policy.chars().count().max(6) + 2;
        match blocks.last_mut() {
            Some(block) if taken.saturating_add(needed) <= width => {
                block.push(policy);
                taken += needed;
            }
            _ => {
                blocks.push(vec![policy]);
                taken = needed;
            }
        }
    }
    blocks
}

/// The number of a policy among the lines of a point.
fn cell(lines: &[&SweepRow], policy: &str) -> String {
    let ratio = |line: &&SweepRow| line.row.oracle_ratio_mean;
    let Some(line) = lines.iter().find(|line| line.row.name == policy) else { return "-".to_owned() };
    let best = lines.iter().map(ratio).fold(f64::NEG_INFINITY, f64::max);
    let star = if lines.len() > 1 && ratio(line) == best { '*' } else { ' ' };
    format!("{:.3}{star}", ratio(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_go_below_each_other_when_they_must() {
        assert_eq!(blocks(&["esdp", "cts", "esdp-paper"], 20), [vec!["esdp", "cts"], vec!["esdp-paper"]]);
        assert_eq!(blocks(&["a-name-that-is-too-long"], 5).len(), 1);
        assert!(blocks(&[], 20).is_empty());
    }
}
