//! The JSON Schemas of both standards, generated from the types.
//!
//! What the types cannot express is added to their fields as keywords: the words that a standard
//! lists, and which strings are times.

use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::payload::{
    Abort, Acknowledgment, Feedback, ReviewRequest, TaskAssignment, TaskProgress,
};
use crate::{DeveloperOutput, MultiAgentSession, ReviewerOutput, Session};

/// The words that a standard lists for a member. Any other string is allowed as well, so the list
/// is in `anyOf` with a branch that accepts every string: an editor offers the words, and a
/// validator accepts others.
pub(crate) fn words(listed: &[&str]) -> Value {
    json!([{ "enum": listed }, { "description": "any other value" }])
}

/// At least one of these two members is required.
pub(crate) fn either(members: [&str; 2]) -> Value {
    Value::Array(members.iter().map(|member| json!({ "required": [member] })).collect())
}

/// The schema of STD-001, the content of `docs/schema/std-001.json`.
pub fn std_001() -> String {
    let schema = SchemaGenerator::default().into_root_schema_for::<Session>();
    text(schema, "STD-001", "The session of one agent")
}

/// The schema of STD-008, the content of `docs/schema/std-008.json`. It also defines the payloads
/// of messages, which the standard leaves open; only the validator uses those definitions.
pub fn std_008() -> String {
    let mut generator = SchemaGenerator::default();
    define::<TaskAssignment>(&mut generator);
    define::<TaskProgress>(&mut generator);
    define::<DeveloperOutput>(&mut generator);
    define::<ReviewRequest>(&mut generator);
    define::<ReviewerOutput>(&mut generator);
    define::<Feedback>(&mut generator);
    define::<Abort>(&mut generator);
    define::<Acknowledgment>(&mut generator);
    let schema = generator.into_root_schema_for::<MultiAgentSession>();
    text(schema, "STD-008", "The session of several agents: everything in STD-001, and more")
}

fn define<T: JsonSchema>(generator: &mut SchemaGenerator) {
    let _ = generator.subschema_for::<T>();
}

fn text(mut schema: Schema, title: &str, description: &str) -> String {
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description.into());
    format!("{:#}\n", Value::from(schema))
}
