//! When servers take no new jobs: outages and maintenance, known beforehand to nobody but the clock.
//!
//! A server that is out is *closed*: the scheduler is told so in every slot of the window, and starts nothing
//! there. A job that holds its devices drains: it runs on until it is done, as under planned maintenance. The
//! oracle is held to the same windows, and foresees them as little as anybody.

use super::parameter::{ParameterError, check_whole};
use crate::model::{Cluster, ServerId, Slot};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A window in which a server, or all servers with a label, take no new jobs. Jobs that run there run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The name of the server; or else give `label`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The label of the servers, such as that of a rack; or else give `server`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The first slot in which they are out. Slots count from 1; `speeds.drift.from` is the slot before.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 1, "maximum" = i64::MAX - 1, "x-unit" = "slots"))
    )]
    pub from: u64,
    /// The first slot in which they take jobs again, later than `from`.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minimum" = 2, "x-unit" = "slots", "x-range" = "above `from`"))
    )]
    pub until: u64,
}

impl Outage {
    /// Checks the window, and that servers are named in one way.
    pub(crate) fn check(&self, key: &str) -> Result<(), ParameterError> {
        check_one_name(key, self.server.as_deref(), self.label.as_deref())?;
        check_whole(format!("{key}.from"), self.from, 1..=i64::MAX as u64 - 1)?;
        check_whole(format!("{key}.until"), self.until, self.from + 1..=i64::MAX as u64)
    }
}

/// Either a server or a label is named.
pub(crate) fn check_one_name(
    key: &str,
    server: Option<&str>,
    label: Option<&str>,
) -> Result<(), ParameterError> {
    match (server, label) {
        (Some(_), Some(_)) => Err(ParameterError::new(key, "given `server` and `label`", "one of the two")),
        (None, None) => Err(ParameterError::new(key, "without servers", "`server` or `label`")),
        _ => Ok(()),
    }
}

/// The servers of a name or a label. A label that nobody has chooses nobody.
pub(crate) fn chosen(cluster: &Cluster, server: Option<&str>, label: Option<&str>) -> Vec<ServerId> {
    let all = (0..cluster.servers().len()).map(ServerId::at);
    let is_chosen = |id: &ServerId| {
        server.is_some_and(|name| cluster.servers()[id.index()] == name)
            || label.is_some_and(|label| cluster.labels(*id).iter().any(|own| own == label))
    };
    all.filter(is_chosen).collect()
}

/// The windows of a cluster, slot by slot.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Windows {
    /// For each window its slots, without the last number, and its servers.
    windows: Vec<(std::ops::Range<u64>, Vec<ServerId>)>,
}

impl Windows {
    pub(super) fn new(outages: &[Outage], cluster: &Cluster) -> Result<Self, ParameterError> {
        let mut windows = Vec::new();
        for (at, outage) in outages.iter().enumerate() {
            let key = format!("outages[{at}]");
            outage.check(&key)?;
            let servers = chosen(cluster, outage.server.as_deref(), outage.label.as_deref());
            if let (Some(name), true) = (&outage.server, servers.is_empty()) {
                let accepted = "the name of a server";
                return Err(ParameterError::new(format!("{key}.server"), format!("{name:?}"), accepted));
            }
            windows.push((outage.from..outage.until, servers));
        }
        Ok(Self { windows })
    }

    /// The servers that are out in a slot, in ascending order.
    pub(super) fn closed(&self, slot: Slot, closed: &mut Vec<ServerId>) {
        closed.clear();
        if self.windows.is_empty() {
            return;
        }
        let now = self.windows.iter().filter(|(slots, _)| slots.contains(&slot.0));
        let servers: BTreeSet<ServerId> = now.flat_map(|(_, servers)| servers).copied().collect();
        closed.extend(servers);
    }
}
