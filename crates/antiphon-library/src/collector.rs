//! Spans while they happen: a collector for programs that dispatch agents.
//!
//! It keeps no spans. Starting and completing one records events, in one log per task, and what
//! `get_flat`, `get_tree` and `get_by_run` answer is the same projection that `antiphon view spans`
//! shows. So a span survives the program, and a collector opened on the same folder knows them all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon_journal::{Draft, Error as LogError, Hash, Options, Writer};
use antiphon_model::json::Members;
use antiphon_model::{BodyError, Timestamp, Usage};
use antiphon_views::{
    Flavor, Prices, Reading, Span, SpanKind, SpanNode, SpanStatus, span_tree, spans,
};
use thiserror::Error;

use crate::bundle;
use crate::open::open;

/// A collector. It may be shared between threads.
#[derive(Debug)]
pub struct SpanCollector {
    folder: PathBuf,
    options: Options,
    prices: Prices,
    tasks: Mutex<BTreeMap<String, Task>>,
}

/// A task whose log is being written.
#[derive(Debug)]
struct Task {
    path: PathBuf,
    writer: Writer,
    spans: BTreeMap<String, Open>,
    made: usize,
}

/// What is known of a span that this collector started.
#[derive(Debug, Clone)]
struct Open {
    kind: SpanKind,
    /// The agent that it is, or that makes the call.
    agent: String,
    /// The call, for a sub-agent or a tool.
    call: Option<(String, String)>,
    is_complete: bool,
}

/// A span that is about to start.
#[derive(Debug, Clone, Copy)]
pub struct StartSpan<'a> {
    pub kind: SpanKind,
    pub task_id: &'a str,
    pub run_id: Option<&'a str>,
    /// Left out for a coordinator, and for an agent that its task's coordinator dispatches.
    pub parent_span_id: Option<&'a str>,
    /// Left out, it is made of the adapter or kind and the role.
    pub agent_id: Option<&'a str>,
    pub adapter_id: Option<&'a str>,
    pub role: Option<&'a str>,
    pub name: Option<&'a str>,
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
    pub model: Option<&'a str>,
    pub error: Option<&'a str>,
    pub completed_at: Option<Timestamp>,
}

impl CompleteSpan<'_> {
    pub fn new(status: SpanStatus) -> Self {
        Self { status, usage: None, model: None, error: None, completed_at: None }
    }
}

#[derive(Debug, Error)]
pub enum CollectorError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Open(#[from] crate::Error),
    #[error("a body of the log cannot be read")]
    Body(#[from] BodyError),
    #[error("there is no span `{0}` in the task")]
    NoSpan(String),
    #[error("`{0}` is no agent, and only agents have spans below them")]
    NoAgent(String),
}

impl SpanCollector {
    /// A collector that keeps its logs in `folder`.
    pub fn new(folder: impl Into<PathBuf>, prices: Prices, options: Options) -> Self {
        Self { folder: folder.into(), options, prices, tasks: Mutex::default() }
    }

    /// Starts a span, and returns its id.
    pub fn start_span(&self, start: &StartSpan<'_>) -> Result<String, CollectorError> {
        let mut tasks = self.lock();
        let task = self.task(&mut tasks, start)?;
        match start.kind {
            SpanKind::Coordinator => Ok(task.remember("session", start.kind, "coordinator", None)),
            SpanKind::CliAgent | SpanKind::ApiAgent | SpanKind::Decomposer => {
                task.start_agent(start, None)
            }
            SpanKind::SubAgent | SpanKind::ToolCall => task.start_call(start),
        }
    }

    /// Completes a span. The first end counts: false if it had one already.
    pub fn complete_span(
        &self,
        task_id: &str,
        span_id: &str,
        end: &CompleteSpan<'_>,
    ) -> Result<bool, CollectorError> {
        let mut tasks = self.lock();
        let unknown = || CollectorError::NoSpan(span_id.to_owned());
        let task = tasks.get_mut(task_id).ok_or_else(unknown)?;
        let span = task.spans.get_mut(span_id).ok_or_else(unknown)?;
        if std::mem::replace(&mut span.is_complete, true) {
            return Ok(false);
        }
        let span = span.clone();
        task.complete(&span, end)?;
        Ok(true)
    }

    /// Adds a span that is over already.
    pub fn add_span(
        &self,
        start: &StartSpan<'_>,
        end: &CompleteSpan<'_>,
    ) -> Result<String, CollectorError> {
        let span_id = self.start_span(start)?;
        self.complete_span(start.task_id, &span_id, end)?;
        Ok(span_id)
    }

    /// The spans of a task, in the order in which they began.
    pub fn get_flat(&self, task_id: &str) -> Result<Vec<Span>, CollectorError> {
        self.read(&self.path(task_id))
    }

    /// The same, each within its parent.
    pub fn get_tree(&self, task_id: &str) -> Result<Vec<SpanNode>, CollectorError> {
        Ok(span_tree(&self.get_flat(task_id)?))
    }

    /// The spans of all tasks of a run, task after task.
    pub fn get_by_run(&self, run_id: &str) -> Result<Vec<Span>, CollectorError> {
        let mut found = Vec::new();
        for path in bundle::list(&self.folder) {
            if path.extension().is_some_and(|ending| ending == "jsonl") {
                let spans = self.read(&path)?;
                found.extend(spans.into_iter().filter(|s| s.run_id.as_deref() == Some(run_id)));
            }
        }
        Ok(found)
    }

    fn read(&self, path: &Path) -> Result<Vec<Span>, CollectorError> {
        let opened = open(path)?;
        let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
        let id = opened.session.info().session_id.as_deref().unwrap_or(&opened.name);
        Ok(spans(&reading, id, &self.prices)?)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Task>> {
        // Whoever panicked has recorded what it recorded; the map is whole.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task's log. Ids are not paths: the name is a hash.
    fn path(&self, task_id: &str) -> PathBuf {
        let hash = Hash::of(task_id.as_bytes());
        self.folder.join(format!("{}.jsonl", hash.as_str().get(..16).unwrap_or_default()))
    }

    fn task<'t>(
        &self,
        tasks: &'t mut BTreeMap<String, Task>,
        start: &StartSpan<'_>,
    ) -> Result<&'t mut Task, CollectorError> {
        let key = start.task_id.to_owned();
        match tasks.entry(key) {
            std::collections::btree_map::Entry::Occupied(known) => Ok(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(free) => {
                let path = self.path(start.task_id);
                let writer = Writer::open(&path, self.options.clone())?;
                let task = free.insert(Task { path, writer, spans: BTreeMap::new(), made: 0 });
                task.begin(start)?;
                Ok(task)
            }
        }
    }
}

impl Task {
    fn begin(&mut self, start: &StartSpan<'_>) -> Result<(), CollectorError> {
        if self.writer.head().is_some() {
            return Ok(()); // The log of an earlier run of the program goes on.
        }
        let mut event = Members::of_event("session_started");
        event.text("session_id", Some(start.task_id));
        event.text("task_id", Some(start.task_id));
        event.text("run_id", start.run_id);
        event.text("title", start.name.filter(|_| start.kind == SpanKind::Coordinator));
        self.append(event, start.started_at)
    }

    fn start_agent(
        &mut self,
        start: &StartSpan<'_>,
        call: Option<(String, String)>,
    ) -> Result<String, CollectorError> {
        self.made += 1;
        let what = start.adapter_id.unwrap_or(match start.kind {
            SpanKind::ApiAgent => "api-agent",
            SpanKind::SubAgent => "sub-agent",
            SpanKind::Coordinator
            | SpanKind::CliAgent
            | SpanKind::Decomposer
            | SpanKind::ToolCall => "cli-agent",
        });
        let agent = match start.agent_id {
            Some(id) => id.to_owned(),
            None => format!("{what}-{}-{}", start.role.unwrap_or("agent"), self.made),
        };
        let mut event = Members::of_event("agent_created");
        event.text("agent_id", Some(&agent));
        event.text("name", start.name);
        event.text("adapter_id", start.adapter_id.or(call.is_none().then_some(what)));
        event.text("agent_type", start.role);
        event.text("parent_id", call.as_ref().map(|(agent, _)| agent.as_str()));
        event.text("tool_call_id", call.as_ref().map(|(_, call)| call.as_str()));
        self.append(event, start.started_at)?;
        let span = match &call {
            Some((_, call)) => call.clone(),
            None => format!("agent:{agent}"),
        };
        Ok(self.remember(&span, start.kind, &agent, call))
    }

    fn start_call(&mut self, start: &StartSpan<'_>) -> Result<String, CollectorError> {
        let parent = start.parent_span_id.unwrap_or_default();
        let open =
            self.spans.get(parent).ok_or_else(|| CollectorError::NoSpan(parent.to_owned()))?;
        if matches!(open.kind, SpanKind::ToolCall | SpanKind::Coordinator) {
            return Err(CollectorError::NoAgent(parent.to_owned()));
        }
        let maker = open.agent.clone();
        self.made += 1;
        let call = format!("call-{}", self.made);
        let is_agent = start.kind == SpanKind::SubAgent;
        let tool = if is_agent { "Task" } else { start.name.unwrap_or("tool") };
        let resume = start.agent_id.filter(|_| start.flavor == Flavor::CoWork);
        let mut arguments = Members::default();
        arguments.text("description", start.name);
        arguments.text("resume", resume);
        let mut function = Members::default();
        function.text("name", Some(tool));
        function.text("arguments", Some(&arguments.object()));
        let mut made = Members::default();
        made.text("id", Some(&call));
        made.text("type", Some("function"));
        made.raw("function", &function.object());
        let mut event = Members::default();
        event.text("agent_id", Some(&maker));
        event.text("role", Some("assistant"));
        event.raw("tool_calls", &format!("[{}]", made.object()));
        self.append(event, start.started_at)?;
        match is_agent && resume.is_none() {
            true => self.start_agent(start, Some((maker, call))),
            false => {
                let agent = resume.map_or_else(|| maker.clone(), Into::into);
                Ok(self.remember(&call.clone(), start.kind, &agent, Some((maker, call))))
            }
        }
    }

    fn complete(&mut self, span: &Open, end: &CompleteSpan<'_>) -> Result<(), CollectorError> {
        let status = status_word(end.status);
        if span.kind == SpanKind::Coordinator {
            let mut event = Members::of_event("session_ended");
            event.text("outcome", Some(status));
            event.text("error", end.error);
            return self.append(event, end.completed_at);
        }
        if let Some(usage) = end.usage {
            let mut event = Members::default();
            event.text("agent_id", Some(&span.agent));
            event.text("role", Some("assistant"));
            event.raw("content", "null");
            event.text("model", end.model);
            event.raw("usage", &usage.to_json());
            self.append(event, end.completed_at)?;
        }
        if span.kind != SpanKind::ToolCall {
            let mut event = Members::of_event("agent_ended");
            event.text("agent", Some(&span.agent));
            event.text("status", Some(status));
            event.text("error", end.error);
            self.append(event, end.completed_at)?;
        }
        let Some((maker, call)) = &span.call else { return Ok(()) };
        let mut event = Members::default();
        event.text("agent_id", Some(maker));
        event.text("role", Some("tool"));
        event.text("tool_call_id", Some(call));
        event.text("content", Some(end.error.unwrap_or(status)));
        event.raw("is_error", if end.status == SpanStatus::Completed { "false" } else { "true" });
        self.append(event, end.completed_at)
    }

    fn remember(
        &mut self,
        span_id: &str,
        kind: SpanKind,
        agent: &str,
        call: Option<(String, String)>,
    ) -> String {
        let open = Open { kind, agent: agent.to_owned(), call, is_complete: false };
        self.spans.insert(span_id.to_owned(), open);
        span_id.to_owned()
    }

    fn append(&mut self, mut event: Members, at: Option<Timestamp>) -> Result<(), CollectorError> {
        if let Some(at) = at {
            event.text("timestamp", Some(&at.to_string()));
        }
        let draft = Draft::from_json(&event.object()).map_err(LogError::from)?;
        self.writer.append(&draft)?;
        debug_assert!(self.path.exists(), "an acknowledged event is in its file");
        Ok(())
    }
}

/// The log's word for how something ended.
fn status_word(status: SpanStatus) -> &'static str {
    match status {
        SpanStatus::Running => "running",
        SpanStatus::Completed => "completed",
        SpanStatus::Failed => "failed",
        SpanStatus::TimedOut => "timed-out",
        SpanStatus::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests;
