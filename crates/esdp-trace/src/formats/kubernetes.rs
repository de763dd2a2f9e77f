//! Kubernetes' nodes as `kubectl get nodes -o json` prints them.
//!
//! What a node can hand out (`allocatable`) counts, not what it has. GPUs are all devices whose name ends in
//! `/gpu`. The kind is the GPU's model or else the instance type, from the labels that the vendors set. Nodes
//! that are closed for new pods (`unschedulable`) are set aside.

use crate::error::TraceError;
use crate::event::{CPU, GPU, MEMORY, Machine, Sink};
use crate::formats::batsim::LARGEST;
use crate::input;
use crate::ledger::{Ledger, Reason};
use crate::number;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

#[derive(Deserialize)]
struct List {
    items: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
struct Spec {
    #[serde(default)]
    unschedulable: bool,
}

#[derive(Deserialize, Default)]
struct Status {
    #[serde(default)]
    allocatable: BTreeMap<String, String>,
}

/// The labels that tell a kind, the best first.
const KINDS: [&str; 4] = [
    "nvidia.com/gpu.product",
    "cloud.google.com/gke-accelerator",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
];
const ZONE: &str = "topology.kubernetes.io/zone";

pub(super) fn read(
    input: &mut dyn BufRead,
    ledger: &mut Ledger,
    sink: &mut dyn Sink,
) -> Result<(), TraceError> {
    let input = input::without_mark(input)?;
    let list: List = serde_json::from_reader(input.take(LARGEST)).map_err(|error| TraceError::Json {
        line: error.line() as u64,
        column: error.column() as u64,
        message: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    })?;
    for (at, node) in list.items.iter().enumerate() {
        // The place is the node's number: JSON has no lines worth naming.
        ledger.open_row(at as u64 + 1);
        let outcome = tell(node, ledger, sink);
        ledger.close_row();
        outcome?;
    }
    Ok(())
}

fn tell(node: &Node, ledger: &mut Ledger, sink: &mut dyn Sink) -> Result<(), TraceError> {
    let Metadata { name, labels } = &node.metadata;
    if node.spec.unschedulable {
        return ledger.fault(Reason::OutOfService, 1, name.as_bytes());
    }
    let has = |device: &str| node.status.allocatable.get(device).map_or(Some(0.0), |text| quantity(text));
    let gpus = node.status.allocatable.keys().filter(|device| device.ends_with("/gpu"));
    let gpus = gpus.map(|device| has(device)).try_fold(0.0, |sum, own| Some(sum + own?));
    let (Some(cpu), Some(memory), Some(gpu)) = (has("cpu").filter(|cpu| *cpu > 0.0), has("memory"), gpus)
    else {
        return ledger.fault(Reason::NoCapacity, 1, name.as_bytes());
    };
    let kind = KINDS.iter().find_map(|label| labels.get(*label)).map_or("", String::as_str);
    let domain = labels.get(ZONE).map_or("", String::as_str);
    let capacity = [(CPU, cpu), (MEMORY, memory / 1_073_741_824.0), (GPU, gpu)];
    sink.machine(&Machine { name, capacity: &capacity, domain, kind });
    Ok(())
}

/// Kubernetes' quantities: `63900m`, `64`, `263856392Ki`, `1.5G`.
fn quantity(text: &str) -> Option<f64> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic() && letter != 'e').unwrap_or(text.len());
    let scale = match &text[end..] {
        "" => 1.0,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    };
    number::parse(&text.as_bytes()[..end])
        .map(|value| value * scale)
        .filter(|value| (0.0..=1e18).contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        let values = ["63900m", "64", "2Ki", "1.5G", "1e3"].map(quantity);
        assert_eq!(values, [Some(63.9), Some(64.0), Some(2048.0), Some(1.5e9), Some(1000.0)]);
        assert_eq!((quantity("many"), quantity("-3"), quantity("5Zi")), (None, None, None));
    }
}
