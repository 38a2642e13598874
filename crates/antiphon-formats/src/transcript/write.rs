//! Converts a transcript to lines in the log's own vocabulary.

use std::collections::VecDeque;

use antiphon_model::json::{self, Members};
use antiphon_model::{Place, Problem, Severity, Timestamp, Usage};

use super::record::{Days, Field, Parts, Record, parts};
use crate::Lines;
use crate::line::{Object, elements};

pub(super) fn lines(text: &str) -> Lines {
    let parts = parts(text.trim_start_matches('\u{feff}'));
    let started = parts.field("Started").and_then(Timestamp::parse);
    let mut write = Write {
        out: String::new(),
        problems: Vec::new(),
        days: Days::from(started),
        model: None,
        calls: 0,
        open: VecDeque::new(),
    };
    write.begin(&parts, started);
    for record in &parts.records {
        write.record(record);
    }
    for (line, text) in &parts.strays {
        write.problem(*line, format!("a line outside any record: {text}"));
    }
    if let Some(footer) = &parts.footer {
        write.end(footer);
    }
    Lines { text: write.out, problems: write.problems }
}

struct Write<'a> {
    out: String,
    problems: Vec<Problem>,
    days: Days,
    model: Option<&'a str>,
    calls: usize,
    /// Calls without a result so far.
    open: VecDeque<String>,
}

impl<'a> Write<'a> {
    fn line(&mut self, mut members: Members, at: Option<Timestamp>) {
        members.text("timestamp", at.map(|at| at.to_string()).as_deref());
        self.out.push_str(&members.object());
        self.out.push('\n');
    }

    fn problem(&mut self, line: u64, message: String) {
        let (severity, code) = (Severity::Warning, "stray-line");
        self.problems.push(Problem { severity, code, line, message, place: Place::NONE });
    }

    fn begin(&mut self, parts: &Parts<'a>, at: Option<Timestamp>) {
        let init = parts.records.iter().find(|record| record.head == "SYSTEM init");
        let mut line = Members::default();
        line.word("message_id", "session");
        line.word("event_type", "session_started");
        line.text("session_id", parts.field("Session ID"));
        line.text("role", parts.field("Type"));
        line.text("issue", parts.field("Issue").map(|issue| issue.trim_start_matches('#')));
        let specs = parts.field("Spec Paths").unwrap_or_default();
        line.list("spec_paths", specs.split(", ").filter(|path| !path.is_empty()));
        line.text("cwd", init.and_then(|init| init.field("CWD")));
        self.line(line, at);
        let mut line = Members::default();
        line.word("message_id", "created:main");
        line.word("event_type", "agent_created");
        line.word("agent_id", "main");
        line.text("agent_type", parts.field("Type"));
        line.text("language_model", init.and_then(|init| init.field("Model")));
        self.line(line, at);
    }

    fn record(&mut self, record: &Record<'a>) {
        let at = self.days.time(record.clock);
        let (kind, rest) = record.head.split_once(' ').unwrap_or((record.head, ""));
        match (kind, rest) {
            ("ASSISTANT", _) => self.assistant(record, at),
            ("UNKNOWN", "user") if self.results(record, at) => {}
            ("UNKNOWN", "thinking") if self.thought(record, at) => {}
            ("RESULT", _) => self.result(record, at),
            _ => self.keep(record, at),
        }
        if kind == "SYSTEM" {
            self.model = record.body.iter().find_map(|line| line.strip_prefix("Model: "));
        }
    }

    fn message(record: &Record<'_>, role: &str) -> Members {
        let mut line = Members::default();
        line.word("message_id", &format!("line:{}", record.line));
        line.word("agent_id", "main");
        line.word("role", role);
        line
    }

    fn assistant(&mut self, record: &Record<'a>, at: Option<Timestamp>) {
        let text = record.text();
        let mut line = Self::message(record, "assistant");
        match text.strip_prefix("[tool_use] ") {
            Some(call) => {
                self.calls += 1;
                let id = format!("call-{}", self.calls);
                let (name, input) = call.split_once(['\n', ' ']).unwrap_or((call, ""));
                let mut function = Members::default();
                function.word("name", name);
                if !input.is_empty() {
                    function.word("arguments", input);
                }
                let mut entry = Members::default();
                entry.word("id", &id);
                entry.word("type", "function");
                entry.raw("function", &function.object());
                line.raw("content", "null");
                line.raw("tool_calls", &format!("[{}]", entry.object()));
                self.open.push_back(id);
            }
            None => line.word("content", &text),
        }
        line.text("model", self.model);
        self.line(line, at);
    }

    /// Writes the results in a message that is JSON; returns whether it is one.
    fn results(&mut self, record: &Record<'a>, at: Option<Timestamp>) -> bool {
        let raw = record.text();
        let Some(message) = Object::parse(&raw).and_then(|it| it.object("message")) else {
            return false;
        };
        let content = message.raw("content").unwrap_or_default();
        let mut count = 0;
        for block in elements(content).into_iter().filter_map(Object::parse) {
            let id = match count {
                0 => format!("line:{}", record.line),
                more => format!("line:{}#{}", record.line, more + 1),
            };
            count += 1;
            let is_result = block.id("type") == Some("tool_result");
            let mut line = Members::default();
            line.word("message_id", &id);
            line.word("agent_id", "main");
            line.word("role", if is_result { "tool" } else { "user" });
            let said = block.raw(if is_result { "content" } else { "text" });
            line.raw("content", &json::compact(said.unwrap_or("null")));
            if is_result {
                line.text("tool_call_id", self.open.pop_front().as_deref());
                line.number("is_error", block.flag("is_error").then_some(true));
                // The text has no ids of calls, so they are paired by order.
                let mut extra = Members::default();
                extra.text("tool_use_id", block.text("tool_use_id").as_deref());
                line.members("extra", &extra);
            }
            self.line(line, at);
        }
        if let Some(said) = message.text("content").filter(|_| content.starts_with('"')) {
            let mut line = Self::message(record, "user");
            line.word("content", &said);
            self.line(line, at);
            count += 1;
        }
        count > 0
    }

    fn thought(&mut self, record: &Record<'a>, at: Option<Timestamp>) -> bool {
        let raw = record.text();
        let Some(block) = Object::parse(&raw) else { return false };
        let Some(thinking) = block.text("thinking") else { return false };
        let mut line = Self::message(record, "assistant");
        line.raw("content", "null");
        line.word("reasoning", &thinking);
        self.line(line, at);
        true
    }

    /// Writes the final result, whose facts about the session are kept with the token counts.
    fn result(&mut self, record: &Record<'a>, at: Option<Timestamp>) {
        let pair = |field: &str, first: &str, second: &str| {
            let (one, other) = record.field(field)?.split_once(" / ")?;
            let number = |text: &str, unit: &str| text.strip_suffix(unit)?.trim().parse().ok();
            Some((number(one, first)?, number(other, second)?))
        };
        let tokens = pair("Tokens", "in", "out");
        let cached = pair("Cache", "read", "written");
        let cost = record.field("Cost").and_then(|cost| cost.strip_prefix('$')?.parse().ok());
        let cost = cost.filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
        if tokens.is_some() || cached.is_some() || cost.is_some() {
            let (input, output) = tokens.unwrap_or_default();
            let (cache_read, cache_write) = cached.unwrap_or_default();
            let usage = Usage { input, output, cache_read, cache_write, ..Usage::default() };
            let mut line = Members::default();
            line.word("message_id", &format!("line:{}#usage", record.line));
            line.word("agent_id", "main");
            line.word("role", "assistant");
            line.raw("content", "null");
            line.text("model", self.model);
            line.raw("usage", &usage.to_json());
            line.number("cost_usd", cost);
            self.line(line, at);
        }
        self.keep(record, at);
    }

    /// Keeps any other record verbatim.
    fn keep(&mut self, record: &Record<'a>, at: Option<Timestamp>) {
        let mut line = Members::default();
        line.word("message_id", &format!("line:{}", record.line));
        line.word("event_type", &record.head.to_lowercase().replace(' ', "_"));
        line.word("agent", "main");
        line.word("head", record.head);
        line.word("text", &record.text());
        self.line(line, at);
    }

    fn end(&mut self, footer: &[Field<'_>]) {
        let field = |name: &str| footer.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
        let mut line = Members::default();
        line.word("message_id", "end");
        line.word("event_type", "session_ended");
        line.text("outcome", field("Outcome"));
        line.text("reason", field("Reason"));
        self.line(line, field("Finished").and_then(Timestamp::parse));
    }
}
