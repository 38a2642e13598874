//! How spans are nested: the agent and the call of each, and whether spans inside repeat its
//! tokens.

use std::collections::VecDeque;

use antiphon_model::Timestamp;

use crate::spans::{Kind, Span};

/// What follows from a span's position in the tree.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    /// The nearest agent's span, itself included.
    pub(super) agent: Option<usize>,
    /// The nearest span of a tool above it, within that agent's.
    pub(super) tool: Option<usize>,
    /// For an agent's span: the agent's span around it, and the tool's span between them.
    pub(super) above: Option<usize>,
    pub(super) within: Option<usize>,
    /// A request inside this one, with no tool and no agent between: both are the same request.
    pub(super) same_request: Option<usize>,
    /// Whether a span below has tokens that these repeat.
    pub(super) repeats: bool,
}

#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// By time, parents before their children.
    pub(super) order: Vec<usize>,
}

impl Tree {
    pub(super) fn new(spans: &[Span<'_>], parents: &[Option<usize>]) -> Self {
        let down = downwards(parents);
        let mut nodes = vec![Node::default(); spans.len()];
        for &at in &down {
            let parent = parents.get(at).copied().flatten().filter(|parent| *parent != at);
            let above = parent.and_then(|parent| nodes.get(parent)).copied().unwrap_or_default();
            let mut node = Node { agent: above.agent, tool: above.tool, ..Node::default() };
            match spans.get(at).map(|span| span.kind) {
                Some(Kind::Agent) => {
                    node = Node { agent: Some(at), above: above.agent, ..Node::default() };
                    node.within = above.tool;
                }
                Some(Kind::Tool) => node.tool = Some(at),
                _ => {}
            }
            if let Some(slot) = nodes.get_mut(at) {
                *slot = node;
            }
        }
        upwards(spans, parents, &down, &mut nodes);
        let mut order = down;
        let start = |at: &usize| spans.get(*at).and_then(|span| span.start);
        order.sort_by_key(|at| start(at).unwrap_or(Timestamp::from_millis(i64::MAX)));
        Self { nodes, order }
    }

    pub(super) fn node(&self, at: usize) -> Node {
        self.nodes.get(at).copied().unwrap_or_default()
    }
}

/// Every span once, parents before children. Spans that contain one another in a circle come last.
fn downwards(parents: &[Option<usize>]) -> Vec<usize> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut queue = VecDeque::new();
    for (at, parent) in parents.iter().enumerate() {
        match parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(at),
            None => queue.push_back(at),
        }
    }
    let mut seen = vec![false; parents.len()];
    let mut order = Vec::with_capacity(parents.len());
    for next in 0..=parents.len() {
        while let Some(at) = queue.pop_front() {
            let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) else { continue };
            *seen = true;
            order.push(at);
            queue.extend(children.get(at).into_iter().flatten());
        }
        if seen.get(next) == Some(&false) {
            queue.push_back(next);
        }
    }
    order
}

/// Finds out what is below each span: tokens, and a request that is the same as this one.
fn upwards(spans: &[Span<'_>], parents: &[Option<usize>], down: &[usize], nodes: &mut [Node]) {
    // For each span: the request that it is or contains, and whether it contains tokens.
    let mut request: Vec<Option<usize>> = vec![None; spans.len()];
    let mut tokens = vec![false; spans.len()];
    for &at in down.iter().rev() {
        let (Some(span), Some(node)) = (spans.get(at), nodes.get_mut(at)) else { continue };
        let inner = request.get(at).copied().flatten();
        let below = tokens.get(at).copied().unwrap_or_default();
        node.repeats = below;
        if span.kind == Kind::Chat {
            node.same_request = inner;
        }
        let Some(parent) = parents.get(at).copied().flatten() else { continue };
        let own = match span.kind {
            Kind::Chat => inner.or(Some(at)),
            Kind::Other => inner,
            Kind::Agent | Kind::Tool => None,
        };
        if let (Some(slot), Some(own)) = (request.get_mut(parent), own) {
            slot.get_or_insert(own);
        }
        if let Some(slot) = tokens.get_mut(parent) {
            *slot |= below || span.usage.is_some();
        }
    }
}
