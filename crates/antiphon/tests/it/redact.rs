//! Secrets: found by `scan`, left out by `redact` and `export`.

use crate::run::{Done, append, command, file, folder, run_with};

/// Made here, so that none stands in this file.
fn secrets() -> [String; 3] {
    let random = "a8Kd02mZq7Rt5Yw9Bx3Nc6Vf1Gh4Jl8Ps0Du2Ei5";
    [
        format!("ghp_{}", &random[..36]),
        format!("sk-ant-api03-{random}{random}"),
        random[10..30].to_owned(),
    ]
}

/// A session in which a user, a call and a result hold secrets.
fn session(folder: &tempfile::TempDir) -> String {
    let [github, anthropic, password] = secrets();
    let log = folder.path().join("run.jsonl").to_str().unwrap().to_owned();
    let arguments =
        serde_json::json!({"command": format!("export DB_PASSWORD={password}")}).to_string();
    let events = [
        serde_json::json!({"event_type": "agent_created", "agent_id": "a", "name": "Ann"}),
        serde_json::json!({"agent_id": "a", "role": "user", "content": format!("use {github} please")}),
        serde_json::json!({"agent_id": "a", "role": "assistant", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "Bash", "arguments": arguments}}]}),
        serde_json::json!({"agent_id": "a", "role": "tool", "tool_call_id": "c1",
            "content": format!("line\n{anthropic}\n")}),
    ];
    let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
    append(&log, &lines);
    log
}

fn steady(done: &Done, folder: &tempfile::TempDir) -> String {
    done.to_string().replace(folder.path().to_str().unwrap(), "FOLDER")
}

fn assert_clean(text: &str) {
    for secret in secrets() {
        assert!(!text.contains(&secret), "{text}");
    }
}

#[test]
fn scan_names_the_place_and_the_rule_and_not_the_secret() {
    let folder = folder();
    let log = session(&folder);
    let [github, ..] = secrets();
    file(&folder, "notes.md", format!("one\ntwo\n\nthe token is {github}\n"));
    file(&folder, "clean.txt", "nothing in it\n");
    file(&folder, "image.png", b"\x89PNG\x00\x00password = \"a8Kd02mZq7Rt5\"");
    let place = folder.path().to_str().unwrap();
    let text = run_with(&["scan", place], b"");
    assert_eq!(text.exit, 1);
    assert_clean(&text.out);
    let json = run_with(&["scan", &log, "--json"], b"");
    let clean = run_with(&["scan", &format!("{place}/clean.txt")], b"");
    assert_eq!(clean.exit, 0, "{clean}");
    let all = [text, json, clean].map(|done| steady(&done, &folder)).concat();
    insta::assert_snapshot!(all);
}

#[test]
fn a_redacted_log_is_a_log() {
    let folder = folder();
    let log = session(&folder);
    let copy = folder.path().join("copy.jsonl").to_str().unwrap().to_owned();
    let done = run_with(&["redact", &log, "-o", &copy], b"");
    insta::assert_snapshot!(steady(&done, &folder));
    let text = std::fs::read_to_string(&copy).unwrap();
    assert_clean(&text);
    assert!(text.contains("[redacted:github-token] please"), "{text}");
    let verified = run_with(&["verify", &copy], b"");
    assert_eq!(verified.exit, 0, "{verified}");
    assert_eq!(run_with(&["scan", &copy], b"").exit, 0);
    let ids = |log: &str| run_with(&["view", "timeline", log], b"").out.lines().count();
    assert_eq!(ids(&log), ids(&copy));
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 2, "nothing else is left behind: {names:?}");
    assert_eq!(run_with(&["redact", &log, "-o", &copy], b"").exit, 4, "it is there already");
}

#[test]
fn any_other_text_stays_what_it_is() {
    let folder = folder();
    let [github, _, password] = secrets();
    let before =
        format!("# notes\ntoken: {github}\n{{\"password\": \"{password}\", \"n\": 1.50}}\nend");
    let notes = file(&folder, "notes.txt", before);
    let copy = folder.path().join("copy.txt").to_str().unwrap().to_owned();
    let done = run_with(&["redact", &notes, "-o", &copy], b"");
    let text = std::fs::read_to_string(&copy).unwrap();
    insta::assert_snapshot!(format!("{}---\n{text}", steady(&done, &folder)));
    let missing = run_with(&["redact", "missing.txt", "-o", &copy], b"");
    assert_eq!(missing.exit, 4);
}

#[test]
fn exports_are_redacted_unless_it_is_said_otherwise() {
    let folder = folder();
    let log = session(&folder);
    for form in ["antiphon", "std", "std-001", "std-008", "atif", "openai", "otlp"] {
        let done = run_with(&["export", &log, "--as", form], b"");
        assert_clean(&done.out);
        for rule in ["anthropic-key", "assigned-secret", "github-token"] {
            assert!(done.err.contains(rule), "{form}: {}", done.err);
        }
        let whole = run_with(&["export", &log, "--as", form, "--no-redact"], b"");
        assert!(whole.out.contains(&secrets()[0]), "{form}: {whole}");
        assert!(!whole.err.contains("redacted"), "{form}: {}", whole.err);
    }
}

#[test]
fn a_secret_of_the_environment_goes_whatever_it_looks_like() {
    let folder = folder();
    let log = folder.path().join("run.jsonl").to_str().unwrap().to_owned();
    append(&log, "{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"say open sesame now\"}\n");
    let export = |name: &str| {
        let mut command = command();
        command.env(name, "open sesame").args(["export", &log, "--as", "antiphon"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(export("CAVE_PASSWORD").contains("say [redacted:environment] now"));
    assert!(export("CAVE_WORDS").contains("say open sesame now"));
}

#[test]
fn a_session_of_another_program_is_exported_without_secrets() {
    let folder = folder();
    let [github, ..] = secrets();
    let line = serde_json::json!({"type": "user", "uuid": "u1", "sessionId": "s1", "parentUuid": null,
        "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.0.0", "cwd": "x", "isSidechain": false,
        "userType": "external",
        "message": {"role": "user", "content": format!("use {github}")}});
    let path = file(&folder, "s1.jsonl", format!("{line}\n"));
    let done = run_with(&["export", &path, "--as", "antiphon"], b"");
    assert_clean(&done.out);
    assert!(done.out.contains("use [redacted:github-token]"), "{done}");
    assert!(done.err.starts_with("redacted: ") && done.err.contains("github-token"), "{done}");
}

/// A text of which a title, a summary or a transcript shows only the beginning, which ends within
/// the secret.
#[test]
fn a_text_is_redacted_before_it_is_cut() {
    let folder = folder();
    let [github, anthropic, _] = secrets();
    let log = folder.path().join("cut.jsonl").to_str().unwrap().to_owned();
    let pad = |len: usize, secret: &str| format!("{} {secret} and more", "x".repeat(len));
    let mut events = vec![
        serde_json::json!({"event_type": "agent_created", "agent_id": "a", "name": "Ann"}),
        serde_json::json!({"agent_id": "a", "role": "user", "content": pad(90, &github)}),
    ];
    for (number, len) in [20, 30, 70, 90].into_iter().enumerate() {
        let id = format!("c{number}");
        let command = serde_json::json!({"command": pad(len, &anthropic)}).to_string();
        let call = serde_json::json!({"id": id, "type": "function",
            "function": {"name": "Bash", "arguments": command}});
        events
            .push(serde_json::json!({"agent_id": "a", "role": "assistant", "tool_calls": [call]}));
        events.push(serde_json::json!({"agent_id": "a", "role": "tool", "tool_call_id": id,
            "content": pad(len, &github)}));
    }
    append(&log, &events.iter().map(|event| format!("{event}\n")).collect::<String>());
    let forms = ["std-001", "std-008", "atif", "openai", "otlp", "antiphon", "transcript"];
    let forms = forms.map(|form| vec!["export", &log, "--as", form]);
    let summary = vec!["export", &log, "--as", "transcript", "--tools", "summary"];
    for args in forms.into_iter().chain([summary]) {
        let done = run_with(&args, b"");
        assert_eq!(done.exit, 0, "{done}");
        for secret in [&github, &anthropic] {
            let parts = secret.as_bytes()[13..].windows(8).map(|it| str::from_utf8(it).unwrap());
            let leaked = parts.into_iter().find(|part| done.out.contains(part));
            assert_eq!(leaked, None, "{args:?}: {}", done.out);
        }
    }
}

#[test]
fn a_native_export_says_how_many_secrets_it_contains() {
    let folder = folder();
    let [github, anthropic, _] = secrets();
    let said = |text: &str| {
        let message = serde_json::json!({"role": "user", "content": text});
        serde_json::json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s1",
            "timestamp": "2026-01-01T00:00:00Z", "cwd": "/x", "version": "2.0.0",
            "message": message})
        .to_string()
            + "\n"
    };
    let session = said(&format!("use {github} and {anthropic}"));
    let path = file(&folder, "s1.jsonl", &session);
    let done = run_with(&["export", &path, "--as", "native"], b"");
    assert_eq!((done.exit, done.out.as_str()), (0, session.as_str()), "{done}");
    assert_eq!(
        done.err,
        "warning: a native export is not redacted; this one contains 2 secrets (1 anthropic-key, 1 github-token)\n"
    );
    let path = file(&folder, "s2.jsonl", said("nothing to hide"));
    let done = run_with(&["export", &path, "--as", "native"], b"");
    assert_eq!((done.exit, done.err.as_str()), (0, ""), "{done}");
}
