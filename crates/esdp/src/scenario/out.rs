//! Keys that name servers or a label: outages, and drifts of some servers.

use super::error::ScenarioError;
use super::names::{self, one_near};
use super::spec::Spec;
use super::{cluster::parameter, labels};
use crate::sim::Drift;

/// Checks that the servers and labels that are named exist.
pub(super) fn check(spec: &Spec) -> Result<(), ScenarioError> {
    for (at, outage) in spec.servers.outages.iter().enumerate() {
        let key = format!("servers.outages[{at}]");
        outage.check(&key).map_err(|error| parameter("", error))?;
        check_named(spec, &key, outage.server.as_deref(), outage.label.as_deref())?;
    }
    match &spec.speeds.drift {
        Drift::Ramp { server, label, .. } => {
            check_named(spec, "speeds.drift", server.as_deref(), label.as_deref())
        }
        _ => Ok(()),
    }
}

fn check_named(
    spec: &Spec,
    key: &str,
    server: Option<&str>,
    label: Option<&str>,
) -> Result<(), ScenarioError> {
    let missing = |end: &str, name: &str, known: &[String]| {
        Err(ScenarioError::value(format!("{key}.{end}"), format!("{name:?}"), one_near(name, known)))
    };
    if let Some(name) = server {
        let servers = names::servers(spec);
        if !servers.iter().any(|server| server == name) {
            return missing("server", name, &servers);
        }
    }
    let Some(label) = label else { return Ok(()) };
    let known = labels::known(spec);
    if known.is_empty() {
        let message = "servers have no labels; give `servers.kinds` or `servers.list`, or name a `server`";
        return Err(ScenarioError::other(format!("{key}.label"), message));
    }
    if !known.iter().any(|known| known == label) {
        return missing("label", label, &known);
    }
    if spec.servers.labelled < 1.0 {
        let message =
            "`servers.labelled` hides labels of some servers; name each `server`, or let all be labelled";
        return Err(ScenarioError::other(format!("{key}.label"), message));
    }
    Ok(())
}
