//! Which nodes are slow for which jobs, as a table.

use esdp_report::table::TextTable;
use esdp_serve::engine::ChannelRow;
use std::collections::BTreeMap;

/// How many nodes of a job type are shown, the slowest.
const MOST: usize = 10;

/// The nodes of each job type, the slowest first, as a share of the fastest.
pub(super) fn table(channels: &[ChannelRow]) -> String {
    let mut types: BTreeMap<&str, Vec<&ChannelRow>> = BTreeMap::new();
    for row in channels.iter().filter(|row| row.count > 0.5) {
        types.entry(&row.port).or_default().push(row);
    }
    if types.is_empty() {
        return "No job has reported its speed yet: see `esdp report --help`, or give rules with \
                `reference_seconds`.\n"
            .to_owned();
    }
    let mut table = TextTable::new(&["job type", "node", "speed", "of the fastest", "outcomes"]);
    let mut left = 0;
    for (name, mut rows) in types {
        rows.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let best = rows.last().map_or(0.0, |row| row.mean);
        left += rows.len().saturating_sub(MOST);
        for row in rows.into_iter().take(MOST) {
            let share = if best > 0.0 { format!("{:.0} %", 100.0 * row.mean / best) } else { String::new() };
            let speed = format!("{:.3} {}", row.mean, row.unit);
            table.row([name.to_owned(), row.server.clone(), speed, share, format!("{:.0}", row.count)]);
        }
    }
    let more = if left > 0 {
        format!("{left} faster nodes are not shown; the dashboard has all.\n")
    } else {
        String::new()
    };
    format!("{}{more}\n", table.render())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(server: &str, mean: f64, count: f64) -> ChannelRow {
        ChannelRow {
            port: "2n cpu:4".to_owned(),
            group: "node".to_owned(),
            server: server.to_owned(),
            mean,
            interval: None,
            count,
            pending: 0,
            unit: "work/s",
            estimate: 0.5,
        }
    }

    #[test]
    fn the_slowest_come_first() {
        let text = table(&[row("n0", 10.0, 3.0), row("n1", 4.0, 2.0), row("n2", 1.0, 0.0)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].contains("n1") && lines[1].contains("40 %"), "{text}");
        assert!(lines[2].contains("n0") && lines[2].contains("100 %") && !text.contains("n2"), "{text}");
        assert!(table(&[]).contains("esdp report --help"));
    }
}
