//! `--fork SESSION@MESSAGE`: a copy of a session of any format, up to a message.

use std::path::Path;

use antiphon_agents::{Cast, Fork, Origin};
use antiphon_formats::Duplicate;
use antiphon_journal::{Damage, Error, Log, Options, Seal};
use antiphon_model::{Event, EventIx, Line, Problem};

use super::trust::recorded_cast;
use crate::failure::UserError;
use crate::opened::{Opened, locate};

/// The session and the message that are to be forked.
pub(super) struct Forked {
    opened: Opened,
    path: std::path::PathBuf,
    origin: Origin,
    at: EventIx,
}

impl Forked {
    /// Opens what `--fork` names.
    pub(super) fn open(named: &str) -> anyhow::Result<Self> {
        let (session, message) = named.rsplit_once('@').ok_or_else(|| {
            UserError::usage(format!("`{named}` names no message"))
                .hint("write SESSION@MESSAGE; `antiphon view timeline SESSION` lists the ids")
        })?;
        let opened = Opened::read(Path::new(session))?;
        let at = opened.event(message)?;
        let message_id = opened.session.entry(at).id().to_owned();
        let origin = Origin { session_id: opened.id(), message_id };
        Ok(Self { path: locate(Path::new(session))?, opened, origin, at })
    }

    pub(super) fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The calls that have no result at the message: the id and the tool of each.
    pub(super) fn open_calls(&self) -> Vec<(String, String)> {
        let session = &self.opened.session;
        let is_open = |call: &antiphon_model::Call| {
            call.event <= self.at && call.first_result().is_none_or(|result| result > self.at)
        };
        let open = session.calls().filter(|(_, call)| is_open(call));
        open.map(|(ix, _)| (session.call_id(ix).to_owned(), session.tool_name(ix).to_owned()))
            .collect()
    }

    /// Writes the fork to a new log.
    pub(super) fn write(
        &self,
        to: &Path,
        options: Options,
        cast: Option<&Cast>,
        title: Option<&str>,
    ) -> anyhow::Result<()> {
        let session = &self.opened.session;
        let of_log = || recorded_cast(&self.opened).unwrap_or_default();
        let mut cast = cast.cloned().unwrap_or_else(of_log);
        let titles = [title, cast.title.as_deref(), session.info().title.as_deref()];
        let title = titles.into_iter().flatten().next().map(str::to_owned);
        cast.title = title;
        let fork = Fork::begin(to, options, &self.origin, &cast)?;
        // An id may stand in a log more than once; the message is the last one that has it.
        let end = session.entry(self.at).id();
        let same = session.entries().take(self.at.index() + 1).filter(|entry| entry.id() == end);
        let remaining = same.count();
        let mut copy = Copy { fork, end, remaining, failure: None };
        match antiphon_library::find_bundle(&self.path)? {
            Some(bundle) => bundle.events(&mut copy),
            None => {
                Log::find(&self.path)?.read(&mut copy)?;
            }
        }
        if let Some(error) = copy.failure {
            return Err(error.into());
        }
        copy.fork.finish()?;
        if copy.remaining > 0 {
            let what = format!("`{end}` is no line of its own, so that a copy cannot end there");
            return Err(UserError::failed(what).into());
        }
        Ok(())
    }
}

/// Copies events until the last that is wanted.
struct Copy<'a> {
    fork: Fork,
    end: &'a str,
    /// How often the id of the last event is still to come.
    remaining: usize,
    failure: Option<Error>,
}

impl Copy<'_> {
    fn add(&mut self, event: &Event<'_>, json: &str) {
        if self.remaining == 0 || self.failure.is_some() {
            return;
        }
        self.failure = self.fork.copy(json).err();
        let is_end = match event.message_id.as_deref() {
            Some(id) => id == self.end,
            None => Some(event.line) == line_of(self.end),
        };
        self.remaining -= usize::from(is_end);
    }
}

/// The line of an event that has no id of its own.
fn line_of(id: &str) -> Option<u64> {
    id.strip_prefix("line:")?.parse().ok()
}

impl antiphon_journal::Sink for Copy<'_> {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, _: Option<&Seal>) {
        self.add(event, line.text);
    }

    // What cannot be read is not copied; whoever reads the origin is told of it.
    fn damage(&mut self, _: Damage) {}
}

impl<'a> antiphon_formats::Sink<'a> for Copy<'_> {
    fn event(&mut self, event: Event<'a>) {
        self.add(&event, &event.to_json());
    }

    fn problem(&mut self, _: Problem) {}

    fn duplicate(&mut self, _: Duplicate) {}
}
