//! An agent's transcript as steps: a message, with its calls and their results.

use std::borrow::Cow;
use std::collections::BTreeSet;

use antiphon_model::Reading;
use antiphon_model::{
    AgentIx, BodyError, CallIx, Detail, Entry, EventIx, Place, Role, Session, Source, Usage, json,
    plain_text,
};
use serde_json::{Value, json};

/// One message of an agent, with the results of its calls.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) entry: Entry<'a>,
    pub(crate) speaker: Speaker,
    pub(crate) calls: Vec<CallIx>,
    /// Results, each with its call.
    pub(crate) results: Vec<(CallIx, Entry<'a>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    System,
    User,
    Agent,
    /// Something the environment shows without a call.
    Shown,
}

/// The agents, the first root before the others, without those that neither send nor receive
/// anything.
pub(crate) fn agents(session: &Session) -> Vec<AgentIx> {
    let mut agents: Vec<AgentIx> = session.agents().map(|(ix, _)| ix).collect();
    let is_root = |ix: &AgentIx| session.agent(*ix).parent.agent().is_none();
    let root = agents.iter().copied().find(is_root);
    agents.retain(|ix| Some(*ix) == root || session.agent(*ix).transcript().len() > 0);
    if let Some(at) = root.and_then(|root| agents.iter().position(|ix| *ix == root)) {
        agents.get_mut(..=at).unwrap_or_default().rotate_right(1);
    }
    agents
}

/// The steps of an agent. A result is in the step of its call, wherever it came.
pub(crate) fn steps<'a>(reading: &Reading<'a>, agent: AgentIx) -> Vec<Step<'a>> {
    let session = reading.session;
    let mut steps = Vec::new();
    let mut placed: BTreeSet<EventIx> = BTreeSet::new();
    for event in session.agent(agent).transcript() {
        let entry = session.entry(event);
        let Some(role) = entry.role().filter(|_| !placed.contains(&event)) else { continue };
        let speaker = match (role, entry.source()) {
            (Role::Assistant, _) => Speaker::Agent,
            (Role::System, _) => Speaker::System,
            (Role::Tool | Role::Other, _) | (Role::User, Source::System) => Speaker::Shown,
            (Role::User, _) => Speaker::User,
        };
        let calls: Vec<CallIx> = entry.calls().map(|(call, _)| call).collect();
        let mut results = Vec::new();
        for &call in &calls {
            for result in session.results(call) {
                let result = session.entry(result);
                if result.agent() == Some(agent) && placed.insert(result.ix()) {
                    results.push((call, result));
                }
            }
        }
        steps.push(Step { entry, speaker, calls, results });
    }
    steps
}

/// The parts of an entry's content, each as text; a placeholder for a part that is not text.
pub(crate) fn parts(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Vec<String>, BodyError> {
    let mut parts = Vec::new();
    for place in entry.contents() {
        let raw = reading.bodies.read(place)?;
        if raw.starts_with('[') {
            let mut inner = Vec::new();
            if json::elements(&raw, |part| inner.push(plain_text(part).into_owned())).is_ok() {
                parts.append(&mut inner);
                continue;
            }
        }
        parts.push(plain_text(&raw).into_owned());
    }
    Ok(parts)
}

/// An entry's content: a text, or a list of texts.
pub(crate) fn content(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Value, BodyError> {
    let mut parts = parts(reading, entry)?;
    Ok(match parts.len() {
        0 => Value::String(String::new()),
        1 => Value::String(parts.remove(0)),
        _ => parts.into_iter().map(|text| json!({ "type": "text", "text": text })).collect(),
    })
}

/// An entry's reasoning.
pub(crate) fn reasoning(
    reading: &Reading<'_>,
    entry: Entry<'_>,
) -> Result<Option<String>, BodyError> {
    let place = entry.detail(Detail::Reasoning);
    let text = place.map(|place| reading.place_text(place)).transpose()?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// A call's arguments as JSON text; if they are a string that contains an object, that object.
pub(crate) fn arguments(reading: &Reading<'_>, place: Place) -> Result<String, BodyError> {
    if place.is_none() {
        return Ok("{}".to_owned());
    }
    let raw = reading.bodies.read(place)?;
    let text = json::text(&raw).unwrap_or(Cow::Borrowed(&raw));
    Ok(text.into_owned())
}

/// The model that an agent uses, if it is known.
pub(crate) fn model<'a>(
    session: &'a Session,
    agent: AgentIx,
    steps: &[Step<'a>],
) -> Option<&'a str> {
    let asked = || steps.iter().find_map(|step| step.entry.model());
    session.agent(agent).language_model().or_else(asked)
}

/// All input tokens of a request, including those of a cache.
pub(crate) fn prompt(usage: Usage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}
