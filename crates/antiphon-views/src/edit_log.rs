//! The edits of one or many sessions, in the order in which they were made.

use std::rc::Rc;

use antiphon_model::{Arguments, BodyError, CallIx, Timestamp};
use serde::Serialize;

use crate::Reading;
use crate::edits::{Edit, edits, relative_path};
use crate::prompts::prompts;
use crate::shell::{Script, is_shell};

/// The edits of sessions.
#[derive(Debug, Default)]
pub struct EditLog {
    pub(crate) edits: Vec<RecordedEdit>,
    possible: Vec<PossibleChange>,
    /// What shell commands have moved: the old path and the new one.
    moves: Vec<(String, String)>,
}

/// An edit, and who made it.
#[derive(Debug)]
pub(crate) struct RecordedEdit {
    pub(crate) edit: Edit,
    pub(crate) call: Rc<EditingCall>,
}

/// A call that edited files.
#[derive(Debug)]
pub(crate) struct EditingCall {
    pub(crate) session: Rc<str>,
    pub(crate) agent_id: String,
    pub(crate) call_id: String,
    pub(crate) message_id: String,
    /// When it was made.
    pub(crate) at: Option<Timestamp>,
    /// When it had its effect, or the last time that is known before.
    order: Option<Timestamp>,
    /// What the person said last before it.
    pub(crate) prompt: Option<Rc<str>>,
}

/// A shell command that may have changed files; what it changed is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PossibleChange {
    /// The id of the session.
    pub session: String,
    /// The id of the agent that ran the command.
    pub agent_id: String,
    /// The id of the call.
    pub call_id: String,
    /// The command.
    pub command: String,
    #[serde(skip)]
    at: Option<Timestamp>,
}

impl EditLog {
    /// Adds the edits of a session. `root` is the folder of its project, which paths are relative
    /// to.
    pub fn add(
        &mut self,
        reading: &Reading<'_>,
        session_id: &str,
        root: Option<&str>,
    ) -> Result<(), BodyError> {
        let session = reading.session;
        let cwd = session.info().cwd.as_deref();
        let relative = |path: &str| relative_path(path, cwd, root.or(cwd));
        let id: Rc<str> = session_id.into();
        let mut prompts = prompts(reading)?.into_iter().peekable();
        let (mut prompt, mut last): (Option<Rc<str>>, Option<Timestamp>) = (None, None);
        for (ix, call) in session.calls() {
            while let Some(next) = prompts.next_if(|it| it.event < call.event) {
                prompt = Some(next.text.into());
            }
            let at = session.call_started_at(ix);
            let done = call.last_result().and_then(|event| session.entry(event).at()).or(at);
            last = done.or(last);
            let tool = session.tool_name(ix);
            if is_shell(tool) {
                self.add_command(reading, ix, &id, done, &relative)?;
                continue;
            }
            let found = edits(reading, ix)?;
            if found.is_empty() {
                continue;
            }
            let call = Rc::new(EditingCall {
                session: Rc::clone(&id),
                agent_id: session.agent_id(call.agent).to_owned(),
                call_id: session.call_id(ix).to_owned(),
                message_id: session.entry(call.event).id().to_owned(),
                at,
                order: last,
                prompt: prompt.clone(),
            });
            self.edits.extend(found.into_iter().map(|edit| RecordedEdit {
                edit: edit.with_paths(relative),
                call: Rc::clone(&call),
            }));
        }
        Ok(())
    }

    fn add_command(
        &mut self,
        reading: &Reading<'_>,
        ix: CallIx,
        session: &str,
        at: Option<Timestamp>,
        relative: &dyn Fn(&str) -> String,
    ) -> Result<(), BodyError> {
        let call = reading.session.call(ix);
        let Some(script) = Script::of(reading, ix)?.filter(Script::may_change_files) else {
            return Ok(());
        };
        if call.is_open() {
            return Ok(());
        }
        let moved = script.moves();
        self.moves.extend(moved.map(|(from, to)| (relative(from), relative(to))));
        let arguments = Arguments::of(reading, ix)?;
        let written = arguments.any_text(&["command", "cmd", "script"]);
        let raw = || reading.session.raw_command(ix).map(str::to_owned);
        self.possible.push(PossibleChange {
            session: session.to_owned(),
            agent_id: reading.session.agent_id(call.agent).to_owned(),
            call_id: reading.session.call_id(ix).to_owned(),
            command: written.or_else(raw).unwrap_or_else(|| script.to_string()),
            at,
        });
        Ok(())
    }

    /// Leaves out what was done before `since`, or at `until` and later.
    pub fn keep_between(&mut self, since: Option<Timestamp>, until: Option<Timestamp>) {
        let is_in = |at: Option<Timestamp>| {
            since.is_none_or(|since| at.is_some_and(|at| at >= since))
                && until.is_none_or(|until| at.is_some_and(|at| at < until))
        };
        self.edits.retain(|edit| is_in(edit.call.order));
        self.possible.retain(|possible| is_in(possible.at));
    }

    /// The edits in order, and what else may have changed.
    pub(crate) fn in_order(mut self) -> (Vec<RecordedEdit>, Vec<PossibleChange>) {
        // Stable: what has the same time, or none, stays in the order of its session.
        self.edits.sort_by_key(|edit| edit.call.order);
        self.possible.sort_by_key(|possible| possible.at);
        (self.edits, self.possible)
    }

    /// All paths that the file at `path` may have had, as far as edits and commands say.
    pub fn names_of(&self, path: &str) -> Vec<String> {
        let mut names = vec![path.to_owned()];
        let renamed = self.edits.iter().filter_map(|RecordedEdit { edit, .. }| {
            edit.change.renamed_to().map(|to| (edit.path.as_str(), to))
        });
        let moves: Vec<(&str, &str)> =
            renamed.chain(self.moves.iter().map(|(from, to)| (&**from, &**to))).collect();
        // Each pass follows the renames one step further back.
        let mut known = 0;
        while known < names.len() {
            let now = names.get(known).cloned().unwrap_or_default();
            known += 1;
            for (from, to) in &moves {
                // `mv a.rs lib/` puts it into the folder.
                let file = from.rsplit('/').next().unwrap_or(from);
                let is_it = *to == now || format!("{}/{file}", to.trim_end_matches('/')) == now;
                if is_it && !names.iter().any(|name| name == from) {
                    names.push((*from).to_owned());
                }
            }
        }
        names
    }
}
