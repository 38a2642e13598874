//! A span's line: what a tracing format's own words become.

use antiphon_model::json::Members;
use antiphon_model::{Timestamp, Usage};

use crate::line::Object;
use crate::spans::Kind;

/// A line that is being written.
#[derive(Debug, Default)]
pub(crate) struct SpanLine {
    members: Members,
}

impl SpanLine {
    pub(crate) fn new(id: &str, trace: Option<&str>, parent: Option<&str>) -> Self {
        let mut members = Members::default();
        members.word("span", id);
        members.text("trace", trace);
        members.text("parent", parent);
        Self { members }
    }

    /// What it is, in our word and in the format's own.
    pub(crate) fn kind(&mut self, kind: Kind, own: &str) {
        let word = match kind {
            Kind::Agent => "agent",
            Kind::Chat => "chat",
            Kind::Tool => "tool",
            Kind::Other => "other",
        };
        self.members.word("kind", word);
        self.members.word("type", own);
    }

    pub(crate) fn text(&mut self, name: &str, text: Option<&str>) {
        self.members.text(name, text);
    }

    /// A value that is JSON, on one line.
    pub(crate) fn raw(&mut self, name: &str, raw: Option<&str>) {
        if let Some(raw) = raw {
            self.members.raw(name, raw);
        }
    }

    pub(crate) fn time(&mut self, name: &str, time: Option<Timestamp>) {
        self.text(name, time.map(|time| time.to_string()).as_deref());
    }

    pub(crate) fn usage(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage.filter(|usage| !usage.is_zero()) {
            let mut tokens = Members::default();
            for (name, count) in [
                ("input", usage.input),
                ("output", usage.output),
                ("reasoning", usage.reasoning),
                ("cache_read", usage.cache_read),
                ("cache_write", usage.cache_write),
            ] {
                tokens.number(name, Some(count).filter(|count| *count > 0));
            }
            self.members.members("usage", &tokens);
        }
    }

    /// Messages, as the chat services take them.
    pub(crate) fn messages(&mut self, name: &str, messages: &[String]) {
        if !messages.is_empty() {
            self.members.raw(name, &format!("[{}]", messages.join(",")));
        }
    }

    /// The line, with its end.
    pub(crate) fn finish(self) -> String {
        self.members.object() + "\n"
    }
}

/// The line that says what the session is.
pub(crate) fn session(id: Option<&str>, facts: &[(&str, Option<&str>)]) -> String {
    let mut members = Members::default();
    match id {
        Some(id) => members.word("session", id),
        None => members.raw("session", "null"),
    }
    for (name, fact) in facts {
        members.text(name, *fact);
    }
    members.object() + "\n"
}

pub(crate) fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    Usage {
        input: count("input"),
        output: count("output"),
        reasoning: count("reasoning"),
        cache_read: count("cache_read"),
        cache_write: count("cache_write"),
        ..Usage::default()
    }
}

/// Input as the conventions count it, with what went through a cache, or without it where it is
/// less than that.
pub(crate) fn without_cache(input: u64, cache_read: u64, cache_write: u64) -> u64 {
    input.checked_sub(cache_read.saturating_add(cache_write)).unwrap_or(input)
}
