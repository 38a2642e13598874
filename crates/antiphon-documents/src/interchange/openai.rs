//! Conversations as the chat services take them: a line for each agent, `{"messages": […]}`.

use antiphon_model::BodyError;
use antiphon_views::Reading;
use serde_json::{Value, json};

use super::steps::{self, Speaker, Step};

/// Writes the session as conversations.
pub fn write(reading: &Reading<'_>) -> Result<String, BodyError> {
    let mut out = String::new();
    for agent in steps::agents(reading.session) {
        let mut messages = Vec::new();
        for step in steps::steps(reading, agent) {
            message(reading, &step, &mut messages)?;
        }
        if !messages.is_empty() {
            out.push_str(&json!({ "messages": messages }).to_string());
            out.push('\n');
        }
    }
    Ok(out)
}

fn message(
    reading: &Reading<'_>,
    step: &Step<'_>,
    messages: &mut Vec<Value>,
) -> Result<(), BodyError> {
    let session = reading.session;
    let role = match step.speaker {
        Speaker::Agent => "assistant",
        Speaker::System => "system",
        // A result must have a call; without one it is what the model is told.
        Speaker::User | Speaker::Shown => "user",
    };
    let mut message = json!({ "role": role, "content": steps::content(reading, step.entry)? });
    let Some(members) = message.as_object_mut() else { return Ok(()) };
    if step.speaker == Speaker::Agent {
        if let Some(thought) = steps::reasoning(reading, step.entry)? {
            members.insert("reasoning_content".to_owned(), thought.into());
        }
        let mut calls = Vec::new();
        for &call in &step.calls {
            let arguments = steps::arguments(reading, session.call(call).arguments)?;
            let function = json!({ "name": session.tool_name(call), "arguments": arguments });
            calls.push(
                json!({ "id": session.call_id(call), "type": "function", "function": function }),
            );
        }
        if !calls.is_empty() {
            members.insert("tool_calls".to_owned(), calls.into());
            if step.entry.content().is_none() {
                members.insert("content".to_owned(), Value::Null);
            }
        }
    }
    messages.push(message);
    for (call, result) in &step.results {
        messages.push(json!({
            "role": "tool",
            "tool_call_id": session.call_id(*call),
            "content": steps::content(reading, *result)?,
        }));
    }
    Ok(())
}
