//! A tool call of a document: the call, and its result.

use std::borrow::Cow;

use antiphon_model::json::{self, Members};

use super::document::Document;
use super::fields::{Fields, below};

/// Whose calls are read.
pub(super) struct Caller {
    pub(super) agent: String,
    /// Stands before the ids of lines: calls of different agents may share theirs.
    pub(super) prefix: String,
}

impl Document {
    pub(super) fn call(&mut self, caller: &Caller, raw: &str, pointer: &str) {
        let Some(mut call) = Fields::of(raw, pointer.to_owned(), &mut self.notes) else {
            return self.keep(pointer, raw, "is not an object and cannot be a call");
        };
        let call_id = call.take_text("call_id").unwrap_or_else(|| {
            self.notes.lenient(pointer, "has no `call_id`");
            Cow::Owned(pointer.to_owned())
        });
        let tool = call.take_text("tool_name").unwrap_or_default();
        let tool = self.originals.text(pointer, "tool_name").unwrap_or(&tool).to_owned();
        let id = self.id(&format!("{}{call_id}", caller.prefix));
        let started = call.take_time("started_at", &mut self.notes);
        let ended = call.take_time("ended_at", &mut self.notes);
        let duration = call.take_number("duration_ms");
        let mut input = call.take_object("input", &mut self.notes).unwrap_or_default();
        let output = call.take_object("output", &mut self.notes);
        let contribution = call.take("context_contribution");
        if contribution.is_some_and(|it| !it.starts_with('{')) {
            let at = below(pointer, "context_contribution");
            self.notes.lenient(&at, "is not an object; it is kept as it is");
        }
        let subagent = call.take("subagent_info");

        let mut function = Members::default();
        function.word("name", &tool);
        if let Some(params) = input.take("params") {
            function.word("arguments", params);
        }
        let mut entry = Members::default();
        entry.word("id", &call_id);
        entry.word("type", "function");
        entry.raw("function", &function.object());
        entry.text("category", call.take_text("tool_category").as_deref());
        entry.text("description", input.take_text("description").as_deref());
        entry.text("raw_command", input.take_text("raw_command").as_deref());
        // A result's own facts are kept with the result, if there is one.
        let has_result = output.is_some() || ended.is_some() || duration.is_some();
        let mut left = call.rest();
        left.members("input", &input.rest());
        if !has_result {
            for (name, value) in
                [("context_contribution", contribution), ("subagent_info", subagent)]
            {
                value.into_iter().for_each(|value| left.raw(name, value));
            }
        }
        let mut made = Members::default();
        made.word("message_id", &id);
        made.word("agent_id", &caller.agent);
        made.word("role", "assistant");
        made.raw("content", "null");
        made.raw("tool_calls", &format!("[{}]", entry.object()));
        made.members("extra", &left);
        self.line(made, started);
        if !has_result {
            return;
        }

        let mut result = Members::default();
        result.word("message_id", &self.id(&format!("{id}/result")));
        result.word("agent_id", &caller.agent);
        result.word("role", "tool");
        let extra = self.output(&mut result, output.unwrap_or_default());
        result.word("tool_call_id", &call_id);
        result.word("name", &tool);
        result.number("duration_ms", duration);
        for (name, value) in [("context_contribution", contribution), ("subagent_info", subagent)] {
            value.into_iter().for_each(|value| result.raw(name, value));
        }
        let mut left = Members::default();
        left.members("output", &extra);
        result.members("extra", &left);
        self.line(result, ended);
    }

    /// What came of a call. What it shows is its content: the display of one that succeeded, the
    /// error of one that failed. Gives what the log has no name for.
    fn output(&mut self, line: &mut Members, mut output: Fields<'_>) -> Members {
        let status = output.take_text("status");
        let is_error = match status.as_deref() {
            Some("failed" | "error" | "skipped") => Some(true),
            Some("success" | "completed") => Some(false),
            Some(_) | None => None,
        };
        let standard = match is_error {
            Some(true) => "failed",
            Some(false) => "success",
            None => "",
        };
        let mut extra = Members::default();
        if let Some(status) = status.filter(|status| status != standard) {
            let at = below(&output.pointer, "status");
            self.notes
                .lenient(&at, &format!("is `{status}`, which is not one of the standard's values"));
            extra.word("status", &status);
        }
        let raw = output.take("result");
        if raw.is_some_and(|raw| !raw.starts_with('{')) {
            let at = below(&output.pointer, "result");
            self.notes.lenient(&at, "is not an object; it is read as display text");
        }
        let error = output.take_text("error");
        let mut result = raw.map(Cow::Borrowed);
        let mut content = None;
        if is_error == Some(true) {
            content = error;
            // A text says what went wrong, where nothing else does.
            if content.is_none()
                && let Some(text) = raw.and_then(json::text)
            {
                (content, result) = (Some(text), None);
            }
        } else {
            extra.text("error", error.as_deref());
            (content, result) = shown(raw, content);
        }
        let shown = content.map(|text| {
            let mut json = String::new();
            json::push_string(&mut json, &text);
            json
        });
        line.raw("content", shown.as_deref().unwrap_or("null"));
        line.number("is_error", is_error);
        if let Some(result) = result {
            line.raw("result", &result);
        }
        output.rest_into(&mut extra);
        extra
    }
}

type Shown<'a> = (Option<Cow<'a, str>>, Option<Cow<'a, str>>);

/// What a result displays, and the rest of it.
fn shown<'a>(raw: Option<&'a str>, otherwise: Option<Cow<'a, str>>) -> Shown<'a> {
    let Some(raw) = raw else { return (otherwise, None) };
    if let Some(text) = json::text(raw) {
        return (Some(text), None);
    }
    let Some(display) = json::member(raw, "display").and_then(json::text) else {
        return (otherwise, Some(Cow::Borrowed(raw)));
    };
    let mut rest = Members::default();
    let _ = json::raw_members(raw, |_, name, value| {
        if name != "display" {
            rest.raw(name, value);
        }
    });
    (Some(display), (!rest.is_empty()).then(|| Cow::Owned(rest.object())))
}
