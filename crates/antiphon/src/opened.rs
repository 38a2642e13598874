//! Opening what a person names: a path, or a session of the store; then a folded session.

use std::path::{Path, PathBuf};

use antiphon_journal::{Error, Log};
use antiphon_library::{Asked, Environment, Found, Store, StoredSession};
use antiphon_model::{Agent, AgentIx, EventIx, Status};
use antiphon_redact::Redactor;
use antiphon_views::{AgentNotFound, MessageNotFound};

use crate::failure::{Outcome, UserError, report_problems};
use crate::fresh;
use crate::terminal::{clip, complain};

/// A session, read, and the path at which it was found.
#[derive(Debug)]
pub(crate) struct Opened {
    inner: antiphon_sources::Opened,
    path: String,
}

impl std::ops::Deref for Opened {
    type Target = antiphon_sources::Opened;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl Opened {
    /// Reads the session that a person names. A file without a single event is an error.
    pub(crate) fn read(named: &Path) -> anyhow::Result<Self> {
        let Located { path, end } = &located(named)?;
        let store = Store::open_default(&Environment::of_process()).ok();
        let inner = antiphon_library::open_with(path, store.as_ref());
        let mut inner = inner.map_err(|error| not_opened(path, error))?;
        if let Some(end) = end {
            inner.session.note_end(*end);
        }
        if let Some(note) = &inner.note {
            complain(note);
        }
        let shown = path.display();
        if inner.session.is_empty() {
            if inner.summary.is_some_and(|summary| summary.bytes == 0) {
                return Err(UserError::not_found(format!("`{shown}` is empty: no events")).into());
            }
            let first = inner.session.problems().first().map(|problem| problem.message.clone());
            let why = first.unwrap_or_else(|| "it contains no events".to_owned());
            let what = format!("`{shown}` is not a session in a known format: {why}");
            return Err(UserError::failed(what)
                .hint("`antiphon formats` lists the known formats")
                .into());
        }
        Ok(Self { inner, path: shown.to_string() })
    }

    /// The same session without its secrets.
    pub(crate) fn redacted(self, redactor: &Redactor) -> Self {
        Self { inner: self.inner.redacted(redactor), ..self }
    }

    /// What to call the session: its title, or how it began.
    pub(crate) fn title(&self) -> String {
        let info = self.session.info();
        match (&info.title, &info.prompt) {
            (Some(title), _) => title.as_ref().to_owned(),
            (None, Some(prompt)) => clip(prompt, 80),
            (None, None) => self.id(),
        }
    }

    /// The agent that `--agent` names.
    pub(crate) fn agent(&self, wanted: &str) -> anyhow::Result<AgentIx> {
        self.reading().agent(wanted).map_err(|error| {
            let error = match error {
                AgentNotFound::Unknown { known } => {
                    let names = known.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
                    UserError::not_found(format!("there is no agent `{wanted}`"))
                        .hint(format!("available agents: {names}"))
                }
                AgentNotFound::Ambiguous { ids } => {
                    UserError::usage(format!("`{wanted}` matches {} agents", ids.len()))
                        .hint(format!("use one of their ids: {}", ids.join(", ")))
                }
            };
            error.into()
        })
    }

    /// The agent that `--agent` names; without it the one that made all the others.
    pub(crate) fn agent_or_root(&self, wanted: Option<&str>) -> anyhow::Result<AgentIx> {
        if let Some(wanted) = wanted {
            return self.agent(wanted);
        }
        let is_root = |(_, agent): &(AgentIx, &Agent)| agent.parent.agent().is_none();
        let mut roots = self.session.agents().filter(is_root);
        match (roots.next(), roots.next()) {
            (Some((root, _)), None) => Ok(root),
            _ => {
                let names = self.session.agents().map(|(ix, _)| self.session.agent_name(ix));
                let names = names.take(20).collect::<Vec<_>>();
                let error = UserError::usage("choose an agent with --agent");
                Err(error.hint(format!("available agents: {}", names.join(", "))).into())
            }
        }
    }

    /// The event with that id, or the only one whose id begins so.
    pub(crate) fn event(&self, message_id: &str) -> anyhow::Result<EventIx> {
        let found = self.reading().message(message_id).map(|entry| entry.ix());
        found.map_err(|error| match error {
            MessageNotFound::Unknown => {
                UserError::not_found(format!("there is no message `{message_id}`"))
                    .hint("`antiphon view timeline` lists the ids")
                    .into()
            }
            MessageNotFound::Ambiguous { ids } => {
                UserError::usage(format!("`{message_id}` is the beginning of several message ids"))
                    .hint(format!("type more characters of one of these: {}", ids.join(", ")))
                    .into()
            }
        })
    }

    /// The whole id of the message that a person names by its id or the beginning of its id.
    pub(crate) fn message_id(&self, wanted: &str) -> anyhow::Result<String> {
        Ok(self.session.entry(self.event(wanted)?).id().to_owned())
    }

    /// Whether this is a person with their agent, and not a cast of agents that talk to one
    /// another: there is one agent, or it is a program's session with one main agent.
    pub(crate) fn is_conversation(&self) -> bool {
        let is_root = |(_, agent): &(AgentIx, &Agent)| agent.parent.agent().is_none();
        let is_product =
            antiphon_formats::find(self.format).is_some_and(|it| !it.product.is_empty());
        match self.session.agents().len() {
            1 => true,
            _ => is_product && self.session.agents().filter(is_root).count() == 1,
        }
    }

    /// Reports what was wrong with the source; the outcome of a command that did its work.
    pub(crate) fn outcome(&self) -> Outcome {
        report_problems(&self.path, self.session.problems())
    }
}

pub(crate) fn not_opened(path: &Path, error: antiphon_sources::Error) -> anyhow::Error {
    match error {
        antiphon_sources::Error::Log(error) => no_log(path, error),
        error @ (antiphon_sources::Error::Database(_)
        | antiphon_sources::Error::Read { .. }
        | antiphon_sources::Error::Write { .. }) => error.into(),
    }
}

/// An error that says what to do.
fn no_log(path: &Path, error: Error) -> anyhow::Error {
    if let Error::Open { source, .. } = &error
        && source.kind() == std::io::ErrorKind::NotFound
    {
        return UserError::failed(format!("there is no file `{}`", path.display()))
            .hint("pass the path of a session; `antiphon demo` shows examples")
            .into();
    }
    error.into()
}

/// Finds the log that a person names.
pub(crate) fn find(named: &Path) -> anyhow::Result<Log> {
    let path = &locate(named)?;
    Log::find(path).map_err(|error| no_log(path, error))
}

/// The path of what a person names: a path that is there, or else a session of the store by its
/// id, the beginning of its id, or `latest`. What looks like a path stays one.
pub(crate) fn locate(named: &Path) -> anyhow::Result<PathBuf> {
    located(named).map(|located| located.path)
}

/// Where a session is.
struct Located {
    path: PathBuf,
    /// How it ended, as far as the store knows: the recording of a session knows what its agent's
    /// own file does not.
    end: Option<Status>,
}

fn located(named: &Path) -> anyhow::Result<Located> {
    let at = |path: &Path| Located { path: path.to_owned(), end: None };
    if named.exists() && !named.is_dir() && !named.is_file() {
        // A pipe would be waited for, and a device may have no end.
        let what = format!("`{}` is not a regular file", named.display());
        return Err(UserError::failed(what).into());
    }
    let word = named.to_str().filter(|word| !word.contains(std::path::is_separator));
    let Some(word) = word.filter(|_| !named.exists()) else { return Ok(at(named)) };
    let store = fresh::store_if_any(Asked::Session)?;
    match store.as_ref().map_or(Found::Nothing, |store| store.find(word)) {
        Found::One(session) => Ok(Located { path: session.path(), end: session.end }),
        Found::Several(sessions) => {
            let several = UserError::usage(format!("`{word}` matches {} sessions", sessions.len()));
            Err(several
                .hint(format!(
                    "type more characters of one of these ids: {}",
                    candidates(&sessions)
                ))
                .into())
        }
        Found::Nothing if named.extension().is_some() => Ok(at(named)),
        Found::Nothing if word == "latest" => {
            let none = UserError::not_found("no sessions have been kept yet");
            Err(none.hint("`antiphon sync` copies your agents' sessions").into())
        }
        Found::Nothing if word.starts_with("latest~") => {
            let none = UserError::not_found(format!("there is no session `{word}`"));
            Err(none.hint("`latest~1` is the one before the latest; see `antiphon ls`").into())
        }
        // A thread is kept with the session that made it.
        Found::Nothing => match store.map(|store| store.find_parts(word)).as_deref() {
            Some([part]) => Ok(at(part)),
            Some([_, _, ..]) => {
                let several = UserError::usage(format!("`{word}` matches several threads"));
                Err(several.hint("type more characters of the id").into())
            }
            Some([]) | None => {
                let none = UserError::failed(format!("there is no file or session `{word}`"));
                Err(none
                    .hint("`antiphon ls` lists the sessions; the first few characters of an id are enough")
                    .into())
            }
        },
    }
}

/// The first few, in words.
fn candidates(sessions: &[StoredSession]) -> String {
    const SHOWN: usize = 8;
    let ids = sessions.iter().take(SHOWN).map(|session| session.session_id.as_str());
    let more = if sessions.len() > SHOWN { " …" } else { "" };
    ids.collect::<Vec<_>>().join(", ") + more
}
