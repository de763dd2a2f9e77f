//! Changes of the cluster over the wire: of one server (RFC 7396), and what a change would do.

use super::{ApiError, ClusterWire, ServerWire, whole};
use esdp::model::{Amount, Amounts};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// `PATCH /v1/servers/{name}`, a JSON merge patch: what is left out stays, `null` takes away, an object goes
/// into the one that is there, a list replaces the one that is there.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPatch {
    #[serde(default, deserialize_with = "amounts")]
    capacity: Option<AmountsPatch>,
    #[serde(default, deserialize_with = "given")]
    labels: Option<Option<Vec<String>>>,
}

/// None takes all of it away, or the amount of a device.
type AmountsPatch = Option<BTreeMap<String, Option<Amount>>>;

fn amounts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AmountsPatch>, D::Error> {
    whole::patch(deserializer).map(Some)
}

/// What is there, also if it is `null`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Vec<String>>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl ServerPatch {
    fn apply(&self, server: &mut ServerWire) {
        match &self.capacity {
            None => {}
            Some(None) => server.capacity = None,
            Some(Some(changed)) => {
                let capacity: &mut Amounts = server.capacity.get_or_insert_default();
                for (device, amount) in changed {
                    match amount {
                        Some(amount) => drop(capacity.insert(device.clone(), *amount)),
                        None => drop(capacity.remove(device)),
                    }
                }
            }
        }
        if let Some(labels) = &self.labels {
            server.labels = labels.clone().unwrap_or_default();
        }
    }
}

impl ClusterWire {
    /// The tag of this version: a hash of what `GET /v1/cluster` shows.
    pub fn tag(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        let hash = Sha256::digest(&text);
        format!("\"{}\"", data_encoding::HEXLOWER.encode(&hash[..16]))
    }

    /// The same cluster with one server changed; the place of the server among the others comes with it.
    ///
    /// # Errors
    /// When it has no such server.
    pub fn patched(mut self, name: &str, patch: &ServerPatch) -> Result<(Self, usize), ApiError> {
        let place = self.servers.iter().position(|server| server.name == name);
        let place = place.ok_or_else(|| ApiError::missing("server", name))?;
        patch.apply(&mut self.servers[place]);
        Ok((self, place))
    }
}

/// What a description would change, by name.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ClusterPreview {
    /// Whether it would change anything.
    pub changed: bool,
    /// Nothing was changed by asking.
    pub dry_run: bool,
    /// How many servers there would be.
    pub servers: usize,
    /// How many ports there would be.
    pub ports: usize,
    /// What is new.
    pub added: ClusterNames,
    /// What would leave.
    pub removed: ClusterNames,
    /// What would stay and be another.
    pub altered: ClusterNames,
    /// The jobs that would be lost, each with the reason.
    pub lost: Vec<Value>,
}

/// Names of the parts of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ClusterNames {
    /// Devices.
    pub devices: Vec<String>,
    /// Servers.
    pub servers: Vec<String>,
    /// Ports.
    pub ports: Vec<String>,
}

impl ClusterPreview {
    /// What leads from one cluster, or none, to the next, but for the jobs.
    pub fn of(present: Option<&ClusterWire>, next: &ClusterWire) -> Self {
        let mut preview = Self {
            changed: present != Some(next),
            dry_run: true,
            servers: next.servers.len(),
            ports: next.ports.len(),
            ..Self::default()
        };
        let lists: [(PartsOf, NamesOf); 3] = [
            (devices, |names| &mut names.devices),
            (servers, |names| &mut names.servers),
            (ports, |names| &mut names.ports),
        ];
        for (list, names) in lists {
            let (old, new) = (present.map(list).unwrap_or_default(), list(next));
            let before: BTreeMap<&str, &Value> = old.iter().map(|(name, value)| (*name, value)).collect();
            let after: BTreeMap<&str, &Value> = new.iter().map(|(name, value)| (*name, value)).collect();
            for (name, value) in &new {
                match before.get(name) {
                    None => names(&mut preview.added).push((*name).to_owned()),
                    Some(before) if *before != value => names(&mut preview.altered).push((*name).to_owned()),
                    Some(_) => {}
                }
            }
            let left = old.iter().filter(|(name, _)| !after.contains_key(name));
            names(&mut preview.removed).extend(left.map(|(name, _)| (*name).to_owned()));
        }
        preview
    }
}

/// The parts of a kind by name, each with what makes it what it is.
type PartsOf = for<'a> fn(&'a ClusterWire) -> Vec<(&'a str, Value)>;

/// The list of a kind.
type NamesOf = fn(&mut ClusterNames) -> &mut Vec<String>;

fn devices(cluster: &ClusterWire) -> Vec<(&str, Value)> {
    cluster.devices.iter().map(|name| (name.as_str(), Value::Null)).collect()
}

fn servers(cluster: &ClusterWire) -> Vec<(&str, Value)> {
    cluster.servers.iter().map(|server| (server.name.as_str(), value(server))).collect()
}

fn ports(cluster: &ClusterWire) -> Vec<(&str, Value)> {
    cluster.ports.iter().map(|port| (port.name.as_str(), value(port))).collect()
}

fn value<T: Serialize>(part: &T) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(text: &str) -> ClusterWire {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_patch_changes_what_it_names() {
        let before = cluster(
            r#"{"devices":["cpu","gpu"],"servers":[{"name":"a","capacity":{"cpu":4,"gpu":2},"labels":["x"]},
                {"name":"b"}],"ports":[]}"#,
        );
        let patched = |name: &str, patch: &str| {
            let patch: ServerPatch = serde_json::from_str(patch).unwrap();
            let (after, place) = before.clone().patched(name, &patch).unwrap();
            assert_eq!(after.servers[1 - place], before.servers[1 - place], "the other one stays");
            value(&after.servers[place]).to_string()
        };
        assert_eq!(patched("a", "{}"), r#"{"capacity":{"cpu":4,"gpu":2},"labels":["x"],"name":"a"}"#);
        let (less, none) = (r#"{"capacity":{"gpu":1.0,"cpu":null}}"#, r#"{"capacity":null,"labels":null}"#);
        assert_eq!(patched("a", less), r#"{"capacity":{"gpu":1},"labels":["x"],"name":"a"}"#);
        assert_eq!(patched("a", none), r#"{"name":"a"}"#);
        assert_eq!(patched("a", r#"{"labels":["y","z"]}"#).matches("\"y\",\"z\"").count(), 1);
        assert_eq!(patched("b", r#"{"capacity":{"cpu":null}}"#), r#"{"capacity":{},"name":"b"}"#);
        assert!(before.clone().patched("c", &ServerPatch::default()).is_err());
        for wrong in [r#"{"name":"z"}"#, r#"{"capacity":7}"#, r#"{"capacity":{"cpu":-1}}"#, r#"{"labels":1}"#]
        {
            assert!(serde_json::from_str::<ServerPatch>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_preview_names_what_differs() {
        let one = cluster(
            r#"{"devices":["cpu"],"servers":[{"name":"a"},{"name":"b"}],"ports":[{"name":"p","tasks":1}]}"#,
        );
        let two = cluster(
            r#"{"devices":["gpu"],"servers":[{"name":"b","labels":["x"]},{"name":"c"}],
                "ports":[{"name":"p","tasks":1}]}"#,
        );
        let names = |devices: &str, servers: &str| ClusterNames {
            devices: devices.split_whitespace().map(String::from).collect(),
            servers: servers.split_whitespace().map(String::from).collect(),
            ports: Vec::new(),
        };
        let preview = ClusterPreview::of(Some(&one), &two);
        assert_eq!((preview.added, preview.removed), (names("gpu", "c"), names("cpu", "a")));
        assert_eq!((preview.altered, preview.changed), (names("", "b"), true));
        assert!(!ClusterPreview::of(Some(&one), &one).changed);
        assert_eq!(ClusterPreview::of(None, &one).added.ports, ["p"]);
        assert!(one.tag() != two.tag() && one.tag() == one.clone().tag() && one.tag().len() == 34);
    }
}
