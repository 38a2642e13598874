//! Which agents a trace has, and which of them each span belongs to.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use crate::spans::agent::AgentBuilder;
use crate::spans::tree::Tree;
use crate::spans::{Kind, Span};

/// The agents, and which of them each span belongs to.
pub(super) struct Cast<'a> {
    pub(super) agents: Vec<AgentBuilder<'a>>,
    pub(super) of_span: Vec<usize>,
}

impl<'a> Cast<'a> {
    pub(super) fn new(spans: &[Span<'a>], tree: &Tree) -> Self {
        let mut cast = Self { agents: Vec::new(), of_span: vec![0; spans.len()] };
        let has_no_agent = |at: &usize| {
            let works = spans.get(*at).is_some_and(|span| span.kind != Kind::Other);
            works && tree.node(*at).agent.is_none()
        };
        // Spans without an agent belong to the main one; if there are none, the first agent is
        // that.
        if tree.order.iter().any(has_no_agent) || !spans.iter().any(|it| it.kind == Kind::Agent) {
            cast.agents.push(AgentBuilder::new(Cow::Borrowed("main")));
        }
        let mut by_key: BTreeMap<Cow<'a, str>, usize> = BTreeMap::new();
        let mut of_agent: BTreeMap<usize, usize> = BTreeMap::new();
        let agents = tree.order.iter().filter(|at| tree.node(**at).agent == Some(**at));
        // By time, an agent may have begun before the agent around it.
        let mut waiting: VecDeque<usize> = agents.copied().collect();
        let mut turns = waiting.len().saturating_mul(2);
        while let Some(at) = waiting.pop_front() {
            let (Some(span), node) = (spans.get(at), tree.node(at)) else { continue };
            let above = node.above.and_then(|above| of_agent.get(&above)).copied();
            turns = turns.saturating_sub(1);
            if node.above.is_some() && above.is_none() && turns > 0 {
                waiting.push_back(at);
                continue;
            }
            let key = span.text("key").filter(|_| node.above.is_none());
            let around = above.and_then(|above| cast.agents.get(above));
            let is_same =
                |it: &&AgentBuilder<'a>| it.name.is_some() && it.name == span.text("agent");
            let known = match &key {
                Some(key) => by_key.get(key).copied(),
                None => above.filter(|_| node.within.is_none() && around.filter(is_same).is_some()),
            };
            let parent_id = around.map(|around| around.id.clone());
            let agent = known.unwrap_or_else(|| {
                let id = span.text("id").unwrap_or_else(|| match cast.agents.is_empty() {
                    true => Cow::Borrowed("main"),
                    false => span.id.clone(),
                });
                let mut agent = AgentBuilder::new(id);
                agent.name = span.text("agent");
                agent.parent = above;
                agent.parent_id = parent_id;
                agent.within = node.within;
                cast.agents.push(agent);
                cast.agents.len() - 1
            });
            by_key.extend(key.map(|key| (key, agent)));
            of_agent.insert(at, agent);
        }
        for (at, slot) in cast.of_span.iter_mut().enumerate() {
            let agent = tree.node(at).agent.and_then(|agent| of_agent.get(&agent));
            *slot = agent.copied().unwrap_or_default();
        }
        cast.look_ahead(spans, tree);
        cast
    }

    /// Finds out in advance which calls are announced and which have a span.
    fn look_ahead(&mut self, spans: &[Span<'a>], tree: &Tree) {
        let mut answers: BTreeMap<usize, Cow<'a, str>> = BTreeMap::new();
        for &at in &tree.order {
            let Some(span) = spans.get(at) else { continue };
            let agent = self.of_span.get(at).and_then(|agent| self.agents.get_mut(*agent));
            let Some(agent) = agent else { continue };
            match span.kind {
                Kind::Chat if tree.node(at).same_request.is_none() => {
                    agent.has_words |= !span.input.is_empty() || !span.output.is_empty();
                    for said in span.output.iter().chain(&span.input) {
                        agent.announce(said);
                    }
                }
                Kind::Tool => {
                    let call = agent.call_of(span);
                    agent.done.insert(call.clone());
                    answers.insert(at, call);
                }
                Kind::Agent | Kind::Chat | Kind::Other => {}
            }
        }
        for agent in &mut self.agents {
            agent.call = agent.within.and_then(|tool| answers.get(&tool)).cloned();
        }
    }
}
