//! One status, wherever a session is shown; what a run amounts to; who fed whom.

use crate::home::Home;

fn json(home: &Home, arguments: &str) -> serde_json::Value {
    let done = home.run(arguments);
    assert_eq!((done.exit, done.err.as_str()), (0, ""), "{done}");
    serde_json::from_str(&done.out).unwrap()
}

/// A session of Claude Code that was asked something and then did `last`.
fn claude(home: &Home, id: &str, last: &str) {
    let line = |uuid: &str, second: u32, kind: &str, message: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{id}-{uuid}\",\"parentUuid\":null,\"sessionId\":\"{id}\",\"timestamp\":\"2026-01-01T10:00:{second:02}Z\",\"cwd\":\"/srv/shop\",\"version\":\"2.0.0\",\"message\":{message}}}\n"
        )
    };
    let asked = line("1", 0, "user", "{\"role\":\"user\",\"content\":\"Do it\"}");
    let answer =
        format!("{{\"id\":\"m\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{last}]}}");
    let did = line("2", 5, "assistant", &answer);
    home.write(&format!(".claude/projects/-srv-shop/{id}.jsonl"), &format!("{asked}{did}"));
}

const SAID: &str = "{\"type\":\"text\",\"text\":\"Done.\"}";
const CALLED: &str =
    "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Read\",\"input\":{\"file_path\":\"a.rs\"}}";

/// Records a session in the store, as a recorder would, under a key of its own.
fn recorded(home: &Home, key: char, events: &str) {
    let folder = format!("store/sessions/{}", key.to_string().repeat(32));
    std::fs::create_dir_all(home.path(&folder)).unwrap();
    let done = home.run_with(&format!("append {folder}"), events.as_bytes());
    assert_eq!(done.exit, 0, "{done}");
}

#[test]
fn a_session_has_one_status_everywhere() {
    let home = Home::new();
    claude(&home, "aaaaaaaa-0000-4000-8000-000000000001", SAID);
    claude(&home, "bbbbbbbb-0000-4000-8000-000000000002", CALLED);
    assert_eq!(home.run("sync").exit, 0);
    let end = |id: &str, more: &str| {
        format!(
            "{{\"event_type\":\"session_started\",\"session_id\":\"{id}\",\"timestamp\":\"2026-01-01T10:00:00Z\"}}\n\
             {{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"Do it\",\"timestamp\":\"2026-01-01T10:00:01Z\"}}\n{more}"
        )
    };
    recorded(
        &home,
        'c',
        &end(
            "cccc",
            "{\"event_type\":\"session_ended\",\"outcome\":\"cancelled\",\"reason\":\"timeout\"}\n",
        ),
    );
    recorded(
        &home,
        'd',
        &end("dddd", "{\"event_type\":\"session_ended\",\"outcome\":\"failed\"}\n"),
    );
    recorded(&home, 'e', &end("eeee", ""));
    let expected = [
        ("aaaa", "completed", "last-answer"),
        ("bbbb", "interrupted", "quiet"),
        ("cccc", "timed-out", "recorded-end"),
        ("dddd", "failed", "recorded-end"),
        ("eeee", "interrupted", "quiet"),
    ];
    let listed = json(&home, "ls --json");
    for (id, status, rule) in expected {
        let rows = listed.as_array().unwrap();
        let row = rows.iter().find(|row| row["id"].as_str().unwrap().starts_with(id)).unwrap();
        let page = json(&home, &format!("show {id} --json"));
        let spans = json(&home, &format!("view spans {id} --json"));
        for told in [row, &page] {
            assert_eq!((&told["status"], &told["status_rule"]), (&status.into(), &rule.into()));
        }
        assert_eq!(spans[0]["status"], status, "{id}");
        let only = json(&home, &format!("ls --status {status} --json"));
        let ids = only.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap());
        assert!(ids.into_iter().any(|found| found.starts_with(id)), "ls --status {status}");
    }
    assert_eq!(home.run("ls --status open").exit, 2);
}

#[test]
fn a_session_of_another_program_is_annotated_beside_its_copy() {
    let home = Home::new();
    let id = "bbbbbbbb-0000-4000-8000-000000000002";
    claude(&home, id, CALLED);
    let source = format!(".claude/projects/-srv-shop/{id}.jsonl");
    let theirs = home.text(&source);
    let early = home.run(&format!("annotate {source} --note early"));
    insta::assert_snapshot!(early, @r"
    --- stderr
    error: `.claude/projects/-srv-shop/bbbbbbbb-0000-4000-8000-000000000002.jsonl` is an agent's file (claude-code) that has not been synced; such files are never modified
    hint: run `antiphon sync`, then annotate the session again
    --- exit 4
    ");
    assert_eq!(home.run("sync").exit, 0);
    let phase = home.run("annotate bbbb --phase explore --from c1");
    assert_eq!(phase.to_string(), "annotation:001\n");
    let by_path = home.run(&format!("annotate {source} --note Why?"));
    assert_eq!((by_path.out.as_str(), by_path.exit), ("annotation:002\n", 0), "{by_path}");

    assert_eq!(home.text(&source), theirs, "nothing of theirs is changed");
    assert_eq!(home.run("export bbbb --as native").out, theirs);
    let phases = json(&home, "view phases bbbb --json");
    assert_eq!(
        (&phases[0]["phase_type"], &phases[0]["annotated_by"]),
        (&"explore".into(), &"human".into())
    );
    assert_eq!(phases[1]["note"], "Why?");
    // By its id, by its own path, by another path to it: it is one session.
    let from_here = format!("./.claude/projects/../projects/-srv-shop/{id}.jsonl");
    for name in ["bbbb", &source, &from_here] {
        assert_eq!(json(&home, &format!("view phases {name} --json")), phases, "{name}");
        let document = json(&home, &format!("export {name} --as std-001"));
        assert_eq!(document["phase_annotations"][0]["phase_type"], "explore", "{name}");
        let exported = home.run(&format!("export {name} --as antiphon")).out;
        assert!(exported.contains("\"note\":\"Why?\""), "{name}");
    }
    let other = format!("elsewhere/{id}.jsonl");
    home.write(&other, &theirs);
    let others = json(&home, &format!("view phases {other} --json"));
    assert!(others[0]["message_id"].is_null(), "a copy of somebody else's is another file");

    // Another generation of the copy keeps them.
    home.write(&source, &theirs.replace("Do it", "It"));
    assert_eq!(home.run("sync").exit, 0);
    assert_eq!(json(&home, "view phases bbbb --json").as_array().unwrap().len(), 2);
    let folder = home.list("store/archive/claude-code").remove(0);
    let log = format!("store/archive/claude-code/{folder}/annotations.jsonl");
    assert_eq!(home.run(&format!("verify {log}")).exit, 0, "a log like any other");
    assert_eq!(home.run(&format!("forget {id} --yes")).exit, 0);
    assert!(home.list("store/archive/claude-code").is_empty());
}

#[test]
fn derived_phases_are_recorded_all_or_none() {
    let home = Home::new();
    let call = |agent: &str, id: &str, tool: &str| {
        format!(
            "{{\"agent_id\":\"{agent}\",\"role\":\"assistant\",\"tool_calls\":[{{\"id\":\"{id}\",\"function\":{{\"name\":\"{tool}\",\"arguments\":\"{{}}\"}}}}]}}\n"
        )
    };
    let events: String = (0..40)
        .map(|n| call("main", &format!("c{n}"), if n % 2 == 0 { "Grep" } else { "Write" }))
        .collect();
    assert_eq!(home.run_with("append log.jsonl", events.as_bytes()).exit, 0);
    let mut child = home
        .command(&["annotate", "--auto", "log.jsonl"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody listens to what it says.
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    let phases = json(&home, "view phases log.jsonl --json");
    let phases = phases.as_array().unwrap();
    assert_eq!(phases.len(), 40);
    assert!(phases.iter().all(|phase| phase["message_id"].is_string()), "all are recorded");
    assert_eq!(home.run("annotate --auto log.jsonl").exit, 1, "once");

    // What was cut short is completed.
    let text = home.text("log.jsonl");
    let cut: String = text.split_inclusive('\n').take(60).collect();
    home.write("log.jsonl", &cut);
    assert_eq!(home.run("annotate --auto log.jsonl").out.lines().count(), 40 - (60 - 41));
    assert_eq!(home.run("annotate --auto log.jsonl").exit, 1);
    let again = json(&home, "view phases log.jsonl --json");
    assert_eq!(again.as_array().unwrap().len(), 40);
}

#[test]
fn a_run_is_all_of_its_sessions() {
    let home = Home::new();
    let session = |id: &str, more: &str| {
        format!(
            "{{\"event_type\":\"session_started\",\"session_id\":\"{id}\",\"title\":\"Task {id}\",\"run_id\":\"run-7\",\"timestamp\":\"2026-01-01T10:00:00Z\"}}\n{more}"
        )
    };
    let said = "{\"agent_id\":\"a\",\"role\":\"assistant\",\"content\":\"Done\",\"model\":\"claude-haiku-4-5\",\"usage\":{\"input\":1000,\"output\":10},\"timestamp\":\"2026-01-01T10:00:09Z\"}\n";
    let state = |status: &str, more: &str| {
        format!(
            "{{\"event_type\":\"run_status\",\"run_id\":\"run-7\",\"status\":\"{status}\"{more},\"timestamp\":\"2026-01-01T10:00:05Z\"}}\n"
        )
    };
    let branches = ",\"title\":\"Ship it\",\"feature_branch\":\"feat/x\",\"base_branch\":\"main\"";
    recorded(&home, 'a', &session("one", said));
    recorded(&home, 'b', &session("two", said));
    let run = json(&home, "view run run-7 --json");
    assert_eq!((&run["status"], &run["statusRule"]), (&"done".into(), &"sessions".into()));
    assert_eq!(run["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(run["spans"].as_array().unwrap().len(), 4);
    assert_eq!(run["totalUsage"]["inputTokens"], 2000);
    let states = [state("accepted", branches), state("merging", "")].concat();
    recorded(&home, 'c', &session("three", &(states + said)));
    let run = json(&home, "view run run-7 --json");
    assert_eq!((&run["status"], &run["featureBranch"]), (&"merging".into(), &"feat/x".into()));
    assert_eq!(run["history"].as_array().unwrap().len(), 2);
    insta::assert_snapshot!(home.run("view run run-7 --tree"), @r"
    Ship it  run-7
    merging · 3 sessions · $0.0032
    branch feat/x
    based on main
    accepted → merging

    Task one  coordinator  completed  9.0 s
      a  api-agent  completed  0 ms  1000 in, 10 out  $0.0011
    Task three  coordinator  completed  9.0 s
      a  api-agent  completed  0 ms  1000 in, 10 out  $0.0011
    Task two  coordinator  completed  9.0 s
      a  api-agent  completed  0 ms  1000 in, 10 out  $0.0011
    ");
    let log = format!("store/sessions/{}", "c".repeat(32));
    let one = json(&home, &format!("view run {log} --json"));
    assert_eq!((&one["runId"], one["sessions"].as_array().unwrap().len()), (&"run-7".into(), 1));
    let unknown = home.run("view run run-8");
    assert_eq!(unknown.exit, 1, "{unknown}");
}

#[test]
fn a_timeline_is_filtered_by_any_field() {
    let home = Home::new();
    let sample = crate::run::workspace().join("samples/resource-hook.jsonl");
    home.write("log.jsonl", &std::fs::read_to_string(sample).unwrap());
    let ids = |words: &str| -> Vec<String> {
        let rows = json(&home, &format!("view timeline log.jsonl --json {words}"));
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["message_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("--source system"), ["msg_009", "msg_015", "msg_021"]);
    assert_eq!(ids("--agent ResourceMonitor --role assistant"), ["msg_010", "msg_016", "msg_022"]);
    assert_eq!(ids("--tool grep --agent Searcher1"), ["msg_024", "msg_025"]);
    assert_eq!(ids("--kind agent_ended"), ["msg_030", "msg_035"]);
    assert_eq!(ids("--source Searcher1 --source Searcher2"), ["msg_029", "msg_034"]);
    assert_eq!(home.run("view timeline log.jsonl --source nobody").exit, 1);
    assert_eq!(home.run("view timeline log.jsonl --kind gap").out, "No matching events.\n");
    let unknown = home.run("view timeline log.jsonl --kind never");
    assert_eq!(unknown.exit, 2, "{unknown}");
    assert!(unknown.err.contains("[possible values: said, called, heard,"), "{unknown}");
}

/// The zero of a timeline is the session's beginning, whichever of its events are shown.
#[test]
fn a_filtered_timeline_begins_when_the_session_did() {
    let home = Home::new();
    let sample = crate::run::workspace().join("samples/resource-hook.jsonl");
    home.write("log.jsonl", &std::fs::read_to_string(sample).unwrap());
    let first_words = |words: &str| -> Vec<String> {
        let done = home.run(&format!("view timeline log.jsonl {words}"));
        assert_eq!(done.exit, 0, "{done}");
        let time = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
        done.out.lines().map(time).collect()
    };
    let all = first_words("");
    let late = first_words("--kind agent_ended");
    assert_eq!(late.len(), 2);
    assert!(late.iter().all(|time| all[1..].contains(time)), "{late:?} of {all:?}");
    assert!(!late.contains(&all[0]), "{late:?}: neither is at the beginning");
}

/// A chat without times is as old as its file.
#[test]
fn a_session_without_times_is_as_quiet_as_its_file() {
    let home = Home::new();
    let asked = r#"{"messages":[{"role":"user","content":"Do it"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{}"}}]}]}"#;
    home.write("chat.json", asked);
    let status = || json(&home, "show chat.json --json")["status"].clone();
    assert_eq!(status(), "running");
    let file = std::fs::File::options().write(true).open(home.path("chat.json")).unwrap();
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    file.set_modified(then).unwrap();
    assert_eq!(status(), "interrupted");
}

#[test]
fn a_log_without_times_is_as_quiet_as_its_file_in_a_list_and_on_a_page() {
    let home = Home::new();
    let log = "store/sessions/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/000001.jsonl";
    home.write(log, "{\"event_type\":\"session_started\",\"session_id\":\"timeless\"}\n{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"Do it\"}\n");
    let file = std::fs::File::options().write(true).open(home.path(log)).unwrap();
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    file.set_modified(then).unwrap();
    let listed = json(&home, "ls --json");
    let page = json(&home, "show timeless --json");
    assert_eq!((&listed[0]["status"], &page["status"]), (&"interrupted".into(), &page["status"]));
    assert_eq!(page["status"], "interrupted");
}

#[test]
fn lines_of_context_are_shown() {
    let home = Home::new();
    let call = |id: &str, tool: &str, arguments: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        format!(
            "{{\"agent_id\":\"main\",\"role\":\"assistant\",\"tool_calls\":[{{\"id\":\"{id}\",\"function\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}]}}\n{{\"agent_id\":\"main\",\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"ok\"}}\n"
        )
    };
    let events = call("c1", "Read", "{\"file_path\":\"a.rs\"}")
        + &call("c2", "Edit", "{\"file_path\":\"a.rs\",\"old_string\":\"a\",\"new_string\":\"b\"}");
    assert_eq!(home.run_with("append log.jsonl", events.as_bytes()).exit, 0);
    insta::assert_snapshot!(
        home.run("view context-links log.jsonl"),
        @"c1 ──▶ c2  a.rs  file_content (inferred: same-file)"
    );
    let links = json(&home, "view context-links log.jsonl --json");
    assert_eq!((&links[0]["from_call"], &links[0]["to_call"]), (&"c1".into(), &"c2".into()));
}

#[test]
fn the_role_in_which_a_command_was_recorded_is_its_agents() {
    let home = Home::new();
    let printed = "crates/antiphon-formats/fixtures/claude-stream/minimal/input.jsonl";
    let printed = std::fs::read_to_string(crate::run::workspace().join(printed)).unwrap();
    home.write("agent.jsonl", &printed);
    let roles = |command: &str| {
        let done = home.run(&format!("record --role planner -- {command}"));
        assert_eq!(done.exit, 0, "{done}");
        let spans = json(&home, "view spans latest --json");
        let spans = spans.as_array().unwrap().iter();
        let role = |span: &serde_json::Value| span["role"].as_str().unwrap_or("-").to_owned();
        spans.map(role).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(roles("echo nothing"), "planner");
    assert_eq!(roles("cat agent.jsonl"), "- planner");
}
