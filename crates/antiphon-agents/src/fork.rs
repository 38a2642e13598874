//! A fork: a new session that begins with a copy of another, up to one of its messages.

use std::path::Path;

use antiphon_journal::{Draft, Error, Options, Writer};
use antiphon_model::{Body, Event, SessionStarted, json};

use crate::cast::Cast;

/// The id of the line with which a fork begins. No event that is copied has it: those that name a
/// session are not.
const FIRST_ID: &str = "fork_001";

/// Where a fork comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub session_id: String,
    pub message_id: String,
}

/// A fork that is being written.
#[derive(Debug)]
pub struct Fork {
    writer: Writer,
}

impl Fork {
    /// Begins the log of a fork.
    pub fn begin(
        path: &Path,
        options: Options,
        origin: &Origin,
        cast: &Cast,
    ) -> Result<Self, Error> {
        let writer = Writer::open(path, options)?;
        let mut from = json::Members::default();
        from.word("session_id", &origin.session_id);
        from.word("message_id", &origin.message_id);
        let from = from.to_json();
        let cast_json = cast.to_json();
        let started = SessionStarted {
            title: cast.title.as_deref().map(Into::into),
            program: Some("antiphon chat".into()),
            version: Some(env!("CARGO_PKG_VERSION").into()),
            cast: cast_json.as_ref().map(Body::of),
            forked_from: Some(Body::of(&from)),
            ..SessionStarted::default()
        };
        let mut event = Event::new(started);
        event.message_id = Some(FIRST_ID.into());
        writer.append(&Draft::from_event(&event)?)?;
        Ok(Self { writer })
    }

    /// Copies an event as it stands in a log, with its id and its time.
    pub fn copy(&mut self, event: &str) -> Result<(), Error> {
        if json::member(event, "event_type").and_then(json::text).as_deref()
            == Some("session_started")
        {
            return Ok(());
        }
        let draft = Draft::from_json(event)?.of_the_past();
        self.writer.append(&draft).map(drop)
    }

    pub fn finish(self) -> Result<(), Error> {
        self.writer.close()
    }
}

/// The cast that a line `session_started` names.
pub fn cast_of_line(line: &str) -> Option<Cast> {
    json::member(line, "cast").and_then(Cast::of_json)
}
