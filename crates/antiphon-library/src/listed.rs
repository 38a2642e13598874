//! A kept session, as a list shows it.

use antiphon_catalog::{Origin, TITLE_WIDTH};
use antiphon_model::{Standing, Status, StatusRule, Timestamp};
use antiphon_views::{CostFigures, clip};
use serde::Serialize;

use crate::{Listed, StoredSession};

/// A session in the store. A request that is in several sessions counts for one of them, so the
/// costs of the sessions in a list can be added up.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedSession<'a> {
    /// The id of the session; its key, if it has no id.
    pub id: &'a str,
    /// The program that ran it.
    pub agent: Option<&'a str>,
    /// What it is called, or else how it began, at most 60 columns wide.
    pub title: Option<String>,
    /// The folder in which it worked.
    pub project: Option<&'a str>,
    /// The recorded role of its agent.
    pub role: Option<&'a str>,
    /// The recorded issue that it worked on.
    pub issue: Option<&'a str>,
    /// The recorded run that it belongs to.
    pub run_id: Option<&'a str>,
    /// The time of its first event.
    pub started_at: Option<Timestamp>,
    /// The time of its last event.
    pub last_event_at: Option<Timestamp>,
    /// When its file last changed.
    pub changed_at: Timestamp,
    /// The status of the session.
    pub status: Status,
    /// The rule that chose the status.
    pub status_rule: StatusRule,
    /// Whether its end is recorded.
    pub ended: bool,
    /// How it ended, in the recorded word.
    pub outcome: Option<&'a str>,
    /// The number of events.
    pub events: Option<u64>,
    /// The number of agents.
    pub agents: Option<u64>,
    /// The number of tool calls.
    pub calls: Option<u64>,
    #[serde(flatten)]
    pub cost: CostFigures,
    /// The name of the format that it is stored in, as listed by `antiphon formats`.
    pub format: &'a str,
    /// How it came into the store.
    pub origin: Origin,
    /// Its key in the store.
    pub key: &'a str,
    /// The file or folder to open.
    pub path: String,
    /// Whether something of it is not what was written.
    pub damaged: bool,
}

impl Listed {
    /// What a list shows of the session.
    pub fn shown(&self) -> ListedSession<'_> {
        let session = &self.session;
        let Standing { status, rule } = session.standing();
        ListedSession {
            id: &session.session_id,
            agent: session.agent.as_deref(),
            title: session.short_title(),
            project: session.project.as_deref(),
            role: session.role.as_deref(),
            issue: session.issue.as_deref(),
            run_id: session.run_id.as_deref(),
            started_at: session.started_at,
            last_event_at: session.last_event_at,
            changed_at: session.changed_at,
            status,
            status_rule: rule,
            ended: session.ended,
            outcome: session.outcome.as_deref(),
            events: session.events,
            agents: session.agents,
            calls: session.calls,
            cost: CostFigures {
                cost_usd: self.totals.cost().filter(|_| self.totals.requests > 0),
                ..self.totals.into()
            },
            format: session.format,
            origin: session.origin,
            key: session.key.as_str(),
            path: session.path().display().to_string(),
            damaged: self.is_damaged,
        }
    }
}

impl StoredSession {
    /// What it is called, or how it began, on one line.
    pub fn short_title(&self) -> Option<String> {
        let own = self.title.as_deref().or(self.prompt.as_deref());
        own.map(|text| clip(text, TITLE_WIDTH)).filter(|title| !title.is_empty())
    }
}
