//! A session on one page.

use std::collections::BTreeSet;

use antiphon_model::{
    BodyError, EntryKind, Problem, Session, Standing, Status, StatusRule, Timestamp, Usage,
};
use serde::Serialize;

use crate::{
    Busy, ChangedFile, CostFigures, EditLog, FailedCall, LastAnswer, Prices, Prompt, Reading,
    SubAgent, TreeNode, busy, changes, cost, failures, last_answer, prompts, requests, sub_agents,
    tree,
};

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
    /// The folder in which it worked.
    pub project: Option<String>,
    /// The branch on which it worked, as recorded.
    pub branch: Option<String>,
    /// The models that were used, in the order of their first use.
    pub models: Vec<String>,
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
    /// What the person said.
    pub prompts: Vec<Prompt>,
    /// The files that edits changed, in the order of the first change.
    pub files: Vec<ChangedFile>,
    /// The calls that failed.
    pub failures: Vec<FailedCall>,
    /// The agents that other agents created, each with what it used itself.
    pub sub_agents: Vec<SubAgent>,
    /// What the main agent said last; null if it said nothing.
    pub last_answer: Option<LastAnswer>,
    /// The number of records of losses or repairs in the log.
    pub losses: usize,
    /// What was wrong with the input.
    pub problems: Vec<Problem>,
    /// The agents that no other agent created, each with those that it created.
    pub tree: Vec<TreeNode>,
    /// The command with which its agent continues it; null if none is known.
    #[serde(rename = "continue")]
    pub continue_with: Option<String>,
}

/// What only the code that opened a session knows about it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Named<'a> {
    /// The session's own id, or else the name of its file.
    pub session_id: &'a str,
    pub format: &'a str,
    /// The folder of its project, which paths are relative to; without it, where the agent worked.
    pub root: Option<&'a str>,
    /// The command with which its agent continues it.
    pub continue_with: Option<&'a str>,
}

/// A session on one page.
pub fn overview(
    reading: &Reading<'_>,
    named: &Named<'_>,
    prices: &Prices,
) -> Result<SessionOverview, BodyError> {
    let session = reading.session;
    let session_id = named.session_id;
    let Standing { status, rule } = session.standing();
    let info = session.info();
    let cost = cost(session, session_id, prices);
    let text = |text: &Option<Box<str>>| text.as_deref().map(Into::into);
    let span = session.time_span();
    let is_loss = |kind| matches!(kind, EntryKind::Gap | EntryKind::Recovered);
    let mut edits = EditLog::default();
    edits.add(reading, session_id, named.root)?;
    Ok(SessionOverview {
        session_id: session_id.to_owned(),
        format: named.format.to_owned(),
        title: text(&info.title),
        program: text(&info.program),
        project: text(&info.cwd),
        branch: text(&info.branch),
        models: models(session),
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
        prompts: prompts(reading)?,
        files: changes(edits, None).files,
        failures: failures(reading)?,
        sub_agents: sub_agents(session, &cost),
        last_answer: last_answer(reading)?,
        unpriced: cost.unpriced,
        losses: session.entries().filter(|entry| is_loss(entry.kind())).count(),
        problems: session.problems().to_vec(),
        tree: tree(session, session_id).agents,
        continue_with: named.continue_with.map(Into::into),
    })
}

/// The models that were used, in the order of their first use; without any request, those that
/// agents are said to use.
fn models(session: &Session) -> Vec<String> {
    let mut models: Vec<String> = Vec::new();
    for model in requests(session).filter_map(|request| request.model) {
        if !models.iter().any(|known| known == model) {
            models.push(model.to_owned());
        }
    }
    if models.is_empty() {
        let stated = session.agents().filter_map(|(_, agent)| agent.language_model());
        models.extend(stated.map(str::to_owned).collect::<BTreeSet<_>>());
    }
    models
}
