//! A message as in OpenAI's chat API: a role, content, calls, and the call that it answers.

use std::borrow::Cow;

use antiphon_model::{Message, Role, ToolCall, Usage, is_blank};

use crate::line::{Object, Record, elements};
use crate::script::blank;

/// Reads a message. `None` if the role is not known.
pub(crate) fn message<'a>(
    record: &Record<'a>,
    said: &Object<'a>,
    agent: Cow<'a, str>,
) -> Option<Message<'a>> {
    let (role, source) = match said.id("role")? {
        "system" | "developer" => (Role::System, Some("system")),
        "user" => (Role::User, Some("external")),
        "assistant" => (Role::Assistant, None),
        "tool" | "function" => (Role::Tool, None),
        _ => return None,
    };
    let mut message = blank(agent, role);
    message.source = source.map(Cow::Borrowed);
    let content = said.raw("content").filter(|raw| !is_blank(raw)).or_else(|| said.raw("refusal"));
    message.content = content.map(|content| record.body(content));
    let thought = said.raw("reasoning_content").or_else(|| said.raw("reasoning"));
    let thought = thought.filter(|raw| raw.starts_with('"') && !is_blank(raw));
    message.reasoning = thought.map(|thought| record.body(thought));
    for call in elements(said.raw("tool_calls").unwrap_or_default()) {
        let call = Object::parse(call).unwrap_or_default();
        let function = call.object("function").unwrap_or_default();
        let id = call.text("id").or_else(|| function.text("name"));
        message.tool_calls.extend(id.map(|id| made(record, id, &function)));
    }
    // An older version of the API had a single call, without an id.
    if let Some(function) = said.object("function_call") {
        let id = function.text("name").unwrap_or_default();
        message.tool_calls.push(made(record, id, &function));
    }
    if role == Role::Tool {
        let ids = elements(said.raw("tool_call_ids").unwrap_or_default());
        let first = ids.first().and_then(|id| antiphon_model::json::word(id));
        let own = said.text("tool_call_id").or(first);
        message.tool_call_id = own.or_else(|| said.text("name"));
        message.name = said.text("name");
    }
    Some(message)
}

fn made<'a>(record: &Record<'a>, id: Cow<'a, str>, function: &Object<'a>) -> ToolCall<'a> {
    ToolCall {
        id,
        name: function.text("name").unwrap_or_default(),
        arguments: function.raw("arguments").map(|arguments| record.body(arguments)),
        ..ToolCall::default()
    }
}

/// Converts token counts. The prompt includes cached input, the completion includes reasoning.
pub(crate) fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let detail = |of, name| {
        let details = tokens.object(of).unwrap_or_default();
        details.number(name).unwrap_or_default()
    };
    let cached = detail("prompt_tokens_details", "cached_tokens");
    Usage {
        input: count("prompt_tokens").saturating_sub(cached),
        output: count("completion_tokens"),
        reasoning: detail("completion_tokens_details", "reasoning_tokens"),
        cache_read: cached,
        ..Usage::default()
    }
}
