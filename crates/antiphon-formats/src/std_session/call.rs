//! A tool call of a document: the call, and its result.

use std::borrow::Cow;

use antiphon_model::Timestamp;
use antiphon_model::json::{self, Members};

use super::document::Document;
use super::fields::{Fields, below};
use super::status::is_open;

/// The agent whose calls are read.
pub(super) struct Caller {
    pub(super) agent: String,
    /// Precedes the ids of lines, because calls of different agents may share theirs.
    pub(super) prefix: String,
}

/// How a call ended.
struct Came<'a> {
    ended: Option<Timestamp>,
    duration: Option<u64>,
    output: Option<Fields<'a>>,
    /// The status of a call that has not ended.
    open: Option<String>,
    contribution: Option<&'a str>,
    subagent: Option<&'a str>,
}

impl Came<'_> {
    fn has_result(&self) -> bool {
        let has_facts = self.output.is_some() || self.ended.is_some() || self.duration.is_some();
        has_facts && self.open.is_none()
    }

    /// Adds what the call added to the context, and the agent it delegated to.
    fn more(&self, members: &mut Members) {
        let more = [("context_contribution", self.contribution), ("subagent_info", self.subagent)];
        for (name, value) in more {
            value.into_iter().for_each(|value| members.raw(name, value));
        }
    }
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
        let came = self.came(&mut call);
        let mut input = call.take_object("input", &mut self.notes).unwrap_or_default();

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
        let mut left = call.rest();
        left.members("input", &input.rest());
        self.leave_open(&call, &came, &mut left);
        if !came.has_result() {
            came.more(&mut left);
        }
        let mut made = Members::default();
        made.word("message_id", &id);
        made.word("agent_id", &caller.agent);
        made.word("role", "assistant");
        made.raw("content", "null");
        made.raw("tool_calls", &format!("[{}]", entry.object()));
        made.members("extra", &left);
        self.line(made, started);
        if came.has_result() {
            self.result(caller, (&id, &call_id, &tool), came);
        }
    }

    fn came<'a>(&mut self, call: &mut Fields<'a>) -> Came<'a> {
        let ended = call.take_time("ended_at", &mut self.notes);
        let duration = call.take_number("duration_ms");
        let output = call.take_object("output", &mut self.notes);
        let open = output.as_ref().and_then(|output| self.open_word(output));
        let contribution = call.take("context_contribution");
        if contribution.is_some_and(|it| !it.starts_with('{')) {
            let at = below(&call.pointer, "context_contribution");
            self.notes.lenient(&at, "is not an object; it is kept as it is");
        }
        let subagent = call.take("subagent_info");
        Came { ended, duration, output, open, contribution, subagent }
    }

    fn result(
        &mut self,
        caller: &Caller,
        (id, call_id, tool): (&str, &str, &str),
        mut came: Came<'_>,
    ) {
        let mut result = Members::default();
        result.word("message_id", &self.id(&format!("{id}/result")));
        result.word("agent_id", &caller.agent);
        result.word("role", "tool");
        let extra = self.output(&mut result, came.output.take().unwrap_or_default());
        result.word("tool_call_id", call_id);
        result.word("name", tool);
        result.number("duration_ms", came.duration);
        came.more(&mut result);
        let mut left = Members::default();
        left.members("output", &extra);
        result.members("extra", &left);
        self.line(result, came.ended);
    }

    /// Keeps facts about a result with the call if it has not ended, because there is no result.
    fn leave_open(&self, call: &Fields<'_>, came: &Came<'_>, left: &mut Members) {
        let (Some(word), Some(output)) = (&came.open, &came.output) else { return };
        let is_derived = |name: &str| self.originals.is_derived(&call.pointer, name);
        let spelling = came.ended.filter(|_| !call.has("ended_at")).map(Timestamp::to_short);
        left.text("ended_at", spelling.filter(|_| !is_derived("ended_at")).as_deref());
        left.number("duration_ms", came.duration.filter(|_| !is_derived("duration_ms")));
        let mut said = Members::default();
        said.word("status", word);
        let is_ours = self.originals.text(&output.pointer, "status").is_some()
            && self.originals.is_derived(&output.pointer, "error");
        let _ = json::raw_members(&output.rest().object(), |_, name, value| match name {
            "status" => {}
            "error" if is_ours => {}
            name => said.raw(name, value),
        });
        left.members("output", &said);
    }

    /// The status of a call that has not ended, if it has one. The standard has no such status: a
    /// strictly conforming document says that the call failed, and keeps the status elsewhere.
    fn open_word(&mut self, output: &Fields<'_>) -> Option<String> {
        if let Some(word) = self.originals.text(&output.pointer, "status") {
            return Some(word).filter(|word| is_open(word)).map(str::to_owned);
        }
        let word = output.get("status").and_then(json::text).filter(|word| is_open(word))?;
        self.notes.lenient(&below(&output.pointer, "status"), &not_a_value(&word));
        Some(word.into_owned())
    }

    /// Writes the result of a call. Its content is the display if it succeeded, or the error if it
    /// failed. Returns what the log has no name for.
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
            self.notes.lenient(&at, &not_a_value(&status));
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
            // A text is the error, if nothing else is.
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

fn not_a_value(status: &str) -> String {
    format!("is `{status}`, which is not one of the standard's values")
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
