//! Agents as a document names them, and how they worked together.

use std::collections::BTreeSet;

use antiphon_model::{AgentIx, BodyError};
use serde_json::{Map, Value};

use super::cast::{Cast, Sub};
use super::object::{Object, fits, missing};
use super::origin::Origin;
use crate::letter::nearest_role;
use crate::{AgentIdentifier, Collaboration};

/// The identifier of an agent, or of who is none (`external`).
pub(super) fn identifier(
    cast: &Cast<'_>,
    agent: Option<AgentIx>,
    pointer: String,
    origin: &Origin,
) -> Result<Value, BodyError> {
    let mut object = Object::new(pointer, origin);
    let Some(agent) = agent else {
        // Whoever stands outside gives the tasks.
        object.derive("agent_id", "external");
        object.derive("agent_type", "architect");
        return Ok(object.value());
    };
    let session = cast.reading.session;
    let facts = session.agent(agent);
    let created = facts.created.map(|event| cast.extra(session.entry(event))).transpose()?;
    let recorded = created.and_then(|mut extra| extra.remove("identifier"));
    let whole = match recorded {
        Some(Value::Object(whole)) => whole,
        _ => Map::new(),
    };
    let text = |name: &str| whole.get(name).and_then(Value::as_str);
    object.set("agent_id", text("agent_id").unwrap_or_else(|| session.agent_id(agent)));
    let own = text("agent_type").or(facts.agent_type());
    match own {
        Some(role @ ("architect" | "developer" | "reviewer")) => object.set("agent_type", role),
        // The standard has three roles; an agent's own stays beside them.
        other => {
            let nearest = other.map_or("developer", nearest_role);
            let role = if Some(agent) == cast.main { "architect" } else { nearest };
            if let Some(other) = other {
                origin.keep(&object.below("agent_type"), other.into());
            }
            object.derive("agent_type", role);
        }
    }
    object.rest_of::<AgentIdentifier>(whole);
    Ok(object.value())
}

/// The identifier of an agent with a sub-session. Of one of which only the call tells, nobody knows
/// the name yet.
pub(super) fn sub_identifier(
    cast: &Cast<'_>,
    sub: &Sub,
    pointer: String,
    origin: &Origin,
) -> Result<Value, BodyError> {
    if sub.agent.is_some() {
        return identifier(cast, sub.agent, pointer, origin);
    }
    let mut object = Object::new(pointer, origin);
    object.derive("agent_id", format!("{}-agent", sub.id));
    object.derive("agent_type", sub.wanted.as_deref().map_or("developer", nearest_role));
    Ok(object.value())
}

/// How the document calls an agent.
pub(super) fn agent_id(cast: &Cast<'_>, agent: AgentIx) -> Result<String, BodyError> {
    let identifier = identifier(cast, Some(agent), String::new(), &Origin::default())?;
    Ok(identifier.get("agent_id").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// `collaboration`, and the agents that it names.
pub(super) fn collaboration(
    cast: &Cast<'_>,
    recorded: Option<Value>,
    origin: &Origin,
) -> Result<Value, BodyError> {
    let mut object = Object::new("/collaboration", origin);
    let mut recorded = match recorded {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let mode = if cast.is_team() || !cast.subs.is_empty() { "multi_agent" } else { "single" };
    let is_mode = |it: &Value| it == "multi_agent" || it == "single";
    missing(&mut object, &mut recorded, "mode", is_mode, mode);
    let has_peers = cast.others().next().is_some();
    let pattern = if has_peers { "peer_to_peer" } else { "master_worker" };
    missing(&mut object, &mut recorded, "pattern", Value::is_string, pattern);
    let orchestrator = identifier(cast, cast.main, object.below("orchestrator"), origin)?;
    object.set("orchestrator", orchestrator);
    let list = participants(cast, recorded.remove("participants").as_ref(), origin)?;
    object.set("participants", list);
    object.rest_of::<Collaboration>(recorded);
    Ok(object.value())
}

/// Those that were recorded, in their order; then those whom the document names all the same.
fn participants(
    cast: &Cast<'_>,
    recorded: Option<&Value>,
    origin: &Origin,
) -> Result<Vec<Value>, BodyError> {
    let session = cast.reading.session;
    let mut listed: Vec<Value> = Vec::new();
    let mut known = BTreeSet::new();
    if let Some(Value::Array(items)) = recorded {
        for item in items {
            // The id of an agent of the log, or the whole where its sub-session says another thing.
            if fits::<AgentIdentifier>(item) {
                known.insert(item["agent_id"].as_str().unwrap_or_default().to_owned());
                listed.push(item.clone());
            } else if let Some(agent) = item.as_str().and_then(|id| session.find_agent(id)) {
                let pointer = format!("/collaboration/participants/{}", listed.len());
                known.insert(agent_id(cast, agent)?);
                listed.push(identifier(cast, Some(agent), pointer, origin)?);
            }
        }
    }
    known.extend(cast.main.map(|main| agent_id(cast, main)).transpose()?);
    let quiet = Origin::default();
    let of = |agent: Option<AgentIx>| identifier(cast, agent, String::new(), &quiet);
    let mut add = |whole: Value| {
        let id = whole.get("agent_id").and_then(Value::as_str).unwrap_or_default();
        if known.insert(id.to_owned()) {
            origin.derived(&format!("/collaboration/participants/{}", listed.len()));
            listed.push(whole);
        }
    };
    let unlisted = cast.subs.iter().filter(|_| !cast.is_document || recorded.is_none());
    for sub in unlisted {
        add(sub_identifier(cast, sub, String::new(), &quiet)?);
    }
    for &event in &cast.messages {
        let entry = session.entry(event);
        add(of(cast.sender(entry))?);
        add(of(entry.agent())?);
    }
    if recorded.is_none() {
        for agent in cast.others() {
            add(of(Some(agent))?);
        }
    }
    Ok(listed)
}
