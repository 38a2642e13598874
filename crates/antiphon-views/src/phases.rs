//! Phases: what sequences of calls were for.
//!
//! Calls are facts; a phase is an interpretation of them, and names its author. What was recorded
//! is shown as it was recorded, even if it refers to nothing; only if no phase was recorded are
//! phases [derived](automatic_phases).

mod automatic;
mod recorded;

use std::collections::BTreeSet;

use antiphon_model::{AgentIx, BodyError, CallIx, Session};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{CallIndex, Reading};
pub use automatic::{AutomaticPhases, automatic_phases};
use recorded::recorded;

/// A phase, or a note, in the words of STD-001's `PhaseAnnotation`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phase {
    /// The id of the annotation; `auto-001` and so on for what was derived.
    pub annotation_id: Option<String>,
    /// The standard's word, or whatever was recorded; null for a note.
    pub phase_type: Option<String>,
    /// The text of a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// `agent`, `human`, or `auto` for what was derived.
    pub annotated_by: Option<String>,
    /// When it was recorded, as it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotated_at: Option<String>,
    /// `high`, `medium` or `low`, or whatever was recorded.
    pub confidence: Option<String>,
    /// The calls that it is about.
    pub tool_call_range: Option<CallRange>,
    /// How many calls it covers.
    pub calls: usize,
    /// What happened in the phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The decisions that were made in it, as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Value>,
    /// What it made use of, as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used: Option<Value>,
    /// The id of the agent whose calls it covers; null for calls of several agents, or of none.
    pub agent_id: Option<String>,
    /// Whether it names calls that do not exist, or none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
    /// Why it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The id of the event that recorded it; null for what was derived.
    pub message_id: Option<String>,
    /// Whatever else was recorded with it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// The annotation, word for word as it was recorded.
    #[serde(skip)]
    pub raw: Option<String>,
    /// The first and the last of its calls.
    #[serde(skip)]
    pub ends: Option<(CallIx, CallIx)>,
}

/// The first and the last call of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallRange {
    /// The id of the first call.
    pub start_call_id: String,
    /// The id of the last call.
    pub end_call_id: String,
}

impl Phase {
    /// Its calls, in order; empty if it is broken.
    pub fn calls<'i>(&self, index: &'i CallIndex<'_>) -> &'i [CallIx] {
        self.ends.map_or(&[], |(from, to)| index.between(from, to))
    }

    /// The standard's `PhaseAnnotation`: as recorded, or with the fields that were derived.
    pub fn annotation(&self) -> Value {
        if let Some(Ok(recorded)) = self.raw.as_deref().map(serde_json::from_str) {
            return recorded;
        }
        let mut fields = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        let word = |text: &Option<String>| text.clone().map(Value::String);
        set("annotation_id", word(&self.annotation_id));
        set("phase_type", word(&self.phase_type));
        set("tool_call_range", self.tool_call_range.as_ref().map(CallRange::to_value));
        set("annotated_by", word(&self.annotated_by));
        set("annotated_at", word(&self.annotated_at));
        set("confidence", word(&self.confidence));
        set("description", word(&self.description));
        set("decisions", self.decisions.clone());
        set("context_used", self.context_used.clone());
        set("note", word(&self.note));
        Value::Object(fields)
    }
}

impl CallRange {
    fn to_value(&self) -> Value {
        let ends = [("start_call_id", &self.start_call_id), ("end_call_id", &self.end_call_id)];
        ends.into_iter().map(|(name, id)| (name.to_owned(), Value::String(id.clone()))).collect()
    }
}

/// The phases of a session's main agent: every annotation, in the order of the log. If none of them
/// is a phase, its calls are divided by rule, and notes follow.
pub fn phases(reading: &Reading<'_>) -> Result<Vec<Phase>, BodyError> {
    let index = CallIndex::new(reading.session);
    let annotations = recorded(reading, &index)?;
    or_automatic(reading, &index, main_agent(reading.session), annotations)
}

/// The phases of one agent: the annotations about its calls, or else its calls divided by rule.
pub fn phases_of(reading: &Reading<'_>, agent: AgentIx) -> Result<Vec<Phase>, BodyError> {
    let index = CallIndex::new(reading.session);
    let mut annotations = recorded(reading, &index)?;
    let id = reading.session.agent_id(agent);
    annotations.retain(|phase| phase.agent_id.as_deref() == Some(id));
    or_automatic(reading, &index, Some(agent), annotations)
}

/// The phases of a session, and then derived phases of every other agent without recorded ones.
pub fn phases_of_all(reading: &Reading<'_>) -> Result<Vec<Phase>, BodyError> {
    let session = reading.session;
    let index = CallIndex::new(session);
    let annotations = recorded(reading, &index)?;
    let mut rows = or_automatic(reading, &index, main_agent(session), annotations)?;
    let phases = rows.iter().filter(|phase| phase.phase_type.is_some());
    // A phase of no agent, or of several, counts as the main agent's.
    let whose = |phase: &Phase| match phase.agent_id.as_deref() {
        Some(id) => session.find_agent(id),
        None => main_agent(session),
    };
    let has_phases: BTreeSet<AgentIx> = phases.filter_map(whose).collect();
    for (agent, _) in session.agents().filter(|(agent, _)| !has_phases.contains(agent)) {
        for phase in AutomaticPhases::of(reading, &index, agent)? {
            rows.push(phase?);
        }
    }
    Ok(rows)
}

fn or_automatic(
    reading: &Reading<'_>,
    index: &CallIndex<'_>,
    agent: Option<AgentIx>,
    annotations: Vec<Phase>,
) -> Result<Vec<Phase>, BodyError> {
    let is_recorded = annotations.iter().any(|phase| phase.phase_type.is_some());
    let Some(agent) = agent.filter(|_| !is_recorded) else { return Ok(annotations) };
    let phases = AutomaticPhases::of(reading, index, agent)?;
    phases.chain(annotations.into_iter().map(Ok)).collect()
}

/// The main agent of a session: the first without a parent that made a call.
pub fn main_agent(session: &Session) -> Option<AgentIx> {
    let is_root = |agent: AgentIx| session.agent(agent).parent.agent().is_none();
    let caller = session.calls().map(|(_, call)| call.agent).find(|&agent| is_root(agent));
    caller.or_else(|| session.agents().map(|(ix, _)| ix).find(|&agent| is_root(agent)))
}

#[cfg(test)]
mod tests;
