//! `view phases` and `annotate`: what calls were for.

use crate::run::{Done, append, file, folder, run_with, workspace};

/// A session that looks, changes something, and checks it; a sub-agent has a call, too.
fn session(folder: &tempfile::TempDir) -> String {
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    let call = |agent: &str, id: &str, tool: &str, arguments: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        format!(
            "{{\"agent_id\":\"{agent}\",\"role\":\"assistant\",\"tool_calls\":[{{\"id\":\"{id}\",\"function\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}]}}\n{{\"agent_id\":\"{agent}\",\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"ok\"}}\n"
        )
    };
    let events = [
        "{\"event_type\":\"agent_created\",\"agent_id\":\"main\",\"name\":\"Main\"}\n".to_owned(),
        call("main", "tool-001", "Glob", "{\"pattern\":\"**/*.rs\"}"),
        call("main", "tool-002", "Read", "{\"file_path\":\"rules/a.md\"}"),
        call("main", "tool-003", "Read", "{\"file_path\":\"src/a.rs\"}"),
        "{\"event_type\":\"agent_created\",\"agent_id\":\"sub\",\"name\":\"Sub\",\"parent_id\":\"main\"}\n".to_owned(),
        call("sub", "sub-001", "Grep", "{\"pattern\":\"x\"}"),
        call("main", "tool-004", "Edit", "{\"file_path\":\"src/a.rs\",\"old_string\":\"a\",\"new_string\":\"b\"}"),
        call("main", "tool-005", "Bash", "{\"command\":\"cargo test\"}"),
    ];
    append(log, &events.concat());
    log.to_owned()
}

/// Replaces what differs from run to run.
fn steady(done: &Done) -> String {
    let text = done.to_string();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("\"annotated_at\":\"") {
        out.push_str(&format!("{before}\"annotated_at\":\"NOW"));
        rest = after.split_once('"').map_or("", |(time, _)| &after[time.len()..]);
    }
    out + rest
}

fn annotate(log: &str, words: &[&str]) -> Done {
    run_with(&[&["annotate", log], words].concat(), b"")
}

#[test]
fn phases_are_derived_where_none_is_recorded() {
    let folder = folder();
    let log = session(&folder);
    insta::assert_snapshot!(run_with(&["view", "phases", &log], b""));
    insta::assert_snapshot!("derived_as_json", run_with(&["view", "phases", &log, "--json"], b""));
}

#[test]
fn every_agent_has_phases() {
    let folder = folder();
    let log = session(&folder);
    let view = |words: &[&str]| run_with(&[&["view", "phases", &log], words].concat(), b"").out;
    let heads = |text: &str| -> Vec<String> {
        let heads = text.lines().filter(|line| line.contains(" confidence "));
        heads.map(|line| line.split("  ").take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    let all = ["explore Main", "execute Main", "verify Main", "explore Sub"];
    assert_eq!(heads(&view(&[])), all);
    assert_eq!(heads(&view(&["--agent", "Main"])), all[..3]);
    assert_eq!(heads(&view(&["--agent", "Sub"])), all[3..]);
}

#[test]
fn a_person_says_what_calls_were_for() {
    let folder = folder();
    let log = session(&folder);
    let before = std::fs::read_to_string(&log).unwrap();
    let phase = ["--phase", "explore", "--from", "tool-001", "--to", "tool-003"];
    let more = ["--confidence", "high", "--description", "Looked around.\nTwice."];
    assert_eq!(annotate(&log, &[&phase[..], &more].concat()).to_string(), "msg_015\n");
    let by_agent = ["--phase", "execute", "--from", "tool-004", "--by", "agent"];
    assert_eq!(annotate(&log, &by_agent).to_string(), "msg_016\n");
    assert_eq!(annotate(&log, &["--note", "Why no lint?"]).to_string(), "msg_017\n");
    let of_sub = ["--note", "Too wide", "--from", "sub-001"];
    assert_eq!(annotate(&log, &of_sub).to_string(), "msg_018\n");
    insta::assert_snapshot!(run_with(&["view", "phases", &log], b""));
    insta::assert_snapshot!(
        "said_as_json",
        steady(&run_with(&["view", "phases", &log, "--json"], b""))
    );
    let after = std::fs::read_to_string(&log).unwrap();
    assert!(after.starts_with(&before), "nothing that was written is changed");
    assert!(after.contains("\"agent\":\"sub\",\"annotation\":{\"annotation_id\":\"ann-004\""));
    assert_eq!(run_with(&["verify", &log], b"").exit, 0);
}

#[test]
fn derived_phases_are_recorded_once_and_as_derived() {
    let folder = folder();
    let log = session(&folder);
    let derived = run_with(&["view", "phases", &log], b"").out;
    assert_eq!(annotate(&log, &["--auto", "--agent", "Sub"]).to_string(), "msg_015\n");
    assert_eq!(annotate(&log, &["--auto"]).to_string(), "msg_016\nmsg_017\nmsg_018\n");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&run_with(&["view", "phases", &log], b"").out), sorted(&derived));
    insta::assert_snapshot!(annotate(&log, &["--auto"]), @r"
    --- stderr
    phases are already recorded, the first in event `msg_015`
    --- exit 1
    ");
    let recorded = run_with(&["view", "phases", &log, "--agent", "Sub", "--json"], b"").out;
    assert!(
        recorded.contains(
            "\"annotation_id\":\"ann-001\",\"phase_type\":\"explore\",\"annotated_by\":\"auto\""
        ),
        "{recorded}"
    );
}

#[test]
fn what_cannot_be_annotated_is_told_and_changes_nothing() {
    let folder = folder();
    let log = session(&folder);
    let before = std::fs::read_to_string(&log).unwrap();
    let check = |words: &[&str]| annotate(&log, words).to_string();
    insta::assert_snapshot!(check(&["--phase", "plan", "--from", "tool-01"]), @r"
    --- stderr
    error: there is no call `tool-01`
    hint: did you mean tool-001, tool-002, tool-003?
    --- exit 1
    ");
    insta::assert_snapshot!(check(&["--phase", "plan", "--from", "tool-002", "--to", "tool-001"]), @r"
    --- stderr
    error: the call `tool-001` comes before `tool-002`
    --- exit 2
    ");
    insta::assert_snapshot!(check(&["--phase", "plan", "--from", "tool-001", "--agent", "Sub"]), @r"
    --- stderr
    error: there is no call `tool-001`
    hint: did you mean tool-001, tool-002, tool-003?
    --- exit 1
    ");
    for words in [&[][..], &["--phase", "plan"], &["--phase", "x", "--from", "tool-001"]] {
        assert_eq!(annotate(&log, words).exit, 2, "{words:?}");
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), before);
    let missing = folder.path().join("missing.jsonl");
    assert_eq!(annotate(missing.to_str().unwrap(), &["--auto"]).exit, 4);
    assert!(!missing.exists());
}

#[test]
fn another_programs_file_is_annotated_only_if_it_is_kept() {
    let folder = folder();
    let sample = "crates/antiphon-formats/fixtures/codex/full/input.jsonl";
    let text = std::fs::read(workspace().join(sample)).unwrap();
    let theirs = file(&folder, "rollout.jsonl", &text);
    let done = annotate(&theirs, &["--note", "x"]);
    insta::assert_snapshot!(done.to_string().replace(folder.path().to_str().unwrap(), "FOLDER"), @r"
    --- stderr
    error: `FOLDER/rollout.jsonl` is an agent's file (codex) that has not been synced; such files are never modified
    hint: run `antiphon sync`, then annotate the session again
    --- exit 4
    ");
    assert_eq!(std::fs::read(&theirs).unwrap(), text);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_range_that_points_nowhere_is_shown_as_broken() {
    let folder = folder();
    let log = session(&folder);
    append(
        &log,
        "{\"event_type\":\"annotation\",\"annotation\":{\"annotation_id\":\"a\",\"phase_type\":\"verify\",\"tool_call_range\":[\"tool-005\",\"tool-999\"],\"decisions\":[{\"type\":\"skip\",\"description\":\"no lint\"}]}}\n",
    );
    insta::assert_snapshot!(run_with(&["view", "phases", &log], b""), @r#"
    verify  tool-005 … tool-999
      broken: there is no call `tool-999`
        decided skip · no lint

    explore  Sub  low confidence · by auto · 1 call  sub-001
      Grep(pattern: "x")
    "#);
}

#[test]
fn an_annotation_does_not_open_a_session_that_has_ended() {
    let folder = folder();
    let log = session(&folder);
    append(&log, "{\"event_type\":\"session_ended\",\"outcome\":\"completed\"}\n");
    assert_eq!(annotate(&log, &["--note", "afterwards"]).exit, 0);
    assert_eq!(run_with(&["tail", &log, "--until-end"], b"").exit, 0);
    assert!(run_with(&["show", &log], b"").out.contains("completed"));
}
