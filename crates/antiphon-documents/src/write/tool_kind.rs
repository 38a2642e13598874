//! Guesses the category of an unknown tool from the words of its name.
//!
//! The standard requires a category for every call, and there are countless tools of MCP servers.
//! The guess is listed as derived.

use antiphon_views::{Category, words};

/// The name of a tool that only reads usually says so; any other tool may change something.
pub(super) fn guess(tool: &str) -> Category {
    let mut words = words(tool);
    let is = |word: &str, of: &[&str]| of.contains(&word);
    match words.find_map(|word| match word.as_str() {
        word if is(word, &LOOKS) => Some(Category::Perception),
        word if is(word, &ASKS) => Some(Category::Interaction),
        word if is(word, &PLANS) => Some(Category::Planning),
        word if is(word, &MANAGES) => Some(Category::TaskManagement),
        word if is(word, &ACTS) => Some(Category::Action),
        _ => None,
    }) {
        Some(category) => category,
        None => Category::Action,
    }
}

const LOOKS: [&str; 26] = [
    "get",
    "list",
    "read",
    "search",
    "find",
    "fetch",
    "query",
    "view",
    "show",
    "look",
    "lookup",
    "describe",
    "inspect",
    "browse",
    "load",
    "open",
    "grep",
    "glob",
    "retrieve",
    "snapshot",
    "screenshot",
    "count",
    "status",
    "resolve",
    "analyze",
    "recall",
];
const ASKS: [&str; 7] = ["ask", "question", "discuss", "agent", "delegate", "message", "chat"];
const PLANS: [&str; 3] = ["plan", "think", "thinking"];
const MANAGES: [&str; 3] = ["todo", "todos", "task"];
const ACTS: [&str; 16] = [
    "create", "write", "edit", "update", "delete", "remove", "set", "add", "run", "execute",
    "send", "post", "put", "apply", "move", "click",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_a_tool_does() {
        let check = |tool: &str, category: Category| assert_eq!(guess(tool), category, "{tool}");
        check("mcp__docs__search_pages", Category::Perception);
        check("mcp__github__create_issue", Category::Action);
        check("browserTakeScreenshot", Category::Perception);
        check("consultAgent", Category::Interaction);
        check("sequential_thinking", Category::Planning);
        check("写代码", Category::Action);
        check("", Category::Action);
    }
}
