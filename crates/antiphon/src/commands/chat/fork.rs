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
        let origin = Origin { session_id: opened.id(), message_id: message.to_owned() };
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
        let mut copy = Copy { fork, end: &self.origin.message_id, is_done: false, failure: None };
        match antiphon_library::find_bundle(&self.path)? {
            Some(bundle) => bundle.events(&mut copy),
            None => {
                Log::find(&self.path)?.read(&mut copy)?;
            }
        }
        match copy.failure {
            Some(error) => Err(error.into()),
            None => Ok(copy.fork.finish()?),
        }
    }
}

/// Copies events until the last that is wanted.
struct Copy<'a> {
    fork: Fork,
    end: &'a str,
    is_done: bool,
    failure: Option<Error>,
}

impl Copy<'_> {
    fn add(&mut self, id: Option<&str>, json: &str) {
        if self.is_done {
            return;
        }
        self.failure = self.fork.copy(json).err();
        self.is_done = self.failure.is_some() || id == Some(self.end);
    }
}

impl antiphon_journal::Sink for Copy<'_> {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, _: Option<&Seal>) {
        self.add(event.message_id.as_deref(), line.text);
    }

    // What cannot be read is not copied; whoever reads the origin is told of it.
    fn damage(&mut self, _: Damage) {}
}

impl<'a> antiphon_formats::Sink<'a> for Copy<'_> {
    fn event(&mut self, event: Event<'a>) {
        self.add(event.message_id.as_deref(), &event.to_json());
    }

    fn problem(&mut self, _: Problem) {}

    fn duplicate(&mut self, _: Duplicate) {}
}
