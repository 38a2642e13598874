//! The description of the API, as it is committed in `docs/schema/openapi.json`: put together from
//! the table of routes and the schemas of the documents by `cargo xtask schemas`.

use std::collections::BTreeMap;

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::access::Need;
use crate::routes::{Gives, Route, TABLE};

/// What is served.
pub(crate) const DOCUMENT: &str = include_str!("../../../docs/schema/openapi.json");

/// Parameters that are not just words.
const NUMBERS: [&str; 3] = ["from", "limit", "min_cost"];
const FLAGS: [&str; 7] = ["utc", "inner", "forward", "failed", "all", "tree", "ledger"];
const REPEATED: [&str; 5] = ["agent", "role", "source", "kind", "tool"];

/// What a route may answer besides what was asked for.
const PROBLEMS: [u16; 10] = [400, 401, 403, 404, 405, 409, 413, 415, 421, 503];

/// The document. `schemas` are those of the documents by their names, and `definitions` what these
/// refer to in `#/components/schemas`.
pub fn describe(schemas: &BTreeMap<String, Value>, definitions: &Map<String, Value>) -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in TABLE.iter().filter(|route| is_described(route.path)) {
        let method = route.method.as_str().to_ascii_lowercase();
        paths.entry(route.path).or_default().insert(method, operation(route, schemas));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Antiphon",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The sessions of AI agents. Every answer is what the command line prints.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{ "token": [] }, { "cookie": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "antiphon_7462" },
            },
            "responses": {
                "Problem": {
                    "description": "Why there is no other answer (RFC 9457)",
                    "content": { "application/problem+json": { "schema": {
                        "type": "object",
                        "required": ["type", "title", "status", "detail"],
                        "properties": {
                            "type": { "type": "string" },
                            "title": { "type": "string" },
                            "status": { "type": "integer" },
                            "detail": { "type": "string" },
                        },
                    } } },
                },
                "Status": {
                    "description": "Why there is no other answer (google.rpc.Status)",
                    "content": { "application/json": {}, "application/x-protobuf": {} },
                },
            },
            "schemas": definitions,
        },
    })
}

/// The page is for people.
fn is_described(path: &str) -> bool {
    ["/api/", "/v1/", "/metrics", "/healthz"].iter().any(|begin| path.starts_with(begin))
}

fn operation(route: &Route, schemas: &BTreeMap<String, Value>) -> Value {
    let in_path =
        route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Value> = in_path
        .map(|name| {
            let schema = json!({ "type": "string", "minLength": 1 });
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect();
    parameters.extend(route.parameters.iter().map(|name| parameter(name)));
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "responses": responses(route, schemas),
        "x-scope": route.need.as_str(),
    });
    if let Some(body) = request_body(route, schemas) {
        add(&mut operation, "requestBody", body);
    }
    if route.need == Need::Nothing {
        add(&mut operation, "security", json!([]));
    }
    operation
}

fn add(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value);
    }
}

fn parameter(name: &str) -> Value {
    let schema = match name {
        _ if NUMBERS.contains(&name) => json!({ "type": "number", "minimum": 0 }),
        _ if FLAGS.contains(&name) => json!({ "enum": ["true", "false"] }),
        _ if REPEATED.contains(&name) => json!({ "type": "array", "items": { "type": "string" } }),
        _ => json!({ "type": "string" }),
    };
    json!({ "name": name, "in": "query", "schema": schema })
}

fn responses(route: &Route, schemas: &BTreeMap<String, Value>) -> Value {
    let is_otlp = route.path.starts_with("/v1/");
    let problem = if is_otlp { "Status" } else { "Problem" };
    let mut responses = Map::new();
    let (status, content) = match route.gives {
        Gives::Json(name) => {
            let schema = schemas.get(name).cloned().unwrap_or_else(|| json!({}));
            let status = if name == "created" { "201" } else { "200" };
            (status, json!({ "application/json": { "schema": schema } }))
        }
        Gives::AnyJson if is_otlp => {
            ("200", json!({ "application/json": {}, "application/x-protobuf": {} }))
        }
        Gives::AnyJson => ("200", json!({ "application/json": {} })),
        Gives::Type(kind) => ("200", json!({ kind: {} })),
        Gives::Nothing => ("204", json!({})),
    };
    let done = json!({ "description": route.about, "content": content });
    responses.insert(status.to_owned(), done);
    if route.path.ends_with("/skeleton") {
        responses.insert("304".to_owned(), json!({ "description": "Nothing has changed" }));
    }
    for status in PROBLEMS {
        let reference = format!("#/components/responses/{problem}");
        responses.insert(status.to_string(), json!({ "$ref": reference }));
    }
    Value::Object(responses)
}

fn request_body(route: &Route, schemas: &BTreeMap<String, Value>) -> Option<Value> {
    if route.method != Method::POST {
        return None;
    }
    let schema = |name: &str| schemas.get(name).cloned().unwrap_or_else(|| json!({}));
    let content = match route.path {
        "/api/sessions" => json!({ "application/json": { "schema": schema("new-session") } }),
        "/api/login" => json!({ "application/json": { "schema": schema("login") } }),
        "/api/code" => json!({ "application/json": { "schema": schema("wanted-code") } }),
        "/v1/traces" | "/v1/logs" => {
            json!({ "application/json": {}, "application/x-protobuf": {} })
        }
        path if path.ends_with("/annotations") => {
            json!({ "application/json": { "schema": schema("annotation") } })
        }
        _ => json!({ "application/x-ndjson": {} }),
    };
    Some(json!({ "required": true, "content": content }))
}

/// The documents that only the server gives or takes, by their names.
#[cfg(feature = "schema")]
pub fn own_schemas(generator: &mut schemars::SchemaGenerator) -> BTreeMap<String, Value> {
    use antiphon_views::{SessionEvent, WholeEvent};

    use crate::routes::schemas as own;

    let mut schemas = BTreeMap::new();
    let mut add = |name: &str, schema: schemars::Schema| {
        schemas.insert(name.to_owned(), Value::from(schema));
    };
    add("sessions", generator.subschema_for::<own::SessionPage<'_>>());
    add("created", generator.subschema_for::<own::Created>());
    add("new-session", generator.subschema_for::<own::NewSession>());
    add("events", generator.subschema_for::<Vec<SessionEvent>>());
    add("event", generator.subschema_for::<WholeEvent>());
    add("findings", generator.subschema_for::<own::CheckedDocument>());
    add("annotation", generator.subschema_for::<own::Given>());
    add("runs", generator.subschema_for::<Vec<own::ListedRun>>());
    add("status", generator.subschema_for::<own::ServerStatus>());
    add("login", generator.subschema_for::<own::Login>());
    add("wanted-code", generator.subschema_for::<own::WantedCode>());
    add("address", generator.subschema_for::<own::Address>());
    schemas
}
