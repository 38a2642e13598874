//! The parts of a message under their many names: texts, thoughts, calls and results.

use std::borrow::Cow;

use antiphon_model::is_blank;
use antiphon_model::json::{self, Members};

use crate::line::Object;

/// The parts of a message by kind: raw values, and calls in a common form.
#[derive(Debug, Default)]
pub(super) struct Parts<'r> {
    words: Vec<Cow<'r, str>>,
    texts: usize,
    pub(super) thoughts: Vec<&'r str>,
    calls: Vec<String>,
    results: Vec<String>,
    /// The call that the message is a result of, if it does not say so itself.
    pub(super) answers: Option<String>,
}

impl<'r> Parts<'r> {
    /// Adds a part of any kind; one that is not known stays as it is.
    pub(super) fn any(&mut self, raw: &'r str) {
        if raw.starts_with('"') {
            let mut part = Members::default();
            part.word("type", "text");
            part.raw("text", raw);
            self.texts += 1;
            self.words.push(Cow::Owned(part.object()));
        } else if !self.part(raw, false) && !is_blank(raw) {
            self.words.push(Cow::Borrowed(raw));
        }
    }

    /// Adds a part of a known kind. A complete message that is an item is no text.
    pub(super) fn part(&mut self, raw: &'r str, is_item: bool) -> bool {
        let Some(part) = Object::parse(raw) else { return false };
        let first = |names: &[&str]| names.iter().find_map(|name| part.raw(name));
        match part.id("type").unwrap_or_default() {
            "text" | "input_text" | "output_text" | "" if !is_item => {
                if let Some(call) = part.object("functionCall").or(part.object("function_call")) {
                    self.called(&call);
                    return true;
                }
                let answer = part.object("functionResponse");
                if let Some(answer) = answer.or(part.object("function_response")) {
                    self.answered(&answer);
                    return true;
                }
                let text = first(&["text", "content"]).filter(|raw| raw.starts_with('"'));
                let Some(text) = text else { return false };
                match part.flag("thought") {
                    true => self.thoughts.push(text),
                    false => self.any(text),
                }
            }
            "reasoning" | "thinking" => {
                let own = first(&["content", "text", "thinking", "reasoning", "summary"]);
                let own = own.filter(|raw| !is_blank(raw));
                self.thoughts.extend(own);
            }
            "tool_call" | "tool_use" | "tool-call" | "function_call" | "toolCall" => {
                self.called(&part);
            }
            "function" if part.raw("function").is_some_and(|raw| raw.starts_with('{')) => {
                self.called(&part);
            }
            "tool_call_response" | "tool_result" | "tool-result" | "function_call_output" => {
                self.answered(&part);
            }
            _ if part.has("toolCallId") && part.has("toolName") && !part.has("role") => {
                match part.has("output") || part.has("result") {
                    true => self.answered(&part),
                    false => self.called(&part),
                }
            }
            _ => return false,
        }
        true
    }

    pub(super) fn called(&mut self, call: &Object<'r>) {
        let function = call.object("function").unwrap_or_else(|| call.clone());
        let name = ["name", "toolName", "function"].iter().find_map(|name| function.text(name));
        let mut made = Members::default();
        made.text("name", name.as_deref());
        let arguments = ["arguments", "args", "input", "parameters"];
        if let Some(arguments) = arguments.iter().find_map(|name| function.raw(name)) {
            made.raw("arguments", arguments);
        }
        let mut members = Members::default();
        members.text("id", call_id(call).as_deref());
        members.raw("function", &made.object());
        self.calls.push(members.object());
    }

    fn answered(&mut self, answer: &Object<'r>) {
        let mut members = Members::default();
        members.word("role", "tool");
        members.text("tool_call_id", call_id(answer).as_deref());
        let name = answer.text("name").or_else(|| answer.text("toolName"));
        members.text("name", name.as_deref());
        let content = ["response", "result", "output", "content"];
        if let Some(content) = content.iter().find_map(|name| answer.raw(name)) {
            members.raw("content", content);
        }
        self.results.push(members.object());
    }

    pub(super) fn write(self, role: &str, object: &Object<'_>, out: &mut Vec<String>) {
        out.extend(self.results);
        let is_empty = self.words.is_empty() && self.thoughts.is_empty() && self.calls.is_empty();
        if is_empty {
            return;
        }
        let mut message = Members::default();
        message.word("role", role);
        match self.words.as_slice() {
            [] => {}
            [one] if self.texts == 1 => {
                message.raw("content", json::member(one, "text").unwrap_or(one));
            }
            more => message.raw("content", &format!("[{}]", more.join(","))),
        }
        match self.thoughts.as_slice() {
            [] => {}
            [one] if one.starts_with('"') => message.raw("reasoning_content", one),
            more => {
                let texts: Vec<_> = more.iter().map(|it| antiphon_model::plain_text(it)).collect();
                message.word("reasoning_content", &texts.join("\n"));
            }
        }
        if !self.calls.is_empty() {
            message.raw("tool_calls", &format!("[{}]", self.calls.join(",")));
        }
        if role == "tool" {
            let call = self.answers.map(Cow::Owned).or_else(|| call_id(object));
            message.text("tool_call_id", call.as_deref());
            message.text("name", object.text("name").as_deref());
        }
        out.push(message.object());
    }
}

fn call_id<'r>(part: &Object<'r>) -> Option<Cow<'r, str>> {
    ["call_id", "tool_call_id", "toolCallId", "tool_use_id", "id"]
        .iter()
        .find_map(|name| part.text(name))
}
