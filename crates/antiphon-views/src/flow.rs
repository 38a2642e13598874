//! The messages between agents, as a sequence.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{
    AgentIx, BodyError, Entry, EntryKind, Link, LinkKind, MessageRef, Role, Source, Timestamp,
};
use serde::Serialize;

use crate::Reading;
use crate::delivery::{Said, arrivals};

/// Who takes part, and what passes between them.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flow {
    /// In the order in which they appear, including `external` and `system`.
    pub participants: Vec<Participant>,
    /// What passed between them, in order.
    pub messages: Vec<FlowRow>,
    /// For each id: the position among the participants.
    #[serde(skip)]
    positions: BTreeMap<String, usize>,
}

/// Somebody who sends or receives messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Participant {
    /// The id of the agent, `external` or `system`.
    pub id: String,
    /// The name to show.
    pub name: String,
}

/// A message from one participant to another.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowRow {
    /// The id of the message.
    pub message_id: String,
    /// The id of the participant that sent it.
    pub from: String,
    /// The id of the participant that received it.
    pub to: String,
    /// What kind of message it is.
    pub kind: FlowKind,
    /// The message type of STD-008, if it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_type: Option<String>,
    /// The text of the message.
    pub text: String,
    /// When it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// What passes between two participants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    /// One agent creates another.
    Created,
    /// An agent is told something, by another agent or from outside.
    Message,
    /// What one agent said arrives at another.
    Delivery,
    /// The system tells an agent something.
    Notice,
    /// Words that no agent hears: a root agent's go to whoever asked, a hook's to the system.
    Answer,
}

pub fn flow(reading: &Reading<'_>) -> Result<Flow, BodyError> {
    let session = reading.session;
    let links = session.links(reading.bodies)?;
    let arrivals = arrivals(reading, &links);
    let verdicts = links.iter().filter(|link| link.kind == LinkKind::Verdict);
    let verdicts: BTreeSet<_> = verdicts.map(|link| Said::of(link.from)).collect();
    let mut flow = Flow::default();
    for entry in session.entries() {
        let Some(agent) = entry.agent() else { continue };
        let to = End::Agent(agent);
        #[expect(clippy::wildcard_enum_match_arm, reason = "the rest passes between nobody")]
        match entry.kind() {
            EntryKind::AgentCreated => {
                if let Some(parent) = session.agent(agent).parent.agent() {
                    let name = session.agent_name(agent).to_owned();
                    flow.push(reading, entry, End::Agent(parent), to, FlowKind::Created, name);
                }
            }
            EntryKind::Message(Role::User) => {
                let (from, kind) = match (entry.source(), reading.sender(entry)) {
                    (_, Some(sender)) if entry.utterance_ref().is_some() => {
                        (End::Agent(sender), FlowKind::Delivery)
                    }
                    (_, Some(sender)) => (End::Agent(sender), FlowKind::Message),
                    (Source::System, None) => (End::System, FlowKind::Notice),
                    (Source::Own | Source::Agent(_) | Source::External, None) => {
                        (End::External, FlowKind::Message)
                    }
                };
                flow.push(reading, entry, from, to, kind, reading.text(entry)?);
            }
            EntryKind::Message(Role::Tool) => {
                for from in speakers(reading, &links, entry) {
                    let text = reading.text(entry)?;
                    flow.push(reading, entry, End::Agent(from), to, FlowKind::Delivery, text);
                }
            }
            EntryKind::Message(Role::Assistant) if verdicts.contains(&Said::Event(entry.ix())) => {
                let text = reading.text(entry)?;
                flow.push(reading, entry, to, End::System, FlowKind::Answer, text);
            }
            EntryKind::Message(Role::Assistant)
                if entry.is_utterance()
                    && session.agent(agent).parent.agent().is_none()
                    && !arrivals.contains_key(&Said::Event(entry.ix())) =>
            {
                let text = reading.text(entry)?;
                flow.push(reading, entry, to, End::External, FlowKind::Answer, text);
            }
            _ => {}
        }
    }
    Ok(flow)
}

/// The sender or the recipient of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Agent(AgentIx),
    External,
    System,
}

impl Flow {
    fn push(
        &mut self,
        reading: &Reading<'_>,
        entry: Entry<'_>,
        from: End,
        to: End,
        kind: FlowKind,
        text: String,
    ) {
        let from = self.take_part(reading, from);
        let to = self.take_part(reading, to);
        let (message_id, timestamp) = (entry.id().to_owned(), entry.at());
        let message_type = entry.message_type().map(str::to_owned);
        self.messages.push(FlowRow { message_id, from, to, kind, message_type, text, timestamp });
    }

    fn take_part(&mut self, reading: &Reading<'_>, end: End) -> String {
        let (id, name) = match end {
            End::Agent(agent) => {
                (reading.session.agent_id(agent), reading.session.agent_name(agent))
            }
            End::External => ("external", "outside"),
            End::System => ("system", "system"),
        };
        if !self.positions.contains_key(id) {
            self.positions.insert(id.to_owned(), self.participants.len());
            self.participants.push(Participant { id: id.to_owned(), name: name.to_owned() });
        }
        id.to_owned()
    }

    /// The position of a participant.
    pub fn position(&self, id: &str) -> usize {
        self.positions.get(id).copied().unwrap_or_default()
    }

    /// The name of a participant.
    pub fn name<'f>(&'f self, id: &'f str) -> &'f str {
        self.participants.get(self.position(id)).map_or(id, |known| &known.name)
    }
}

/// The agents whose utterances a tool result contains, each once.
fn speakers<'a>(reading: &Reading<'a>, links: &[Link<'a>], entry: Entry<'_>) -> Vec<AgentIx> {
    let mut speakers = Vec::new();
    for link in reading.links_to(links, entry) {
        let brings = matches!(link.kind, LinkKind::Delivery | LinkKind::Cause);
        let MessageRef::Event(from) = link.from else { continue };
        let from = reading.session.entry(from);
        let speaker = from.agent().filter(|&agent| Some(agent) != entry.agent());
        if brings
            && from.is_utterance()
            && let Some(speaker) = speaker
            && !speakers.contains(&speaker)
        {
            speakers.push(speaker);
        }
    }
    speakers
}
