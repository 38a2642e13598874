//! Agents as nested nodes, in the order and with the depth of every tree of agents.

use antiphon_model::{AgentIx, Session};

/// Below this depth a tree is flat; `parent_id` still has the parents. A hostile log may nest as
/// deep as it is long, and printing a tree recurses.
pub(crate) const DEPTH_MAX: usize = 100;

/// A node of a tree.
pub(crate) trait Node {
    /// Adds a child, whose own children are complete.
    fn adopt(&mut self, child: Self);
}

/// One node per agent, each below the agent that created it, in the order of their first mention.
/// Several roots are normal.
pub(crate) fn outline<N: Node>(session: &Session, node: impl FnMut(AgentIx) -> N) -> Vec<N> {
    let children = session.children();
    let roots = session.agents().filter(|(_, agent)| agent.parent.agent().is_none());
    let below = |agent: AgentIx| children.get(agent.index()).map_or(&[][..], Vec::as_slice);
    nest(roots.map(|(root, _)| root), below, node)
}

/// Nodes for `roots` and all below them, each within its parent.
pub(crate) fn nest<'t, T: Copy + 't, N: Node>(
    roots: impl IntoIterator<Item = T>,
    below: impl Fn(T) -> &'t [T],
    mut node: impl FnMut(T) -> N,
) -> Vec<N> {
    let mut done = Vec::new();
    // The nodes from a root to the one that was added last.
    let mut path = Vec::new();
    for root in roots {
        let mut waiting = vec![(root, 0)];
        while let Some((item, depth)) = waiting.pop() {
            close(&mut path, depth, &mut done);
            path.push(node(item));
            let below = below(item).iter().rev();
            waiting.extend(below.map(|&child| (child, (depth + 1).min(DEPTH_MAX))));
        }
        close(&mut path, 0, &mut done);
    }
    done
}

/// Shortens the path to `depth` nodes; each removed node becomes its parent's child, or a root.
fn close<N: Node>(path: &mut Vec<N>, depth: usize, roots: &mut Vec<N>) {
    while path.len() > depth {
        let Some(done) = path.pop() else { return };
        match path.last_mut() {
            Some(parent) => parent.adopt(done),
            None => roots.push(done),
        }
    }
}
