//! Who changed what: a row for each frame, made of the command and of the events that came of it.

use super::{Command, Core, Followed};
use crate::actor::Actor;
use crate::clock;
use crate::storage::{AuditPage, AuditQuery, AuditRow, Frame};
use crate::wire::ApiError;
use esdp::live::{Event, Live};
use esdp::model::ClusterDescription;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The most servers of a change that a line of the log names.
const MOST_LOGGED: usize = 20;

/// What a command is about, noted before it is carried out.
pub(super) struct Noted {
    action: &'static str,
    target: String,
    routine: bool,
    /// The cluster before it, if it may become another one.
    before: Option<ClusterDescription>,
}

impl Noted {
    pub(super) fn of(command: &Command, core: &Core) -> Self {
        let plain =
            |action, target: &str| Self { action, target: target.to_owned(), routine: false, before: None };
        let routine = |action, target: &str| Self { routine: true, ..plain(action, target) };
        match command {
            Command::Cluster(_) | Command::ClusterIf(..) => {
                Self { before: core.live().ok().map(|live| live.described().clone()), ..plain("cluster", "") }
            }
            Command::Slots(slots) => routine("slots", slots.list.first().map_or("", |slot| &slot.key)),
            Command::Observe(_) => routine("observations", ""),
            Command::Trainer { job, .. } => routine("trainer-status", job),
            Command::Starts(starts) => plain("starts", starts.list.first().map_or("", |start| &start.ticket)),
            Command::EndJob(job) => plain("end-job", job),
            Command::AmendJob(job, ..) => plain("job", job),
            Command::Merge { .. } => plain("state", ""),
            Command::Reset { port, .. } => plain("reset", port.as_deref().unwrap_or_default()),
            Command::Settle { id, accept } => {
                let action = if *accept { "accept-outcome" } else { "drop-outcome" };
                plain(action, &id.to_string())
            }
            Command::ForgetSource(source) => plain("forget-source", source),
            Command::Drain { drained: true, .. } => plain("drain", ""),
            Command::Drain { drained: false, .. } => plain("undrain", ""),
            Command::Forget(_) => plain("forget", ""),
            Command::Direct { .. } => plain("mode", ""),
            Command::Jobs | Command::Ready => plain("", ""),
        }
    }

    /// What the service does at its start.
    pub(super) fn start() -> Self {
        Self { action: "mode", target: String::new(), routine: false, before: None }
    }

    /// The row of a frame.
    pub(super) fn row(self, actor: &Actor, frame: &Frame, live: Option<&Live>) -> AuditRow {
        let mut servers: BTreeSet<String> = BTreeSet::new();
        for event in &frame.events {
            match event {
                Event::Described { cluster } => servers.extend(changed(self.before.as_ref(), cluster)),
                Event::Moved { server, .. }
                | Event::Observed { server, .. }
                | Event::Placed { server, .. }
                | Event::ServerLost { server }
                | Event::Drained { server }
                | Event::Opened { server }
                | Event::Forgotten { server } => drop(servers.insert(server.clone())),
                Event::Reset { server, .. } => servers.extend(server.clone()),
                Event::Reported { ticket, .. } | Event::Refused { ticket, .. } => {
                    let start = live.and_then(|live| live.start(*ticket));
                    servers.extend(start.into_iter().flat_map(|start| start.placements).map(|at| at.server));
                }
                _ => {}
            }
        }
        AuditRow {
            sequence: frame.sequence,
            at: frame.at,
            actor: actor.name.clone(),
            address: actor.address.clone(),
            request: actor.request.clone(),
            action: self.action.to_owned(),
            target: self.target,
            servers: servers.into_iter().collect(),
            routine: self.routine,
            damaged: false,
        }
    }
}

/// The servers that a description adds, removes or alters.
fn changed(before: Option<&ClusterDescription>, after: &ClusterDescription) -> Vec<String> {
    let before = before.map_or(&[][..], |before| &before.servers);
    let old: std::collections::HashMap<&str, _> =
        before.iter().map(|server| (server.name.as_str(), server)).collect();
    let new: std::collections::HashSet<&str> =
        after.servers.iter().map(|server| server.name.as_str()).collect();
    let altered = after.servers.iter().filter(|server| old.get(server.name.as_str()) != Some(server));
    let removed = before.iter().filter(|server| !new.contains(server.name.as_str()));
    altered.chain(removed).map(|server| server.name.clone()).collect()
}

/// One line for a change that is on the disk. Slots and outcomes are as many as requests: a log that drops
/// lines when there are too many would drop those that matter.
pub(super) fn log(row: &AuditRow) {
    let AuditRow { sequence: event, actor, address, request, action, target, servers, .. } = row;
    let mut named = servers.iter().take(MOST_LOGGED).map(String::as_str).collect::<Vec<_>>().join(" ");
    if servers.len() > MOST_LOGGED {
        named += " ...";
    }
    match row.routine {
        true => tracing::debug!(
            action,
            servers = named,
            target_name = target,
            actor,
            address,
            request,
            event,
            "changed"
        ),
        false => tracing::info!(
            action,
            servers = named,
            target_name = target,
            actor,
            address,
            request,
            event,
            "changed"
        ),
    }
}

/// `GET /v1/audit`.
///
/// # Errors
/// When it cannot be read.
pub fn audit(followed: &mut Followed, query: &AuditQuery) -> Result<Value, ApiError> {
    let page = followed.storage().audit(query).map_err(|error| super::unreadable(&error))?;
    let AuditPage { rows, next } = page;
    let changes: Vec<Value> = rows.iter().map(shown).collect();
    let mut answer = json!({ "changes": changes });
    if let Some((at, event)) = next {
        answer["next"] = json!(format!("{at}.{event}"));
    }
    Ok(answer)
}

fn shown(row: &AuditRow) -> Value {
    let AuditRow { sequence, at, actor, address, request, action, target, servers, damaged, .. } = row;
    let mut shown = json!({
        "event": sequence, "at": at, "time": clock::utc(*at), "actor": actor, "address": address,
        "request": request, "action": action, "target": target, "servers": servers,
    });
    if *damaged {
        shown["damaged"] = json!(true);
    }
    shown
}
