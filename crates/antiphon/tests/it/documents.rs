//! Session documents: read, written, migrated, and read again.

use antiphon_documents::Rules;
use serde_json::{Value, json};

use crate::run::{Done, file, folder, run_with, workspace};

fn fixture(case: &str) -> String {
    let folder = workspace().join("crates/antiphon-formats/fixtures/std-session");
    folder.join(case).join("input.json").to_str().unwrap().to_owned()
}

fn antiphon(arguments: &[&str]) -> Done {
    run_with(arguments, b"")
}

fn json_of(done: &Done) -> Value {
    assert!(!done.out.is_empty(), "{done}");
    serde_json::from_str(&done.out).unwrap()
}

fn read(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The document again, by way of a log.
fn by_way_of_a_log(document: &str, standard: &str, change: impl Fn(String) -> String) -> Value {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    let done = antiphon(&["export", document, "--as", "antiphon", "-o", log]);
    assert_eq!(done.exit, 0, "{done}");
    std::fs::write(log, change(std::fs::read_to_string(log).unwrap())).unwrap();
    let done = antiphon(&["export", log, "--as", standard]);
    assert!([0, 3].contains(&done.exit), "{done}");
    json_of(&done)
}

#[test]
fn a_document_survives_the_way_through_a_log() {
    for (case, standard) in [("full", "std-008"), ("minimal", "std-001"), ("derived", "std-001")] {
        let path = fixture(case);
        let direct = json_of(&antiphon(&["export", &path, "--as", "std"]));
        assert_eq!(by_way_of_a_log(&path, standard, |log| log), direct, "{case}");
        assert_eq!(put_back(direct), read(&path), "{case}");
    }
}

/// The document with everything in its place that does not keep to the letter of the standard.
fn put_back(mut document: Value) -> Value {
    let own = document.get_mut("x_antiphon").and_then(Value::as_object_mut);
    let original = own.and_then(|own| own.remove("original"));
    for (pointer, value) in original.as_ref().and_then(Value::as_object).into_iter().flatten() {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        parent.insert(name.to_owned(), value.clone());
    }
    if original.is_some() {
        document.as_object_mut().unwrap().remove("x_antiphon");
    }
    document
}

#[test]
fn names_and_links_are_read_as_they_were_recorded() {
    let folder = folder();
    let letter = folder.path().join("letter.json");
    let letter = letter.to_str().unwrap();
    let done = antiphon(&["export", &fixture("full"), "--as", "std", "-o", letter]);
    assert_eq!(done.exit, 0, "{done}");
    assert_eq!(antiphon(&["validate", "--strict", letter]).exit, 0);
    for view in ["tree", "flow"] {
        let before = antiphon(&["view", view, &fixture("full")]).out;
        assert_eq!(antiphon(&["view", view, letter]).out, before, "{view}");
    }
}

#[test]
fn a_participant_keeps_what_its_sub_session_does_not_say() {
    let folder = folder();
    let mut document = read(&fixture("full"));
    document["collaboration"]["participants"][1]["instance_id"] = json!("dev-7");
    let path = file(&folder, "in.json", document.to_string());
    let migrated = json_of(&antiphon(&["migrate", &path]));
    assert_eq!(migrated["collaboration"]["participants"][1]["instance_id"], "dev-7");
    assert_eq!(migrated["sub_sessions"][0]["agent"].get("instance_id"), None);
}

#[test]
fn steps_say_how_the_first_drafts_went() {
    let migrated = json_of(&antiphon(&["migrate", &fixture("steps")]));
    assert_eq!(migrated["status"], "failed");
    let calls = migrated["tool_calls"].as_array().unwrap().iter();
    let told: Vec<_> = calls.map(|it| (&it["output"]["status"], &it["tool_category"])).collect();
    let (success, failed) = (&json!("success"), &json!("failed"));
    let (asks, acts, looks) = (&json!("interaction"), &json!("action"), &json!("perception"));
    assert_eq!(told, [(success, asks), (failed, acts), (failed, looks)]);
    assert_eq!(migrated["tool_calls"][2]["output"]["error"], "skipped");
    assert_eq!(migrated["summary"]["errors_encountered"], 1, "what is skipped is no error");
}

/// The standard has no word for a call that has not ended: the document to its letter keeps the
/// word elsewhere, and is read with it.
#[test]
fn a_step_that_has_not_ended_stays_open() {
    let folder = folder();
    let mut document = read(&fixture("steps"));
    document["steps"][1]["status"] = json!("running");
    document["steps"][1].as_object_mut().unwrap().remove("error_message");
    document["steps"][2]["status"] = json!("pending");
    document["steps"][2].as_object_mut().unwrap().remove("duration_ms");
    let path = file(&folder, "steps.json", document.to_string());
    let first = folder.path().join("first.json");
    let first = first.to_str().unwrap();
    assert_eq!(antiphon(&["migrate", &path, "-o", first]).exit, 0);
    for path in [path.as_str(), first] {
        let calls = json_of(&antiphon(&["view", "calls", path, "--json"]));
        let calls = calls.as_array().unwrap().iter();
        let told: Vec<&str> = calls.map(|call| call["status"].as_str().unwrap()).collect();
        assert_eq!(told, ["success", "open", "open"], "{path}");
    }
    let migrated = read(first);
    assert_eq!(migrated["status"], "in_progress");
    assert_eq!(migrated["summary"].get("errors_encountered"), None);
    let original = &migrated["x_antiphon"]["original"];
    assert_eq!(original["/tool_calls/1/output/status"], "running");
    assert_eq!(original["/tool_calls/2/output/status"], "pending");
    assert_eq!(migrated["tool_calls"][1]["duration_ms"], 200);
    assert_eq!(antiphon(&["validate", "--strict", first]).exit, 0);
    assert_eq!(json_of(&antiphon(&["migrate", first])), migrated, "and stays as it is");
}

/// The standard has one list of annotations, whose ranges may reach into sub-sessions; ids of calls
/// are a session's own.
#[test]
fn phases_and_notes_of_sub_agents_are_in_the_document() {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    let call = |agent: &str, id: &str, tool: &str| {
        json!({
            "agent_id": agent, "role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function",
                "function": {"name": tool, "arguments": "{\"prompt\": \"Go\"}"}}],
        })
    };
    let answer =
        |agent: &str, id: &str| json!({"agent_id": agent, "role": "tool", "tool_call_id": id});
    let made = json!({
        "event_type": "agent_created", "agent_id": "b", "parent_id": "a", "tool_call_id": "c1",
    });
    let mut events = vec![call("a", "c1", "Task"), made];
    for id in ["c1", "c2", "c3", "c4", "c5"] {
        events.extend([call("b", id, "Read"), answer("b", id)]);
    }
    events.push(answer("a", "c1"));
    let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
    assert_eq!(run_with(&["append", log], lines.as_bytes()).exit, 0);
    let export = |path: &str| json_of(&antiphon(&["export", path, "--as", "std-008"]));

    let derived = export(log);
    let phase = &derived["phase_annotations"][0];
    assert_eq!((&phase["phase_type"], &phase["annotated_by"]), (&json!("explore"), &json!("auto")));
    assert_eq!(phase["sub_session_id"], derived["sub_sessions"][0]["sub_session_id"]);
    assert_eq!(phase["tool_call_range"], json!({"start_call_id": "c1", "end_call_id": "c5"}));

    let annotate = |words: &[&str]| {
        let done = antiphon(&[&["annotate", log], words].concat());
        assert_eq!(done.exit, 0, "{done}");
    };
    annotate(&["--phase", "explore", "--from", "c1", "--to", "c3", "--agent", "b"]);
    annotate(&["--note", "Why again?", "--from", "c4", "--agent", "b"]);
    annotate(&["--note", "All in all, fine"]);
    let document = export(log);
    let annotations = document["phase_annotations"].as_array().unwrap();
    let word = |at: usize, name: &str| annotations[at][name].as_str().unwrap_or_default();
    assert_eq!(annotations.len(), 2);
    assert_eq!((word(0, "phase_type"), word(0, "sub_session_id")), ("explore", "sub-001"));
    assert_eq!((word(1, "phase_type"), word(1, "sub_session_id")), ("unclassified", "sub-001"));
    assert_eq!((word(1, "note"), word(1, "description")), ("Why again?", "Why again?"));
    let others = &document["x_antiphon"]["original"]["/phase_annotations"];
    assert_eq!(others[0]["note"], "All in all, fine", "the standard has no place for it");

    let path = file(&folder, "multi.json", document.to_string());
    let strict = json_of(&antiphon(&["validate", "--strict", "--json", &path]));
    let findings = strict[0]["findings"].as_array().unwrap().iter();
    let errors: Vec<_> = findings.filter(|it| it["severity"] == "error").collect();
    assert!(errors.is_empty(), "{errors:?}");
    let told = |path: &str| -> Vec<Value> {
        let rows = json_of(&antiphon(&["view", "phases", path, "--json"]));
        let row = |row: &Value| {
            json!([row["phase_type"], row["note"], row["agent_id"], row["tool_call_range"]])
        };
        rows.as_array().unwrap().iter().map(row).collect()
    };
    assert_eq!(told(&path), told(log), "and is read as it was recorded");
    assert_eq!(json_of(&antiphon(&["migrate", &path])), document);
}

/// Section 5.2 of STD-008: sub-sessions appear while the session runs, and are closed later.
#[test]
fn a_document_grows_with_its_session() {
    let folder = folder();
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    let task = |id: &str| {
        json!({
            "agent_id": "a", "role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function",
                "function": {"name": "Task", "arguments": "{\"prompt\": \"Go\"}"}}],
        })
    };
    let made = |id: &str, call: &str| {
        json!({
            "event_type": "agent_created", "agent_id": id, "parent_id": "a", "tool_call_id": call,
        })
    };
    let answer =
        |id: &str| json!({"agent_id": "a", "role": "tool", "tool_call_id": id, "content": "done"});
    let append = |events: &[Value]| {
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        let done = run_with(&["append", log], lines.as_bytes());
        assert_eq!(done.exit, 0, "{done}");
    };
    append(&[task("c1"), task("c2")]);
    let out = folder.path().join("run.json");
    let out = out.to_str().unwrap();
    let arguments = ["export", log, "--as", "std", "-o", out, "--follow"];
    let mut child = crate::run::command().args(arguments).spawn().unwrap();
    let wait_for = |is_there: &dyn Fn(&Value) -> bool| {
        for _ in 0..600 {
            let text = std::fs::read_to_string(out).unwrap_or_default();
            if let Some(document) = serde_json::from_str(&text).ok().filter(|it| is_there(it)) {
                return document;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("the document did not grow");
    };
    let first = wait_for(&|it| it["sub_sessions"][1].is_object());
    assert_eq!(
        (&first["status"], &first["sub_sessions"][0]["status"]),
        (&json!("in_progress"), &json!("in_progress"))
    );
    assert!(antiphon_documents::validate(&first.to_string(), None, Rules::Strict).valid);
    append(&[made("b", "c1"), made("c", "c2")]);
    wait_for(&|it| it["sub_sessions"][0]["agent"]["agent_id"] == "b");
    append(&[answer("c1")]);
    wait_for(&|it| it["sub_sessions"][0]["status"] == "success");
    append(&[answer("c2"), json!({"event_type": "session_ended", "outcome": "completed"})]);
    assert!(child.wait().unwrap().success());
    let last = read(out);
    assert_eq!(
        (&last["status"], &last["sub_sessions"][1]["status"]),
        (&json!("success"), &json!("success"))
    );
    let others = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(others, 2, "nothing else is left behind");
    let refused = antiphon(&["export", log, "--as", "std", "-o", out, "--follow"]);
    assert_eq!(refused.exit, 4, "{refused}");
}

#[test]
fn a_folder_is_made_where_the_name_ends_in_a_slash() {
    let folder = folder();
    let documents = format!("{}/data/sessions/", folder.path().display());
    let done = antiphon(&["export", &fixture("minimal"), "--as", "std", "-o", &documents]);
    assert_eq!(done.exit, 0, "{done}");
    assert_eq!(std::fs::read_dir(&documents).unwrap().count(), 1);
}

#[test]
fn the_log_has_the_facts_and_not_the_document() {
    let changed = by_way_of_a_log(&fixture("full"), "std-008", |log| {
        assert!(log.matches("Read 12 lines").count() == 1, "each fact stands once");
        log.replace("Read 12 lines", "Read 13 lines").replace("no rule", "no such rule")
    });
    assert_eq!(changed["tool_calls"][0]["output"]["result"]["display"], "Read 13 lines");
    assert_eq!(changed["tool_calls"][3]["output"]["error"], "make: *** no such rule");
    assert_eq!(changed["tool_calls"][0]["output"]["result"]["lines"], 12);
}

#[test]
fn views_work_on_a_document() {
    let path = fixture("full");
    insta::assert_snapshot!("tree_of_a_document", antiphon(&["view", "tree", &path]).out);
    insta::assert_snapshot!("calls_of_a_document", antiphon(&["view", "calls", &path]).out);
    insta::assert_snapshot!("flow_of_a_document", antiphon(&["view", "flow", &path]).out);
    insta::assert_snapshot!("phases_of_a_document", antiphon(&["view", "phases", &path]).out);
    insta::assert_snapshot!("timeline_of_a_document", antiphon(&["view", "timeline", &path]).out);
}

#[test]
fn every_generation_migrates_to_a_valid_document_and_stays_as_it_is() {
    for case in ["phases", "nested-phases", "steps", "drift", "twice", "full", "minimal"] {
        let folder = folder();
        let first = folder.path().join("first.json");
        let first = first.to_str().unwrap();
        let done = antiphon(&["migrate", &fixture(case), "-o", first]);
        assert_eq!(done.exit, 0, "{case}: {done}");
        let report = json_of(&antiphon(&["validate", first, "--json"]));
        assert_eq!(report[0]["valid"], json!(true), "{case}: {report:#}");
        let again = json_of(&antiphon(&["migrate", first]));
        assert_eq!(again, read(first), "{case}");
    }
}

#[test]
fn migrating_moves_what_has_another_shape_and_loses_nothing() {
    let drift = json_of(&antiphon(&["migrate", &fixture("drift")]));
    insta::assert_json_snapshot!("drift_migrated", drift);
    let phases = json_of(&antiphon(&["migrate", &fixture("phases")]));
    insta::assert_json_snapshot!("phases_migrated", phases);
}

#[test]
fn one_agent_seen_as_several() {
    let multi = json_of(&antiphon(&["migrate", "--multi", &fixture("minimal")]));
    assert_eq!(multi["collaboration"]["mode"], "single");
    assert_eq!(multi["collaboration"]["orchestrator"]["agent_id"], "main");
    assert_eq!((&multi["sub_sessions"], &multi["messages"]), (&json!([]), &json!([])));
    assert_eq!(multi["tool_calls"], read(&fixture("minimal"))["tool_calls"]);
    // The one deviation from the letter of the standard: its section 8.1 deviates, too.
    let exported = json_of(&antiphon(&["export", &fixture("minimal"), "--as", "std-008"]));
    for document in [multi, exported] {
        let validate = |rules| antiphon_documents::validate(&document.to_string(), None, rules);
        assert!(validate(Rules::Usual).valid);
        let strict = validate(Rules::Strict);
        let errors = strict.findings.iter().filter(|it| it.is_error()).map(|it| it.path.as_str());
        assert_eq!(errors.collect::<Vec<_>>(), ["/collaboration/mode"]);
    }
}

#[test]
fn what_is_no_document_is_not_migrated() {
    let sample = workspace().join("samples/jack-and-jill.jsonl");
    let done = antiphon(&["migrate", sample.to_str().unwrap()]);
    assert_eq!(done.exit, 4, "{done}");
    assert!(done.err.contains("is not a session document"), "{done}");
}

#[test]
fn a_broken_document_is_explained_by_line_and_column() {
    let folder = folder();
    let text = "{\n  \"session_id\": \"x\",\n  \"user_prompt\": \"a \"b\" c\"\n}";
    let path = file(&folder, "broken.json", text);
    let done = antiphon(&["view", "calls", &path]);
    assert_eq!(done.exit, 4, "{done}");
    assert!(done.err.contains("line 3, column"), "{done}");
}

#[test]
fn the_convention_names_a_document_in_a_folder() {
    let folder = folder();
    let documents = folder.path().join("documents");
    std::fs::create_dir(&documents).unwrap();
    let sample = workspace().join("samples/jack-and-jill.jsonl");
    for _ in 0..2 {
        let arguments =
            ["export", sample.to_str().unwrap(), "--as", "std", "-o", documents.to_str().unwrap()];
        let done = antiphon(&arguments);
        assert_eq!(done.exit, 0, "{done}");
    }
    let mut names: Vec<String> = std::fs::read_dir(&documents)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "2026-03-02-001-jack-and-jill-meet-in-a-café-multi.json",
            "2026-03-02-002-jack-and-jill-meet-in-a-café-multi.json"
        ]
    );
    for name in &names {
        let path = documents.join(name);
        let document = read(path.to_str().unwrap());
        assert_eq!(document["session_id"], name.trim_end_matches(".json"));
        let report = json_of(&antiphon(&["validate", path.to_str().unwrap(), "--json"]));
        assert_eq!(report[0]["valid"], json!(true), "{report:#}");
    }
}

#[test]
fn a_document_is_never_written_over_another() {
    let folder = folder();
    let path = file(&folder, "there.json", "mine");
    let done = antiphon(&["export", &fixture("minimal"), "--as", "std", "-o", &path]);
    assert_eq!(done.exit, 4, "{done}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn phases_follow_the_advice_or_the_wish() {
    let sample = workspace().join("samples/resource-hook.jsonl");
    let phases = |wish: &str| {
        let arguments = ["export", sample.to_str().unwrap(), "--as", "std-008", "--phases", wish];
        let document = json_of(&antiphon(&arguments));
        let derived = document["x_antiphon"]["derived"].to_string();
        let count = document["phase_annotations"].as_array().map_or(0, Vec::len);
        assert_eq!(count > 0, derived.contains("/phase_annotations/0"), "what is derived says so");
        count
    };
    assert_eq!(phases("never"), 0);
    assert!(phases("always") > 0);
    let recorded = json_of(&antiphon(&["export", &fixture("full"), "--as", "std"]));
    assert_eq!(recorded["phase_annotations"][0]["annotation_id"], "ann-001");
}

/// Calls of the session and of its sub-sessions.
fn calls_in(document: &Value) -> usize {
    let count = |of: &Value| of["tool_calls"].as_array().map_or(0, Vec::len);
    let subs = document["sub_sessions"].as_array().cloned().unwrap_or_default();
    count(document) + subs.iter().map(count).sum::<usize>()
}

#[test]
fn a_real_agents_session_becomes_a_document_of_several() {
    let folder = folder();
    let session = crate::agents::family(folder.path());
    let session = session.to_str().unwrap();
    let documents = folder.path().join("documents");
    std::fs::create_dir(&documents).unwrap();
    let done = antiphon(&["export", session, "--as", "std", "-o", documents.to_str().unwrap()]);
    assert_eq!(done.exit, 0, "{done}");
    let path = std::fs::read_dir(&documents).unwrap().next().unwrap().unwrap().path();
    let report = json_of(&antiphon(&["validate", path.to_str().unwrap(), "--json"]));
    assert_eq!((&report[0]["format"], &report[0]["valid"]), (&json!("std-008"), &json!(true)));
    let document = read(path.to_str().unwrap());
    let calls = json_of(&antiphon(&["view", "calls", session, "--json"]));
    assert_eq!(calls_in(&document), calls.as_array().unwrap().len());
    // The helper's own helper hangs under it.
    let subs = &document["sub_sessions"];
    let original = &document["x_antiphon"]["original"];
    assert_eq!(original["/sub_sessions/1/parent_session_id"], subs[0]["sub_session_id"]);
    assert_eq!(document["messages"][0]["message_type"], "task_assignment");
}

/// Real files, which are not in this repository.
#[test]
fn every_real_session_becomes_a_valid_document() {
    let data = workspace().join("../shared/data");
    if !data.exists() {
        eprintln!("skipped: real files are not in this repository");
        return;
    }
    let mut folders = vec![
        data.join("formats/claude-code"),
        data.join("formats/codex"),
        data.join("seed-projects/BorisAgentStudio/sessions"),
    ];
    let mut written = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let path = path.to_str().unwrap();
            if std::fs::metadata(path).unwrap().len() > 4 << 20 {
                continue;
            }
            let done = antiphon(&["export", path, "--as", "std"]);
            if ![0, 3].contains(&done.exit) {
                continue;
            }
            let report = antiphon_documents::validate(&done.out, None, Rules::Strict);
            assert!(report.valid, "{path}: {:#?}", report.findings);
            written += 1;
        }
    }
    assert!(written > 100, "{written} documents");
}
