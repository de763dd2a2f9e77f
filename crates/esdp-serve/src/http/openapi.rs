//! `/openapi.json`: the API as OpenAPI 3.1, written by hand so that it says what is accepted to the letter. A
//! test walks all paths of it over real HTTP, so that a route which it forgets or makes up is noticed.

mod paths;
mod schemas;

use crate::wire::Code;
use paths::{Operation, PATHS};
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
