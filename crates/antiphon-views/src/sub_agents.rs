//! The agents that other agents created, with what each of them used.

use antiphon_model::{Role, Session};
use serde::Serialize;

use crate::{CostTree, Totals};

/// An agent that another agent created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubAgent {
    /// The id of the agent.
    pub agent_id: String,
    /// The name of the agent; its id, if it has no name.
    pub name: String,
    /// The id of the agent that created it.
    pub parent_id: Option<String>,
    /// What kind of agent it is, as recorded.
    pub agent_type: Option<String>,
    /// The models that it used.
    pub models: Vec<String>,
    /// The number of answers and calls in its transcript.
    pub messages: usize,
    /// What it used itself, without the agents that it created.
    #[serde(flatten)]
    pub own: Totals,
}

/// The agents that others created, each after the one that created it.
pub fn sub_agents(session: &Session, cost: &CostTree) -> Vec<SubAgent> {
    let mut found = Vec::new();
    // Popped from the end, so the last comes first.
    let mut waiting: Vec<_> = cost.tree.iter().rev().collect();
    while let Some(node) = waiting.pop() {
        waiting.extend(node.children.iter().rev());
        let Some(agent) = session.find_agent(&node.agent_id) else { continue };
        let facts = session.agent(agent);
        let Some(parent) = facts.parent.agent() else { continue };
        let is_its = |&event: &_| session.entry(event).role() == Some(Role::Assistant);
        found.push(SubAgent {
            agent_id: node.agent_id.clone(),
            name: node.name.clone(),
            parent_id: Some(session.agent_id(parent).to_owned()),
            agent_type: facts.agent_type().map(Into::into),
            models: node.models.clone(),
            messages: facts.transcript().filter(is_its).count(),
            own: node.own,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{agent, read, spent};
    use crate::{Prices, cost};

    #[test]
    fn each_has_what_it_used_itself() {
        let log = [
            agent("a", None),
            agent("b", Some("a")),
            agent("c", Some("b")),
            agent("d", Some("a")),
            spent("m1", "a", r#""input":1"#, ""),
            spent("m2", "b", r#""input":20"#, ""),
            spent("m3", "c", r#""input":300"#, ""),
        ];
        let found = read(&log, |reading| {
            sub_agents(reading.session, &cost(reading.session, "s", &Prices::bundled()))
        });
        let told: Vec<_> = found
            .iter()
            .map(|it| (&*it.agent_id, it.parent_id.as_deref(), it.own.usage.input, it.messages))
            .collect();
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(told, [("b", a, 20, 1), ("c", b, 300, 1), ("d", a, 0, 0)]);
    }
}
