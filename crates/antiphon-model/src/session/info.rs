//! Facts about the session as a whole.

use crate::event::Text;
use crate::{EventIx, SessionEnded, SessionStarted, Status};

/// Facts about the session as a whole.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Info {
    pub session_id: Option<Box<str>>,
    pub format: Option<u64>,
    pub title: Option<Box<str>>,
    pub prompt: Option<Box<str>>,
    pub description: Option<Box<str>>,
    pub cwd: Option<Box<str>>,
    pub branch: Option<Box<str>>,
    pub program: Option<Box<str>>,
    pub version: Option<Box<str>>,
    pub role: Option<Box<str>>,
    pub spec_paths: Vec<Box<str>>,
    pub issue: Option<Box<str>>,
    pub run_id: Option<Box<str>>,
    pub task_id: Option<Box<str>>,
    /// The event that says how the session began, and the one that says how it ended.
    pub started_by: Option<EventIx>,
    pub ended_by: Option<EventIx>,
    pub ended: bool,
    /// How it ended, as a status.
    pub end: Option<Status>,
    pub outcome: Option<Box<str>>,
    pub reason: Option<Box<str>>,
    pub error: Option<Box<str>>,
}

impl Info {
    pub(super) fn start(&mut self, started: &SessionStarted<'_>) {
        // A session that was resumed may be started again: later values complete the facts.
        let set = |slot: &mut Option<Box<str>>, value: &Option<Text<'_>>| {
            if let Some(value) = value {
                *slot = Some((&**value).into());
            }
        };
        set(&mut self.session_id, &started.session_id);
        set(&mut self.title, &started.title);
        set(&mut self.prompt, &started.prompt);
        set(&mut self.description, &started.description);
        set(&mut self.cwd, &started.cwd);
        set(&mut self.branch, &started.branch);
        set(&mut self.program, &started.program);
        set(&mut self.version, &started.version);
        set(&mut self.role, &started.role);
        set(&mut self.issue, &started.issue);
        set(&mut self.run_id, &started.run_id);
        set(&mut self.task_id, &started.task_id);
        if !started.spec_paths.is_empty() {
            self.spec_paths = started.spec_paths.iter().map(|path| (&**path).into()).collect();
        }
        self.format = started.format.or(self.format);
        self.ended = false;
        self.end = None;
    }

    /// A session in which something happens after its end is running again, until the next.
    pub(super) fn go_on(&mut self) {
        if self.ended {
            self.ended = false;
            self.ended_by = None;
            self.end = None;
            self.outcome = None;
            self.reason = None;
            self.error = None;
        }
    }

    /// Changes texts that were written by people or models, of any length. Ids and paths stay.
    pub(super) fn change_texts(&mut self, change: &dyn Fn(&str) -> Option<String>) {
        let texts = [
            &mut self.title,
            &mut self.prompt,
            &mut self.description,
            &mut self.program,
            &mut self.outcome,
            &mut self.reason,
            &mut self.error,
        ];
        texts.into_iter().for_each(|text| change_text(text, change));
    }

    pub(super) fn end(&mut self, ended: &SessionEnded<'_>) {
        let own = |value: &Option<Text<'_>>| value.as_deref().map(Into::into);
        self.ended = true;
        self.end = Some(ended.status());
        self.outcome = own(&ended.outcome);
        self.reason = own(&ended.reason);
        self.error = own(&ended.error);
    }
}

/// Replaces a text by what `change` returns for it, if it returns anything.
pub(super) fn change_text(text: &mut Option<Box<str>>, change: &dyn Fn(&str) -> Option<String>) {
    if let Some(changed) = text.as_deref().and_then(change) {
        *text = Some(changed.into());
    }
}
