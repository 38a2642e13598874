//! Parts of a message: calls, their results, token counts.

use std::borrow::Cow;

use antiphon_model::{AgentCreated, Message, Role, Timestamp, ToolCall, Usage, is_blank};

use crate::line::{Object, Record};
use crate::script::{blank, created};

/// Reads a call.
pub(crate) fn call<'a>(record: &Record<'a>, part: &Object<'a>) -> Option<ToolCall<'a>> {
    let state = part.object("state").unwrap_or_default();
    Some(ToolCall {
        id: part.text("callID")?,
        name: part.text("tool").unwrap_or_default(),
        arguments: state.raw("input").map(|input| record.body(input)),
        description: state.object("input").and_then(|input| input.text("description")),
        ..ToolCall::default()
    })
}

/// The result of a call, if it has ended, and when.
pub(crate) fn result<'a>(
    record: &Record<'a>,
    part: &Object<'a>,
    agent: Cow<'a, str>,
) -> Option<(Message<'a>, Option<Timestamp>)> {
    let state = part.object("state")?;
    let failed = match state.id("status")? {
        "completed" => false,
        "error" => true,
        _ => return None,
    };
    let mut message = blank(agent, Role::Tool);
    message.tool_call_id = Some(part.text("callID")?);
    message.name = part.text("tool");
    let said = state.raw(if failed { "error" } else { "output" });
    message.content = said.map(|said| record.body(said));
    let facts = state.raw("metadata").filter(|raw| !is_blank(raw));
    message.result = facts.map(|facts| record.body(facts));
    message.is_error = failed.then_some(true);
    let time = state.object("time").unwrap_or_default();
    message.started_at = time.time("start");
    Some((message, time.time("end")))
}

/// The child session that a call created.
pub(crate) fn child<'a>(record: &Record<'a>, part: &Object<'a>) -> Option<AgentCreated<'a>> {
    let state = part.object("state")?;
    let session = state.object("metadata")?.text("sessionId")?;
    let input = state.object("input").unwrap_or_default();
    let mut agent = created(session);
    agent.parent_id = Some(Cow::Borrowed("main"));
    agent.tool_call_id = part.text("callID");
    agent.name = input.text("description");
    agent.agent_type = input.text("subagent_type");
    agent.task = input.raw("prompt").map(|prompt| record.body(prompt));
    Some(agent)
}

/// Converts token counts. Input excludes cached input. Whether the output includes reasoning
/// depends on the version: the total shows it, and without a total it is assumed to.
pub(crate) fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let cache = tokens.object("cache").unwrap_or_default();
    let cached = |name| cache.number(name).unwrap_or_default();
    let (output, reasoning) = (count("output"), count("reasoning"));
    let (read, write) = (cached("read"), cached("write"));
    let known = [count("input"), output, read, write].into_iter().fold(0, u64::saturating_add);
    let is_apart =
        reasoning > output || (reasoning > 0 && count("total") == known.saturating_add(reasoning));
    Usage {
        input: count("input"),
        output: if is_apart { output.saturating_add(reasoning) } else { output },
        reasoning,
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    }
}
