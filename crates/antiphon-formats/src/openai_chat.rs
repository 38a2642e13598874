//! Conversations as in OpenAI's chat API: a line for each (`{"messages": […]}`), or one list of
//! messages. They have no times, no ids, and mostly no token counts.
//!
//! Each conversation becomes an agent.

pub(crate) mod write;

use std::borrow::Cow;

use antiphon_model::{EventKind, Role, json};

use crate::line::{Object, Record, each_record, elements};
use crate::script::{Script, created, started};
use crate::spread::Cut;
use crate::{Format, Lines, Sink, Stream, chat};

pub(crate) const FORMAT: Format = Format {
    name: "openai-chat",
    what: "conversations in the format of chat APIs (`messages`)",
    versions: "messages with `tool_calls` or `function_call`",
    detect,
    lines: Some(lines),
    read,
    write: Some(write::write),
    ..crate::ONE_FILE
};

fn detect(head: &[&str]) -> bool {
    let first = head.iter().find(|line| !line.trim().is_empty());
    let first = first.map(|line| line.trim_start_matches('\u{feff}').trim()).unwrap_or_default();
    if first.starts_with('[') {
        return is_list(&head.join("\n")) && !crate::cline::is_ours(head);
    }
    let Some(object) = Object::parse(first) else {
        // A conversation may be longer than the available beginning.
        let cut = Cut::list(first, "messages");
        return first.starts_with("{\"messages\"") && cut.all().next().is_some_and(is_message);
    };
    let foreign =
        ["info", "session", "sessionId", "session_id", "trajectory_format", "type", "sessionID"];
    let is_foreign = foreign.iter().any(|name| object.has(name));
    !is_foreign && object.raw("messages").is_some_and(is_list) && !crate::amp::is_ours(head)
}

/// Whether this is a list, possibly truncated, whose first element is a message.
fn is_list(raw: &str) -> bool {
    let mut first = None;
    let _ = json::elements(raw.trim_start_matches('\u{feff}').trim(), |element| {
        first.get_or_insert(element);
    });
    first.is_some_and(is_message)
}

/// Whether this is a message, possibly truncated, because its content may be long.
fn is_message(raw: &str) -> bool {
    let mut members = Vec::new();
    let is_whole = json::members(raw, |key, value| members.push((key.to_owned(), value))).is_ok();
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    let role = members.iter().find(|(key, _)| key == "role").map(|(_, value)| *value);
    let says = !is_whole || ["content", "tool_calls", "function_call"].iter().any(|name| has(name));
    let roles = ["system", "developer", "user", "assistant", "tool", "function"];
    let role = role.and_then(json::text);
    // The role may come after the point at which the message is cut.
    let is_begun = !is_whole && raw.starts_with("{\"content\":");
    says && role.map_or(is_begun, |role| roles.contains(&&*role))
}

/// Puts a list of messages on one line.
fn lines(text: &str) -> Lines {
    let list = text.trim_start_matches('\u{feff}').trim();
    if !list.starts_with('[') {
        return Lines { text: text.to_owned(), problems: Vec::new() };
    }
    let mut lines = crate::spread::list(list);
    let messages: Vec<&str> = lines.text.lines().collect();
    lines.text = format!("{{\"messages\":[{}]}}\n", messages.join(","));
    lines
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let mut script = Script::new(stream.name);
        each_record(stream, number, sink, |record, _| add_line(&mut script, &record));
        script.finish(sink);
    }
}

fn add_line<'a>(script: &mut Script<'a>, record: &Record<'a>) {
    let is_first = script.events.is_empty();
    if is_first {
        let session = EventKind::SessionStarted(started("openai-chat"));
        script.push_as(record, Cow::Borrowed("session"), session);
    }
    let name: Cow<'a, str> = match is_first {
        true => Cow::Borrowed("main"),
        false => Cow::Owned(format!("line-{}", record.line.number)),
    };
    let mut agent = created(name.clone());
    agent.language_model = record.object.text("model");
    let id = Cow::Owned(format!("created:{name}"));
    script.push_as(record, id, EventKind::AgentCreated(agent));
    let mut last = None;
    for raw in elements(record.object.raw("messages").unwrap_or_default()) {
        let said = Object::parse(raw).unwrap_or_default();
        let Some(mut message) = chat::message(record, &said, name.clone()) else {
            script.unknown(record, None, (Some(name.clone()), "message"));
            continue;
        };
        if message.role == Role::Assistant {
            message.model = record.object.text("model");
        }
        let is_prompt = message.role == Role::User;
        script.prompted(message.content.filter(|_| is_prompt));
        let is_answer = message.role == Role::Assistant;
        let at = script.push(record, None, EventKind::Message(message));
        last = if is_answer { Some(at) } else { last };
    }
    let tokens = record.object.object("usage");
    if let (Some(tokens), Some(message)) = (tokens, last.and_then(|at| script.message_at(at))) {
        message.usage = Some(chat::usage(&tokens));
    }
}

#[cfg(test)]
mod tests;
