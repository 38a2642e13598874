//! A session on one page.

use std::ops::Not;

use antiphon_model::{Problem, Standing, Status, StatusRule, Timestamp, Usage};
use serde::Serialize;

use crate::Reading;
use crate::busy::{Busy, busy};
use crate::cost::cost;
use crate::prices::Prices;
use crate::request::Basis;
use crate::tree::{TreeNode, tree};
use crate::usd::Usd;

#[derive(Debug, Serialize)]
pub struct Summary {
    pub session_id: String,
    pub format: String,
    pub title: Option<String>,
    pub program: Option<String>,
    pub started_at: Option<Timestamp>,
    pub last_event_at: Option<Timestamp>,
    /// How it stands, and the rule that says so: the same wherever a session is shown.
    pub status: Status,
    pub status_rule: StatusRule,
    /// How long it took, and when somebody was at work; nothing, for a log without times.
    #[serde(flatten)]
    pub busy: Option<Busy>,
    /// What was recorded: `completed`, `failed`, `cancelled` or another word.
    pub outcome: Option<String>,
    pub reason: Option<String>,
    pub error: Option<String>,
    pub ended: bool,
    /// Whoever wrote it died before it ended.
    pub interrupted: bool,
    pub events: usize,
    pub agents: usize,
    pub calls: usize,
    pub open_calls: usize,
    pub utterances: usize,
    pub usage: Usage,
    /// Of the requests that have a price or declare a cost.
    pub cost_usd: Option<Usd>,
    /// What `cost_usd` rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// What the source itself says that the requests cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_usd: Option<Usd>,
    /// Whether the cost leaves something out.
    #[serde(skip_serializing_if = "Not::not")]
    pub partial: bool,
    /// Models without a known price.
    pub unpriced: Vec<String>,
    /// Events that the log itself says were lost or found damaged.
    pub losses: usize,
    pub problems: Vec<Problem>,
    pub tree: Vec<TreeNode>,
}

pub fn summary(reading: &Reading<'_>, session_id: &str, format: &str, prices: &Prices) -> Summary {
    use antiphon_model::EntryKind;

    let session = reading.session;
    let Standing { status, rule } = session.standing();
    let info = session.info();
    let cost = cost(session, session_id, prices);
    let text = |text: &Option<Box<str>>| text.as_deref().map(Into::into);
    let span = session.time_span();
    let is_loss = |kind| matches!(kind, EntryKind::Gap | EntryKind::Recovered);
    Summary {
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
        cost_usd: cost.total.cost(),
        basis: cost.total.basis(),
        declared_usd: cost.total.declared(),
        partial: cost.total.is_partial(),
        unpriced: cost.unpriced,
        losses: session.entries().filter(|entry| is_loss(entry.kind())).count(),
        problems: session.problems().to_vec(),
        tree: tree(session, session_id).agents,
    }
}
