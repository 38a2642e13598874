//! A message as in Anthropic's API: a role, and text or blocks.

use std::borrow::Cow;

use antiphon_model::{Body, Message, Role, ToolCall, is_blank};

use crate::claude_code::block::add_content;
use crate::line::{Object, Record};
use crate::script::blank;

/// Splits a message into one for what was said, one for each result, and one for each further
/// thought. `None` if the role is not known.
pub(crate) fn messages<'a>(
    record: &Record<'a>,
    said: &Object<'a>,
    agent: Cow<'a, str>,
) -> Option<Vec<Message<'a>>> {
    let role = match said.id("role")? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return None,
    };
    let mut message = blank(agent, role);
    message.source = match role {
        Role::User => Some(Cow::Borrowed("external")),
        Role::System => Some(Cow::Borrowed("system")),
        Role::Assistant | Role::Tool | Role::Other => None,
    };
    let content = said.raw("content").filter(|raw| !is_blank(raw) && !raw.starts_with('['));
    let (mut results, mut thoughts) = (Vec::new(), Vec::new());
    let mut has_results = false;
    content.into_iter().for_each(|raw| add_content(&mut message, record.body(raw)));
    for (raw, fields) in said.elements("content") {
        let fields = fields.unwrap_or_default();
        if let Some(thought) = thought(record, &fields) {
            match message.reasoning {
                None => message.reasoning = Some(thought),
                Some(_) => thoughts.push(thought),
            }
            continue;
        }
        let result = block(record, &mut message, raw, &fields);
        has_results |= result.is_some();
        results.extend(result.flatten());
    }
    let agent = message.agent.clone();
    // A user's words follow the results sent with them; an agent's call precedes its results.
    let is_mute = message.content.is_none() && role == Role::User && has_results;
    if role == Role::Assistant {
        results.insert(0, message);
    } else if !is_mute {
        results.push(message);
    }
    results.extend(thoughts.into_iter().map(|thought| {
        let reasoning = Some(thought);
        Message { reasoning, ..blank(agent.clone(), role) }
    }));
    Some(results)
}

/// The text of a `thinking` block, unless the block is of another type or empty.
fn thought<'a>(record: &Record<'a>, fields: &Object<'a>) -> Option<Body<'a>> {
    let thought = match fields.id("type")? {
        "thinking" => fields.raw("thinking"),
        "reasoning" => fields.raw("text"),
        _ => None,
    };
    thought.filter(|raw| !is_blank(raw)).map(|raw| record.body(raw))
}

/// Adds a block to its message. A result becomes a message of its own, once there is one.
fn block<'a>(
    record: &Record<'a>,
    message: &mut Message<'a>,
    raw: &'a str,
    fields: &Object<'a>,
) -> Option<Option<Message<'a>>> {
    let text = |name| fields.raw(name).filter(|raw| !is_blank(raw));
    match fields.id("type").unwrap_or_default() {
        "text" => text("text").into_iter().for_each(|it| add_content(message, record.body(it))),
        // Encrypted or empty: there is nothing to show.
        "thinking" | "reasoning" | "redacted_thinking" => {}
        "tool_use" | "tool_call" => {
            let made = call(record, fields, message.tool_calls.len());
            message.tool_calls.push(made);
        }
        "tool_result" | "tool-result" => {
            return Some(result(record, fields, message.agent.clone()));
        }
        _ => add_content(message, record.body(raw)),
    }
    None
}

/// Reads a call. If its id was not kept, one is derived from the line.
fn call<'a>(record: &Record<'a>, block: &Object<'a>, before: usize) -> ToolCall<'a> {
    let line = record.line.number;
    let unnamed = || Cow::Owned(format!("call-{line}-{}", before + 1));
    ToolCall {
        id: block.text("id").unwrap_or_else(unnamed),
        name: block.text("name").unwrap_or_default(),
        arguments: block.raw("input").map(|input| record.body(input)),
        description: block.object("input").and_then(|input| input.text("description")),
        ..ToolCall::default()
    }
}

/// Reads a result; nothing, while the tool still runs.
fn result<'a>(record: &Record<'a>, block: &Object<'a>, agent: Cow<'a, str>) -> Option<Message<'a>> {
    let mut message = blank(agent, Role::Tool);
    message.tool_call_id = block.text("tool_use_id").or_else(|| block.text("toolUseID"));
    message.name = block.text("name");
    message.content = block.raw("content").map(|content| record.body(content));
    message.is_error = block.flag("is_error").then_some(true);
    if let Some(run) = block.object("run") {
        ran(record, &mut message, &run)?;
    }
    Some(message)
}

/// Adds how a tool ran, which only Amp records.
fn ran<'a>(record: &Record<'a>, message: &mut Message<'a>, run: &Object<'a>) -> Option<()> {
    let result = run.object("result").unwrap_or_default();
    let said = ["output", "content", "diff"].iter().find_map(|name| result.raw(name));
    let error = run.object("error").and_then(|error| error.raw("message"));
    let status = run.id("status").unwrap_or("done");
    let is_over = !matches!(status, "in-progress" | "queued" | "blocked-on-user");
    let content = said.or_else(|| run.raw("result")).or(error).or_else(|| run.raw("status"));
    message.content = content.map(|content| record.body(content));
    message.result = run.raw("result").filter(|raw| raw.starts_with('{')).map(|it| record.body(it));
    let failed = matches!(status, "error") || result.raw("success") == Some("false");
    message.is_error = failed.then_some(true);
    is_over.then_some(())
}
