//! `record` of what is printed faster than it can be written.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::record::{eventually, json, record, session};
use crate::run::{command, folder};

/// What the recorded command printed as text, by its log; and the size of that log.
fn plain_output(session: &Path) -> (String, usize) {
    let log = std::fs::read_to_string(session.join("000001.jsonl")).unwrap();
    let mut printed = String::new();
    for event in log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if let Some(text) = event["content"].as_str() {
            let times = event["times"].as_u64().unwrap_or(1);
            printed.push_str(&format!("{text}\n").repeat(usize::try_from(times).unwrap()));
        }
        assert_ne!(event["event_type"], "gap", "{event}");
    }
    (printed, log.len())
}

#[test]
fn a_burst_is_kept_to_the_last_line_and_costs_little_more_than_itself() {
    let folder = folder();
    let script = folder.path().join("burst.sh");
    std::fs::write(&script, "seq 1 300000; seq 300001 300100 >&2").unwrap();
    let bare: String = (1..=300_100).map(|n| format!("{n}\n")).collect();
    let done = record(folder.path(), &[], &script).output().unwrap();
    assert_eq!(String::from_utf8([done.stdout, done.stderr].concat()).unwrap(), bare);
    let session = session(folder.path());
    let (printed, size) = plain_output(&session);
    let mut lines: Vec<&str> = printed.lines().collect();
    // What went to two places has no order between them.
    lines.sort_by_key(|line| line.parse::<u32>().unwrap());
    assert!(lines.into_iter().eq(bare.lines()), "{} of {} bytes", printed.len(), bare.len());
    assert!(size * 10 <= bare.len() * 13, "{size} bytes for {}", bare.len());
    let verified = json(folder.path(), &["verify", "--json"], &session);
    assert_eq!(verified[0]["valid"], true);
}

#[test]
fn a_line_that_is_printed_over_and_over_is_written_once_and_shown_with_its_number() {
    let folder = folder();
    let script = folder.path().join("yes.sh");
    std::fs::write(&script, "yes | head -n 200000").unwrap();
    let done = record(folder.path(), &[], &script).stdout(Stdio::null()).status().unwrap();
    assert!(done.success());
    let session = session(folder.path());
    let (printed, size) = plain_output(&session);
    assert!(printed == "y\n".repeat(200_000), "{} bytes", printed.len());
    assert!(size < printed.len() / 2, "{size}");
    let done = command().args(["view", "timeline"]).arg(&session).output().unwrap();
    let shown = String::from_utf8(done.stdout).unwrap();
    assert!(shown.contains("times in a row"), "{shown}");
}

/// The command's end is the recorder's; the rest is written all the same.
#[test]
fn whoever_does_not_wait_is_not_held_and_loses_nothing() {
    let folder = folder();
    let script = folder.path().join("burst.sh");
    std::fs::write(&script, "seq 1 300000; exit 7").unwrap();
    let events = folder.path().join("events.jsonl");
    let mut recorded = command();
    recorded.env("ANTIPHON_HOME", folder.path().join("store")).args(["record", "--events"]);
    recorded.arg(&events).args(["--", "sh"]).arg(&script);
    // Nobody else holds the recorder's output: whoever reads it is not held either.
    let done = recorded.output().unwrap();
    assert_eq!(done.status.code(), Some(7));
    assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    eventually(|| {
        let told = std::fs::read_to_string(&events).ok()?;
        told.contains("AgentFailed").then_some(())
    });
    let session = session(folder.path());
    let (printed, _) = plain_output(&session);
    assert!(printed.bytes().eq(done.stdout), "{} bytes", printed.len());
    let shown = json(folder.path(), &["show", "--json"], &session);
    assert_eq!((&shown["ended"], &shown["outcome"]), (&true.into(), &"failed".into()));
}

#[test]
fn a_command_that_ends_at_once_is_a_session_when_it_has_ended() {
    let folder = folder();
    for count in 1..=5 {
        let mut recorded = command();
        recorded.env("ANTIPHON_HOME", folder.path()).args(["record", "--", "true"]);
        assert!(recorded.status().unwrap().success());
        let mut asked = command();
        let listed = asked.env("ANTIPHON_HOME", folder.path()).args(["ls", "--json"]).output();
        let listed: Value = serde_json::from_slice(&listed.unwrap().stdout).unwrap();
        assert_eq!(listed.as_array().unwrap().len(), count, "{listed}");
    }
}

/// Whoever writes is killed, and then a thousand lines are printed.
#[test]
fn what_could_not_be_kept_is_said_in_lines_and_bytes() {
    let folder = folder();
    let script = folder.path().join("kills.sh");
    let kills = r#"
until pid=$(sed -n 's/process \([0-9]*\).*/\1/p' "$ANTIPHON_HOME"/sessions/*/lock 2>/dev/null) && [ -n "$pid" ]
do sleep 0.02; done
kill -9 "$pid"
while kill -0 "$pid" 2>/dev/null && [ "$(cut -d' ' -f3 /proc/$pid/stat 2>/dev/null)" != Z ]; do sleep 0.02; done
# The pipe to it is closed with the last of its threads.
while [ "$(ls /proc/$pid/task 2>/dev/null | wc -l)" -gt 1 ]; do sleep 0.02; done
seq 1 1000
exit 5"#;
    std::fs::write(&script, kills).unwrap();
    let done = record(folder.path(), &[], &script).output().unwrap();
    assert_eq!(done.status.code(), Some(5));
    assert_eq!(
        done.stdout.split(|&byte| byte == b'\n').count(),
        1001,
        "the command's output is its own"
    );
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("1000 lines (3893 bytes)"), "{said}");
}

#[test]
fn what_was_on_its_way_to_a_writer_that_was_killed_is_not_lost_in_silence() {
    let folder = folder();
    let script = folder.path().join("stops.sh");
    // A writer that stands still leaves what is printed in the pipe before it.
    let stops = r#"
until pid=$(sed -n 's/process \([0-9]*\).*/\1/p' "$ANTIPHON_HOME"/sessions/*/lock 2>/dev/null) && [ -n "$pid" ]
do sleep 0.02; done
kill -STOP "$pid"
seq 1 1000
sleep 0.2
kill -9 "$pid""#;
    std::fs::write(&script, stops).unwrap();
    let done = record(folder.path(), &[], &script).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("the recording is incomplete"), "{said}");
}

#[test]
fn a_process_that_is_left_behind_and_prints_on_holds_nobody() {
    let folder = folder();
    let script = folder.path().join("leaves.sh");
    std::fs::write(&script, "yes & exit 3").unwrap();
    let status = record(folder.path(), &[], &script).stdout(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(3));
    let shown = json(folder.path(), &["show", "--json"], &session(folder.path()));
    assert_eq!(shown["outcome"], "failed");
}
