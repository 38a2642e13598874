//! Spans while they happen: a collector for programs that dispatch agents.
//!
//! It keeps no spans. Starting and completing one records events, in one log per task, and what
//! `get_flat`, `get_tree` and `get_by_run` answer is the same projection that `antiphon view spans`
//! shows. So a span survives the program, and a collector opened on the same folder knows them all.
//!
//! What a log has no name for (which kind of agent was started, under which span, for which run)
//! stands in the event's `extra`, in `span`: see [`SpanNote`](antiphon_views::SpanNote).

mod run;
mod task;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon_journal::{Error as LogError, Hash, Options, Writer};
use antiphon_model::{BodyError, Timestamp, Usage};
use antiphon_sources::{Opened, list};
use antiphon_views::{
    Flavor, Prices, Reading, RunPart, Span, SpanKind, SpanNode, SpanStatus, Usd, span_tree, spans,
};
use thiserror::Error;

use crate::opened::open;
pub use run::StartRun;
use task::Task;

/// A collector. It may be shared between threads.
#[derive(Debug)]
pub struct SpanCollector {
    folder: PathBuf,
    options: Options,
    prices: Prices,
    tasks: Mutex<BTreeMap<String, Task>>,
    /// The logs in which the states of runs are recorded.
    runs: Mutex<BTreeMap<String, Writer>>,
}

/// A span that is about to start.
#[derive(Debug, Clone, Copy)]
pub struct StartSpan<'a> {
    pub kind: SpanKind,
    pub task_id: &'a str,
    pub run_id: Option<&'a str>,
    /// An id that the caller has for it; left out, the collector makes one.
    pub span_id: Option<&'a str>,
    /// Left out, the task's coordinator. A parent may be in another task, or start later.
    pub parent_span_id: Option<&'a str>,
    /// Left out, it is made of the adapter or kind and the role.
    pub agent_id: Option<&'a str>,
    pub adapter_id: Option<&'a str>,
    pub role: Option<&'a str>,
    pub name: Option<&'a str>,
    /// Only sub-agents have one.
    pub flavor: Flavor,
    /// When it started; now, if left out.
    pub started_at: Option<Timestamp>,
}

impl<'a> StartSpan<'a> {
    pub fn new(kind: SpanKind, task_id: &'a str) -> Self {
        Self {
            kind,
            task_id,
            run_id: None,
            span_id: None,
            parent_span_id: None,
            agent_id: None,
            adapter_id: None,
            role: None,
            name: None,
            flavor: Flavor::Normal,
            started_at: None,
        }
    }
}

/// How a span ended.
#[derive(Debug, Clone, Copy)]
pub struct CompleteSpan<'a> {
    pub status: SpanStatus,
    pub usage: Option<Usage>,
    /// What it cost, where the caller knows; otherwise it is priced by its model.
    pub cost_usd: Option<Usd>,
    pub model: Option<&'a str>,
    pub error: Option<&'a str>,
    pub completed_at: Option<Timestamp>,
}

impl CompleteSpan<'_> {
    pub fn new(status: SpanStatus) -> Self {
        Self { status, usage: None, cost_usd: None, model: None, error: None, completed_at: None }
    }
}

#[derive(Debug, Error)]
pub enum CollectorError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Open(#[from] antiphon_sources::Error),
    #[error("part of the log cannot be read")]
    Body(#[from] BodyError),
    #[error("the task has no span `{0}`")]
    NoSpan(String),
    #[error("the task already has a span `{0}`")]
    SpanExists(String),
    #[error("there is no run `{0}`")]
    NoRun(String),
}

impl SpanCollector {
    /// A collector that keeps its logs in `folder`.
    pub fn new(folder: impl Into<PathBuf>, prices: Prices, options: Options) -> Self {
        Self {
            folder: folder.into(),
            options,
            prices,
            tasks: Mutex::default(),
            runs: Mutex::default(),
        }
    }

    /// Starts a span, and returns its id. A task has one coordinator: starting it again returns the
    /// existing one.
    pub fn start_span(&self, start: &StartSpan<'_>) -> Result<String, CollectorError> {
        let level = match (start.kind, start.parent_span_id) {
            (SpanKind::Coordinator, Some(parent)) => self.level_of(parent)?.map(|it| it + 1),
            _ => None,
        };
        let mut tasks = lock(&self.tasks);
        self.task(&mut tasks, start.task_id)?.start(start, level)
    }

    /// Completes a span. The first end counts; returns `false` if it had ended already.
    pub fn complete_span(
        &self,
        task_id: &str,
        span_id: &str,
        end: &CompleteSpan<'_>,
    ) -> Result<bool, CollectorError> {
        let mut tasks = lock(&self.tasks);
        if !tasks.contains_key(task_id) && !self.path(task_id).exists() {
            return Err(CollectorError::NoSpan(span_id.to_owned()));
        }
        self.task(&mut tasks, task_id)?.complete(span_id, end)
    }

    /// Adds a span that has already ended.
    pub fn add_span(
        &self,
        start: &StartSpan<'_>,
        end: &CompleteSpan<'_>,
    ) -> Result<String, CollectorError> {
        let span_id = self.start_span(start)?;
        self.complete_span(start.task_id, &span_id, end)?;
        Ok(span_id)
    }

    /// The spans of a task, in the order in which they began. An unknown task has none.
    pub fn get_flat(&self, task_id: &str) -> Result<Vec<Span>, CollectorError> {
        let path = self.path(task_id);
        if !path.exists() {
            return Ok(Vec::new());
        }
        self.read(&path, |reading, id| spans(reading, id, &self.prices))
    }

    /// The spans of a task as a tree.
    pub fn get_tree(&self, task_id: &str) -> Result<Vec<SpanNode>, CollectorError> {
        Ok(span_tree(&self.get_flat(task_id)?))
    }

    /// The spans of all tasks of a run, task after task.
    pub fn get_by_run(&self, run_id: &str) -> Result<Vec<Span>, CollectorError> {
        let found = antiphon_views::run(run_id, &self.parts()?);
        Ok(found.map(|found| found.spans).unwrap_or_default())
    }

    /// What every log says about runs.
    fn parts(&self) -> Result<Vec<RunPart>, CollectorError> {
        let mut logs = list(&self.folder);
        logs.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        logs.sort_unstable();
        let mut parts = Vec::new();
        for path in logs {
            match self.read(&path, |reading, id| RunPart::read(reading, id, &self.prices)) {
                Ok(part) => parts.push(part),
                Err(error) if is_own(&path) => return Err(error),
                // A file of another program, which is not a log.
                Err(_) => {}
            }
        }
        Ok(parts)
    }

    fn read<T>(
        &self,
        path: &Path,
        look: impl FnOnce(&Reading<'_>, &str) -> Result<T, BodyError>,
    ) -> Result<T, CollectorError> {
        let Opened { session, bodies, name, .. } = open(path)?;
        let reading = Reading { session: &session, bodies: &*bodies };
        let id = session.info().session_id.as_deref().unwrap_or(&name);
        Ok(look(&reading, id)?)
    }

    /// The depth of a span in its run, whichever task it belongs to; its id names the task.
    fn level_of(&self, span_id: &str) -> Result<Option<usize>, CollectorError> {
        let path = match span_id.strip_prefix("session:") {
            Some(task_id) => self.path(task_id),
            None => match task::key_in(span_id) {
                Some(key) => self.folder.join(format!("{key}.jsonl")),
                None => return Ok(None),
            },
        };
        if !path.exists() {
            return Ok(None);
        }
        let spans = self.read(&path, |reading, id| spans(reading, id, &self.prices))?;
        Ok(spans.iter().find(|span| span.span_id == span_id).map(|span| span.level))
    }

    /// A task's log. Ids are not paths: the name is a hash.
    fn path(&self, task_id: &str) -> PathBuf {
        self.folder.join(format!("{}.jsonl", key(task_id)))
    }

    /// The task, opened again if an earlier collector wrote it.
    fn task<'t>(
        &self,
        tasks: &'t mut BTreeMap<String, Task>,
        task_id: &str,
    ) -> Result<&'t mut Task, CollectorError> {
        match tasks.entry(task_id.to_owned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(free) => {
                let task = Task::open(task_id, &self.path(task_id), self.options.clone())?;
                Ok(free.insert(task))
            }
        }
    }
}

/// Whether this is the name of a task's log or a run's log.
fn is_own(path: &Path) -> bool {
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    is_key(name.strip_prefix("run-").unwrap_or(name))
}

fn is_key(word: &str) -> bool {
    word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A key for an id that can be a file name.
fn key(id: &str) -> String {
    let hash = Hash::of(id.as_bytes());
    hash.as_str().get(..16).unwrap_or_default().to_owned()
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked has recorded what it recorded, and the map is consistent.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod contract;
#[cfg(test)]
mod tests;
