//! Which servers are fast for which jobs, as learned: a few lines for a terminal.

use super::learned::{LearnedServer, learners, ranked};
use super::table::shortened;
use crate::RunOutcome;
use esdp::model::{Cluster, PortId};
use esdp_report::table::wrapped;

/// So many ports at most, those with the most uses; all are in `estimates.csv`.
const MOST_PORTS: usize = 5;
const LONGEST_PORT: usize = 12;
const LONGEST_SERVER: usize = 12;

const AGED: &str = "servers with enough outcomes; no \u{b1} covers a change that few uses saw";

/// A port with its fastest and its slowest server.
struct Line {
    port: String,
    ends: [[String; 3]; 2],
    uses: u64,
}

/// The fastest and the slowest server for each port, as the first policy that learns knows them under the
/// first seed, in at most 8 lines of 80 columns; empty if there is none such.
pub(super) fn lines(outcome: &RunOutcome, cluster: &Cluster) -> String {
    let Some(policy) = learners(outcome).next() else { return String::new() };
    let told = |port: usize| {
        let servers = ranked(&policy.runs[0], cluster, Some(PortId::at(port)));
        let [fast, .., slow] = servers.as_slice() else { return None };
        let uses = servers.iter().map(|server| server.uses).sum();
        let port = shortened(&cluster.ports()[port], LONGEST_PORT);
        Some(Line { port, ends: [cells(fast), cells(slow)], uses })
    };
    let mut ports: Vec<Line> = (0..cluster.ports().len()).filter_map(told).collect();
    if ports.is_empty() {
        return String::new();
    }
    let mut most: Vec<u64> = ports.iter().map(|line| line.uses).collect();
    most.sort_unstable_by(|one, other| other.cmp(one));
    let (all, least) = (ports.len(), most[most.len().min(MOST_PORTS) - 1]);
    ports.retain(|line| line.uses >= least);
    ports.truncate(MOST_PORTS);
    let head = format!(
        "learned by {} (seed {}), in multiples of the usual speed, \u{b1} 95 %:\n",
        shortened(&policy.label, 16),
        outcome.seeds[0]
    );
    let more = if all > ports.len() { format!("; {} more ports", all - ports.len()) } else { String::new() };
    head + &rows(&ports) + &wrapped(&format!("{AGED}{more}; all: estimates.csv"), 80) + "\n"
}

/// The name, the learned multiple with its interval, the truth.
fn cells(server: &LearnedServer) -> [String; 3] {
    let LearnedServer { name, factor, interval: (_, high), truth, .. } = server;
    let reach = high - factor;
    // Beyond this the interval says no more than that nothing is known.
    let reach = if reach < 9.995 { format!("{reach:.2}") } else { "?".to_owned() };
    [shortened(name, LONGEST_SERVER), format!("{factor:.2} \u{b1} {reach}"), format!("{truth:.2}")]
}

fn rows(ports: &[Line]) -> String {
    let head = Line {
        port: "port".to_owned(),
        ends: ["fastest", "slowest"].map(|end| [end, "learned", "true"].map(str::to_owned)),
        uses: 0,
    };
    let all: Vec<&Line> = std::iter::once(&head).chain(ports).collect();
    let wide = |cell: &dyn Fn(&Line) -> usize| all.iter().map(|line| cell(line)).max().unwrap_or(0);
    let port = wide(&|line| line.port.chars().count());
    let width = |end: usize, cell: usize| wide(&|line| line.ends[end][cell].chars().count());
    let line = |line: &&Line| {
        let mut text = format!("{:<port$}", line.port);
        for (end, cells) in line.ends.iter().enumerate() {
            let [name, learned, truth] = cells;
            let [a, b, c] = [0, 1, 2].map(|cell| width(end, cell));
            text += &format!("  {name:<a$}  {learned:>b$}  {truth:>c$}");
        }
        text.trim_end().to_owned() + "\n"
    };
    all.iter().map(line).collect()
}
