//! A run: the sessions that worked for one purpose, and the states that the whole went through.
//!
//! The states of a run (`run_status`) may be recorded in any of its logs. The state of a run
//! without such records follows from its sessions.

mod status;

use antiphon_model::{BodyError, EntryKind, Standing, Status, StatusRule, Timestamp, json};
use serde::Serialize;

use crate::spans::settle;
use crate::{
    Prices, Reading, Span, SpanKind, SpanNode, SpanNote, SpanUsage, Usd, span_tree, spans,
};
pub use status::{RunStatus, RunStatusRule};

/// A run, and the spans of all of its sessions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    #[serde(flatten)]
    pub run: RunSpan,
    /// The spans of all sessions. Ids that no collector assigned are qualified with the session.
    pub spans: Vec<Span>,
}

/// A run, and the spans of all of its sessions, each within its parent.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunTree {
    #[serde(flatten)]
    pub run: RunSpan,
    /// The spans that belong to no other span.
    pub spans: Vec<SpanNode>,
}

impl Run {
    /// The same run, with each span within its parent.
    pub fn into_tree(self) -> RunTree {
        RunTree { run: self.run, spans: span_tree(&self.spans) }
    }
}

/// A run as a whole.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunSpan {
    /// The id of the run.
    pub run_id: String,
    /// What the run is about.
    pub title: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The state that it is in.
    pub status: RunStatus,
    /// Where the status comes from.
    pub status_rule: RunStatusRule,
    /// The branch that it works on.
    pub feature_branch: Option<String>,
    /// The branch that this one is based on.
    pub base_branch: Option<String>,
    /// Every state that was recorded, in order.
    pub history: Vec<RunStep>,
    /// The sessions that belong to it.
    pub sessions: Vec<RunSession>,
    /// The tokens of all sessions.
    pub total_usage: SpanUsage,
    /// The cost of all sessions in US dollars; null if nothing could be priced.
    pub total_cost_usd: Option<Usd>,
}

/// A state that was recorded.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunStep {
    /// The state.
    pub status: RunStatus,
    /// When it was recorded.
    pub at: Option<Timestamp>,
    /// The id of the session that recorded it.
    pub session_id: String,
    /// The id of the event that recorded it.
    pub message_id: String,
    #[serde(skip)]
    title: Option<String>,
    #[serde(skip)]
    branches: Branches,
    #[serde(skip)]
    run_id: Option<String>,
}

/// The branches that a run works with.
#[derive(Debug, Clone, Default)]
struct Branches {
    feature: Option<String>,
    base: Option<String>,
}

/// A session of a run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunSession {
    /// The id of the session.
    pub session_id: String,
    /// The id of the task that it works on.
    pub task_id: Option<String>,
    /// What the session is about.
    pub title: Option<String>,
    /// The role of its agent.
    pub role: Option<String>,
    /// The time of its first event.
    pub started_at: Option<Timestamp>,
    /// The time of its last event.
    pub last_event_at: Option<Timestamp>,
    /// The status of the session.
    pub status: Status,
    /// The rule that chose the status.
    pub status_rule: StatusRule,
}

/// What one log contains about the runs that it belongs to.
#[derive(Debug, Clone)]
pub struct RunPart {
    /// The session itself; `None` for a log that only has states of a run.
    session: Option<RunSession>,
    run_id: Option<String>,
    steps: Vec<RunStep>,
    spans: Vec<Span>,
}

impl RunPart {
    pub fn read(
        reading: &Reading<'_>,
        session_id: &str,
        prices: &Prices,
    ) -> Result<Self, BodyError> {
        let session = reading.session;
        let info = session.info();
        let Standing { status, rule } = session.standing();
        let own = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        let steps = steps(reading, session_id)?;
        let is_session = session.agents().len() > 0 || steps.is_empty();
        let times = session.time_span();
        let mut own_spans = Vec::new();
        if is_session {
            own_spans = spans(reading, session_id, prices)?;
            if !SpanNote::is_collected(reading)? {
                qualify(&mut own_spans, session_id);
            }
        }
        Ok(Self {
            session: is_session.then(|| RunSession {
                session_id: session_id.to_owned(),
                task_id: own(&info.task_id),
                title: own(&info.title),
                role: own(&info.role),
                started_at: times.map(|(first, _)| first),
                last_event_at: times.map(|(_, last)| last),
                status,
                status_rule: rule,
            }),
            run_id: own(&info.run_id),
            steps,
            spans: own_spans,
        })
    }

    /// The runs that it contains something about, the session's own first.
    pub fn run_ids(&self) -> Vec<&str> {
        let steps = self.steps.iter().filter_map(|step| step.run_id.as_deref());
        let spans = self.spans.iter().filter_map(|span| span.run_id.as_deref());
        let mut ids: Vec<&str> = Vec::new();
        for id in self.run_id.as_deref().into_iter().chain(steps).chain(spans) {
            // Spans of one run follow one another, and a log mentions few runs.
            if ids.last() != Some(&id) && !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }
}

/// A run, assembled from all its logs, with its spans, session after session; `None` if no log
/// mentions it.
pub fn run(run_id: &str, parts: &[RunPart]) -> Option<Run> {
    let of_run = |id: &Option<String>| id.as_deref() == Some(run_id);
    let mut history: Vec<RunStep> = Vec::new();
    let mut sessions = Vec::new();
    let mut spans = Vec::new();
    let mut parts: Vec<&RunPart> = parts.iter().collect();
    parts.sort_by(|a, b| {
        let order = |part: &RunPart| {
            let session = part.session.as_ref();
            session.map(|session| (session.started_at, session.session_id.clone()))
        };
        order(a).cmp(&order(b))
    });
    for part in parts {
        history.extend(part.steps.iter().filter(|step| of_run(&step.run_id)).cloned());
        let own: Vec<&Span> = part.spans.iter().filter(|span| of_run(&span.run_id)).collect();
        if of_run(&part.run_id) || !own.is_empty() {
            sessions.extend(part.session.clone());
        }
        spans.extend(own.into_iter().cloned());
    }
    if history.is_empty() && sessions.is_empty() {
        return None;
    }
    // Logs are written at the same time; each of them is in order.
    history.sort_by_key(|step| step.at);
    settle(&mut spans);
    let times = history.iter().filter_map(|step| step.at);
    let times = times.chain(sessions.iter().filter_map(|session| session.started_at));
    let started_at = times.min();
    let latest =
        |member: fn(&RunStep) -> Option<&String>| history.iter().rev().find_map(member).cloned();
    let first_title = || sessions.iter().find_map(|session| session.title.clone());
    // The first final state counts.
    let recorded = history.iter().find(|step| step.status.is_final()).or(history.last());
    let status = match recorded {
        Some(step) => step.status,
        None => status_of(&sessions),
    };
    let ended = sessions.iter().filter_map(|session| session.last_event_at).max();
    let mut total_usage = SpanUsage::default();
    let mut total_cost_usd: Option<Usd> = None;
    for span in &spans {
        total_usage += span.usage;
        if let Some(cost) = span.cost_usd {
            *total_cost_usd.get_or_insert_default() += cost;
        }
    }
    let run = RunSpan {
        run_id: run_id.to_owned(),
        title: latest(|step| step.title.as_ref()).or_else(first_title),
        started_at,
        completed_at: match recorded {
            Some(step) => step.at.filter(|_| status.is_final()),
            None => ended.filter(|_| status.is_final()),
        },
        status,
        status_rule: match recorded {
            Some(_) => RunStatusRule::Recorded,
            None => RunStatusRule::Sessions,
        },
        feature_branch: latest(|step| step.branches.feature.as_ref()),
        base_branch: latest(|step| step.branches.base.as_ref()),
        history,
        sessions,
        total_usage,
        total_cost_usd,
    };
    Some(Run { run, spans })
}

/// The state of a run without recorded states, from its sessions.
fn status_of(sessions: &[RunSession]) -> RunStatus {
    let states = || sessions.iter().map(|session| RunStatus::of_session(session.status));
    let worst =
        [RunStatus::Executing, RunStatus::Failed, RunStatus::Cancelled, RunStatus::Interrupted];
    let found = worst.into_iter().find(|&state| states().any(|it| it == state));
    found.unwrap_or(RunStatus::Done)
}

/// A recorder's word for a session that has begun.
const RECORDING: &str = "running";

/// The states of runs that a log records.
fn steps(reading: &Reading<'_>, session_id: &str) -> Result<Vec<RunStep>, BodyError> {
    let session = reading.session;
    let info = session.info();
    let mut steps = Vec::new();
    let mut entries = session.entries().peekable();
    let mut last = None;
    while let Some(entry) = entries.next() {
        let before = last.replace(entry.kind());
        if entry.kind() != EntryKind::RunStatus {
            continue;
        }
        let line = reading.line(entry)?;
        let word = |object: &str, name: &str| {
            json::member(object, name).and_then(json::text).map(|text| text.into_owned())
        };
        let Some(said) = word(&line, "status") else { continue };
        let Some(status) = RunStatus::from_word(&said) else { continue };
        // What a recorder writes when it begins and when it ends is the state of its own session,
        // not of the run.
        let is_end = info.outcome.as_deref() == Some(&said)
            && entries.peek().is_some_and(|next| next.kind() == EntryKind::SessionEnded);
        let is_start = said == RECORDING && before == Some(EntryKind::SessionStarted);
        if is_start || is_end {
            continue;
        }
        let branches = json::member(&line, "branches").unwrap_or("{}");
        steps.push(RunStep {
            status,
            at: entry.at(),
            session_id: session_id.to_owned(),
            message_id: entry.id().to_owned(),
            title: word(&line, "title"),
            branches: Branches {
                feature: word(&line, "feature_branch").or_else(|| word(branches, "feature")),
                base: word(&line, "base_branch").or_else(|| word(branches, "base")),
            },
            run_id: word(&line, "run_id").or_else(|| info.run_id.as_deref().map(str::to_owned)),
        });
    }
    Ok(steps)
}

/// Makes the ids of a session's spans unique among those of other sessions. A collector's already
/// are.
fn qualify(spans: &mut [Span], session_id: &str) {
    let is_root = |span: &Span| span.kind == SpanKind::Coordinator && span.depth == 0;
    let Some(root) = spans.iter().find(|span| is_root(span)).map(|root| root.span_id.clone())
    else {
        return;
    };
    for span in spans {
        let qualified = |id: &str| format!("{session_id}/{id}");
        if span.span_id != root {
            span.span_id = qualified(&span.span_id);
        }
        if let Some(parent) = &mut span.parent_span_id
            && *parent != root
        {
            *parent = qualified(parent);
        }
    }
}

#[cfg(test)]
mod tests;
