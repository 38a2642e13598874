//! Who said what, and who heard it.

use antiphon_model::{AgentIx, BodyError, EventIx, Timestamp};
use serde::Serialize;

use crate::Reading;
use crate::delivery::{Said, arrivals};

/// Words that an agent said. What it said together with a tool call is not included.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Utterance {
    /// The id of the message.
    pub message_id: String,
    /// The id of the agent that said it.
    pub agent_id: String,
    /// The name of the agent; its id, if it has no name.
    pub name: String,
    /// What was said.
    pub content: String,
    /// The ids of the agents that it reached, each once, in the order in which it did.
    pub heard_by: Vec<String>,
    /// When it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    #[serde(skip)]
    event: EventIx,
}

impl Utterance {
    /// The event of the message.
    pub fn event(&self) -> EventIx {
        self.event
    }
}

/// Which utterances are wanted.
#[derive(Debug, Clone, Default)]
pub struct DialogFilter {
    /// Only the utterances of these agents; all, if it is empty.
    pub speakers: Vec<AgentIx>,
    /// Only utterances that reached this agent.
    pub heard_by: Option<AgentIx>,
}

pub fn dialog(reading: &Reading<'_>, filter: &DialogFilter) -> Result<Vec<Utterance>, BodyError> {
    let session = reading.session;
    let links = session.links(reading.bodies)?;
    let arrivals = arrivals(reading, &links);
    let mut rows = Vec::new();
    for entry in session.entries().filter(|entry| entry.is_utterance()) {
        let Some(agent) = entry.agent() else { continue };
        if !filter.speakers.is_empty() && !filter.speakers.contains(&agent) {
            continue;
        }
        let mut heard_by: Vec<AgentIx> = Vec::new();
        for link in arrivals.get(&Said::Event(entry.ix())).into_iter().flatten() {
            heard_by.extend(session.entry(link.to).agent().filter(|to| !heard_by.contains(to)));
        }
        if filter.heard_by.is_some_and(|wanted| !heard_by.contains(&wanted)) {
            continue;
        }
        rows.push(Utterance {
            message_id: entry.id().to_owned(),
            agent_id: session.agent_id(agent).to_owned(),
            name: session.agent_name(agent).to_owned(),
            content: reading.text(entry)?,
            heard_by: heard_by.iter().map(|&to| session.agent_id(to).to_owned()).collect(),
            timestamp: entry.at(),
            event: entry.ix(),
        });
    }
    Ok(rows)
}
