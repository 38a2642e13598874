//! The log of the Codex terminal interface of August 2025, from before rollouts: every key press,
//! every redraw, and what the agent said, in pieces and then complete.
//!
//! A prompt is there only if the interface sent it as an `op`. Token counts follow each request's
//! messages.

use std::borrow::Cow;

use antiphon_model::{EventKind, Message, Role, SessionEnded, ToolCall, Usage, is_blank};

use crate::codex::{Count, Tokens};
use crate::line::{Object, Record, each_record};
use crate::script::{Script, blank, created, started};
use crate::{Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "codex-tui",
    product: "Codex",
    what: "the event log of the Codex terminal interface",
    versions: "August 2025; calls and tokens not observed",
    detect,
    read,
    ..crate::ONE_FILE
};

const MAIN: Cow<'static, str> = Cow::Borrowed("main");

fn detect(head: &[&str]) -> bool {
    head.iter().filter_map(|line| Object::parse(line)).any(|object| {
        let way = object.id("dir").unwrap_or_default();
        matches!(way, "meta" | "to_tui" | "from_tui") && object.raw("kind").is_some()
    })
}

fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        let (script, tokens) = (Script::new(stream.name), Tokens::default());
        let mut log = Log { script, pieces: Vec::new(), model: None, answer: None, tokens };
        each_record(stream, number, sink, |record, sink| log.line(&record, sink));
        log.release();
        log.script.finish(sink);
    }
}

struct Log<'a> {
    script: Script<'a>,
    /// Pieces of a message that is not complete yet.
    pieces: Vec<Piece<'a>>,
    model: Option<Cow<'a, str>>,
    /// The last message of a request whose token counts have not come yet.
    answer: Option<usize>,
    tokens: Tokens,
}

struct Piece<'a> {
    kind: &'a str,
    /// The id of the current turn; every prompt begins one.
    turn: Option<&'a str>,
    record: Record<'a>,
}

impl<'a> Log<'a> {
    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        if self.script.events.is_empty() {
            return self.begin(record);
        }
        let payload = record.object.object("payload").unwrap_or_default();
        let msg = payload.object("msg").unwrap_or_default();
        let kind = record.object.id("kind").unwrap_or("line");
        let kind = msg.id("type").or_else(|| payload.id("type")).unwrap_or(kind);
        match kind {
            "agent_message_delta"
            | "agent_reasoning_delta"
            | "agent_reasoning_raw_content_delta" => {
                self.pieces.push(Piece { kind, turn: payload.id("id"), record: record.clone() });
            }
            "agent_message" | "agent_reasoning" | "agent_reasoning_raw_content" => {
                let at = self.said(record, &msg, kind == "agent_message");
                self.pieced(at, kind, payload.id("id"), sink);
            }
            "exec_command_begin" | "mcp_tool_call_begin" | "patch_apply_begin" => {
                self.called(record, &msg, kind);
            }
            "exec_command_end" | "mcp_tool_call_end" | "patch_apply_end" => {
                self.returned(record, &payload, kind);
            }
            "token_count" => self.spent(record, &msg, sink),
            "user_input" | "user_turn" => {
                let content = payload.raw("items").map(|items| record.body(items));
                let source = Some(Cow::Borrowed("external"));
                let message = Message { content, source, ..blank(MAIN, Role::User) };
                self.script.prompted(content);
                self.script.push(record, None, EventKind::Message(message));
            }
            "session_configured" => {
                self.configured(&msg);
                self.script.unknown(record, None, (Some(MAIN), kind));
            }
            "task_started" => {
                self.answer = None;
                self.script.unknown(record, None, (Some(MAIN), kind));
            }
            "session_end" => {
                let ended =
                    SessionEnded { outcome: None, reason: None, error: None, declared: None };
                self.script.push(record, None, EventKind::SessionEnded(ended));
            }
            other => {
                self.script.unknown(record, None, (Some(MAIN), other));
            }
        }
    }

    /// Begins the session at the first line, which describes it.
    fn begin(&mut self, record: &Record<'a>) {
        self.model = record.object.text("model");
        let mut session = started(super::codex::PROGRAM);
        session.cwd = record.object.text("cwd");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Codex"));
        agent.language_model = self.model.clone();
        agent.adapter_id = Some(Cow::Borrowed(super::codex::PROGRAM));
        self.script.begin(record, session, agent);
        if record.object.id("dir") != Some("meta") {
            self.script.unknown(record, None, (Some(MAIN), "line"));
        }
    }

    /// Adds the session's id and the model, which are known only once it is configured.
    fn configured(&mut self, msg: &Object<'a>) {
        self.model = msg.text("model").or(self.model.take());
        for event in self.script.events.iter_mut().take(2) {
            if let EventKind::SessionStarted(session) = &mut event.kind {
                session.session_id = msg.text("session_id");
            }
            if let EventKind::AgentCreated(agent) = &mut event.kind {
                agent.language_model = self.model.clone();
            }
        }
    }

    fn said(&mut self, record: &Record<'a>, msg: &Object<'a>, is_aloud: bool) -> usize {
        let mut message = blank(MAIN, Role::Assistant);
        message.model = self.model.clone();
        if is_aloud {
            message.content = msg.raw("message").map(|text| record.body(text));
        } else {
            message.reasoning = msg.raw("text").map(|text| record.body(text));
        }
        let at = self.script.push(record, None, EventKind::Message(message));
        self.answer = self.answer.filter(|_| !is_aloud).or(Some(at));
        at
    }

    /// Reports the pieces of a message that is now complete as duplicates of it.
    fn pieced(&mut self, at: usize, kind: &str, turn: Option<&str>, sink: &mut dyn Sink<'a>) {
        let pieces = std::mem::take(&mut self.pieces);
        let (known, others): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|piece| {
            piece.turn == turn && piece.kind.strip_suffix("_delta") == Some(kind)
        });
        self.pieces = others;
        for piece in known {
            let reason = "piece of a message that follows whole";
            self.script.duplicate(&piece.record, at, reason, sink);
        }
    }

    fn called(&mut self, record: &Record<'a>, msg: &Object<'a>, kind: &'a str) {
        let Some(id) = msg.text("call_id") else {
            self.script.unknown(record, None, (Some(MAIN), kind));
            return;
        };
        let (name, arguments) = made(msg, kind);
        let arguments = arguments.map(|arguments| record.body(arguments));
        let mut message = blank(MAIN, Role::Assistant);
        message.model = self.model.clone();
        let call = ToolCall { id, name, arguments, ..ToolCall::default() };
        message.tool_calls.push(call);
        let at = self.script.push(record, None, EventKind::Message(message));
        self.answer = self.answer.or(Some(at));
    }

    fn returned(&mut self, record: &Record<'a>, payload: &Object<'a>, kind: &str) {
        let msg = payload.object("msg").unwrap_or_default();
        let mut message = blank(MAIN, Role::Tool);
        message.tool_call_id = msg.text("call_id");
        message.name = Some(made(&msg, kind).0);
        let result = msg.object("result").unwrap_or_default();
        let fine = result.object("Ok").unwrap_or_default();
        let heard = [msg.raw("stdout"), msg.raw("stderr"), fine.raw("content"), result.raw("Err")];
        let said = heard.into_iter().flatten().find(|raw| !is_blank(raw));
        let said = said.or_else(|| msg.raw("stdout"));
        message.content = said.map(|said| record.body(said));
        message.result = payload.raw("msg").map(|msg| record.body(msg));
        let failed = msg.raw("exit_code").is_some_and(|code| code != "0")
            || msg.raw("success") == Some("false")
            || result.raw("Err").is_some()
            || fine.flag("isError")
            || fine.flag("is_error");
        message.is_error = failed.then_some(true);
        message.duration_ms = msg.object("duration").map(|took| {
            let seconds = took.number("secs").unwrap_or_default();
            let nanos = took.number("nanos").unwrap_or_default();
            seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000)
        });
        self.script.push(record, None, EventKind::Message(message));
    }

    /// Reads the token counts of a request. Later builds report running totals.
    fn spent(&mut self, record: &Record<'a>, msg: &Object<'a>, sink: &mut dyn Sink<'a>) {
        let usage = match self.tokens.count(msg.object("info").as_ref(), false) {
            Count::Spent(usage) => Some(usage),
            Count::Unchanged => None,
            Count::Nothing => msg.raw("input_tokens").map(|_| usage(msg)),
        };
        let Some(usage) = usage else {
            self.script.unknown(record, None, (Some(MAIN), "token_count"));
            return;
        };
        let known = self.answer.take();
        if let Some(message) = known.and_then(|at| self.script.message_at(at)) {
            message.usage = Some(usage);
        }
        match known {
            Some(at) => self.script.duplicate(record, at, "token counts of the answer above", sink),
            None => {
                let mut message = blank(MAIN, Role::Assistant);
                message.model = self.model.clone();
                message.usage = Some(usage);
                self.script.push(record, None, EventKind::Message(message));
            }
        }
    }

    /// Keeps pieces of a message that was never completed as they are.
    fn release(&mut self) {
        for piece in std::mem::take(&mut self.pieces) {
            self.script.unknown(&piece.record, None, (Some(MAIN), piece.kind));
        }
    }
}

/// The name and the arguments of a call.
fn made<'a>(msg: &Object<'a>, kind: &str) -> (Cow<'a, str>, Option<&'a str>) {
    let invocation = msg.object("invocation").unwrap_or_default();
    if kind.starts_with("mcp") {
        return (invocation.text("tool").unwrap_or_default(), invocation.raw("arguments"));
    }
    match kind.starts_with("patch") {
        true => (Cow::Borrowed("apply_patch"), msg.raw("changes")),
        false => (Cow::Borrowed("exec_command"), msg.raw("command")),
    }
}

/// Converts token counts. The input includes cached input, the output includes reasoning.
fn usage(tokens: &Object<'_>) -> Usage {
    let count = |name| tokens.number(name).unwrap_or_default();
    let cached = count("cached_input_tokens");
    Usage {
        input: count("input_tokens").saturating_sub(cached),
        output: count("output_tokens"),
        reasoning: count("reasoning_output_tokens"),
        cache_read: cached,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
