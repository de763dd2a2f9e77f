//! Node weights by learned speed: Slurm takes the lightest nodes first.
//!
//! ```text
//! weight = the site's own + SPAN (best / factor - 1)
//! ```
//!
//! so that a site's own order (large nodes last, say) stays where speeds are alike, and a node of which
//! nothing is known is as good as the best until it was tried. Weights move by a limited step at a time and
//! never beyond a limit, and what was there before is kept in a file. A restart of `slurmctld` goes back to
//! `slurm.conf`.

use super::client::CallError;
use super::cluster::Slurm;
use super::node::SlurmNode;
use esdp_serve::engine::ServerRow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// What half the speed of the best weighs.
const SPAN: f64 = 100.0;

/// How far weights move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightLimits {
    /// In one step.
    pub step: u64,
    /// From the site's own weight.
    pub most: u64,
}

impl Default for WeightLimits {
    fn default() -> Self {
        Self { step: 100, most: 400 }
    }
}

/// The weights of a site before we changed any, by node.
pub type Saved = BTreeMap<String, u64>;

/// A node's weight, as it is and as it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The node.
    pub node: String,
    /// What is believed of its speed; none if nothing is.
    pub factor: Option<f64>,
    /// Its weight.
    pub from: u64,
    /// The weight it shall have.
    pub to: u64,
}

/// The weights that nodes shall have.
pub fn plan(nodes: &[SlurmNode], beliefs: &[ServerRow], saved: &Saved, limits: WeightLimits) -> Vec<Change> {
    let factors: BTreeMap<&str, f64> = beliefs
        .iter()
        .filter_map(|row| Some((row.name.as_str(), row.factor.filter(|factor| *factor > 0.0)?)))
        .collect();
    let best = factors.values().copied().fold(0.0, f64::max);
    let change = |node: &SlurmNode| {
        let own = saved.get(&node.name).copied().unwrap_or(node.weight);
        let factor = factors.get(node.name.as_str()).copied();
        let slow = factor.map_or(0.0, |factor| (SPAN * (best / factor - 1.0)).round().max(0.0));
        let target = own + (slow as u64).min(limits.most);
        let to = target.clamp(node.weight.saturating_sub(limits.step), node.weight + limits.step);
        Change { node: node.name.clone(), factor, from: node.weight, to }
    };
    nodes.iter().map(change).collect()
}

/// Carries changes out; what Slurm says against them comes back.
///
/// # Errors
/// When Slurm does not answer.
pub fn apply(slurm: &Slurm, changes: &[Change]) -> Result<String, CallError> {
    let moved = changes.iter().filter(|change| change.from != change.to);
    let lines: Vec<String> =
        moved.map(|change| format!("update nodename={} weight={}", change.node, change.to)).collect();
    slurm.command(&lines)
}

/// What is needed to go back.
pub fn restoration(nodes: &[SlurmNode], saved: &Saved) -> Vec<Change> {
    let back = |node: &SlurmNode| {
        let to = *saved.get(&node.name)?;
        Some(Change { node: node.name.clone(), factor: None, from: node.weight, to })
    };
    nodes.iter().filter_map(back).collect()
}

/// Reads the weights that were there before; none if nothing was changed yet.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn saved(path: &Path) -> io::Result<Saved> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            serde_json::from_str(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Saved::new()),
        Err(error) => Err(error),
    }
}

/// Adds nodes that are not in the file yet, with the weights they have now. The file is whole or not changed
/// at all.
///
/// # Errors
/// When it cannot be written.
pub fn save(path: &Path, saved: &mut Saved, nodes: &[SlurmNode]) -> io::Result<()> {
    let before = saved.len();
    for node in nodes {
        saved.entry(node.name.clone()).or_insert(node.weight);
    }
    if saved.len() == before {
        return Ok(());
    }
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    serde_json::to_writer(&mut file, saved)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use esdp::live::Verdict;

    fn node(name: &str, weight: u64) -> SlurmNode {
        SlurmNode { name: name.to_owned(), weight, ..SlurmNode::default() }
    }

    fn row(name: &str, factor: Option<f64>) -> ServerRow {
        ServerRow {
            name: name.to_owned(),
            factor,
            interval: None,
            verdict: Verdict::Usual,
            count: 1.0,
            drained: false,
            labels: Vec::new(),
            capacity: None,
            free: None,
        }
    }

    #[test]
    fn slow_nodes_weigh_more_within_limits() {
        let nodes = [node("a", 1), node("b", 1), node("c", 51), node("d", 1)];
        let beliefs = [row("a", Some(1.2)), row("b", Some(0.6)), row("c", Some(1.2)), row("d", None)];
        let saved = Saved::from([("c".to_owned(), 51)]);
        let to = |limits| {
            plan(&nodes, &beliefs, &saved, limits).iter().map(|change| change.to).collect::<Vec<_>>()
        };
        assert_eq!(to(WeightLimits::default()), [1, 101, 51, 1]);
        assert_eq!(to(WeightLimits { step: 30, most: 400 }), [1, 31, 51, 1]);
        assert_eq!(to(WeightLimits { step: 100, most: 40 }), [1, 41, 51, 1]);
    }

    #[test]
    fn the_site_gets_its_own_weights_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("weights.json");
        let mut first = saved(&path).unwrap();
        save(&path, &mut first, &[node("a", 7)]).unwrap();
        // Changed by now; the file keeps what was there first.
        let mut second = saved(&path).unwrap();
        save(&path, &mut second, &[node("a", 99), node("b", 3)]).unwrap();
        let changes = restoration(&[node("a", 99), node("b", 3), node("new", 1)], &saved(&path).unwrap());
        assert_eq!(changes.iter().map(|change| change.to).collect::<Vec<_>>(), [7, 3]);
    }
}
