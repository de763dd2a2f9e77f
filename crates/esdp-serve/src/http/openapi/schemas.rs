//! The schemas of the API.

use crate::wire::{Code, LONGEST_NAME};
use esdp::live::{LONGEST_FEATURE, MOST_FEATURES};
use serde_json::{Value, json};

fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn list(name: &str) -> Value {
    json!({ "type": "array", "items": schema(name) })
}

/// An object with these keys and no others, of which the first `required` must be there.
fn strict(required: usize, properties: &[(&str, Value)]) -> Value {
    let mut schema = open(required, properties);
    schema["additionalProperties"] = json!(false);
    schema
}

/// An object with these keys among others, of which the first `required` must be there.
fn open(required: usize, properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().take(required).map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "required": names, "properties": properties })
}

fn whole(from: u64) -> Value {
    json!({ "type": "integer", "minimum": from })
}

fn number() -> Value {
    json!({ "type": "number" })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn nullable(kind: &str) -> Value {
    json!({ "type": [kind, "null"] })
}

/// A key that may also be `null`, which is the same as leaving it out.
fn or_null(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn pair() -> Value {
    json!({ "type": ["array", "null"], "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
}

pub(super) fn schemas() -> Value {
    let above_zero = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e12 });
    let share = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 });
    let count = json!({ "type": "integer", "minimum": 1, "maximum": 65536 });
    let boolean = json!({ "type": "boolean" });
    let name = || schema("Name");
    let cost = json!({ "type": "number", "minimum": 0, "maximum": 1000 });
    let ticket = json!({ "type": "string", "pattern": "^t[0-9]{1,18}(\\.[0-9]{1,9})?$" });
    let mut all = json!({
        "Anything": { "type": "object" },
        "Name": {
            "type": "string", "minLength": 1, "maxLength": LONGEST_NAME,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]+$",
        },
        // A slash or a dot alone in a path leads elsewhere; other names work, too, if they are encoded.
        "PathName": {
            "type": "string", "minLength": 1, "maxLength": LONGEST_NAME,
            "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$",
        },
        "Text": text(),
        "SlotNumber": whole(1),
        "Limit": { "type": "integer", "minimum": 1, "maximum": 500 },
        "Share": share,
        "Amounts": {
            "type": "object",
            "additionalProperties": { "type": "integer", "minimum": 0, "maximum": 1_u64 << 40 },
        },
        "Health": open(1, &[("status", text())]),
        "Ready": open(3, &[
            ("status", text()), ("cluster", boolean.clone()), ("slot", whole(0)), ("warnings", list("Text")),
        ]),
        "Error": open(2, &[
            ("code", json!({ "enum": Code::ALL })), ("message", text()), ("field", text()), ("accepted",
                text()),
        ]),
        "Cluster": strict(3, &[
            ("devices", list("Name")), ("servers", list("Server")), ("ports", list("Port")),
            ("capacity", or_null(&schema("Amounts"))), ("costs", json!({ "type": "object",
                "additionalProperties": schema("Cost") })),
        ]),
        "Cost": { "anyOf": [
            strict(2, &[("kind", json!({ "const": "linear" })), ("rate", cost.clone()), ("fixed",
                cost.clone())]),
            strict(2, &[
                ("kind", json!({ "const": "table" })),
                ("costs", json!({ "type": "array", "items": cost.clone(), "minItems": 1 })),
            ]),
            strict(3, &[("kind", json!({ "const": "power" })), ("rate", cost.clone()), ("exponent",
                cost.clone())]),
            strict(3, &[
                ("kind", json!({ "const": "step" })), ("per", json!({ "type": "integer", "minimum": 1,
                    "maximum": 1_u64 << 40 })),
                ("cost", cost),
            ]),
        ] },
        "Server": strict(1, &[
            ("name", name()), ("capacity", or_null(&schema("Amounts"))),
            ("labels", json!({ "type": "array", "items": schema("Name"), "maxItems": 16 })),
        ]),
        "Port": strict(1, &[
            ("name", name()), ("request", or_null(&schema("Amounts"))), ("tasks", or_null(&count)),
            ("min", or_null(&count)), ("groups", or_null(&json!({ "type": "array", "items": schema("Group"),
                "maxItems": 64 }))),
            ("parts", boolean.clone()), ("pace", or_null(&json!({ "enum": ["sum", "slowest"] }))),
            ("crossing", or_null(&json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }))),
            ("servers", or_null(&list("Name"))), ("labels",
                or_null(&list("Name"))),
            ("channels", or_null(&list("ListedChannel"))), ("weight", or_null(&above_zero)),
            ("reference_speed", or_null(&above_zero)),
        ]),
        "Group": strict(2, &[
            ("name", name()), ("request", schema("Amounts")), ("count", count),
            ("min", or_null(&json!({ "type": "integer", "minimum": 0, "maximum": 65536 }))),
        ]),
        "ListedChannel": strict(2, &[("server", name()), ("request", schema("Amounts")), ("group", text())]),
        // The rest tells of a dry run.
        "ClusterChange": open(4, &[
            ("changed", boolean.clone()), ("servers", whole(0)), ("ports", whole(0)), ("lost",
                list("LostJob")),
            ("dry_run", boolean.clone()), ("added", schema("PartNames")), ("removed", schema("PartNames")),
            ("altered", schema("PartNames")),
        ]),
        "LostJob": open(2, &[("job", text()), ("why", text())]),
        "PartNames": open(3, &[
            ("devices", list("Text")), ("servers", list("Text")), ("ports", list("Text")),
        ]),
        "ServerPatch": strict(0, &[
            ("capacity", json!({ "type": ["object", "null"], "additionalProperties":
                { "type": ["integer", "null"], "minimum": 0, "maximum": 1_u64 << 40 } })),
            ("labels", json!({ "type": ["array", "null"], "items": schema("Name"), "maxItems": 16 })),
        ]),
        "Tags": {
            "type": "string", "minLength": 1,
            "pattern": "^(\\*|(W/)?\"[a-zA-Z0-9]*\"(, (W/)?\"[a-zA-Z0-9]*\")*)$",
        },
        "Boolean": boolean.clone(),
        "Departed": open(2, &[("slot", whole(0)), ("servers", list("DepartedServer"))]),
        "DepartedServer": open(4, &[
            ("name", text()), ("channels", whole(0)), ("outcomes", number()), ("drained", boolean.clone()),
        ]),
        "Forgotten": open(2, &[("forgotten", text()), ("channels", whole(0))]),
    });
    let more = json!({
        "SlotRequest": { "anyOf": [schema("OneSlot"), {
            "type": "array", "items": schema("OneSlot"), "maxItems": 1000,
        }] },
        "OneSlot": strict(1, &[
            ("key", name()), ("jobs", list("Job")), ("ended", list("Text")),
            ("free", json!({ "type": "object", "additionalProperties": schema("Amounts") })),
            ("closed", list("Name")), ("work", or_null(&json!({ "type": "integer", "minimum": 0,
                "maximum": 1_u64 << 53 }))),
        ]),
        "Decided": { "anyOf": [schema("Slot"), open(1, &[("slots", list("Slot"))])] },
        "Slot": open(3, &[
            ("slot", whole(1)), ("placements", list("Placement")), ("held", list("Held")), ("held_more",
                whole(0)),
            ("ignored", list("Anything")), ("advice", boolean.clone()),
        ]),
        "SlotWhy": open(6, &[
            ("slot", whole(1)), ("placements", list("Placement")), ("held", list("Held")), ("key", text()),
            ("at", whole(0)), ("why", list("Why")),
        ]),
        "Slots": open(1, &[("slots", list("SlotWhy"))]),
        "Placement": open(5, &[
            ("job", text()), ("group", text()), ("server", text()), ("count", whole(1)), ("ticket", text()),
        ]),
        "Held": open(3, &[("job", text()), ("reason", text()), ("detail", text())]),
        "Why": open(10, &[
            ("job", text()), ("port", text()), ("group", text()), ("server", text()), ("count", whole(1)),
            ("estimate", number()), ("bonus", nullable("number")), ("cost", number()), ("outcomes", number()),
            ("sentence", text()), ("pending", whole(0)), ("binding", nullable("string")),
            ("runner_up", nullable("object")),
        ]),
        "Start": strict(2, &[
            ("ticket", ticket),
            ("accepted", boolean.clone()), ("server", nullable("string")), ("why", text()),
        ]),
        "Answered": { "anyOf": [schema("AnsweredStart"), open(1, &[("starts", list("AnsweredStart"))])] },
        "AnsweredStart": open(3, &[
            ("ticket", text()), ("accepted", boolean.clone()), ("changed", boolean.clone()), ("job", text()),
            ("state", json!({ "enum": ["waiting", "lost"] })), ("why", text()),
        ]),
        "StartRequest": { "anyOf": [schema("Start"), list("Start")] },
        // What cannot be is refused one by one, with its place in the list.
        "Observation": strict(0, &[
            ("ticket", nullable("string")), ("job", nullable("string")), ("port", nullable("string")),
            ("group", nullable("string")), ("server", nullable("string")), ("id", nullable("string")),
            ("utility", nullable("number")), ("rate", nullable("number")), ("work", nullable("number")),
            ("seconds", nullable("number")), ("unit", nullable("string")), ("outcome", nullable("string")),
            ("source", nullable("string")),
        ]),
        "ObservationRequest": { "anyOf": [schema("Observation"), list("Observation")] },
        "Observed": open(5, &[
            ("learned", whole(0)), ("set_aside", whole(0)), ("duplicates", whole(0)), ("accepted", whole(0)),
            ("refused", list("Anything")),
        ]),
        "TrainerStatus": open(1, &[("trainerStatus", open(0, &[
            ("progressPercentage", nullable("number")), ("metrics", list("TrainerMetric")),
        ]))]),
        "TrainerMetric": open(0, &[("name", text()), ("value", json!({}))]),
        "Trained": open(2, &[("learned", whole(0)), ("duplicates", whole(0))]),
        "EndedJob": open(2, &[("job", text()), ("was", json!({ "enum": ["running", "waiting", "over"] }))]),
        "Channels": open(2, &[("slot", whole(0)), ("channels", list("Channel"))]),
        "Channel": open(8, &[
            ("port", text()), ("group", text()), ("server", text()), ("mean", number()), ("interval", pair()),
            ("count", number()), ("pending", whole(0)), ("unit", text()), ("estimate", number()),
        ]),
        "Servers": open(2, &[("slot", whole(0)), ("servers", list("ServerBelief"))]),
        "ServerBelief": open(5, &[
            ("name", text()), ("factor", nullable("number")), ("interval", pair()),
            ("verdict", json!({ "enum": ["slow", "usual", "fast", "unknown"] })), ("count", number()),
            ("drained", boolean.clone()), ("labels", json!({ "type": "array", "items": text() })),
            ("capacity", nullable("object")), ("free", nullable("object")),
        ]),
        "Drained": open(3, &[("server", text()), ("drained", boolean.clone()), ("changed", boolean.clone())]),
        // Its inside belongs to the core; one that is not a state is refused with 409.
        "State": { "type": "object" },
        "Time": {
            "type": ["string", "number"],
            "description": "UTC or with an offset; or a number of seconds since 1970",
            "minimum": 0, "exclusiveMaximum": 1e11,
            "pattern": concat!(
                "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
                "T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"
            ),
        },
        "AuditLimit": { "type": "integer", "minimum": 1, "maximum": 1000 },
        "AuditCursor": { "type": "string", "pattern": "^[0-9]{1,15}\\.[0-9]{1,15}$" },
        "Changes": open(1, &[("changes", list("Change")), ("next", text())]),
        "Change": open(9, &[
            ("event", whole(1)), ("at", whole(0)), ("time", text()), ("actor", text()), ("address", text()),
            ("request", text()), ("action", text()), ("target", text()), ("servers", list("Text")),
            ("damaged", boolean.clone()),
        ]),
        "Merged": open(1, &[("channels", whole(0))]),
        "Status": open(3, &[("sequence", whole(0)), ("slot", whole(0)), ("decisions", whole(0))]),
        // It fails open: whatever comes is answered.
        "ExtenderArgs": {},
        "HostPriorities": list("HostPriority"),
        "HostPriority": open(2, &[
            ("Host", text()), ("Score", json!({ "type": "integer", "minimum": 0, "maximum": 10 })),
        ]),
    });
    for more in [more, jobs(), doubted()] {
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
    }
    all
}

/// Of jobs: sent, found, changed.
fn jobs() -> Value {
    let above_zero = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e12 });
    let boolean = json!({ "type": "boolean" });
    let name = || schema("Name");
    json!({
        "Job": strict(2, &[
            ("id", name()), ("port", name()), ("weight", or_null(&above_zero)), ("tenant", or_null(&name())),
            ("expected", or_null(&schema("Expected"))), ("features", or_null(&schema("Features"))),
        ]),
        "Expected": { "oneOf": [
            strict(1, &[("work", above_zero.clone())]), strict(1, &[("seconds", above_zero.clone())]),
        ] },
        "Features": { "type": "array", "maxItems": MOST_FEATURES, "items": { "anyOf": [
            { "type": "number", "minimum": -1e300, "maximum": 1e300 },
            { "type": "string", "minLength": 1, "maxLength": LONGEST_FEATURE,
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" },
        ] } },
        "JobState": { "enum": ["waiting", "running", "over"] },
        "Cursor": {
            "type": "string", "pattern": "^(s[0-9]{1,18}|t[0-9]{1,18}|q[0-9a-f]{16}\\.[0-9]{1,18})$"
        },
        "Jobs": open(2, &[("jobs", list("FoundJob")), ("slot", whole(0)), ("next", schema("Cursor"))]),
        // What is known depends on its state.
        "FoundJob": open(4, &[
            ("id", text()), ("port", nullable("string")), ("state", schema("JobState")), ("tenant",
                nullable("string")),
            ("expected", schema("Expected")), ("features", schema("Features")), ("weight", number()),
            ("submitted", whole(0)), ("age", whole(0)), ("position", whole(1)), ("queue", whole(1)),
            ("reason", text()), ("detail", text()), ("tag", schema("Tags")), ("ticket", text()),
            ("started", whole(0)), ("placements", list("FoundPlace")),
        ]),
        "FoundPlace": open(5, &[
            ("group", text()), ("server", text()), ("count", whole(1)), ("ticket", text()), ("reported",
                whole(0)),
        ]),
        "JobPatch": strict(0, &[
            ("weight", or_null(&above_zero)), ("tenant", or_null(&name())),
            ("expected", or_null(&schema("Expected"))), ("features", or_null(&schema("Features"))),
        ]),
        "AmendedJob": open(2, &[
            ("changed", boolean.clone()), ("job", schema("FoundJob")), ("dry_run", boolean.clone()),
        ]),
    })
}

/// What was set aside, and what becomes of it.
fn doubted() -> Value {
    json!({
        "OutcomeNumber": whole(1),
        "OutcomesAside":
            open(3, &[("outcomes", list("OutcomeAside")), ("slot", whole(0)), ("total", whole(0))]),
        "OutcomeAside": open(13, &[
            ("id", whole(1)), ("slot", whole(0)), ("port", text()), ("group", text()), ("server", text()),
            ("source", text()), ("report", text()), ("speed", number()), ("believed", nullable("number")),
            ("reason", json!({ "enum": ["too-fast", "no-ticket", "enough", "alone"] })), ("detail", text()),
            ("open", json!({ "type": "boolean" })), ("times", whole(1)),
        ]),
        "SettledOutcome": open(4, &[
            ("id", whole(1)), ("accepted", json!({ "type": "boolean" })), ("port", text()),
            ("server", text()),
        ]),
        "ForgottenSource": open(2, &[("source", text()), ("set_aside", whole(0))]),
    })
}
