//! `view tree`.

use antiphon_views::{FactBasis, TreeNode, tree};

use crate::cli::SessionArgs;
use crate::failure::Outcome;
use crate::terminal::{Page, Style, count};

pub(crate) fn run(args: &SessionArgs) -> anyhow::Result<Outcome> {
    let opened = super::open(args)?;
    let tree = tree(&opened.session, &opened.id());
    super::present(&opened, args.json, &tree, |page, tree| print_nodes(page, &tree.agents))
}

/// Prints agents with their branches.
pub(crate) fn print_nodes(page: &mut Page, roots: &[TreeNode]) -> anyhow::Result<()> {
    for root in roots {
        line(page, root)?;
        below(page, root, "")?;
    }
    Ok(())
}

// The view bounds the depth of the tree, and so this recursion.
fn below(page: &mut Page, parent: &TreeNode, indent: &str) -> anyhow::Result<()> {
    let last = parent.children.len().saturating_sub(1);
    for (at, child) in parent.children.iter().enumerate() {
        let (branch, deeper) = if at == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        page.faint(&format!("{indent}{branch}"));
        line(page, child)?;
        below(page, child, &format!("{indent}{deeper}"))?;
    }
    Ok(())
}

fn line(page: &mut Page, node: &TreeNode) -> anyhow::Result<()> {
    page.add(Style::Name, &node.name);
    if node.name != node.agent_id {
        page.faint(&format!("  {}", node.agent_id));
    }
    page.plain(&format!("  {}", count(node.messages, "message")));
    if let Some(status) = &node.status {
        page.plain(&format!(", {status}"));
    }
    if let Some(model) = &node.language_model {
        page.faint(&format!("  {model}"));
    }
    match (node.basis, node.rule) {
        (Some(FactBasis::Inferred), Some(rule)) => {
            page.faint(&format!("  (parent inferred: {}", rule.as_str()));
            if let Some(candidates) = node.candidates {
                page.faint(&format!(", the oldest of {candidates} candidates"));
            }
            page.faint(")");
        }
        _ if !node.created => {
            page.faint("  (no creation event)");
        }
        _ => {}
    }
    page.end()
}
