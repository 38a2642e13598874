//! The identifiers of agents in a document, and how the agents worked together.

use std::collections::BTreeSet;

use antiphon_model::{AgentIx, BodyError};
use serde_json::{Map, Value};

use super::object::{Object, fits, missing};
use super::origin::Origin;
use super::roles::{Roles, Sub};
use crate::interfaces::nearest_role;
use crate::{AgentIdentifier, Collaboration};

/// The identifier of an agent; `external` if the sender is not an agent.
pub(super) fn identifier(
    roles: &Roles<'_>,
    agent: Option<AgentIx>,
    pointer: String,
    origin: &Origin,
) -> Result<Value, BodyError> {
    let mut object = Object::new(pointer, origin);
    let Some(agent) = agent else {
        // A sender from outside gives tasks, which is the architect's role.
        object.derive("agent_id", "external");
        object.derive("agent_type", "architect");
        return Ok(object.value());
    };
    let session = roles.reading.session;
    let facts = session.agent(agent);
    let created = facts.created.map(|event| roles.extra(session.entry(event))).transpose()?;
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
        // The standard has only three roles; any other is kept in `x_antiphon`.
        other => {
            let nearest = other.map_or("developer", nearest_role);
            let role = if Some(agent) == roles.main { "architect" } else { nearest };
            if let Some(other) = other {
                origin.keep(&object.below("agent_type"), other.into());
            }
            object.derive("agent_type", role);
        }
    }
    object.rest_of::<AgentIdentifier>(whole);
    Ok(object.value())
}

/// The identifier of an agent with a sub-session. If only the call is known so far, the agent has
/// no name yet.
pub(super) fn sub_identifier(
    roles: &Roles<'_>,
    sub: &Sub,
    pointer: String,
    origin: &Origin,
) -> Result<Value, BodyError> {
    if sub.agent.is_some() {
        return identifier(roles, sub.agent, pointer, origin);
    }
    let mut object = Object::new(pointer, origin);
    object.derive("agent_id", format!("{}-agent", sub.id));
    object.derive("agent_type", sub.wanted.as_deref().map_or("developer", nearest_role));
    Ok(object.value())
}

/// The id of an agent in the document.
pub(super) fn agent_id(roles: &Roles<'_>, agent: AgentIx) -> Result<String, BodyError> {
    let identifier = identifier(roles, Some(agent), String::new(), &Origin::default())?;
    Ok(identifier.get("agent_id").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// The member `collaboration`, and the agents that it names.
pub(super) fn collaboration(
    roles: &Roles<'_>,
    recorded: Option<Value>,
    origin: &Origin,
) -> Result<Value, BodyError> {
    let mut object = Object::new("/collaboration", origin);
    let mut recorded = match recorded {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let mode = if roles.is_team() || !roles.subs.is_empty() { "multi_agent" } else { "single" };
    let is_mode = |it: &Value| it == "multi_agent" || it == "single";
    missing(&mut object, &mut recorded, "mode", is_mode, mode);
    let has_peers = roles.others().next().is_some();
    let pattern = if has_peers { "peer_to_peer" } else { "master_worker" };
    missing(&mut object, &mut recorded, "pattern", Value::is_string, pattern);
    let orchestrator = identifier(roles, roles.main, object.below("orchestrator"), origin)?;
    object.set("orchestrator", orchestrator);
    let list = participants(roles, recorded.remove("participants").as_ref(), origin)?;
    object.set("participants", list);
    object.rest_of::<Collaboration>(recorded);
    Ok(object.value())
}

/// The participants: the recorded ones in their order, then all others that the document mentions.
fn participants(
    roles: &Roles<'_>,
    recorded: Option<&Value>,
    origin: &Origin,
) -> Result<Vec<Value>, BodyError> {
    let session = roles.reading.session;
    let mut listed: Vec<Value> = Vec::new();
    let mut known = BTreeSet::new();
    if let Some(Value::Array(items)) = recorded {
        for item in items {
            // An item is the id of an agent in the log, or a whole identifier where it differs from
            // that of the sub-session.
            if fits::<AgentIdentifier>(item) {
                known.insert(item["agent_id"].as_str().unwrap_or_default().to_owned());
                listed.push(item.clone());
            } else if let Some(agent) = item.as_str().and_then(|id| session.find_agent(id)) {
                let pointer = format!("/collaboration/participants/{}", listed.len());
                known.insert(agent_id(roles, agent)?);
                listed.push(identifier(roles, Some(agent), pointer, origin)?);
            }
        }
    }
    known.extend(roles.main.map(|main| agent_id(roles, main)).transpose()?);
    let quiet = Origin::default();
    let of = |agent: Option<AgentIx>| identifier(roles, agent, String::new(), &quiet);
    let mut add = |whole: Value| {
        let id = whole.get("agent_id").and_then(Value::as_str).unwrap_or_default();
        if known.insert(id.to_owned()) {
            origin.derived(&format!("/collaboration/participants/{}", listed.len()));
            listed.push(whole);
        }
    };
    let unlisted = roles.subs.iter().filter(|_| !roles.is_document || recorded.is_none());
    for sub in unlisted {
        add(sub_identifier(roles, sub, String::new(), &quiet)?);
    }
    for &event in &roles.messages {
        let entry = session.entry(event);
        add(of(roles.sender(entry))?);
        add(of(entry.agent())?);
    }
    if recorded.is_none() {
        for agent in roles.others() {
            add(of(Some(agent))?);
        }
    }
    Ok(listed)
}
