//! Which server may run which port.
//!
//! Whatever the rule, a request must fit the machine where machines are known. Every port has a channel.

use super::servers::Servers;
use super::{DraftError, Plan};
use crate::plan::{Server, Units};
use esdp::rng::{Purpose, stream};
use rand::RngExt;
use std::collections::BTreeSet;

/// A rule for channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edges {
    /// Each pair with this probability, as in the paper.
    Probability(f64),
    /// Everywhere.
    Fit,
    /// In so many failure domains, drawn for every port: where its data is.
    Domain(usize),
    /// On so many kinds of machine, such as GPU models, drawn for every port.
    Kind(usize),
}

/// The channels as (port, server), by port.
pub(super) fn draw(plan: &Plan, servers: &Servers, units: &Units) -> Result<Vec<(usize, usize)>, DraftError> {
    let ports = units.ports();
    let mut channels = Vec::new();
    for port in 0..ports {
        let fits = |at: &usize| servers.fits(*at, units.amounts(port));
        let fitting: Vec<usize> = (0..servers.count()).filter(fits).collect();
        if fitting.is_empty() {
            return Err(DraftError::NoServer { port, request: units.words(port), servers: servers.count() });
        }
        let mut rng = stream(plan.window.seed, Purpose::Cluster, 1, port as u64);
        let mut chosen: Vec<usize> = match plan.edges {
            Edges::Fit => fitting.clone(),
            Edges::Probability(probability) => {
                fitting.iter().copied().filter(|_| rng.random::<f64>() < probability).collect()
            }
            Edges::Domain(count) => {
                in_groups(&fitting, servers, "domain", |server| &server.domain, count, &mut rng)?
            }
            Edges::Kind(count) => {
                in_groups(&fitting, servers, "kind", |server| &server.kind, count, &mut rng)?
            }
        };
        // A port without a channel could never be served.
        if chosen.is_empty() {
            chosen.push(fitting[rng.random_range(0..fitting.len())]);
        }
        channels.extend(chosen.into_iter().map(|server| (port, server)));
    }
    Ok(channels)
}

/// The servers of some groups, which are drawn among those of the servers that fit.
fn in_groups(
    fitting: &[usize],
    servers: &Servers,
    by: &'static str,
    group: fn(&Server) -> &String,
    count: usize,
    rng: &mut esdp::rng::Stream,
) -> Result<Vec<usize>, DraftError> {
    let names: BTreeSet<&String> =
        fitting.iter().map(|at| group(&servers.list[*at])).filter(|name| !name.is_empty()).collect();
    let mut names: Vec<&String> = names.into_iter().collect();
    if names.is_empty() {
        return Err(DraftError::NoGroups { by });
    }
    let wanted = count.clamp(1, names.len());
    for at in 0..wanted {
        let other = rng.random_range(at..names.len());
        names.swap(at, other);
    }
    let chosen = &names[..wanted];
    Ok(fitting.iter().copied().filter(|at| chosen.contains(&group(&servers.list[*at]))).collect())
}
