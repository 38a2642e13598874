//! Items of the conversation (`response_item`).

use std::borrow::Cow;

use antiphon_model::{
    Body, ContextAction, ContextEdited, EventKind, Message, Role, ToolCall, is_blank, json,
};

use super::entry::Entry;
use super::outcome::{End, Outcome, outcome_in_output};
use super::rollout::{Rollout, Thought};
use crate::line::{Object, elements};

impl<'a> Rollout<'a, '_> {
    pub(super) fn item(&mut self, entry: &Entry<'a>) {
        let payload = &entry.payload;
        match entry.what {
            "message" => self.message(entry),
            "reasoning" => self.reasoning(entry),
            "function_call" | "tool_search_call" => self.call(entry, payload.raw("arguments")),
            "custom_tool_call" => self.call(entry, payload.raw("input")),
            "local_shell_call" | "web_search_call" => self.call(entry, payload.raw("action")),
            "image_generation_call" => self.call(entry, payload.raw("revised_prompt")),
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                self.output(entry, payload.raw("output"));
            }
            "tool_search_output" => self.output(entry, payload.raw("tools")),
            "agent_message" => self.letter(entry),
            _ => self.unknown(entry),
        }
    }

    fn message(&mut self, entry: &Entry<'a>) {
        let role = entry.payload.id("role").unwrap_or_default();
        let content = entry.payload.raw("content").map(|content| entry.body(content));
        match role {
            "assistant" => {
                let message = Message { content, ..self.blank(Role::Assistant) };
                self.answered(entry, message);
            }
            "user" => {
                self.flush_thought();
                let source = self.source_of(entry);
                let is_prompt = source != "system" || self.asker == "system";
                if is_prompt && self.prompt.is_none() {
                    self.prompt = first_text(entry.payload.raw("content").unwrap_or_default())
                        .filter(|text| !is_injected(text));
                }
                let message = Message { content, source: Some(source), ..self.blank(Role::User) };
                self.push(entry, EventKind::Message(message));
            }
            "developer" | "system" => {
                let source = Some(Cow::Borrowed("system"));
                let message = Message { content, source, ..self.blank(Role::System) };
                self.push(entry, EventKind::Message(message));
            }
            _ => self.unknown(entry),
        }
    }

    /// Who wrote a user message. The person's words are those that an event message repeats as
    /// such; without any, they are the texts that do not look like the program's own.
    fn source_of(&self, entry: &Entry<'a>) -> Cow<'a, str> {
        let text = first_text(entry.payload.raw("content").unwrap_or_default());
        let is_injected = text.is_some_and(|text| is_injected(&text));
        let is_prompt = self.pairs.is_prompt(entry.line());
        if is_prompt || (!is_injected && !self.pairs.marks_prompts) {
            self.asker.clone()
        } else {
            Cow::Borrowed("system")
        }
    }

    /// Keeps the summary of reasoning for the next message. Mostly there is none, because reasoning
    /// is encrypted.
    fn reasoning(&mut self, entry: &Entry<'a>) {
        let texts = ["summary", "content"].into_iter().filter_map(|name| entry.payload.raw(name));
        let Some(text) = texts.into_iter().find(|text| !is_blank(text)) else {
            return self.unknown(entry);
        };
        self.flush_thought();
        self.thought = Some(Thought { entry: entry.clone(), body: entry.body(text) });
    }

    fn call(&mut self, entry: &Entry<'a>, arguments: Option<&'a str>) {
        let payload = &entry.payload;
        let served = self.pairs.served_at(entry.line());
        let id = payload.text("call_id").or_else(|| payload.text("id"));
        let id = id.or_else(|| served.map(|(id, _)| Cow::Borrowed(id)));
        let id = id.unwrap_or_else(|| Cow::Owned(format!("{}:{}", self.name, entry.line())));
        let kind = entry.what.strip_suffix("_call").unwrap_or(entry.what);
        let call = ToolCall {
            id: id.clone(),
            name: payload.text("name").unwrap_or(Cow::Borrowed(kind)),
            arguments: arguments.map(|arguments| entry.body(arguments)),
            category: payload.text("namespace"),
            ..ToolCall::default()
        };
        let mut message = self.blank(Role::Assistant);
        message.tool_calls.push(call);
        self.answered(entry, message);
        if let Some((_, end)) = served {
            let mut message = self.blank(Role::Tool);
            message.content = part_of(&end, &["results", "query", "status"]);
            message.tool_call_id = Some(id);
            finish(&mut message, Some(&end), Outcome::default());
            self.push(entry, EventKind::Message(message));
        }
    }

    fn output(&mut self, entry: &Entry<'a>, output: Option<&'a str>) {
        self.flush_thought();
        let Some(call) = entry.payload.text("call_id") else { return self.unknown(entry) };
        let mut message = self.blank(Role::Tool);
        message.content = output.map(|output| entry.body(output));
        let before = self.outputs.entry(call.clone()).or_default();
        let end = self.pairs.end_of(&call, *before);
        *before += 1;
        finish(&mut message, end.as_ref(), outcome_in_output(output.unwrap_or_default()));
        message.tool_call_id = Some(call);
        self.push(entry, EventKind::Message(message));
    }

    /// A message from another agent.
    fn letter(&mut self, entry: &Entry<'a>) {
        self.flush_thought();
        let author = entry.payload.text("author").unwrap_or_default();
        let source = self.cast.by_path.get(&author).cloned();
        let message = Message {
            content: entry.payload.raw("content").map(|content| entry.body(content)),
            source: source.or(Some(Cow::Borrowed("system"))),
            ..self.blank(Role::User)
        };
        self.push(entry, EventKind::Message(message));
    }

    /// The context was replaced: by a summary in older versions, by a list of items in newer ones.
    /// The items are the agent's context from here on, and repeat what was said before.
    pub(super) fn compacted(&mut self, entry: &Entry<'a>) {
        self.flush_thought();
        let edit = ContextEdited::new(self.agent.clone(), ContextAction::Compact);
        self.push(entry, EventKind::ContextEdited(edit));
        self.context.compact();
        let items = elements(entry.payload.raw("replacement_history").unwrap_or_default());
        let items = items.into_iter().filter_map(Object::parse);
        let mut put: Vec<(Role, &'a str)> = items
            .filter_map(|item| {
                // The system's messages stay as they are.
                let role = Role::from_word(item.id("role")?);
                let stays = matches!(role, Role::System | Role::Other);
                Some((role, item.raw("content").filter(|_| !stays)?))
            })
            .collect();
        let summary = entry.payload.raw("message").filter(|text| !is_blank(text));
        if put.is_empty() {
            put.extend(summary.map(|text| (Role::User, text)));
        }
        for (role, content) in put {
            let message = Message {
                content: Some(entry.body(content)),
                source: Some(Cow::Borrowed("system")),
                ..self.blank(role)
            };
            self.push(entry, EventKind::Message(message));
        }
    }
}

/// Adds how a call ended to its result.
pub(super) fn finish<'a>(message: &mut Message<'a>, end: Option<&End<'a>>, said: Outcome) {
    let reported = end.map(|end| end.outcome).unwrap_or_default();
    let outcome = reported.or(said);
    message.is_error = outcome.is_error;
    message.duration_ms = outcome.duration_ms;
    message.result = end.map(|end| end.body);
}

/// The first of these members that the end of a call has.
pub(super) fn part_of<'a>(end: &End<'a>, names: &[&str]) -> Option<Body<'a>> {
    let payload = Object::parse(end.body.json)?;
    let part = names.iter().find_map(|name| payload.raw(name).filter(|part| !is_blank(part)))?;
    // A result of an MCP server is wrapped.
    let inner = Object::parse(part);
    let answer = inner.and_then(|inner| inner.object("Ok")?.raw("content").or(inner.raw("Err")));
    let part = answer.unwrap_or(part);
    let start = (part.as_ptr() as usize).wrapping_sub(end.body.json.as_ptr() as usize);
    let mut place = end.body.place;
    place.offset += start as u64;
    place.len = u32::try_from(part.len()).unwrap_or(u32::MAX);
    Some(Body { json: part, place })
}

fn first_text(content: &str) -> Option<Cow<'_, str>> {
    if content.starts_with('"') {
        return json::text(content);
    }
    elements(content).into_iter().find_map(|part| Object::parse(part)?.text("text"))
}

/// Whether a text was written by the program as if it were the person's.
fn is_injected(text: &str) -> bool {
    INJECTED.iter().any(|beginning| text.starts_with(beginning))
}

const INJECTED: [&str; 11] = [
    "<environment_context>",
    "<user_instructions>",
    "<recommended_plugins>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_action>",
    "<user_shell_command>",
    "<skill>",
    "<permissions instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
];
