use super::*;
use crate::fixture::{call, calls, read, result};

fn links(log: &[String]) -> String {
    let links = read(log, |reading| context_links(reading).unwrap());
    let line = |link: &ContextLink| {
        let (from, to) = (&link.from_call, &link.to_call);
        let ContextLink { kind, source, basis, rule, .. } = link;
        format!("{from} -> {to}: {kind} of {source}, {}, {}", basis.as_str(), rule.as_str())
    };
    links.iter().map(line).collect::<Vec<_>>().join("\n")
}

const READ: (&str, &str) = ("Read", r#"{"file_path":"a.rs"}"#);
const EDIT: (&str, &str) = ("Edit", r#"{"file_path":"a.rs","old_string":"a","new_string":"b"}"#);
const OTHER: (&str, &str) = ("Edit", r#"{"file_path":"b.rs","old_string":"a","new_string":"b"}"#);

#[test]
fn what_was_read_and_then_changed_is_a_line() {
    insta::assert_snapshot!(links(&calls("a", &[READ, READ, OTHER, EDIT, EDIT])), @r"
    c2 -> c4: file_content of a.rs, inferred, same-file
    c2 -> c5: file_content of a.rs, inferred, same-file
    ");
}

#[test]
fn what_was_changed_and_then_read_is_none() {
    assert_eq!(links(&calls("a", &[EDIT, READ])), "");
}

#[test]
fn a_recorded_contribution_leads_to_the_change_of_its_file() {
    let mut log = vec![
        call("a", "c1", READ.0, READ.1, ""),
        result("a", "c1", r#","context_contribution":{"type":"file_content","summary":"props"}"#),
    ];
    log.push(call("a", "c2", "Bash", r#"{"command":"ls"}"#, ""));
    log.push(result("a", "c2", ""));
    log.push(call("a", "c3", EDIT.0, EDIT.1, ""));
    log.push(result("a", "c3", ""));
    assert_eq!(links(&log), "c1 -> c3: file_content of a.rs, recorded, same-file");
    let links = read(&log, |reading| context_links(reading).unwrap());
    insta::assert_snapshot!(serde_json::to_string(&links[0]).unwrap(), @r#"{"from_call":"c1","to_call":"c3","from_agent":"a","to_agent":"a","type":"file_content","source":"a.rs","summary":"props","basis":"recorded","rule":"same-file"}"#);
}

#[test]
fn another_contribution_leads_to_what_the_agent_does_next() {
    let log = vec![
        call("a", "c1", "Grep", r#"{"pattern":"retry"}"#, ""),
        call("b", "x", "Read", "{}", ""),
        call("a", "c2", "Glob", "{}", ""),
        result("a", "c1", r#","context_contribution":"three places""#),
        result("a", "c2", ""),
        call("a", "c3", "Read", "{}", ""),
    ];
    insta::assert_snapshot!(
        links(&log),
        @r#"c1 -> c3: knowledge of Grep(pattern: "retry"), inferred, next-call"#
    );
}

#[test]
fn what_another_agent_read_feeds_a_change_too() {
    let mut log = calls("scout", &[READ]);
    log.push(call("main", "m1", EDIT.0, EDIT.1, ""));
    log.push(result("main", "m1", ""));
    assert_eq!(links(&log), "c1 -> m1: file_content of a.rs, inferred, same-file");
}
