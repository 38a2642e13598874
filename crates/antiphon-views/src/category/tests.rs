use super::*;
use crate::fixture::{call, read};

/// The category of one call; `more` is additional members of it.
fn of(tool: &str, arguments: &str, more: &str) -> Option<&'static str> {
    read(&[call("a", "c1", tool, arguments, more)], |reading| {
        let (ix, _) = reading.session.calls().next().unwrap();
        category(reading, ix).unwrap().map(Category::as_str)
    })
}

#[test]
fn the_names_of_the_standard_have_its_categories() {
    for (tool, expected) in [
        ("Read", "perception"),
        ("Glob", "perception"),
        ("WebSearch", "perception"),
        ("Write", "action"),
        ("NotebookEdit", "action"),
        ("Task", "interaction"),
        ("AskUserQuestion", "interaction"),
        ("ExitPlanMode", "planning"),
        ("TaskCreate", "task_management"),
    ] {
        assert_eq!(of(tool, "{}", ""), Some(expected), "{tool}");
    }
}

#[test]
fn a_tool_that_nobody_knows_has_none() {
    assert_eq!(of("mcp__files__Read", "{}", ""), None);
    assert_eq!(of("技术风险评估", "{}", ""), None);
}

#[test]
fn a_shell_only_looks_or_acts() {
    assert_eq!(of("Bash", r#"{"command":"ls | wc -l"}"#, ""), Some("perception"));
    assert_eq!(of("Bash", r#"{"command":"make"}"#, ""), Some("action"));
    assert_eq!(of("Bash", "{}", ""), Some("action"));
    assert_eq!(of("exec_command", r#"{"cmd":"git log"}"#, ""), Some("perception"));
    assert_eq!(of("shell", r#"{"command":["bash","-lc","cat x"]}"#, ""), Some("perception"));
    assert_eq!(of("exec", "await tools.exec_command({})", ""), Some("action"));
    assert_eq!(of("Bash", "{}", r#","raw_command":"git diff""#), Some("perception"));
}

#[test]
fn what_was_recorded_wins_if_the_standard_knows_it() {
    assert_eq!(of("Bash", "{}", r#","category":"perception""#), Some("perception"));
    assert_eq!(of("评估", "{}", r#","category":"planning""#), Some("planning"));
    assert_eq!(of("Read", "{}", r#","category":"magic""#), Some("perception"));
}
