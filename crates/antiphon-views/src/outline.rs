//! Agents as nested nodes: the order and the depth that every tree of agents has.

use antiphon_model::{AgentIx, Session};

/// Deeper than this a tree is shown flat; a node's `parent_id` still tells. A hostile log nests
/// as deep as it is long, and whoever prints a tree recurses.
pub(crate) const DEPTH_MAX: usize = 100;

/// A node that holds those below it.
pub(crate) trait Node {
    /// Takes in a child that has taken in all of its own.
    fn adopt(&mut self, child: Self);
}

/// One node per agent, each below the agent that made it, in the order of their first mention.
/// Several roots are normal.
pub(crate) fn outline<N: Node>(session: &Session, mut node: impl FnMut(AgentIx) -> N) -> Vec<N> {
    let children = session.children();
    let mut roots = Vec::new();
    // The nodes from a root to the one that was added last.
    let mut path = Vec::new();
    for (root, agent) in session.agents() {
        if agent.parent.agent().is_some() {
            continue;
        }
        let mut waiting = vec![(root, 0)];
        while let Some((agent, depth)) = waiting.pop() {
            close(&mut path, depth, &mut roots);
            path.push(node(agent));
            let below = children.get(agent.index()).into_iter().flatten().rev();
            waiting.extend(below.map(|&child| (child, (depth + 1).min(DEPTH_MAX))));
        }
        close(&mut path, 0, &mut roots);
    }
    roots
}

/// Shortens the path to `depth` nodes; each that ends becomes its parent's child, or a root.
fn close<N: Node>(path: &mut Vec<N>, depth: usize, roots: &mut Vec<N>) {
    while path.len() > depth {
        let Some(done) = path.pop() else { return };
        match path.last_mut() {
            Some(parent) => parent.adopt(done),
            None => roots.push(done),
        }
    }
}
