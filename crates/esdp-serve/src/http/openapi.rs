//! `/openapi.json`: the API as OpenAPI 3.1, written by hand so that it says what is accepted to the letter. A
//! test walks all paths of it over real HTTP, so that a route which it forgets or makes up is noticed.

mod schemas;

use crate::wire::Code;
use serde_json::{Map, Value, json};

/// The document.
pub fn document() -> Value {
    let mut paths = Map::new();
    for path in PATHS {
        let methods = paths.entry(path.path).or_insert_with(|| json!({}));
        methods[path.method] = path.operation();
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "esdp",
            "description": "A scheduler that learns how fast your machines really are.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas::schemas(),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

/// One method of a path.
struct Operation {
    path: &'static str,
    method: &'static str,
    id: &'static str,
    summary: &'static str,
    /// Parameters of the path and the query: name, place, schema.
    parameters: &'static [(&'static str, &'static str, &'static str)],
    /// The schema of the body.
    body: Option<&'static str>,
    /// The schema of the answer.
    answer: &'static str,
    /// Errors beside those that every operation has.
    errors: &'static [Code],
}

const READ: Operation = Operation {
    path: "",
    method: "get",
    id: "",
    summary: "",
    parameters: &[],
    body: None,
    answer: "Anything",
    errors: &[],
};
const WRITE: Operation = Operation { method: "post", errors: &[Code::Conflict], ..READ };
const SENT: &[Code] = &[
    Code::InvalidJson,
    Code::Timeout,
    Code::Conflict,
    Code::TooLarge,
    Code::UnsupportedMediaType,
    Code::InvalidValue,
];
const SENT_OF: &[Code] = &[
    Code::InvalidJson,
    Code::NotFound,
    Code::Timeout,
    Code::Conflict,
    Code::TooLarge,
    Code::UnsupportedMediaType,
    Code::InvalidValue,
];
/// What a change of the cluster may meet.
const CHANGED: &[Code] = &[
    Code::InvalidJson,
    Code::NotFound,
    Code::Timeout,
    Code::Conflict,
    Code::PreconditionFailed,
    Code::TooLarge,
    Code::UnsupportedMediaType,
    Code::InvalidValue,
];
const TAGS: [(&str, &str, &str); 2] = [("If-Match", "header", "Tags"), ("If-None-Match", "header", "Tags")];
const NAMED: &[Code] = &[Code::NotFound, Code::Conflict, Code::InvalidValue];

const PATHS: &[Operation] = &[
    Operation {
        path: "/healthz",
        id: "health",
        summary: "Whether the process lives.",
        answer: "Health",
        ..READ
    },
    Operation {
        path: "/readyz",
        id: "ready",
        summary: "Whether it can decide and write.",
        answer: "Ready",
        ..READ
    },
    Operation {
        path: "/metrics",
        id: "metrics",
        summary: "Figures for Prometheus.",
        answer: "text/plain",
        ..READ
    },
    Operation { path: "/openapi.json", id: "openapi", summary: "This document.", ..READ },
    Operation {
        path: "/v1/cluster",
        id: "getCluster",
        summary: "The cluster; the header ETag names this version of it.",
        answer: "Cluster",
        errors: &[Code::NotFound],
        ..READ
    },
    Operation {
        path: "/v1/cluster",
        method: "put",
        id: "putCluster",
        summary: "Describes the cluster, for the first time or anew; what keeps its name keeps what was \
                  learned of it. With `dry_run=true` it only says what that would change.",
        parameters: &[("dry_run", "query", "Boolean"), TAGS[0], TAGS[1]],
        body: Some("Cluster"),
        answer: "ClusterChange",
        errors: CHANGED,
    },
    Operation {
        path: "/v1/slots",
        id: "lastSlots",
        summary: "The last slots, newest first.",
        parameters: &[("limit", "query", "Limit")],
        answer: "Slots",
        errors: &[Code::InvalidValue],
        ..READ
    },
    Operation {
        path: "/v1/slots",
        id: "decide",
        summary: "Decides a slot, or a list of slots in order. The same key returns the same answer.",
        body: Some("SlotRequest"),
        answer: "Decided",
        errors: SENT,
        ..WRITE
    },
    Operation {
        path: "/v1/slots/{slot}",
        id: "slot",
        summary: "A slot and why it was decided so.",
        parameters: &[("slot", "path", "SlotNumber")],
        answer: "SlotWhy",
        errors: &[Code::NotFound, Code::InvalidValue],
        ..READ
    },
    Operation {
        path: "/v1/starts",
        id: "starts",
        summary: "What became of starts; `accepted: false` revokes, `server` says where tasks really run.",
        body: Some("StartRequest"),
        answer: "Answered",
        errors: SENT_OF,
        ..WRITE
    },
    Operation {
        path: "/v1/observations",
        id: "observe",
        summary: "How tasks went, one report or a list. Idempotent.",
        body: Some("ObservationRequest"),
        answer: "Observed",
        errors: SENT_OF,
        ..WRITE
    },
    Operation {
        path: "/v1/trainer-status/{job}",
        id: "trainerStatus",
        summary: "The status of a job as Kubeflow Trainer reports it.",
        parameters: &[("job", "path", "PathName")],
        body: Some("TrainerStatus"),
        answer: "Trained",
        errors: SENT_OF,
        ..WRITE
    },
    Operation {
        path: "/v1/jobs",
        id: "jobs",
        summary: "Jobs that wait, run or are over, page by page.",
        parameters: &[
            ("state", "query", "JobState"),
            ("port", "query", "Text"),
            ("server", "query", "Text"),
            ("name", "query", "Text"),
            ("limit", "query", "Limit"),
            ("cursor", "query", "Cursor"),
        ],
        answer: "Jobs",
        errors: &[Code::InvalidValue],
        ..READ
    },
    Operation {
        path: "/v1/jobs/{job}",
        id: "job",
        summary: "A job: where it runs, or why it waits and at which place.",
        parameters: &[("job", "path", "PathName")],
        answer: "FoundJob",
        errors: NAMED,
        ..READ
    },
    Operation {
        path: "/v1/jobs/{job}",
        method: "patch",
        id: "amendJob",
        summary: "Changes how urgent a job that waits is, and what is said of it; a JSON merge patch.",
        parameters: &[("job", "path", "PathName"), ("dry_run", "query", "Boolean"), TAGS[0], TAGS[1]],
        body: Some("JobPatch"),
        answer: "AmendedJob",
        errors: CHANGED,
    },
    Operation {
        path: "/v1/jobs/{job}",
        method: "delete",
        id: "endJob",
        summary: "Ends a job and releases what it holds.",
        parameters: &[("job", "path", "PathName")],
        answer: "EndedJob",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/channels",
        id: "channels",
        summary: "What is believed of every port on every server.",
        parameters: &[("port", "query", "Text"), ("server", "query", "Text")],
        answer: "Channels",
        ..READ
    },
    Operation {
        path: "/v1/channels/{port}/{server}/reset",
        id: "resetChannel",
        summary: "Forgets what was learned of a port on a server.",
        parameters: &[("port", "path", "PathName"), ("server", "path", "PathName")],
        answer: "Anything",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/servers",
        id: "servers",
        summary: "What is believed of every server.",
        answer: "Servers",
        ..READ
    },
    Operation {
        path: "/v1/servers/{server}",
        method: "patch",
        id: "patchServer",
        summary: "Changes one server of the cluster; a JSON merge patch (RFC 7396).",
        parameters: &[("server", "path", "PathName"), TAGS[0], TAGS[1]],
        body: Some("ServerPatch"),
        answer: "ClusterChange",
        errors: CHANGED,
    },
    Operation {
        path: "/v1/departed",
        id: "departed",
        summary: "Servers that have left the cluster and of which something is kept.",
        answer: "Departed",
        ..READ
    },
    Operation {
        path: "/v1/departed/{server}",
        method: "delete",
        id: "forget",
        summary: "Forgets a server that has left the cluster.",
        parameters: &[("server", "path", "PathName")],
        answer: "Forgotten",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/servers/{server}/reset",
        id: "resetServer",
        summary: "Forgets what was learned of a server: it was repaired.",
        parameters: &[("server", "path", "PathName")],
        answer: "Anything",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/ports/{port}/reset",
        id: "resetPort",
        summary: "Forgets what was learned of a port, and the scale of its speeds.",
        parameters: &[("port", "path", "PathName")],
        answer: "Anything",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/outcomes/aside",
        id: "outcomesAside",
        summary: "Outcomes that are doubted, and why.",
        parameters: &[("port", "query", "Text")],
        answer: "OutcomesAside",
        ..READ
    },
    Operation {
        path: "/v1/outcomes/aside/{id}/accept",
        id: "acceptOutcome",
        summary: "Learns an outcome that was set aside.",
        parameters: &[("id", "path", "OutcomeNumber")],
        answer: "SettledOutcome",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/outcomes/aside/{id}/drop",
        id: "dropOutcome",
        summary: "Drops an outcome that was set aside.",
        parameters: &[("id", "path", "OutcomeNumber")],
        answer: "SettledOutcome",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/sources/{source}/forget",
        id: "forgetSource",
        summary: "Forgets what a source has reported.",
        parameters: &[("source", "path", "PathName")],
        answer: "ForgottenSource",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/servers/{server}/drain",
        id: "drain",
        summary: "The server takes nothing new; what runs there goes on.",
        parameters: &[("server", "path", "PathName")],
        answer: "Drained",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/servers/{server}/undrain",
        id: "undrain",
        summary: "The server takes jobs again.",
        parameters: &[("server", "path", "PathName")],
        answer: "Drained",
        errors: NAMED,
        ..WRITE
    },
    Operation {
        path: "/v1/state",
        id: "getState",
        summary: "What was learned, to be kept or merged elsewhere.",
        answer: "State",
        errors: &[Code::Conflict],
        ..READ
    },
    Operation {
        path: "/v1/state",
        method: "put",
        id: "putState",
        summary: "Adds what was learned elsewhere, by name.",
        parameters: &[("share", "query", "Share")],
        body: Some("State"),
        answer: "Merged",
        errors: SENT,
    },
    Operation {
        path: "/v1/audit",
        id: "audit",
        summary: "Who changed what, when and from where, the newest first.",
        parameters: &[
            ("since", "query", "Time"),
            ("until", "query", "Time"),
            ("server", "query", "Text"),
            ("actor", "query", "Text"),
            ("limit", "query", "AuditLimit"),
            ("cursor", "query", "AuditCursor"),
        ],
        answer: "Changes",
        errors: &[Code::InvalidValue],
        ..READ
    },
    Operation {
        path: "/v1/status",
        id: "status",
        summary: "The service at a glance.",
        answer: "Status",
        ..READ
    },
    Operation {
        path: "/v1/prioritize",
        id: "prioritize",
        summary: "Scores for kube-scheduler's HTTP extender; fails open.",
        body: Some("ExtenderArgs"),
        answer: "HostPriorities",
        errors: &[],
        ..WRITE
    },
    Operation {
        path: "/v1/events",
        id: "events",
        summary: "News as server-sent events, resumable by Last-Event-ID.",
        answer: "text/event-stream",
        ..READ
    },
];

/// Operations whose answers name a version of the cluster, or of a job.
const TAGGED: [&str; 4] = ["getCluster", "putCluster", "patchServer", "job"];

fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

impl Operation {
    fn operation(&self) -> Value {
        let content = match self.answer.contains('/') {
            true => json!({ self.answer: { "schema": { "type": "string" } } }),
            false => json!({ "application/json": { "schema": schema(self.answer) } }),
        };
        let mut answers = Map::new();
        answers.insert("200".to_owned(), json!({ "description": "Done.", "content": content }));
        let common = [Code::Unauthorized, Code::Forbidden, Code::Unavailable, Code::Internal];
        for code in self.errors.iter().chain(&common) {
            let error = json!({ "application/json": { "schema": schema("Error") } });
            let answer = json!({ "description": described(*code), "content": error });
            answers.insert(code.status().to_string(), answer);
        }
        let parameter = |(name, place, kind): &(&str, &str, &str)| {
            let required = *place == "path";
            json!({ "name": name, "in": place, "required": required, "schema": schema(kind) })
        };
        let mut operation = json!({
            "operationId": self.id,
            "summary": self.summary,
            "parameters": self.parameters.iter().map(parameter).collect::<Vec<_>>(),
            "responses": answers,
        });
        if TAGGED.contains(&self.id) {
            let tag = json!({ "description": "The version of what is shown.", "schema": schema("Tags") });
            operation["responses"]["200"]["headers"] = json!({ "ETag": tag });
        }
        if let Some(links) = links(self.id) {
            operation["responses"]["200"]["links"] = links;
        }
        if let Some(body) = self.body {
            let content = json!({ "application/json": { "schema": schema(body) } });
            operation["requestBody"] = json!({ "required": body != "ExtenderArgs", "content": content });
        }
        operation
    }
}

/// Where an answer leads: the operations that take what is in it.
fn links(id: &str) -> Option<Value> {
    let with = |operation: &str, name: &str, value: &str| {
        let parameters = Value::Object([(name.to_owned(), json!(value))].into_iter().collect());
        json!({ "operationId": operation, "parameters": parameters })
    };
    let slot = with("slot", "slot", "$response.body#/slot");
    let named = |operation: &str| with(operation, "job", "$request.body#/jobs/0/id");
    let server = |operation: &str| with(operation, "server", "$response.body#/servers/0/name");
    let ticket = json!({ "ticket": "$response.body#/placements/0/ticket", "utility": 0.5 });
    let revoked = json!({ "ticket": "$response.body#/placements/0/ticket", "accepted": false });
    match id {
        "decide" => Some(json!({
            "why": slot, "end": named("endJob"), "status": named("trainerStatus"),
            "job": named("job"), "amend": named("amendJob"),
            "outcome": { "operationId": "observe", "requestBody": ticket },
            "revoke": { "operationId": "starts", "requestBody": revoked },
        })),
        "servers" => Some(json!({ "reset": server("resetServer"), "drain": server("drain") })),
        "drain" => Some(json!({
            "undrain": { "operationId": "undrain", "parameters": { "server": "$response.body#/server" } },
        })),
        "channels" => Some(json!({ "reset": { "operationId": "resetChannel", "parameters": {
            "port": "$response.body#/channels/0/port", "server": "$response.body#/channels/0/server",
        } } })),
        "getState" => {
            Some(json!({ "merge": { "operationId": "putState", "requestBody": "$response.body" } }))
        }
        _ => None,
    }
}

fn described(code: Code) -> &'static str {
    match code {
        Code::InvalidJson => "The body is not JSON.",
        Code::InvalidValue | Code::KeyReused => {
            "A value is missing, unknown or out of range, or a key was used before; `field` says where."
        }
        Code::NotFound => "There is no such thing.",
        Code::MethodNotAllowed => "Not with this method.",
        Code::Conflict => "It contradicts the state, for example because no cluster is described yet.",
        Code::PreconditionFailed => "What is there is not what the change was meant for.",
        Code::UnsupportedMediaType => "The body is not application/json.",
        Code::TooLarge => "The body is too large.",
        Code::Timeout => "The request did not arrive in time.",
        Code::Unauthorized => "A valid token is needed.",
        Code::Forbidden => "The token's role does not allow it.",
        Code::Overloaded | Code::Unavailable => "The message says whether anything was changed; try again.",
        Code::Internal => "A bug.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All references lead somewhere, and all schemas are used.
    #[test]
    fn references_and_schemas_fit_together() {
        let document = document();
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for piece in text.split("#/components/schemas/").skip(1) {
            let name = piece.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
        for name in schemas.keys() {
            assert!(text.contains(&format!("#/components/schemas/{name}\"")), "{name} is not used");
        }
        let mut ids: Vec<&str> = PATHS.iter().map(|path| path.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), PATHS.len());
    }
}
