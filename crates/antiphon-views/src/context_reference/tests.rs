use super::*;
use crate::fixture::{call, calls, read, result};

fn references(log: &[String]) -> String {
    let references = read(log, |reading| {
        let calls: Vec<CallIx> = reading.session.calls().map(|(ix, _)| ix).collect();
        context_references(reading, &calls).unwrap()
    });
    let lines = references.iter().map(|it| serde_json::to_string(it).unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn files_are_read_modified_or_first_the_one_and_then_the_other() {
    let log = calls(
        "a",
        &[
            ("Read", r#"{"file_path":"CLAUDE.md"}"#),
            ("Read", r#"{"file_path":"src/a.rs"}"#),
            ("Edit", r#"{"file_path":"src/a.rs","old_string":"a","new_string":"b"}"#),
            ("Write", r#"{"file_path":"src/b.rs","content":""}"#),
            ("Read", r#"{"file_path":"src/b.rs"}"#),
            ("Bash", r#"{"command":"cat src/c.rs"}"#),
        ],
    );
    insta::assert_snapshot!(references(&log), @r#"
    {"type":"claude_md","source":"CLAUDE.md","relevance":"medium","usage_mode":"read"}
    {"type":"file","source":"src/a.rs","relevance":"high","usage_mode":"read_then_modified"}
    {"type":"file","source":"src/b.rs","relevance":"high","usage_mode":"modified"}
    "#);
}

#[test]
fn the_category_says_what_an_unknown_tool_does_with_its_file() {
    let log = [
        call("a", "1", "look", r#"{"file_path":"x"}"#, r#","category":"perception""#),
        result("a", "1", ""),
        call("a", "2", "change", r#"{"file_path":"x"}"#, r#","category":"action""#),
        result("a", "2", ""),
        call("a", "3", "odd", r#"{"file_path":"y"}"#, ""),
        result("a", "3", ""),
        call("a", "4", "Read", r#"{"file_path":"z"}"#, ""),
        result("a", "4", r#","is_error":true"#),
    ];
    insta::assert_snapshot!(references(&log), @r#"{"type":"file","source":"x","relevance":"high","usage_mode":"read_then_modified"}"#);
}

#[test]
fn a_path_says_what_it_is() {
    for (path, expected) in [
        ("/project/CLAUDE.md", ContextType::ClaudeMd),
        ("claude.md", ContextType::ClaudeMd),
        ("not-claude.md", ContextType::File),
        ("rules/workflow/RULE-001.md", ContextType::Rule),
        ("x/standards/STD-001.md", ContextType::Standard),
        (".claude/skills/x/SKILL.md", ContextType::Skill),
        ("docs\\specs\\SPEC-003.md", ContextType::Spec),
        ("data/capability-2026.json", ContextType::Capability),
        ("src/rules.rs", ContextType::File),
    ] {
        assert_eq!(ContextType::of_path(path), expected, "{path}");
    }
}
