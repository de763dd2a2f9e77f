//! The labels that a scenario gives its servers.

use super::error::ScenarioError;
use super::spec::{LabelSource, ServerTable, Spec};
use crate::rng::{Purpose, stream};
use rand::RngExt;

/// Labels deeper than this are a typing error.
const DEEPEST: usize = 16;

pub(super) fn check(spec: &Spec) -> Result<(), ScenarioError> {
    let ServerTable { labels, labelled, list, kinds } = &spec.servers;
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
    if list.len() as u64 != spec.graph.servers {
        let (found, accepted) =
            (format!("a list of {}", list.len()), format!("{}, one per server", spec.graph.servers));
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

/// The labels of each server under a seed; empty where there are none.
pub(super) fn labels(spec: &Spec, seed: u64) -> Vec<Vec<String>> {
    let ServerTable { labels, labelled, list, kinds } = &spec.servers;
    let servers = spec.graph.servers as usize;
    let mut rng = stream(seed, Purpose::Cluster, 0, 5);
    let named = kinds.as_ref().zip(spec.servers.kind_of_server());
    let named = named.map(|(kinds, of)| of.into_iter().map(|kind| vec![kinds[kind].label.clone()]).collect());
    let all: Vec<Vec<String>> = match (list.clone().or(named), labels, &spec.speeds.kinds) {
        (Some(list), ..) => list,
        (None, LabelSource::Kinds, Some(kinds)) => {
            kinds.of_servers(servers, seed).into_iter().map(|kind| vec![format!("kind-{kind}")]).collect()
        }
        (None, LabelSource::Random, Some(kinds)) => {
            (0..servers).map(|_| vec![format!("kind-{}", rng.random_range(0..kinds.count()))]).collect()
        }
        _ => return Vec::new(),
    };
    // Drawn for every server, so that a larger share keeps the labels of a smaller one.
    all.into_iter().map(|labels| if rng.random::<f64>() < *labelled { labels } else { Vec::new() }).collect()
}
