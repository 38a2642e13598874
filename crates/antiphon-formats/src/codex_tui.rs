//! The log of the Codex terminal interface of August 2025, from before rollouts: every key, every
//! redrawing, and what the agent said, in pieces and then whole.

use std::borrow::Cow;

use antiphon_model::{EventKind, Message, Role, SessionEnded};

use crate::line::{Object, Record, records};
use crate::script::{Script, blank, created, started};
use crate::{Duplicate, Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "codex-tui",
    what: "the event log of the Codex terminal interface",
    versions: "August 2025",
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
        let mut log = Log { script: Script::new(stream.name), pieces: Vec::new(), model: None };
        for record in records(stream, number) {
            match record {
                Ok(record) => log.line(&record, sink),
                Err(problem) => sink.problem(problem),
            }
        }
        log.release();
        log.script.finish(sink);
    }
}

struct Log<'a> {
    script: Script<'a>,
    /// Pieces of a message that is not whole yet.
    pieces: Vec<Record<'a>>,
    model: Option<Cow<'a, str>>,
}

impl<'a> Log<'a> {
    fn line(&mut self, record: &Record<'a>, sink: &mut dyn Sink<'a>) {
        if self.script.events.is_empty() {
            return self.begin(record);
        }
        let payload = record.object.object("payload").unwrap_or_default();
        let told = payload.object("msg").unwrap_or_default();
        let kind = record.object.id("kind").unwrap_or("line");
        let kind = told.id("type").or_else(|| payload.id("type")).unwrap_or(kind);
        match kind {
            "agent_message_delta" => self.pieces.push(record.clone()),
            "agent_message" => {
                let message = Message {
                    content: told.raw("message").map(|text| record.body(text)),
                    model: self.model.clone(),
                    ..blank(MAIN, Role::Assistant)
                };
                let at = self.script.push(record, None, EventKind::Message(message));
                let id = self.script.id_at(at).unwrap_or_default();
                for piece in std::mem::take(&mut self.pieces) {
                    sink.duplicate(Duplicate {
                        message_id: id.to_owned(),
                        line: piece.line.number,
                        place: piece.line.place,
                        reason: "a piece of a message that follows whole",
                    });
                }
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

    /// The first line tells of the session.
    fn begin(&mut self, record: &Record<'a>) {
        self.model = record.object.text("model");
        let mut session = started(super::codex::PROGRAM);
        session.cwd = record.object.text("cwd");
        let mut agent = created(MAIN);
        agent.name = Some(Cow::Borrowed("Codex"));
        agent.language_model = self.model.clone();
        agent.adapter_id = Some(Cow::Borrowed(super::codex::PROGRAM));
        let session = EventKind::SessionStarted(session);
        self.script.push_as(record, Cow::Borrowed("session"), session);
        let agent = EventKind::AgentCreated(agent);
        self.script.push_as(record, Cow::Borrowed("created:main"), agent);
        if record.object.id("dir") != Some("meta") {
            self.script.unknown(record, None, (Some(MAIN), "line"));
        }
    }

    /// Pieces of a message that never became whole are kept as they are.
    fn release(&mut self) {
        for piece in std::mem::take(&mut self.pieces) {
            self.script.unknown(&piece, None, (Some(MAIN), "agent_message_delta"));
        }
    }
}

#[cfg(test)]
mod tests;
