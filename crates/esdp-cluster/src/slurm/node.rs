//! Nodes, as `sinfo --json` or, from 23.02 on, `scontrol show nodes --json` tells of them.

use super::json::{self, count, names, text, words};
use super::tres;
use esdp::model::Amounts;
use serde_json::Value;

/// States in which a node takes nothing new.
const CLOSED: &[&str] = &[
    "DOWN",
    "DRAIN",
    "DRAINED",
    "DRAINING",
    "FAIL",
    "FAILING",
    "ERROR",
    "FUTURE",
    "UNKNOWN",
    "INVAL",
    "INVALID",
    "INVALID_REG",
    "NOT_RESPONDING",
    "NO_RESPOND",
    "MAINT",
    "MAINTENANCE",
    "REBOOT_ISSUED",
    "REBOOT_REQUESTED",
    "POWERED_DOWN",
    "POWERING_DOWN",
    "POWER_DOWN",
    "POWERING_UP",
    "POWER_UP",
    "RESERVED",
    "REBOOT",
];

/// A node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SlurmNode {
    /// Its name.
    pub name: String,
    /// Its partitions.
    pub partitions: Vec<String>,
    /// Its features.
    pub features: Vec<String>,
    /// All of its devices.
    pub capacity: Amounts,
    /// Those that no job has.
    pub free: Amounts,
    /// Its weight: Slurm takes the lightest nodes first.
    pub weight: u64,
    /// Why it takes nothing new, in Slurm's words; none if it does.
    pub closed: Option<String>,
}

/// The nodes in an answer.
///
/// # Errors
/// With what is wrong with the answer.
pub fn read(answer: &str) -> Result<Vec<SlurmNode>, String> {
    let answer = json::answer(answer)?;
    if let Some(list) = answer.get("nodes").and_then(Value::as_array) {
        return Ok(list.iter().map(one).collect());
    }
    // Later versions of `sinfo` tell of groups of nodes that are alike.
    let groups = answer.get("sinfo").and_then(Value::as_array).ok_or("it has neither `nodes` nor `sinfo`")?;
    Ok(groups.iter().flat_map(group).collect())
}

fn devices(cpus: u64, memory: u64, gres: &str) -> Amounts {
    let mut devices = tres::gres(gres);
    devices.insert("cpu".to_owned(), cpus);
    devices.insert("mem".to_owned(), memory);
    devices
}

fn free(capacity: &Amounts, used: &Amounts) -> Amounts {
    let left = |(device, all): (&String, &u64)| {
        (device.clone(), all.saturating_sub(used.get(device).copied().unwrap_or(0)))
    };
    capacity.iter().map(left).collect()
}

/// Why a node takes nothing new. A state may carry flags: `down*`, `idle+drain`, or a list of them.
fn closed(states: &[String]) -> Option<String> {
    let bare =
        |state: &String| state.trim_end_matches(['*', '~', '#', '!', '%', '$', '@', '^', '-']).to_owned();
    states.iter().map(bare).find(|state| CLOSED.contains(&state.as_str()))
}

fn one(found: &Value) -> SlurmNode {
    let capacity = devices(count(&found["cpus"]), count(&found["real_memory"]), text(&found["gres"]));
    let used = devices(count(&found["alloc_cpus"]), count(&found["alloc_memory"]), text(&found["gres_used"]));
    let mut states = words(&found["state"]);
    states.extend(words(&found["state_flags"]));
    SlurmNode {
        name: text(&found["name"]).to_owned(),
        partitions: names(&found["partitions"]),
        features: names(&found["active_features"]),
        free: free(&capacity, &used),
        capacity,
        weight: count(&found["weight"]),
        closed: closed(&states),
    }
}

/// Nodes of a group that has a node each, as `sinfo --Node` gives them.
fn group(found: &Value) -> Vec<SlurmNode> {
    let state = if found["node"]["state"].is_null() { &found["state"] } else { &found["node"]["state"] };
    let largest = |key: &str| count(&found[key]["maximum"]);
    let capacity = devices(largest("cpus"), largest("memory"), text(&found["gres"]["total"]));
    let used = devices(
        count(&found["cpus"]["allocated"]),
        count(&found["memory"]["allocated"]),
        text(&found["gres"]["used"]),
    );
    let node = SlurmNode {
        name: String::new(),
        partitions: names(&found["partition"]["name"]),
        features: names(&found["features"]["active"]),
        free: free(&capacity, &used),
        capacity,
        weight: largest("weight"),
        closed: closed(&words(state)),
    };
    names(&found["nodes"]["nodes"]).into_iter().map(|name| SlurmNode { name, ..node.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_takes_nothing_says_why() {
        let states = |list: &[&str]| closed(&list.iter().map(|&state| state.to_owned()).collect::<Vec<_>>());
        assert_eq!(states(&["IDLE"]), None);
        assert_eq!(states(&["MIXED", "DRAIN"]), Some("DRAIN".to_owned()));
        assert_eq!(states(&["DOWN*"]), Some("DOWN".to_owned()));
        assert_eq!(states(&["ALLOCATED", "NOT_RESPONDING"]), Some("NOT_RESPONDING".to_owned()));
    }
}
