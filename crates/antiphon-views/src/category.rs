//! The category of a call: one of the five categories of STD-001.
//!
//! A recorded category wins. Otherwise the tool's name decides, and for a shell the command: one
//! that only reads is perception, any other is action.

use antiphon_model::{BodyError, CallIx};
use serde::Serialize;

use crate::shell::Script;
use crate::{Reading, shell};
use antiphon_model::Arguments;

/// What kind of thing a call does, in the categories of STD-001.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// It looks at something, and changes nothing.
    Perception,
    /// It changes something.
    Action,
    /// It talks to a person or to another agent.
    Interaction,
    /// It makes a plan.
    Planning,
    /// It keeps a list of tasks.
    TaskManagement,
}

impl Category {
    /// The standard's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Perception => "perception",
            Self::Action => "action",
            Self::Interaction => "interaction",
            Self::Planning => "planning",
            Self::TaskManagement => "task_management",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        let all = [
            Self::Perception,
            Self::Action,
            Self::Interaction,
            Self::Planning,
            Self::TaskManagement,
        ];
        all.into_iter().find(|category| category.as_str() == word)
    }
}

/// The category of a call; `None` for an unknown tool.
pub fn category(reading: &Reading<'_>, ix: CallIx) -> Result<Option<Category>, BodyError> {
    let session = reading.session;
    if let Some(recorded) = session.call_category(ix).and_then(Category::from_word) {
        return Ok(Some(recorded));
    }
    let tool = session.tool_name(ix);
    if shell::is_shell(tool) {
        let looks = Script::of(reading, ix)?.is_some_and(|script| script.only_looks());
        return Ok(Some(if looks { Category::Perception } else { Category::Action }));
    }
    if matches!(tool, "str_replace_editor" | "str_replace_based_edit_tool") {
        let views = Arguments::of(reading, ix)?.text("command").as_deref() == Some("view");
        return Ok(Some(if views { Category::Perception } else { Category::Action }));
    }
    Ok(by_name(tool))
}

/// The category of a tool, by the names that agents give their tools.
fn by_name(tool: &str) -> Option<Category> {
    Some(match tool {
        // Claude Code
        "Read" | "Glob" | "Grep" | "LSP" | "LS" | "WebFetch" | "WebSearch" | "NotebookRead"
        | "BashOutput" | "TaskOutput" | "ToolSearch" | "ListMcpResourcesTool"
        | "ReadMcpResourceTool"
        // Codex, Gemini, Qwen
        | "view_image" | "read_file" | "list_dir" | "grep_files" | "web_search" | "tool_search"
        | "read_many_files" | "list_directory" | "search_file_content" | "grep_search" | "web_fetch"
        | "google_web_search"
        // OpenCode, Pi, Copilot, Cline, Cursor
        | "read" | "glob" | "grep" | "find" | "ls" | "list" | "lsp" | "webfetch" | "websearch"
        | "codesearch" | "view" | "search_files" | "list_files" | "list_code_definition_names"
        | "codebase_search" | "file_search" => Category::Perception,

        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "KillShell" | "KillBash"
        | "apply_patch" | "write_stdin" | "write_file" | "replace"
        | "write" | "edit" | "multiedit" | "patch" | "create" | "write_to_file" | "replace_in_file"
        | "edit_file" | "create_file" | "delete_file" | "search_replace" => Category::Action,

        "Task" | "Agent" | "AskUserQuestion" | "SendMessage"
        | "spawn_agent" | "send_input" | "resume_agent" | "close_agent" | "request_user_input"
        | "task" | "agent" | "discuss" | "question" | "ask_user" | "ask_followup_question"
        | "new_task" => Category::Interaction,

        "EnterPlanMode" | "ExitPlanMode" | "enter_plan_mode" | "exit_plan_mode"
        | "plan_mode_respond" => Category::Planning,

        "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "TaskStop" | "TodoWrite" | "TodoRead"
        | "update_plan" | "todo_list" | "write_todos" | "todo_write" | "todowrite" | "todoread"
        | "update_todo_list" => Category::TaskManagement,

        _ => return None,
    })
}

#[cfg(test)]
mod tests;
