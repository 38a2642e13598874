//! What one agent heard, did, received and said: the session from its perspective.

use antiphon_model::{AgentIx, BodyError, EventIx, Role};
use serde::Serialize;

use crate::Reading;

/// A message, as the agent whose perspective it is experienced it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Perspective {
    /// The id of the message.
    pub message_id: String,
    /// What the message was for the agent.
    pub kind: PerspectiveKind,
    /// The text of the message; for a call, the tool and its main arguments.
    pub text: String,
    /// The id of the agent in whose transcript it is.
    pub agent_id: String,
    /// The name of that agent; its id, if it has no name.
    pub name: String,
    /// How many levels that agent is below the one whose perspective it is.
    pub depth: usize,
}

/// What a message is for the agent in whose transcript it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PerspectiveKind {
    /// It was told something.
    Heard,
    /// It called a tool.
    Action,
    /// It received the result of a call.
    Received,
    /// It said something.
    Said,
    /// The program that runs it told it something.
    System,
}

impl PerspectiveKind {
    /// The word in brackets, as the seed prints it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Heard => "Heard",
            Self::Action => "Action",
            Self::Received => "Received",
            Self::Said => "Said",
            Self::System => "System",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct PerspectiveOptions {
    pub agent: AgentIx,
    /// Up to this event.
    pub at: Option<EventIx>,
    /// Include the agents below it.
    pub inner: bool,
}

pub fn perspective(
    reading: &Reading<'_>,
    options: &PerspectiveOptions,
) -> Result<Vec<Perspective>, BodyError> {
    let session = reading.session;
    let mut entries: Vec<(EventIx, usize)> = Vec::new();
    for (agent, depth) in agents_with_depth(reading, options) {
        entries.extend(session.agent(agent).transcript().map(|event| (event, depth)));
    }
    entries.sort_unstable();
    let mut rows = Vec::new();
    for (event, depth) in entries {
        let entry = session.entry(event);
        let (Some(role), Some(agent)) = (entry.role(), entry.agent()) else { continue };
        if options.at.is_some_and(|last| event > last) {
            break;
        }
        let kind = match role {
            Role::User => PerspectiveKind::Heard,
            Role::Tool => PerspectiveKind::Received,
            Role::Assistant if entry.makes_calls() => PerspectiveKind::Action,
            Role::Assistant | Role::Other => PerspectiveKind::Said,
            Role::System => PerspectiveKind::System,
        };
        rows.push(Perspective {
            message_id: entry.id().to_owned(),
            kind,
            text: reading.description(entry)?,
            agent_id: session.agent_id(agent).to_owned(),
            name: session.agent_name(agent).to_owned(),
            depth,
        });
    }
    Ok(rows)
}

/// The agent, and with `inner` all below it, each with its depth.
fn agents_with_depth(reading: &Reading<'_>, options: &PerspectiveOptions) -> Vec<(AgentIx, usize)> {
    let mut agents = vec![(options.agent, 0)];
    if options.inner {
        let children = reading.session.children();
        let mut next = 0;
        while let Some(&(agent, depth)) = agents.get(next) {
            let below = children.get(agent.index()).into_iter().flatten();
            agents.extend(below.map(|&child| (child, depth + 1)));
            next += 1;
        }
    }
    agents
}
