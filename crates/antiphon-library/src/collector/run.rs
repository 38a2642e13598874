//! Runs, which consist of tasks, and the states that they go through.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;

use antiphon_journal::Writer;
use antiphon_model::{self as model, Event, SessionStarted, Timestamp};
use antiphon_views::{RunSpan, RunStatus};

use super::task::append;
use super::{CollectorError, SpanCollector, key, lock};

/// A run that was accepted.
#[derive(Debug, Clone, Copy)]
pub struct StartRun<'a> {
    pub run_id: &'a str,
    pub title: &'a str,
    pub feature_branch: Option<&'a str>,
    pub base_branch: Option<&'a str>,
    /// When it was accepted; now, if left out.
    pub started_at: Option<Timestamp>,
}

impl<'a> StartRun<'a> {
    pub fn new(run_id: &'a str, title: &'a str) -> Self {
        Self { run_id, title, feature_branch: None, base_branch: None, started_at: None }
    }
}

impl SpanCollector {
    /// Records that a run was accepted. One that was accepted before keeps its state.
    pub fn start_run(&self, start: &StartRun<'_>) -> Result<(), CollectorError> {
        let accepted = model::RunStatus {
            title: Some(start.title.into()),
            feature_branch: start.feature_branch.map(Into::into),
            base_branch: start.base_branch.map(Into::into),
            ..state(start.run_id, RunStatus::Accepted)
        };
        let mut runs = lock(&self.runs);
        if self.get_run(start.run_id)?.is_some_and(|run| !run.history.is_empty()) {
            return Ok(());
        }
        let writer = self.run_log(&mut runs, start.run_id)?;
        if writer.head().is_none() {
            let begun = SessionStarted {
                session_id: Some(start.run_id.into()),
                run_id: Some(start.run_id.into()),
                title: Some(start.title.into()),
                ..SessionStarted::default()
            };
            append(writer, &Event { at: start.started_at, ..Event::new(begun) })?;
        }
        append(writer, &Event { at: start.started_at, ..Event::new(accepted) })
    }

    /// Records a new state of a run. The first final state counts; returns `false` if it had one.
    pub fn set_run_status(
        &self,
        run_id: &str,
        status: RunStatus,
        at: Option<Timestamp>,
    ) -> Result<bool, CollectorError> {
        let mut runs = lock(&self.runs);
        let known = self.get_run(run_id)?;
        let known = known.ok_or_else(|| CollectorError::NoRun(run_id.to_owned()))?;
        if known.history.iter().any(|step| step.status.is_final()) {
            return Ok(false);
        }
        let event = Event { at, ..Event::new(state(run_id, status)) };
        append(self.run_log(&mut runs, run_id)?, &event)?;
        Ok(true)
    }

    /// A run, if anything was recorded about it: its states, its tasks, and their usage.
    pub fn get_run(&self, run_id: &str) -> Result<Option<RunSpan>, CollectorError> {
        Ok(antiphon_views::run(run_id, &self.parts()?).map(|found| found.run))
    }

    fn run_log<'w>(
        &self,
        runs: &'w mut BTreeMap<String, Writer>,
        run_id: &str,
    ) -> Result<&'w Writer, CollectorError> {
        let path: PathBuf = self.folder.join(format!("run-{}.jsonl", key(run_id)));
        match runs.entry(run_id.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(free) => Ok(free.insert(Writer::open(&path, self.options.clone())?)),
        }
    }
}

fn state(run_id: &str, status: RunStatus) -> model::RunStatus<'_> {
    let (run_id, status) = (Some(run_id.into()), Some(status.as_str().into()));
    model::RunStatus { run_id, status, ..model::RunStatus::default() }
}
