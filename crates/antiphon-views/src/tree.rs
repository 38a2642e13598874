//! Who made whom.

use antiphon_model::{AgentIx, Parent, Rule, Session};
use serde::Serialize;

use crate::outline::{Node, outline};

/// The agents of a session. Several roots are normal.
#[derive(Debug, Serialize)]
pub struct Tree {
    pub session_id: String,
    pub agents: Vec<TreeNode>,
}

#[derive(Debug, Serialize)]
pub struct TreeNode {
    pub agent_id: String,
    pub name: String,
    pub parent_id: Option<String>,
    /// `recorded` or `inferred`; a root of which nothing is said has neither.
    pub basis: Option<&'static str>,
    pub rule: Option<Rule>,
    /// How many calls could have made it, where that is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    pub language_model: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Whether the log has its creation; otherwise it is known by what it said.
    pub created: bool,
    pub messages: usize,
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
        Parent::Recorded { .. } => (Some("recorded"), None, None),
        Parent::Inferred { rule, candidates, .. } => {
            (Some("inferred"), Some(rule), Some(candidates).filter(|&count| count > 1))
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
