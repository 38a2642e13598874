//! The line of a span, to which every tracing format is converted.

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

    /// The span's kind, and the format's own word for it.
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

    /// Adds a JSON value, on one line.
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

    /// Adds messages as in OpenAI's chat API.
    pub(crate) fn messages(&mut self, name: &str, messages: &[String]) {
        if !messages.is_empty() {
            self.members.raw(name, &format!("[{}]", messages.join(",")));
        }
    }

    /// The line, with its end of line.
    pub(crate) fn finish(self) -> String {
        self.members.object() + "\n"
    }
}

/// The line that describes the session.
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

/// Input without the cache. By the conventions the input includes it, unless it is less than that.
pub(crate) fn without_cache(input: u64, cache_read: u64, cache_write: u64) -> u64 {
    input.checked_sub(cache_read.saturating_add(cache_write)).unwrap_or(input)
}
