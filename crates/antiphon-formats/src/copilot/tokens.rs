//! Token counts: each message's output with the message, the rest as totals at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{EventKind, Role, Usage};

use crate::line::{Object, Record};
use crate::script::{Script, blank};

#[derive(Debug, Default)]
pub(super) struct Tokens<'a> {
    by_model: BTreeMap<Cow<'a, str>, Spent>,
    /// Messages that do not name their model.
    unnamed: Vec<usize>,
}

/// The tokens of one model.
#[derive(Debug, Default)]
struct Spent {
    /// Its last message.
    last: Option<usize>,
    /// The output of its messages since the last total.
    said: u64,
    /// Those messages: only their output is known until a total comes.
    open: Vec<usize>,
    /// The last total.
    total: Usage,
}

impl<'a> Tokens<'a> {
    pub(super) fn said(
        &mut self,
        script: &mut Script<'a>,
        event: usize,
        model: Option<Cow<'a, str>>,
        output: Option<u64>,
    ) {
        if model.is_none() {
            self.unnamed.push(event);
        }
        let spent = self.by_model.entry(model.unwrap_or_default()).or_default();
        spent.last = Some(event);
        spent.said = spent.said.saturating_add(output.unwrap_or_default());
        let usage = output.map(|output| Usage { output, ..Usage::default() });
        spent.open.push(event);
        if let Some(message) = script.message_at(event) {
            message.usage = usage;
            message.usage_partial = usage.is_some();
        }
    }

    /// Reads the totals when the program exits. They continue the last ones, or start again from
    /// zero.
    pub(super) fn end(&mut self, script: &mut Script<'a>, record: &Record<'a>, data: &Object<'a>) {
        let metrics = data.object("modelMetrics").unwrap_or_default();
        let mut totals: Vec<(Cow<'a, str>, Usage)> = Vec::new();
        for (model, metrics) in metrics.members() {
            let usage = Object::parse(metrics).and_then(|metrics| metrics.object("usage"));
            totals.extend(usage.map(|usage| (Cow::Borrowed(model), of_model(&usage))));
        }
        if totals.is_empty()
            && let Some(details) = data.object("tokenDetails")
        {
            let model = data.text("currentModel").unwrap_or_default();
            totals.push((model, of_details(&details)));
        }
        // Messages without a model belong to the only model there is.
        if let [(model, _)] = totals.as_slice()
            && let Some(unnamed) = self.by_model.remove("")
        {
            let spent = self.by_model.entry(model.clone()).or_default();
            spent.last = spent.last.max(unnamed.last);
            spent.said = spent.said.saturating_add(unnamed.said);
            spent.open.extend(unnamed.open);
            for event in self.unnamed.drain(..) {
                if let Some(message) = script.message_at(event) {
                    message.model = Some(model.clone());
                }
            }
        }
        for (model, total) in totals {
            let spent = self.by_model.entry(model.clone()).or_default();
            let mut rest = rest(total, spent.total);
            rest.output = rest.output.saturating_sub(spent.said);
            rest.reasoning = rest.reasoning.min(rest.output.saturating_add(spent.said));
            spent.total = total;
            spent.said = 0;
            for event in spent.open.drain(..) {
                if let Some(message) = script.message_at(event) {
                    message.usage_partial = false;
                }
            }
            if rest.is_zero() {
                continue;
            }
            let at = spent.last.unwrap_or_else(|| {
                let message = blank(Cow::Borrowed("main"), Role::Assistant);
                script.push(record, None, EventKind::Message(message))
            });
            spent.last = Some(at);
            if let Some(message) = script.message_at(at) {
                message.model.get_or_insert(model);
                *message.usage.get_or_insert_default() += rest;
            }
        }
    }
}

/// The tokens since the last total; all of them, if the count started again from zero.
fn rest(total: Usage, last: Usage) -> Usage {
    let less = |a: u64, b: u64| a.checked_sub(b);
    let since = || {
        Some(Usage {
            input: less(total.input, last.input)?,
            output: less(total.output, last.output)?,
            reasoning: less(total.reasoning, last.reasoning)?,
            cache_read: less(total.cache_read, last.cache_read)?,
            cache_write: less(total.cache_write, last.cache_write)?,
            cache_write_1h: 0,
        })
    };
    since().unwrap_or(total)
}

/// Converts the totals of a model, whose input includes cache reads and writes.
fn of_model(usage: &Object<'_>) -> Usage {
    let count = |name| usage.number(name).unwrap_or_default();
    let (read, write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Usage {
        input: count("inputTokens").saturating_sub(read.saturating_add(write)),
        output: count("outputTokens"),
        reasoning: count("reasoningTokens").min(count("outputTokens")),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    }
}

/// Converts totals that are separate for each kind.
fn of_details(details: &Object<'_>) -> Usage {
    let count = |name| {
        let kind = details.object(name);
        kind.and_then(|kind| kind.number("tokenCount")).unwrap_or_default()
    };
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cache_read"),
        cache_write: count("cache_write"),
        ..Usage::default()
    }
}
