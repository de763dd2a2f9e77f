//! Slurm's nodes as `scontrol show node` prints them: blocks, or lines with `-o`, of `Key=value`.

use crate::error::TraceError;
use crate::event::{CPU, GPU, MEMORY, Machine, Sink};
use crate::formats::gres;
use crate::ledger::{Ledger, Reason};
use crate::table::{self, Stop};
use std::io::BufRead;

/// A node as far as it was read.
#[derive(Default)]
struct Node {
    line: u64,
    name: String,
    cpus: f64,
    /// MiB.
    memory: f64,
    gres: String,
    state: String,
}

pub(super) fn read(
    input: &mut dyn BufRead,
    ledger: &mut Ledger,
    sink: &mut dyn Sink,
) -> Result<(), TraceError> {
    let mut node: Option<Node> = None;
    table::rows(input, ledger, |ledger, number, line| {
        let line = String::from_utf8_lossy(line);
        if line.trim_start().starts_with("NodeName=")
            && let Some(done) = node.replace(Node { line: number, ..Node::default() })
        {
            tell(&done, ledger, sink)?;
        }
        if let Some(node) = &mut node {
            line.split_ascii_whitespace().filter_map(|word| word.split_once('=')).for_each(|(key, value)| {
                match key {
                    "NodeName" => node.name = value.to_owned(),
                    "CPUTot" => node.cpus = value.parse().unwrap_or(0.0),
                    "RealMemory" => node.memory = value.parse().unwrap_or(0.0),
                    "Gres" => node.gres = value.to_owned(),
                    "State" => node.state = value.to_owned(),
                    _ => {}
                }
            });
        }
        Err(Stop::NoRow)
    })?;
    node.map_or(Ok(()), |node| tell(&node, ledger, sink))
}

/// A row of the ledger is a node, not a line.
fn tell(node: &Node, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), TraceError> {
    ledger.open_row(node.line);
    let outcome = match gres::gpus(&node.gres) {
        _ if !gres::in_service(&node.state) => ledger.fault(Reason::OutOfService, 1, node.state.as_bytes()),
        None => ledger.fault(Reason::NoNumber, 1, node.gres.as_bytes()),
        Some((gpus, kind)) if node.cpus > 0.0 && node.cpus <= 1e12 && (0.0..=1e12).contains(&node.memory) => {
            let capacity = [(CPU, node.cpus), (MEMORY, node.memory / 1024.0), (GPU, gpus)];
            sink.machine(&Machine { name: &node.name, capacity: &capacity, domain: "", kind: &kind });
            Ok(())
        }
        Some(_) => ledger.fault(Reason::NoCapacity, 1, node.name.as_bytes()),
    };
    ledger.close_row();
    outcome
}
