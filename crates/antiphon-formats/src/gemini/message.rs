//! One message: its text, its calls and their results.

use std::borrow::Cow;

use antiphon_model::{Body, EventKind, Message, Role, ToolCall, Usage, is_blank};

use crate::claude_code::block::add_content;
use crate::line::{Object, Record, elements};
use crate::script::{Script, blank};

type Agent<'a> = Cow<'a, str>;

/// A call that a message makes.
pub(super) struct Made<'a> {
    pub(super) call: Cow<'a, str>,
    /// The id of the chat of the agent that it created.
    pub(super) agent: Option<Cow<'a, str>>,
    /// The agent's name.
    pub(super) name: Option<Cow<'a, str>>,
}

/// Adds an agent's message, with its calls and their results. Returns the calls.
pub(super) fn answer<'a>(
    script: &mut Script<'a>,
    (record, own): (&Record<'a>, Option<&'a str>),
    agent: &Agent<'a>,
    tokens: Option<Usage>,
) -> Vec<Made<'a>> {
    let object = &record.object;
    let mut message = blank(agent.clone(), Role::Assistant);
    message.model = object.text("model");
    message.usage = tokens;
    let thoughts = object.raw("thoughts").filter(|raw| !is_blank(raw));
    message.reasoning = thoughts.map(|raw| record.body(only_thought(raw).unwrap_or(raw)));
    let said = object.raw("content").filter(|raw| !is_blank(raw)).or_else(|| object.raw("parts"));
    say(record, &mut message, said);
    let calls: Vec<Object<'a>> = elements(object.raw("toolCalls").unwrap_or_default())
        .into_iter()
        .filter_map(Object::parse)
        .collect();
    message.tool_calls.extend(calls.iter().filter_map(|call| called(record, call)));
    script.push(record, own, EventKind::Message(message));
    let mut made = Vec::new();
    for call in &calls {
        let Some(id) = call.text("id") else { continue };
        returned(script, record, agent, (call, id.clone()));
        let agent = call.text("agentId");
        made.push(Made { call: id, agent, name: call.text("displayName").or(call.text("name")) });
    }
    made
}

/// Adds text, one part, or a list of parts.
pub(super) fn say<'a>(record: &Record<'a>, message: &mut Message<'a>, content: Option<&'a str>) {
    let Some(content) = content.filter(|raw| !is_blank(raw)) else { return };
    if !content.starts_with('[') {
        return add_content(message, record.body(text_of(content)));
    }
    for part in elements(content).into_iter().filter(|part| !is_blank(part)) {
        add_content(message, record.body(text_of(part)));
    }
}

/// A part's text, if it has one.
fn text_of(part: &str) -> &str {
    Object::parse(part).and_then(|part| part.raw("text")).unwrap_or(part)
}

/// The text of the reasoning, if it consists of one thought.
fn only_thought(raw: &str) -> Option<&str> {
    match elements(raw).as_slice() {
        [thought] => Object::parse(thought)?.raw("description"),
        _ => None,
    }
}

/// Reads a call in the form of the Gemini API.
pub(crate) fn called<'a>(record: &Record<'a>, call: &Object<'a>) -> Option<ToolCall<'a>> {
    Some(ToolCall {
        id: call.text("id")?,
        name: call.text("name").unwrap_or_default(),
        arguments: call.raw("args").map(|arguments| record.body(arguments)),
        description: call.object("args").and_then(|arguments| arguments.text("description")),
        ..ToolCall::default()
    })
}

/// The result of a call that has ended.
fn returned<'a>(
    script: &mut Script<'a>,
    record: &Record<'a>,
    agent: &Agent<'a>,
    (call, id): (&Object<'a>, Cow<'a, str>),
) {
    let status = call.id("status").unwrap_or_default();
    let has_ended = matches!(status, "success" | "error" | "cancelled");
    let shown = call.raw("resultDisplay").filter(|raw| !is_blank(raw));
    let result = call.raw("result").filter(|raw| !is_blank(raw));
    if !has_ended && result.is_none() {
        return;
    }
    let mut message = blank(agent.clone(), Role::Tool);
    message.tool_call_id = Some(id);
    message.name = call.text("name");
    message.is_error = matches!(status, "error" | "cancelled").then_some(true);
    match result {
        Some(result) if result.starts_with('[') => {
            for part in elements(result) {
                add_content(&mut message, output(record, part));
            }
        }
        Some(result) => message.content = Some(output(record, result)),
        None => message.content = shown.map(|shown| record.body(shown)),
    }
    message.result = shown.map(|shown| record.body(shown));
    let at = script.push(record, None, EventKind::Message(message));
    if let Some(event) = script.events.get_mut(at) {
        event.at = call.time("timestamp").or(event.at);
    }
}

/// The output of a call; only its text, if that is wrapped as the API wants it.
pub(crate) fn output<'a>(record: &Record<'a>, part: &'a str) -> Body<'a> {
    let response = Object::parse(part)
        .and_then(|part| part.object("functionResponse"))
        .and_then(|response| response.raw("response"));
    let words = response
        .and_then(Object::parse)
        .and_then(|response| ["output", "error"].iter().find_map(|name| response.raw(name)));
    record.body(words.or(response).unwrap_or_else(|| text_of(part)))
}

/// Converts token counts. Input includes cached input; thoughts are not in the output; what a tool
/// of the service added to the prompt is counted separately.
pub(super) fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let (cached, thoughts) = (count("cached"), count("thoughts"));
    Usage {
        input: count("input").saturating_sub(cached).saturating_add(count("tool")),
        output: count("output").saturating_add(thoughts),
        reasoning: thoughts,
        cache_read: cached,
        ..Usage::default()
    }
}
