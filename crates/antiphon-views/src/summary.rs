//! A session on one page.

use antiphon_model::{Problem, Standing, Status, StatusRule, Timestamp, Usage};
use serde::Serialize;

use crate::Reading;
use crate::busy::{Busy, busy};
use crate::cost::cost;
use crate::cost_figures::CostFigures;
use crate::prices::Prices;
use crate::tree::{TreeNode, tree};

/// A session on one page.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionOverview {
    /// The id of the session.
    pub session_id: String,
    /// The name of the format that it is stored in, as listed by `antiphon formats`.
    pub format: String,
    /// What the session is called.
    pub title: Option<String>,
    /// The program that ran it.
    pub program: Option<String>,
    /// The time of its first event.
    pub started_at: Option<Timestamp>,
    /// The time of its last event.
    pub last_event_at: Option<Timestamp>,
    /// The status of the session, the same wherever a session is shown.
    pub status: Status,
    /// The rule that chose the status.
    pub status_rule: StatusRule,
    #[serde(flatten)]
    pub busy: Option<Busy>,
    /// How it ended, in the recorded word: `completed`, `failed`, `cancelled` or another.
    pub outcome: Option<String>,
    /// Why it ended so, as recorded.
    pub reason: Option<String>,
    /// The error with which it ended, as recorded.
    pub error: Option<String>,
    /// Whether its end is recorded.
    pub ended: bool,
    /// Whether the process that wrote it died before it ended.
    pub interrupted: bool,
    /// The number of events.
    pub events: usize,
    /// The number of agents.
    pub agents: usize,
    /// The number of tool calls.
    pub calls: usize,
    /// The number of calls without a result.
    pub open_calls: usize,
    /// The number of utterances.
    pub utterances: usize,
    /// The tokens of all requests.
    pub usage: Usage,
    #[serde(flatten)]
    pub cost: CostFigures,
    /// The names of the models without a price.
    pub unpriced: Vec<String>,
    /// The number of records of losses or repairs in the log.
    pub losses: usize,
    /// What was wrong with the input.
    pub problems: Vec<Problem>,
    /// The agents that no other agent created, each with those that it created.
    pub tree: Vec<TreeNode>,
}

/// A session on one page.
pub fn overview(
    reading: &Reading<'_>,
    session_id: &str,
    format: &str,
    prices: &Prices,
) -> SessionOverview {
    use antiphon_model::EntryKind;

    let session = reading.session;
    let Standing { status, rule } = session.standing();
    let info = session.info();
    let cost = cost(session, session_id, prices);
    let text = |text: &Option<Box<str>>| text.as_deref().map(Into::into);
    let span = session.time_span();
    let is_loss = |kind| matches!(kind, EntryKind::Gap | EntryKind::Recovered);
    SessionOverview {
        session_id: session_id.to_owned(),
        format: format.to_owned(),
        title: text(&info.title),
        program: text(&info.program),
        started_at: span.map(|(first, _)| first),
        last_event_at: span.map(|(_, last)| last),
        status,
        status_rule: rule,
        busy: busy(reading),
        outcome: text(&info.outcome),
        reason: text(&info.reason),
        error: text(&info.error),
        ended: info.ended,
        interrupted: rule == StatusRule::WriterGone,
        events: session.len(),
        agents: session.agents().len(),
        calls: session.calls().len(),
        open_calls: session.calls().filter(|(_, call)| call.is_open()).count(),
        utterances: session.entries().filter(|entry| entry.is_utterance()).count(),
        usage: session.usage(),
        cost: cost.total.into(),
        unpriced: cost.unpriced,
        losses: session.entries().filter(|entry| is_loss(entry.kind())).count(),
        problems: session.problems().to_vec(),
        tree: tree(session, session_id).agents,
    }
}
