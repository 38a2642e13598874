//! Transcripts: what `record` writes while an agent works, and what is read and exported later.

use serde_json::Value;

use crate::record::{RESULT, agent, json, record, session};
use crate::run::{command, folder};

#[test]
fn the_transcript_of_a_recording_is_the_one_that_was_written() {
    let folder = folder();
    let agent = agent(
        folder.path(),
        &format!("echo '{{\"type\":\"system\",\"subtype\":\"status\"}}'; echo no JSON\n{RESULT}"),
    );
    let logs = folder.path().join("logs");
    let options = ["--role", "planner", "--spec", "a.md", "--logs-dir", logs.to_str().unwrap()];
    assert!(record(folder.path(), &options, &agent).status().unwrap().success());
    let path = std::fs::read_dir(logs).unwrap().next().unwrap().unwrap().path();
    let written = std::fs::read_to_string(&path).unwrap();
    let exported = command()
        .args(["export", "--as", "transcript"])
        .arg(session(folder.path()))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(exported.stdout).unwrap(), written);
    // And it is a session in itself.
    let calls = json(folder.path(), &["view", "calls", "--json"], &path);
    assert_eq!(calls[0]["tool_name"], "Read");
}

#[test]
fn a_transcript_that_holds_messages_of_another_format_is_a_transcript() {
    let folder = folder();
    let answers = r#"echo '{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"ok"}]},"parent_tool_use_id":null,"session_id":"abc-123"}'
echo '{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Done.\n\nAll of it."},{"type":"thinking","thinking":"hm"}]},"session_id":"abc-123"}'"#;
    let agent = agent(folder.path(), &format!("{answers}\n{RESULT}"));
    let logs = folder.path().join("logs");
    let options = ["--role", "implementor", "--issue", "4", "--logs-dir", logs.to_str().unwrap()];
    assert!(record(folder.path(), &options, &agent).status().unwrap().success());
    let path = std::fs::read_dir(logs).unwrap().next().unwrap().unwrap().path();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("UNKNOWN user\n  {"), "{written}");
    let shown = json(folder.path(), &["show", "--json"], &path);
    assert_eq!(shown["outcome"], "completed", "{shown}");
    let export = |options: &[&str]| {
        let done =
            command().args(["export", "--as", "transcript"]).args(options).arg(&path).output();
        String::from_utf8(done.unwrap().stdout).unwrap()
    };
    assert_eq!(export(&[]), written);
    // Another form of it is made from its events; what has one form only stays.
    let names = export(&["--tools", "names"]);
    let kept = |word: &str| {
        let record = written.split("\n\n").find(|record| record.contains(word)).unwrap();
        assert!(names.contains(record), "{record} is not in {names}");
    };
    ["Started:", "SYSTEM init", "RESULT success", "Outcome:"].into_iter().for_each(kept);
    assert_eq!(names.matches("SYSTEM init").count(), 1, "{names}");
}

#[test]
fn the_transcript_of_a_plain_command_begins_when_the_command_did() {
    let folder = folder();
    let script = folder.path().join("plain.sh");
    std::fs::write(&script, "echo no messages").unwrap();
    assert!(record(folder.path(), &[], &script).status().unwrap().success());
    let session = session(folder.path());
    let done = command().args(["export", "--as", "transcript"]).arg(&session).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let log = std::fs::read_to_string(session.join("000001.jsonl")).unwrap();
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    let started = format!("Started:    {}\n", first["timestamp"].as_str().unwrap());
    assert!(text.contains(&started), "{text}");
}
