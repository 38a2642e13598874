//! The transcript: an agent's messages as text (seed 001).
//!
//! A pure function from messages of the agent's SDK, one JSON object each, to records of text.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

mod export;
#[cfg(test)]
mod tests;

use antiphon_model::{Timestamp, is_dangerous};
use serde_json::Value;

pub use export::{ExportError, export};

use crate::Assignment;

const INIT: &str = "SYSTEM init";

/// How much of tool inputs and outputs is written; the same for both, except for `Seed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Names of tools without inputs; results as JSON, like everything else without a form of its
    /// own.
    #[default]
    Seed,
    /// Names only.
    Names,
    /// One line of each.
    Summary,
    /// All of each.
    Full,
}

/// How a session ended, in the footer's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Completed,
    Failed,
    Cancelled,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The lines above the messages.
#[derive(Debug, Clone)]
pub struct Header<'h> {
    pub assignment: &'h Assignment,
    pub session_id: &'h str,
    pub started: Timestamp,
}

impl Header<'_> {
    pub fn to_text(&self) -> String {
        let assignment = self.assignment;
        let mut out = String::from("=== Agent Session ===\n");
        field(&mut out, "Type:       ", assignment.role_word());
        field(&mut out, "Session ID: ", self.session_id);
        if !assignment.spec_paths.is_empty() || assignment.role.as_deref() == Some("planner") {
            field(&mut out, "Spec Paths: ", &assignment.spec_paths.join(", "));
        }
        if let Some(issue) = &assignment.issue {
            field(&mut out, "Issue:      ", &format!("#{issue}"));
        }
        field(&mut out, "Started:    ", &self.started.to_string());
        out.push_str("\n=== Messages ===\n\n");
        out
    }
}

/// The lines below the messages.
pub(crate) fn footer(outcome: Outcome, reason: Option<&str>, at: Timestamp) -> String {
    let mut out = String::from("=== Session End ===\n");
    field(&mut out, "Outcome:  ", outcome.as_str());
    // The footer has three words; the reason of a cancellation is added.
    if let Some(reason) = reason {
        field(&mut out, "Reason:   ", reason);
    }
    field(&mut out, "Finished: ", &at.to_string());
    out
}

fn field(out: &mut String, name: &str, value: &str) {
    out.push_str(name);
    push_escaped(out, &value.replace('\n', " "));
    out.push('\n');
}

/// Formats messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transcript {
    pub policy: Policy,
}

impl Transcript {
    /// The records of one message: one per content block.
    pub fn message(&self, message: &Value, raw: &str, at: Timestamp) -> String {
        let mut records = Records { out: String::new(), clock: clock(at) };
        let kind = message["type"].as_str().unwrap_or("line");
        match kind {
            "system" if message["subtype"] == "init" => init(&mut records, message),
            "assistant" if message["message"]["content"].is_array() => {
                self.blocks(&mut records, message, raw);
            }
            "user" if self.policy != Policy::Seed && message["message"]["content"].is_array() => {
                self.blocks(&mut records, message, raw);
            }
            "result" => result(&mut records, message),
            other => records.unknown(other, raw),
        }
        records.out
    }

    /// One record, by its head and its body.
    fn record(self, head: &str, body: &str, at: Timestamp) -> String {
        let mut records = Records { out: String::new(), clock: clock(at) };
        records.add(head, body);
        records.out
    }

    fn blocks(&self, records: &mut Records, message: &Value, raw: &str) {
        let speaker = if message["type"] == "user" { "USER" } else { "ASSISTANT" };
        let marker = match message["parent_tool_use_id"].as_str() {
            Some(call) if self.policy != Policy::Seed => format!("{speaker} (in {call})"),
            _ => speaker.to_owned(),
        };
        let blocks = message["message"]["content"].as_array().map(Vec::as_slice);
        for block in blocks.unwrap_or_default() {
            match block["type"].as_str() {
                Some("text") => {
                    records.add(&marker, block["text"].as_str().unwrap_or_default());
                }
                Some("tool_use") => {
                    let name = block["name"].as_str().unwrap_or_default();
                    let input = self.detail(&block["input"]);
                    records.add(&marker, format!("[tool_use] {name}{input}").trim_end());
                }
                Some("tool_result") => {
                    let call = block["tool_use_id"].as_str().unwrap_or_default();
                    let output = self.detail(&block["content"]);
                    records.add(&marker, format!("[tool_result] {call}{output}").trim_end());
                }
                // A block without a form of its own is kept as JSON.
                other => {
                    let kind = other.unwrap_or("block");
                    records.unknown(kind, &block.to_string());
                }
            }
        }
        if blocks.is_none_or(<[Value]>::is_empty) {
            records.unknown(message["type"].as_str().unwrap_or_default(), raw);
        }
    }

    /// The part of an input or output that the policy allows.
    fn detail(&self, value: &Value) -> String {
        if value.is_null() {
            return String::new();
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match self.policy {
            Policy::Seed | Policy::Names => String::new(),
            Policy::Summary => {
                let line = text.lines().next().unwrap_or_default();
                let short: String = line.chars().take(100).collect();
                let more = if short.len() < text.len() { " …" } else { "" };
                format!(" {short}{more}")
            }
            Policy::Full => format!("\n{text}"),
        }
    }
}

fn init(records: &mut Records, message: &Value) {
    let mut body = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            body.push_str(&format!("{name}: {value}\n"));
        }
    };
    let text = |name: &str| message[name].as_str().map(str::to_owned);
    add("Model", text("model"));
    add("CWD", text("cwd"));
    let tools = message["tools"]
        .as_array()
        .map(|tools| tools.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "));
    add("Tools", tools);
    records.add(INIT, body.trim_end());
}

/// Writes the members that the message has, and no others.
fn result(records: &mut Records, message: &Value) {
    let mut body = String::new();
    if let Some(millis) = message["duration_ms"].as_f64() {
        body.push_str(&format!("Duration: {:.1}s\n", millis / 1000.0));
    }
    if let Some(cost) = message["total_cost_usd"].as_f64() {
        body.push_str(&match cost {
            cost if cost >= 0.01 || cost == 0.0 => format!("Cost:     ${cost:.2}\n"),
            cost => format!("Cost:     ${cost:.4}\n"),
        });
    }
    if let Some(turns) = message["num_turns"].as_u64() {
        body.push_str(&format!("Turns:    {turns}\n"));
    }
    let usage = &message["usage"];
    if let (Some(input), Some(output)) =
        (usage["input_tokens"].as_u64(), usage["output_tokens"].as_u64())
    {
        body.push_str(&format!("Tokens:   {input} in / {output} out\n"));
    }
    let cached = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (read, written) =
        (cached("cache_read_input_tokens"), cached("cache_creation_input_tokens"));
    if read + written > 0 {
        body.push_str(&format!("Cache:    {read} read / {written} written\n"));
    }
    let subtype = message["subtype"].as_str().unwrap_or("unknown");
    records.add(&format!("RESULT {subtype}"), body.trim_end());
}

struct Records {
    out: String,
    clock: String,
}

impl Records {
    /// Adds a record: its line, and its indented body. Empty lines of the body are indented too, so
    /// that an empty line always ends a record.
    fn add(&mut self, head: &str, body: &str) {
        self.out.push_str(&format!("[{}] ", self.clock));
        push_escaped(&mut self.out, &head.replace('\n', " "));
        self.out.push('\n');
        for line in body.split('\n').filter(|_| !body.is_empty()) {
            self.out.push_str("  ");
            push_escaped(&mut self.out, line);
            self.out.push('\n');
        }
        self.out.push('\n');
    }

    fn unknown(&mut self, kind: &str, raw: &str) {
        self.add(&format!("UNKNOWN {kind}"), raw);
    }
}

/// Escapes control characters, because a transcript is read with `tail -f`.
fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\t' => out.push('\t'),
            c if is_dangerous(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
}

/// The time of day in UTC: `19:21:39`.
fn clock(at: Timestamp) -> String {
    at.to_string().get(11..19).unwrap_or_default().to_owned()
}

/// The session id, if a message identifies the agent, which begins a transcript.
pub(crate) fn session_id(message: &Value) -> Option<&str> {
    let named = |name: &str| message[name].as_str();
    match message["type"].as_str()? {
        "system" if message["subtype"] == "init" => named("session_id").or(Some("unknown")),
        "thread.started" => named("thread_id"),
        "init" => named("session_id"),
        // OpenCode sends it with every step.
        "step_start" => named("sessionID"),
        _ => None,
    }
}
