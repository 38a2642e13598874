//! A session as a conversation: what was said to an agent, what it thought, did and answered.
//!
//! A call is told once, where it was made, together with what came back. Some agents repeat all
//! thoughts of a turn with each new one: only what is new is told. Nothing else is shortened here;
//! how much of a long text is shown is decided by whoever shows it.

use std::borrow::Cow;

use antiphon_model::{
    AgentIx, BodyError, CallIx, Detail, Entry, EntryKind, EventIx, Role, Source, Timestamp,
};
use serde::Serialize;

use crate::call_subject::call_subject;
use crate::calls::{call_duration, call_status};
use crate::changes::{CallEdit, call_edits};
use crate::{CallStatus, Delegations, Reading};

/// One step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// The id of the message.
    pub message_id: String,
    /// When it happened.
    pub timestamp: Option<Timestamp>,
    /// What kind of step it is.
    pub kind: StepKind,
    /// The name of the other agent that said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What was said. For a call, what it is about: a command, a path, or its arguments in short.
    pub text: String,
    /// The call, and what came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<StepCall>,
    /// The event of the message.
    #[serde(skip)]
    pub event: EventIx,
}

/// What happens in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// The person says something.
    Prompt,
    /// Another agent says something.
    Message,
    /// The program that runs the agent says something.
    Notice,
    /// The agent thinks.
    Thinking,
    /// The agent says something.
    Answer,
    /// The agent calls a tool.
    Call,
    /// What the agent has in its context was changed: compacted, cleared.
    Context,
}

/// A call, and what came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepCall {
    /// The id of the call.
    pub call_id: String,
    /// The tool that was called.
    pub tool_name: String,
    /// How the call went.
    pub status: CallStatus,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<i64>,
    /// What its results say.
    pub output: String,
    /// What it changed in files, as far as it says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<CallEdit>,
    /// The id of the agent that it created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The call itself.
    #[serde(skip)]
    pub ix: CallIx,
}

/// A conversation with one agent.
#[derive(Debug)]
pub struct Conversation<'a> {
    reading: Reading<'a>,
    agent: AgentIx,
    delegations: Cow<'a, Delegations>,
    root: Option<&'a str>,
}

impl<'a> Conversation<'a> {
    /// The conversation with an agent. `root` is the folder that paths are relative to.
    pub fn new(reading: Reading<'a>, agent: AgentIx, root: Option<&'a str>) -> Self {
        let delegations = Cow::Owned(Delegations::of(reading.session));
        Self { reading, agent, delegations, root }
    }

    /// The conversation with one of many agents, whose delegations are known.
    pub fn within(
        reading: Reading<'a>,
        agent: AgentIx,
        root: Option<&'a str>,
        delegations: &'a Delegations,
    ) -> Self {
        Self { reading, agent, delegations: Cow::Borrowed(delegations), root }
    }

    /// The steps in order, from an event of the agent's transcript on. The event may be a result:
    /// then its call is the first step.
    pub fn steps(
        &self,
        from: Option<EventIx>,
    ) -> impl Iterator<Item = Result<Step, BodyError>> + '_ {
        let session = self.reading.session;
        let call = from.and_then(|event| session.entry(event).call());
        let from = call.map(|call| session.call(call).event).or(from);
        let events = session.agent(self.agent).transcript();
        let events = events.skip_while(move |&event| from.is_some_and(|from| event < from));
        let steps = events.flat_map(|event| match self.steps_of(session.entry(event)) {
            Ok(steps) => steps.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        let mut thoughts = String::new();
        steps.filter_map(move |step| match step {
            Ok(step) => only_new(step, &mut thoughts).map(Ok),
            Err(error) => Some(Err(error)),
        })
    }

    fn steps_of(&self, entry: Entry<'_>) -> Result<Vec<Step>, BodyError> {
        let reading = &self.reading;
        let step = |kind, text| Step {
            message_id: entry.id().to_owned(),
            timestamp: entry.at(),
            kind,
            from: None,
            text,
            call: None,
            event: entry.ix(),
        };
        let Some(role) = entry.role() else {
            let is_edit = entry.kind() == EntryKind::ContextEdited;
            let text = is_edit.then(|| reading.description(entry)).transpose()?;
            return Ok(text.map(|text| step(StepKind::Context, text)).into_iter().collect());
        };
        let mut steps = Vec::new();
        if let Some(place) = entry.detail(Detail::Reasoning) {
            steps.push(step(StepKind::Thinking, reading.place_text(place)?));
        }
        // What a call gave back is told with the call.
        if role != Role::Tool || entry.call().is_none() {
            let text = reading.text(entry)?;
            let sender = reading.sender(entry);
            let kind = match (role, entry.source()) {
                (Role::Assistant, _) => StepKind::Answer,
                (Role::User, Source::External | Source::Own) if sender.is_none() => {
                    StepKind::Prompt
                }
                (Role::User | Role::Other, Source::Agent(_)) => StepKind::Message,
                (Role::User, _) if sender.is_some() => StepKind::Message,
                (Role::User | Role::System | Role::Tool | Role::Other, _) => StepKind::Notice,
            };
            let from = sender.filter(|_| kind == StepKind::Message);
            let from = from.map(|agent| reading.session.agent_name(agent).to_owned());
            if !text.trim().is_empty() {
                steps.push(Step { from, ..step(kind, text) });
            }
        }
        for (ix, _) in entry.calls() {
            let subject = call_subject(reading, ix)?;
            let call = Some(self.call(ix)?);
            let at = reading.session.call_started_at(ix).or(entry.at());
            steps.push(Step { timestamp: at, call, ..step(StepKind::Call, subject) });
        }
        Ok(steps)
    }

    fn call(&self, ix: CallIx) -> Result<StepCall, BodyError> {
        let (reading, session) = (&self.reading, self.reading.session);
        let mut outputs = Vec::new();
        for event in session.results(ix) {
            outputs.push(reading.text(session.entry(event))?);
        }
        let created = self.delegations.agent(ix);
        Ok(StepCall {
            call_id: session.call_id(ix).to_owned(),
            tool_name: session.tool_name(ix).to_owned(),
            status: call_status(reading, ix),
            duration_ms: call_duration(reading, &self.delegations, ix).map(|(millis, _)| millis),
            output: outputs.join("\n"),
            edits: call_edits(reading, ix, self.root)?,
            created: created.map(|agent| session.agent_id(agent).to_owned()),
            ix,
        })
    }
}

/// A step without the thoughts that the one before it has told already. `thoughts` are those of
/// the steps in a row before it.
fn only_new(step: Step, thoughts: &mut String) -> Option<Step> {
    if step.kind != StepKind::Thinking {
        thoughts.clear();
        return Some(step);
    }
    let text = match step.text.strip_prefix(thoughts.as_str()) {
        // What goes on in the middle of a word is something else.
        Some(new) if thoughts.is_empty() || new.is_empty() || new.starts_with(['\n', ' ']) => {
            new.trim_start_matches('\n').to_owned()
        }
        Some(_) | None => step.text.clone(),
    };
    thoughts.clone_from(&step.text);
    (!text.is_empty()).then_some(Step { text, ..step })
}

#[cfg(test)]
mod tests;
