//! `esdp trace speeds`: how fast nodes are relative to each other, from accounting alone.

use super::input::InputArgs;
use crate::output::{self, OutputFormat};
use crate::{files, provenance};
use anyhow::{Context, bail};
use clap::Args;
use esdp_report::csv;
use esdp_report::table::TextTable;
use esdp_trace::relative::{Cells, NodeSpeed, NodeSpeeds};
use serde_json::json;
use std::path::PathBuf;

const DETAILS: &str = r#"The same user's job of the same name, request and partition, on different
nodes, shows how fast they are: the logarithm of its duration is a level for the job, less that of
the node, plus noise. Nodes of which little is known are drawn towards the mean. Each speed is
relative to the mean of the nodes that jobs join it with, and has a 95 % interval. Jobs on several
nodes, without a name, that did not complete or took less than 10 s do not count.

The file of -o has the columns job (`*`: all jobs), server, speed, low, high, jobs, keys, and is a
speed table: `esdp replay` takes it. If the data do not suffice, low and high are empty. `esdp
replay` estimates the same by itself where the accounting is among its files, and then also plays
the errors of the estimates.

Examples:
  sacct -aPX -S now-30days \
    -o JobID,User,JobName,Partition,Submit,Start,Elapsed,State,NodeList,ReqTRES > month.txt
  esdp trace speeds month.txt -o speeds.csv
  esdp trace speeds --format json month.txt"#;

/// Estimates how fast nodes are, from the jobs that repeat.
#[derive(Debug, Args)]
#[command(
    after_long_help = DETAILS,
    after_help = "See `esdp trace speeds --help` for the method and examples."
)]
pub(super) struct SpeedsArgs {
    #[command(flatten)]
    input: InputArgs,
    /// A speed table to write; `-` is standard output
    // Its name of old stays, for scripts.
    #[arg(short, long, alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

pub(super) fn run(args: &SpeedsArgs) -> anyhow::Result<()> {
    let mut cells = Cells::default();
    args.input.read(&mut cells)?;
    let Some(speeds) = cells.estimate() else {
        bail!(
            "{}: no job of the same user, name and request completed on two nodes, so nothing shows their \
             speeds; \
             accounting needs User, JobName and NodeList",
            args.input.names()
        );
    };
    if let Some(path) = &args.out {
        files::write(path, table(&speeds)).with_context(|| files::cannot(path))?;
        if files::is_stdout(path) {
            return Ok(());
        }
    }
    match args.format {
        OutputFormat::Json => output::print_json(&provenance::stamped(&document(&speeds))),
        OutputFormat::Table => {
            let wrote = args.out.as_ref().map(|path| format!("\nSpeed table: {}\n", path.display()));
            output::print(&(text(&speeds) + &wrote.unwrap_or_default()))
        }
    }
}

/// What the estimates are, in sentences.
fn sentences(speeds: &NodeSpeeds) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut sentences = vec![format!(
        "{} of {} jobs tell of {} nodes. Nodes differ by {} (standard deviation), the same job on the same \
         node by \
             {}, jobs in which nodes they like by {}.",
        speeds.used,
        speeds.seen,
        speeds.nodes.len(),
        percent(speeds.spread),
        percent(speeds.residual),
        percent(speeds.interaction)
    )];
    let apart = speeds.nodes.iter().filter(|node| node.low > 1.0 || node.high < 1.0).count();
    sentences.push(match (speeds.tells(), apart) {
        (false, _) if speeds.is_few() => {
            "The data do not suffice: with so few jobs it is unknown how much durations vary.".to_owned()
        }
        (false, _) => format!(
            "The data do not suffice: the median node's speed is known to {} only, against {} by which nodes \
             seem to differ.",
            percent(speeds.typical_error),
            percent(speeds.spread)
        ),
        (true, 0) => {
            "No node differs clearly from the mean: as far as the jobs show, they are alike.".to_owned()
        }
        (true, apart) => format!("{apart} nodes differ clearly from the mean of their group."),
    });
    if speeds.groups > 1 {
        sentences.push(format!(
            "There are {} groups of nodes that no job joins: a speed is relative to its own group.",
            speeds.groups
        ));
    }
    if speeds.beyond > 0 {
        sentences.push(format!("{} nodes with fewer jobs are left out.", speeds.beyond));
    }
    sentences
}

fn text(speeds: &NodeSpeeds) -> String {
    let mut table = TextTable::new(&["node", "speed", "95 % interval", "", "jobs", "names", "group"]);
    let mut nodes: Vec<&NodeSpeed> = speeds.nodes.iter().collect();
    nodes.sort_by(|a, b| a.group.cmp(&b.group).then(a.speed.total_cmp(&b.speed)));
    let tells = speeds.tells();
    for node in nodes {
        let told = match node {
            _ if !tells => "",
            node if node.high < 1.0 => "slower",
            node if node.low > 1.0 => "faster",
            _ => "",
        };
        table.row([
            node.name.clone(),
            format!("{:.3}", node.speed),
            if tells { format!("{:.3} to {:.3}", node.low, node.high) } else { String::new() },
            told.to_owned(),
            node.jobs.to_string(),
            node.keys.to_string(),
            (node.group + 1).to_string(),
        ]);
    }
    format!("{}\n{}\n", table.render(), sentences(speeds).join("\n"))
}

fn table(speeds: &NodeSpeeds) -> String {
    let mut text = csv::line(["job", "server", "speed", "low", "high", "jobs", "keys"]);
    for node in &speeds.nodes {
        let ends = [node.low, node.high].map(|end| match speeds.tells() {
            true => format!("{end:.5}"),
            false => String::new(),
        });
        let speed = ["*".to_owned(), node.name.clone(), format!("{:.5}", node.speed)];
        let counts = [node.jobs.to_string(), node.keys.to_string()];
        text += &csv::line(speed.into_iter().chain(ends).chain(counts));
    }
    text
}

fn document(speeds: &NodeSpeeds) -> serde_json::Value {
    let node = |node: &NodeSpeed| {
        let NodeSpeed { name, speed, low, high, jobs, keys, group } = node;
        let (low, high) = speeds.tells().then_some((low, high)).unzip();
        json!({
            "name": name, "speed": speed, "low": low, "high": high, "jobs": jobs, "keys": keys,
            "group": group,
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "told": speeds.tells(),
        "words": sentences(speeds),
        "spread": speeds.spread,
        "residual": speeds.residual,
        "interaction": speeds.interaction,
        "jobs_used": speeds.used,
        "jobs": speeds.seen,
        "groups": speeds.groups,
        "nodes": speeds.nodes.iter().map(node).collect::<Vec<_>>(),
    })
}
