//! Writes conversations as in OpenAI's chat API: a line for each agent, `{"messages": […]}`.
//!
//! The API refuses a call that is not followed by exactly one result, and two calls with one id. So
//! several results of a call become one, a call without a result gets a placeholder, and an id that
//! is used again gets a number.

use std::collections::BTreeSet;

use antiphon_model::Reading;
use antiphon_model::{BodyError, CallIx};
use serde_json::{Value, json};

use crate::steps::{self, Speaker, Step};
use crate::write::{Output, Take, WriteError};

/// The placeholder for the result of a call that has none.
const NO_RESULT: &str = "(no result was recorded)";

/// Writes the session as conversations; nothing, if no agent says anything.
pub(crate) fn write<'t>(
    reading: &Reading<'_>,
    _: &str,
    take: &'t mut Take<'t>,
) -> Result<(), WriteError> {
    let mut out = Output::plain(take);
    for agent in steps::agents(reading.session) {
        let mut is_first = true;
        let mut ids = BTreeSet::new();
        for step in steps::steps(reading, agent) {
            let mut messages = Vec::new();
            message(reading, &step, &mut ids, &mut messages)?;
            for message in messages {
                if is_first {
                    out.frame("{\"messages\":[")?;
                }
                out.next(&mut is_first, 0)?;
                out.value(&message, 0)?;
            }
        }
        if !is_first {
            out.frame("]}\n")?;
        }
    }
    Ok(())
}

fn message(
    reading: &Reading<'_>,
    step: &Step<'_>,
    ids: &mut BTreeSet<String>,
    messages: &mut Vec<Value>,
) -> Result<(), BodyError> {
    let session = reading.session;
    let role = match step.speaker {
        Speaker::Agent => "assistant",
        Speaker::System => "system",
        // A result must have a call; without one it is written as a prompt.
        Speaker::User | Speaker::Shown => "user",
    };
    let mut message = json!({ "role": role, "content": steps::content(reading, step.entry)? });
    let Some(members) = message.as_object_mut() else { return Ok(()) };
    let mut answers = Vec::new();
    if step.speaker == Speaker::Agent {
        if let Some(thought) = steps::reasoning(reading, step.entry)? {
            members.insert("reasoning_content".to_owned(), thought.into());
        }
        let mut calls = Vec::new();
        for &call in &step.calls {
            let arguments = steps::arguments(reading, session.call(call).arguments)?;
            let name = function_name(session.tool_name(call));
            let function = json!({ "name": name, "arguments": arguments });
            let id = free(session.call_id(call), ids);
            let answer = answer(reading, step, call)?;
            answers.push(json!({ "role": "tool", "tool_call_id": id, "content": answer }));
            calls.push(json!({ "id": id, "type": "function", "function": function }));
        }
        if !calls.is_empty() {
            members.insert("tool_calls".to_owned(), calls.into());
            if step.entry.content().is_none() {
                members.insert("content".to_owned(), Value::Null);
            }
        }
    }
    messages.push(message);
    messages.append(&mut answers);
    // An observation without a call is written as a prompt.
    if step.speaker != Speaker::Agent {
        for (_, result) in &step.results {
            messages.push(json!({ "role": "user", "content": steps::content(reading, *result)? }));
        }
    }
    Ok(())
}

/// A tool's name as the API allows it: at most 64 letters, digits, `_` and `-`.
pub(crate) fn function_name(tool: &str) -> String {
    const CHARS_MAX: usize = 64;
    let is_taken = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = tool.chars().take(CHARS_MAX).collect();
    let name = name.chars().map(|c| if is_taken(&c) { c } else { '_' }).collect::<String>();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// An id that no earlier call has.
fn free(id: &str, ids: &mut BTreeSet<String>) -> String {
    let wanted = if id.is_empty() { "call" } else { id };
    let numbered = (2_u64..).map(|n| format!("{wanted}_{n}"));
    let mut free = std::iter::once(wanted.to_owned()).chain(numbered);
    free.find(|id| ids.insert(id.clone())).unwrap_or_default()
}

/// The result of a call; if there are several, one after the other.
fn answer(reading: &Reading<'_>, step: &Step<'_>, call: CallIx) -> Result<Value, BodyError> {
    let results = step.results.iter().filter(|(of, _)| *of == call);
    let mut contents = results
        .map(|(_, result)| steps::content(reading, *result))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(match contents.len() {
        0 => NO_RESULT.into(),
        1 => contents.remove(0),
        _ => contents.iter().flat_map(as_parts).collect(),
    })
}

fn as_parts(content: &Value) -> Vec<Value> {
    match content.as_array() {
        Some(parts) => parts.clone(),
        None => vec![json!({ "type": "text", "text": content })],
    }
}
