//! The labels that a scenario gives its servers.

use super::error::ScenarioError;
use super::names::one_of;
use super::servers::{LabelSource, ServerTable};
use super::spec::Spec;
use crate::rng::{Purpose, Stream, stream};
use rand::RngExt;

/// Labels deeper than this are a typing error.
pub(super) const DEEPEST: usize = 16;

pub(super) fn check(spec: &Spec) -> Result<(), ScenarioError> {
    let ServerTable { labels, labelled, list, kinds, .. } = &spec.servers;
    if !(0.0..=1.0).contains(labelled) {
        return Err(ScenarioError::value("servers.labelled", labelled, "a number from 0 to 1"));
    }
    if *labels != LabelSource::None && spec.speeds.kinds.is_none() {
        return Err(ScenarioError::other("servers.labels", "needs kinds of servers, give `speeds.kinds`"));
    }
    if kinds.is_some() && (list.is_some() || *labels != LabelSource::None) {
        return Err(ScenarioError::other("servers", "give `kinds`, or one of `labels` and `list`, not both"));
    }
    let Some(list) = list else { return Ok(()) };
    if *labels != LabelSource::None {
        return Err(ScenarioError::other("servers", "give one of `labels` and `list`"));
    }
    let servers = spec.graph.servers.count();
    if list.len() as u64 != servers {
        let (found, accepted) = (format!("a list of {}", list.len()), format!("{servers}, one per server"));
        return Err(ScenarioError::value("servers.list", found, accepted));
    }
    match list.iter().position(|labels| labels.len() > DEEPEST) {
        Some(server) => {
            let (key, found) = (format!("servers.list[{server}]"), format!("{} labels", list[server].len()));
            Err(ScenarioError::value(key, found, format!("at most {DEEPEST}")))
        }
        None => Ok(()),
    }
}

/// Which of the known kinds is among labels: exactly one must be.
pub(super) fn from_labels(key: &str, labels: &[String], known: &[&str]) -> Result<usize, ScenarioError> {
    let mut found = (0..known.len()).filter(|&kind| labels.iter().any(|label| label == known[kind]));
    match (found.next(), found.next()) {
        (Some(kind), None) => Ok(kind),
        (Some(one), Some(two)) => {
            let message = format!("is of two kinds, `{}` and `{}`, expected one", known[one], known[two]);
            Err(ScenarioError::other(key, message))
        }
        (None, _) => {
            let message =
                format!("has no kind among its labels, expected {}, of `speeds.kinds`", one_of(known));
            Err(ScenarioError::other(key, message))
        }
    }
}

/// The labels that a key may name, where they do not depend on the seed alone.
pub(super) fn known(spec: &Spec) -> Vec<String> {
    let ServerTable { labels, list, kinds, .. } = &spec.servers;
    let mut all: Vec<String> = match (list, kinds, labels, &spec.speeds.kinds) {
        (Some(list), ..) => list.iter().flatten().cloned().collect(),
        (None, Some(kinds), ..) => kinds.iter().flat_map(|kind| kind.told()).collect(),
        (None, None, LabelSource::Kinds | LabelSource::Random, Some(kinds)) => {
            (0..kinds.count()).map(|kind| format!("kind-{kind}")).collect()
        }
        _ => Vec::new(),
    };
    all.sort();
    all.dedup();
    all
}

/// The labels of each server under a seed; empty where there are none.
pub(super) fn labels(spec: &Spec, seed: u64) -> Vec<Vec<String>> {
    let mut rng = stream(seed, Purpose::Cluster, 0, 5);
    let labelled = spec.servers.labelled;
    // Drawn for every server, so that a larger share keeps the labels of a smaller one.
    let shown = |labels: Vec<String>, rng: &mut Stream| {
        if rng.random::<f64>() < labelled { labels } else { Vec::new() }
    };
    all(spec, seed, &mut rng).into_iter().map(|labels| shown(labels, &mut rng)).collect()
}

fn all(spec: &Spec, seed: u64, rng: &mut Stream) -> Vec<Vec<String>> {
    let ServerTable { labels, list, kinds, .. } = &spec.servers;
    let servers = spec.graph.servers.count() as usize;
    if let Some(list) = list {
        return list.clone();
    }
    if let Some((kinds, entries)) = kinds.as_ref().zip(spec.servers.entry_of_server()) {
        return entries.into_iter().map(|entry| kinds[entry].told()).collect();
    }
    match (labels, &spec.speeds.kinds) {
        (LabelSource::Kinds, Some(kinds)) => {
            kinds.of_servers(servers, seed).into_iter().map(|kind| vec![format!("kind-{kind}")]).collect()
        }
        (LabelSource::Random, Some(kinds)) => {
            (0..servers).map(|_| vec![format!("kind-{}", rng.random_range(0..kinds.count()))]).collect()
        }
        _ => Vec::new(),
    }
}
