//! Event messages (`event_msg`): each repeats an item, or has a fact that no item has.

use std::borrow::Cow;

use antiphon_model::{
    AgentCreated, ContextAction, ContextEdited, EventKind, Message, Role, ToolCall,
};

use super::entry::Entry;
use super::item::{finish, part_of};
use super::outcome::{Outcome, end, ends_a_call};
use super::rollout::Rollout;
use super::thread::Launch;
use crate::script;

impl<'a> Rollout<'a, '_> {
    pub(super) fn event_msg(&mut self, entry: &Entry<'a>) {
        if let Some(item) = self.pairs.item_of(entry.line()) {
            return self.repeat(entry, item, "screen copy of a recorded item");
        }
        match entry.what {
            "token_count" => self.token_count(entry),
            "task_started" | "turn_started" => {
                self.begin_turn();
                self.unknown(entry);
            }
            "user_message" | "agent_message" | "agent_reasoning" => self.words(entry),
            "thread_rolled_back" => self.rolled_back(entry),
            "sub_agent_activity" => self.activity(entry),
            "item_completed" => self.completed(entry),
            what if ends_a_call(what) => self.ended(entry),
            _ => self.unknown(entry),
        }
    }

    /// Texts that are in no item: a review's question, an answer that was interrupted.
    fn words(&mut self, entry: &Entry<'a>) {
        if let Some(line) = self.repeated_event_msg(entry) {
            return self.repeat(entry, line, "duplicate of the previous line");
        }
        let name = if entry.what == "agent_reasoning" { "text" } else { "message" };
        let said = entry.payload.raw(name).map(|text| entry.body(text));
        match entry.what {
            "user_message" => {
                self.flush_thought();
                let source = Some(self.asker.clone());
                if self.prompt.is_none() {
                    self.prompt = entry.payload.text(name);
                }
                let message = Message { content: said, source, ..self.blank(Role::User) };
                self.push(entry, EventKind::Message(message));
            }
            "agent_message" => {
                let message = Message { content: said, ..self.blank(Role::Assistant) };
                self.answered(entry, message);
            }
            _ => {
                let message = Message { reasoning: said, ..self.blank(Role::Assistant) };
                self.push(entry, EventKind::Message(message));
            }
        }
    }

    /// The end of a call: a part of its result, or the result itself if the output is missing, or
    /// both the call and its result if a script made the call.
    fn ended(&mut self, entry: &Entry<'a>) {
        let created = self.create(entry);
        let Some(call) = entry.call_id() else {
            if !created {
                self.unknown(entry);
            }
            return;
        };
        if let Some(output) = self.pairs.output_of(call) {
            if !created {
                self.repeat(entry, output, "end of a call whose result is recorded");
            }
            return;
        }
        let is_first = self.pairs.end_of(call, 0).is_some_and(|end| end.line == entry.line());
        let (name, arguments) = made(entry);
        let is_made = self.pairs.has_call(call);
        if !is_first || (!is_made && name.is_none()) {
            if !created {
                self.unknown(entry);
            }
            return;
        }
        if let Some(name) = name.filter(|_| !is_made) {
            let mut message = self.blank(Role::Assistant);
            message.tool_calls.push(ToolCall {
                id: Cow::Borrowed(call),
                name,
                arguments: arguments.map(|arguments| entry.body(arguments)),
                ..ToolCall::default()
            });
            self.push(entry, EventKind::Message(message));
        }
        let end = end(entry, &entry.payload);
        let mut message = self.blank(Role::Tool);
        let outputs = ["aggregated_output", "result", "results", "stdout", "content_items"];
        message.content = part_of(&end, &outputs);
        message.tool_call_id = Some(Cow::Borrowed(call));
        finish(&mut message, Some(&end), Outcome::default());
        self.push(entry, EventKind::Message(message));
    }

    /// A finished item that was not matched by its text: it may be a call whose output is there.
    fn completed(&mut self, entry: &Entry<'a>) {
        let item = entry.payload.object("item");
        let call = item.as_ref().and_then(|item| item.id("id"));
        match call.and_then(|call| self.pairs.output_of(call)) {
            Some(output) => self.repeat(entry, output, "end of a call whose result is recorded"),
            None => self.unknown(entry),
        }
    }

    fn activity(&mut self, entry: &Entry<'a>) {
        if !self.create(entry) {
            self.unknown(entry);
        }
    }

    /// The creation of a thread whose file is not available. (Otherwise that file has its
    /// beginning.)
    fn create(&mut self, entry: &Entry<'a>) -> bool {
        let launches = &self.thread.launches;
        let at = launches.binary_search_by_key(&entry.line(), |launch| launch.line);
        let Some(launch) = at.ok().and_then(|at| launches.get(at)) else { return false };
        let id = Cow::Owned(format!("created:{}", launch.thread));
        if self.cast.by_thread.contains_key(&launch.thread) || !self.used.insert(id) {
            return false;
        }
        let created = created(launch, &self.agent);
        self.push(entry, EventKind::AgentCreated(created));
        true
    }

    fn rolled_back(&mut self, entry: &Entry<'a>) {
        let Some(turns) = entry.payload.number("num_turns") else { return self.unknown(entry) };
        let edit = ContextEdited {
            kept_first: Some(self.context.roll_back(turns)),
            ..ContextEdited::new(self.agent.clone(), ContextAction::Truncate)
        };
        self.push(entry, EventKind::ContextEdited(edit));
    }
}

fn created<'a>(launch: &Launch<'a>, parent: &Cow<'a, str>) -> AgentCreated<'a> {
    AgentCreated {
        name: launch.name.clone(),
        language_model: launch.model.clone(),
        parent_id: Some(parent.clone()),
        tool_call_id: launch.call.clone(),
        agent_type: launch.role.clone(),
        task: launch.task,
        ..script::created(launch.thread.clone())
    }
}

/// The name and the arguments of a call, from the event message at its end.
fn made<'a>(entry: &Entry<'a>) -> (Option<Cow<'a, str>>, Option<&'a str>) {
    let payload = &entry.payload;
    let invocation = payload.object("invocation").unwrap_or_default();
    match entry.what {
        "exec_command_end" => (Some(Cow::Borrowed("exec_command")), payload.raw("command")),
        "patch_apply_end" => (Some(Cow::Borrowed("apply_patch")), payload.raw("changes")),
        "mcp_tool_call_end" => (invocation.text("tool"), invocation.raw("arguments")),
        "web_search_end" => (Some(Cow::Borrowed("web_search")), payload.raw("action")),
        "dynamic_tool_call_response" => (payload.text("tool"), payload.raw("arguments")),
        _ => (None, None),
    }
}
