//! Messages of a sub-agent that are on lines of its parent (`agent_progress`).
//!
//! Such a line contains a line of the sub-agent, under that line's own id. In some versions it also
//! has everything that the sub-agent said so far, some of which is nowhere else. If the sub-agent
//! has its own file, these lines are read after it, and add what it lacks.
//!
//! Such a line is written while the answer is still coming, so its token counts are not final. A
//! request that is nowhere else counts as a request without its tokens; sums say that they are
//! partial, and a problem says how many tokens were reported.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Event, EventKind, Usage};

use super::session::{Launch, Left, Shared};
use super::transcript::Transcript;
use crate::line::{Object, Record};
use crate::{Duplicate, Sink};

const REPEATED: &str = "copy of a sub-agent's line in the file of its parent";

/// A line that contains a line of a sub-agent.
pub(super) struct ProgressLine<'a> {
    pub(super) agent: Cow<'a, str>,
    call: Option<Cow<'a, str>>,
    /// The line that contains it.
    record: Record<'a>,
    data: Object<'a>,
}

impl<'a> ProgressLine<'a> {
    pub(super) fn of(record: &Record<'a>) -> Option<Self> {
        if record.object.id("type") != Some("progress") {
            return None;
        }
        let data = record.object.object("data")?;
        if data.id("type") != Some("agent_progress") || data.object("message").is_none() {
            return None;
        }
        let call = record.object.text("parentToolUseID");
        // An agent without an id is identified by the call that created it.
        let unnamed = || call.as_ref().map(|call| Cow::Owned(format!("call:{call}")));
        let agent = data.text("agentId").or_else(unnamed)?;
        Some(Self { agent, call, record: record.clone(), data })
    }

    /// The sub-agent's lines that were not read before, in order; the line's own content comes
    /// last.
    fn lines(&self, shared: &Shared<'a>) -> Vec<Record<'a>> {
        let is_new =
            |object: &Object<'a>| object.id("uuid").is_some_and(|uuid| !shared.seen.contains(uuid));
        let so_far = self.data.elements("normalizedMessages").into_iter().rev();
        let mut lines: Vec<Object<'a>> =
            so_far.map_while(|(_, object)| object.filter(is_new)).collect();
        lines.reverse();
        let last = self.data.object("message").unwrap_or_default();
        if lines.iter().all(|line| line.id("uuid") != last.id("uuid")) {
            lines.push(last);
        }
        let inner = |mut object: Object<'a>| {
            if object.raw("timestamp").is_none() {
                object.add(&self.record.object, "timestamp");
            }
            Record { line: self.record.line, object }
        };
        lines.into_iter().map(inner).collect()
    }
}

impl<'a> Transcript<'a> {
    /// Adds what a line reports of a sub-agent. If the sub-agent has a file, this is done later.
    pub(super) fn progress(
        &mut self,
        progress: &ProgressLine<'a>,
        shared: &mut Shared<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        if let Some(call) = progress.call.clone() {
            let launch = Launch { call, by: None, in_background: false };
            shared.launches.entry(progress.agent.clone()).or_insert(launch);
        }
        if shared.own_files.contains(&*progress.agent) {
            shared.progress_lines.push(progress.record.line);
            return;
        }
        for line in progress.lines(shared) {
            match line.object.id("uuid") {
                Some(uuid) if !shared.seen.insert(uuid) => repeated(&line, uuid, sink),
                _ => {
                    self.says(&line, &progress.agent, shared, sink);
                    self.leave_tokens(&line, progress, shared);
                }
            }
        }
    }

    /// Removes the tokens from a message that only a progress line reports, because they are not
    /// final.
    fn leave_tokens(
        &mut self,
        line: &Record<'a>,
        progress: &ProgressLine<'a>,
        shared: &mut Shared<'a>,
    ) {
        let id = line.object.object("message").and_then(|message| message.id("id"));
        let Some(id) = id else { return };
        let Some(message) = self.message_named(&progress.agent, id) else { return };
        let Some(usage) = message.usage.replace(Usage::default()) else {
            message.usage = None;
            return;
        };
        message.usage_partial = true;
        if !usage.is_zero() {
            let left = shared
                .left
                .entry(progress.agent.clone())
                .or_insert_with(|| Left { line: line.line, requests: BTreeMap::new() });
            left.requests.insert(id, usage);
        }
    }

    /// Like `progress`, for a sub-agent with its own file: what that has is reported as a
    /// duplicate.
    pub(super) fn progress_after_file(
        &mut self,
        progress: &ProgressLine<'a>,
        shared: &mut Shared<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        for line in progress.lines(shared) {
            if let Some(uuid) = line.object.id("uuid")
                && !shared.seen.insert(uuid)
            {
                repeated(&line, uuid, sink);
                continue;
            }
            if self.has_all_of(&line, progress, sink.wants_only_usage()) {
                repeated(&line, &format!("created:{}", progress.agent), sink);
                continue;
            }
            // The usage of a request is taken from the sub-agent's own file.
            let id = line.object.object("message").and_then(|message| message.id("id"));
            let own = id.and_then(|id| self.message_named(&progress.agent, id)?.usage);
            self.says(&line, &progress.agent, shared, sink);
            let message = id.and_then(|id| self.message_named(&progress.agent, id));
            match (message, own) {
                (Some(message), Some(own)) => message.usage = Some(own),
                _ => self.leave_tokens(&line, progress, shared),
            }
        }
    }

    /// Whether the file has every part of a line. In some versions lines have other ids there.
    fn has_all_of(
        &mut self,
        line: &Record<'a>,
        progress: &ProgressLine<'a>,
        only_usage: bool,
    ) -> bool {
        let said = line.object.object("message").unwrap_or_default();
        if only_usage && let Some(id) = said.id("id") {
            return self.message_named(&progress.agent, id).is_some();
        }
        let text = said.raw("content").filter(|raw| raw.starts_with('"'));
        let blocks = said.elements("content");
        if text.is_none() && blocks.is_empty() {
            return false;
        }
        let heard = self.heard();
        let is_known = |block: &Object<'a>| match block.id("type").unwrap_or_default() {
            "tool_use" => block.text("id").is_some_and(|id| heard.calls.contains(&id)),
            "tool_result" => {
                block.text("tool_use_id").is_some_and(|id| heard.results.contains(&id))
            }
            "thinking" => block.raw("thinking").is_some_and(|text| heard.said.contains(text)),
            _ => block.raw("text").is_some_and(|text| heard.said.contains(text)),
        };
        text.is_none_or(|text| heard.said.contains(text))
            && blocks.iter().all(|(_, block)| block.as_ref().is_some_and(is_known))
    }
}

/// The ids and texts that a file contains, by which repeated lines are recognised.
#[derive(Debug, Default)]
pub(super) struct Heard<'a> {
    calls: BTreeSet<Cow<'a, str>>,
    results: BTreeSet<Cow<'a, str>>,
    said: BTreeSet<&'a str>,
}

impl<'a> Heard<'a> {
    pub(super) fn of<'e>(events: impl Iterator<Item = &'e Event<'a>>) -> Self
    where
        'a: 'e,
    {
        let mut heard = Self::default();
        for event in events {
            let EventKind::Message(message) = &event.kind else { continue };
            heard.calls.extend(message.tool_calls.iter().map(|call| call.id.clone()));
            heard.results.extend(message.tool_call_id.clone());
            let bodies = message.content.iter().chain(&message.more_content);
            heard.said.extend(bodies.chain(&message.reasoning).map(|body| body.json));
        }
        heard
    }
}

fn repeated<'a>(line: &Record<'a>, event: &str, sink: &mut dyn Sink<'a>) {
    sink.duplicate(Duplicate {
        message_id: event.to_owned(),
        line: line.line.number,
        place: line.line.place,
        reason: REPEATED,
    });
}
