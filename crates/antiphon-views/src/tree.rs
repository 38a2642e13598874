//! Which agent created which.

use antiphon_model::{AgentIx, Parent, Rule, Session};
use serde::Serialize;

use crate::FactBasis;
use crate::outline::{Node, outline};

/// The agents of a session. Several roots are normal.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The id of the session.
    pub session_id: String,
    /// The agents that no other agent created, each with those that it created.
    pub agents: Vec<TreeNode>,
}

/// An agent, with the agents that it created.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeNode {
    /// The id of the agent.
    pub agent_id: String,
    /// The name of the agent; its id, if it has no name.
    pub name: String,
    /// The id of the agent that created it.
    pub parent_id: Option<String>,
    /// Whether the parent is recorded or inferred; null for an agent without a parent.
    pub basis: Option<FactBasis>,
    /// The rule by which the parent was inferred.
    pub rule: Option<Rule>,
    /// How many calls could have created it, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// The model that it uses.
    pub language_model: Option<String>,
    /// How it ended, in the log's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Whether its creation is recorded; otherwise it is known from its messages.
    pub created: bool,
    /// The number of messages in its transcript.
    pub messages: usize,
    /// The agents that it created, in the order of their first mention.
    pub children: Vec<Self>,
}

/// The tree of agents, in the order of their first mention.
pub fn tree(session: &Session, session_id: &str) -> Tree {
    Tree { session_id: session_id.to_owned(), agents: outline(session, |ix| node(session, ix)) }
}

impl Node for TreeNode {
    fn adopt(&mut self, child: Self) {
        self.children.push(child);
    }
}

fn node(session: &Session, ix: AgentIx) -> TreeNode {
    let agent = session.agent(ix);
    let (basis, rule, candidates) = match agent.parent {
        Parent::None => (None, None, None),
        Parent::Recorded { .. } => (Some(FactBasis::Recorded), None, None),
        Parent::Inferred { rule, candidates, .. } => {
            let several = Some(candidates).filter(|&count| count > 1);
            (Some(FactBasis::Inferred), Some(rule), several)
        }
    };
    TreeNode {
        agent_id: session.agent_id(ix).to_owned(),
        name: session.agent_name(ix).to_owned(),
        parent_id: agent.parent.agent().map(|parent| session.agent_id(parent).to_owned()),
        basis,
        rule,
        candidates,
        language_model: agent.language_model().map(Into::into),
        status: agent.status().map(Into::into),
        created: agent.created.is_some(),
        messages: agent.transcript().filter(|&e| session.entry(e).role().is_some()).count(),
        children: Vec::new(),
    }
}
