//! Marks within texts, which say who speaks, which tool is called and what it returned.

use antiphon_model::json;

/// Texts of which every task's first message contains one.
pub(super) const MARKS: [&str; 5] =
    ["<task>", "<user_message>", "<environment_details>", "<feedback>", "[TASK RESUMPTION]"];

/// The tags around a person's words.
const HUMAN: [&str; 5] = ["task", "user_message", "feedback", "answer", "user_feedback"];

const TOOLS: [&str; 34] = [
    "access_mcp_resource",
    "act_mode_respond",
    "apply_diff",
    "ask_followup_question",
    "attempt_completion",
    "browser_action",
    "codebase_search",
    "condense",
    "delete_file",
    "edit_file",
    "execute_command",
    "fast_edit_file",
    "fetch_instructions",
    "generate_image",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "load_mcp_documentation",
    "new_rule",
    "new_task",
    "plan_mode_respond",
    "read_file",
    "replace_in_file",
    "report_bug",
    "run_slash_command",
    "search_and_replace",
    "search_files",
    "summarize_task",
    "switch_mode",
    "update_todo_list",
    "use_mcp_tool",
    "use_subagents",
    "web_fetch",
    "write_to_file",
];

/// The tool that a text calls: the first one whose tag it contains.
pub(super) fn called(text: &str) -> Option<&'static str> {
    text.match_indices('<').find_map(|(at, _)| {
        let tag = text.get(at + 1..)?;
        TOOLS
            .into_iter()
            .find(|tool| tag.strip_prefix(tool).is_some_and(|rest| rest.starts_with('>')))
    })
}

/// The tool whose result a text begins with: `[read_file for 'x'] Result:`. If the tool is known,
/// its arguments may go over several lines.
pub(super) fn result_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('[')?;
    let tool = rest.split([' ', ']']).next()?;
    let head = match TOOLS.contains(&tool) {
        true => rest,
        false => rest.lines().next().unwrap_or_default(),
    };
    head.contains("] Result:").then_some(tool)
}

/// Whether a person said it, and not the program on the person's behalf.
pub(super) fn is_human(text: &str) -> bool {
    let tag = text.trim_start().strip_prefix('<').and_then(|rest| rest.split_once('>'));
    tag.is_some_and(|(tag, _)| HUMAN.contains(&tag))
}

/// What a person said, without what the program wrapped around it.
pub(super) fn words(text: &str) -> &str {
    let inner = |tag: &&str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>")).map_or(rest, |(inner, _)| inner))
    };
    HUMAN.iter().find_map(inner).unwrap_or(text).trim()
}

/// The text of a raw text block.
pub(super) fn of(raw: &str) -> String {
    json::text(raw).unwrap_or_default().into_owned()
}
