//! Who wrote a line that is in the person's name: the person, or the harness.

use antiphon_model::Body;

use super::session::MAIN;
use crate::line::Record;

/// Who speaks to the agent: a person, or the harness on a person's behalf.
pub(super) fn source(record: &Record<'_>, agent: &str, said: Option<&Body<'_>>) -> &'static str {
    let object = &record.object;
    if let Some(kind) = object.object("origin").and_then(|origin| origin.id("kind")) {
        return if kind == "human" { "external" } else { "system" };
    }
    let is_meta = object.flag("isMeta") || object.flag("isCompactSummary");
    let text = said.map_or("", |body| body.json.trim_start_matches('"'));
    let is_harness = HARNESS.iter().any(|beginning| text.starts_with(beginning));
    if is_meta || is_harness || agent != MAIN { "system" } else { "external" }
}

/// Prefixes of texts that the harness writes as if they were the person's.
const HARNESS: [&str; 10] = [
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<task-notification>",
    "<system-reminder>",
    "<bash-input>",
    "<bash-stdout>",
    "[Request interrupted by user",
    "Caveat: The messages below",
];
