//! Opening what a person names: from a path to a folded session.

use std::path::Path;

use antiphon_journal::{Error, Log};
use antiphon_model::{Agent, AgentIx, EventIx};
use antiphon_views::{AgentNotFound, Reading};

use crate::failure::{Outcome, UserError, report_problems};
use crate::terminal::clip;

/// A session, read, and the path by which it was named.
#[derive(Debug)]
pub(crate) struct Opened {
    inner: antiphon_library::Opened,
    path: String,
}

impl std::ops::Deref for Opened {
    type Target = antiphon_library::Opened;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl Opened {
    /// Reads the session at `path`. A file without a single event is an error.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let inner = antiphon_library::open(path).map_err(|error| not_opened(path, error))?;
        let shown = path.display();
        if inner.session.is_empty() {
            if inner.summary.is_some_and(|summary| summary.bytes == 0) {
                return Err(UserError::not_found(format!("`{shown}` is empty: no events")).into());
            }
            let first = inner.session.problems().first().map(|problem| problem.message.clone());
            let why = first.unwrap_or_else(|| "it holds no events".to_owned());
            let what = format!("`{shown}` is no session in a known format: {why}");
            return Err(UserError::failed(what).hint("`antiphon formats` lists them").into());
        }
        Ok(Self { inner, path: shown.to_string() })
    }

    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading { session: &self.inner.session, bodies: &*self.inner.bodies }
    }

    /// The session's own id, or else the name of its file.
    pub(crate) fn id(&self) -> String {
        let own = self.session.info().session_id.as_deref();
        own.map_or_else(|| self.name.clone(), Into::into)
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
                        .hint(format!("the agents are: {names}"))
                }
                AgentNotFound::Ambiguous { ids } => {
                    UserError::usage(format!("`{wanted}` names {} agents", ids.len()))
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
                let error = UserError::usage("whose? say it with `--agent`");
                Err(error.hint(format!("the agents are: {}", names.join(", "))).into())
            }
        }
    }

    /// The event with that id.
    pub(crate) fn event(&self, message_id: &str) -> anyhow::Result<EventIx> {
        let found = self.session.find(message_id).map(|entry| entry.ix());
        found.ok_or_else(|| {
            UserError::not_found(format!("there is no message `{message_id}`"))
                .hint("`antiphon view timeline` lists the ids")
                .into()
        })
    }

    /// Reports what was wrong with the source; the outcome of a command that did its work.
    pub(crate) fn outcome(&self) -> Outcome {
        report_problems(&self.path, self.session.problems())
    }
}

fn not_opened(path: &Path, error: antiphon_library::Error) -> anyhow::Error {
    match error {
        antiphon_library::Error::Log(error) => no_log(path, error),
        error @ (antiphon_library::Error::Read { .. } | antiphon_library::Error::Write { .. }) => {
            error.into()
        }
    }
}

/// An error that says what to do.
fn no_log(path: &Path, error: Error) -> anyhow::Error {
    if let Error::Open { source, .. } = &error
        && source.kind() == std::io::ErrorKind::NotFound
    {
        return UserError::failed(format!("there is no file `{}`", path.display()))
            .hint("name a session's log; `antiphon demo` shows some")
            .into();
    }
    error.into()
}

/// Finds the log at `path`.
pub(crate) fn find(path: &Path) -> anyhow::Result<Log> {
    Log::find(path).map_err(|error| no_log(path, error))
}
