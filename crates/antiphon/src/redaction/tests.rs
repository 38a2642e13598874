//! Whatever is cut was redacted before: secrets around every length at which a text is cut.

#![allow(clippy::indexing_slicing, reason = "a test that cannot go on should say where")]

use std::fmt::Write as _;
use std::path::Path;

use antiphon_documents::{PhaseDetail, Standard, WriteOptions};
use antiphon_formats::whole;
use antiphon_journal::{Level, Options};
use antiphon_library::export_log;
use antiphon_model::Timestamp;
use antiphon_recorder::{Policy, Printed, Transcript};
use antiphon_redact::{Counts, Redactor};
use serde_json::json;

use super::{KEY, Redaction, line_redactor};
use kinds::{Chance, Instance};

#[path = "../../../antiphon-redact/tests/it/kinds.rs"]
#[allow(clippy::indexing_slicing, clippy::unreachable, dead_code, reason = "it is a test's")]
mod kinds;

/// Some characters behind the longest text that is cut: wherever a secret begins before that, a cut
/// may fall into it.
const CUT_MAX: usize = 125;
/// How far apart secrets begin. Eight characters of a secret are too many: wherever a cut falls,
/// one of the secrets would have between eight and fifteen before it.
const STEP: usize = 7;

/// A text in which the secret begins at that place.
fn padded(instance: &Instance, place: usize) -> String {
    let filler =
        "some words that stand before it, and tell of nothing that anybody hides ".repeat(2);
    let filler = &filler[..place.saturating_sub(1)];
    let space = if place > 0 { " " } else { "" };
    format!("{filler}{space}{}\nand more", instance.text)
}

/// A session that holds the secret in its title, its prompt, a task, in arguments and in results.
fn session(instance: &Instance, number: usize) -> String {
    let text = padded(instance, number * STEP % CUT_MAX);
    let mut events = vec![
        json!({"event_type": "session_started", "session_id": "s", "title": text, "prompt": text,
            "description": text, "timestamp": "2026-01-01T00:00:00Z"}),
        json!({"event_type": "agent_created", "agent_id": "a", "name": "Ann"}),
        json!({"agent_id": "a", "role": "user", "content": text, "timestamp": "2026-01-01T00:00:01Z"}),
    ];
    for (ix, place) in (number % STEP..CUT_MAX).step_by(STEP).enumerate() {
        let text = padded(instance, place);
        let arguments = json!({"command": text}).to_string();
        let call = json!({"id": format!("c{ix}"), "type": "function",
            "function": {"name": "Bash", "arguments": arguments}});
        events.push(json!({"agent_id": "a", "role": "assistant", "tool_calls": [call]}));
        events.push(json!({"agent_id": "a", "role": "tool", "tool_call_id": format!("c{ix}"),
            "content": text}));
    }
    let task = json!({"name": "Bob", "prompt": text, "description": text}).to_string();
    let call = json!({"id": "t", "type": "function",
        "function": {"name": "task", "arguments": task}});
    events.extend([
        json!({"agent_id": "a", "role": "assistant", "tool_calls": [call]}),
        json!({"event_type": "agent_created", "agent_id": "b", "name": text, "created_by": "a",
            "tool_call_id": "t", "task": text}),
        json!({"agent_id": "b", "role": "user", "content": text}),
        json!({"agent_id": "b", "role": "assistant", "content": text}),
        json!({"agent_id": "a", "role": "tool", "tool_call_id": "t", "content": text}),
        json!({"event_type": "session_ended", "outcome": "failed", "error": text}),
    ]);
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// The session in every form that it can be exported in, as its writer makes it: what is done to
/// the whole text afterwards has nothing left to find.
fn exports(path: &Path, folder: &Path, number: usize) -> Vec<(&'static str, String)> {
    let mut redaction = Redaction::unless(false);
    let opened = redaction.open(path).unwrap();
    let reading = opened.reading();
    let document = |standard| {
        let phases = PhaseDetail::Always;
        let options = WriteOptions { standard: Some(standard), phases };
        let document = antiphon_documents::Document::of(&reading, options).unwrap();
        format!("{}\n{}", document.name.stem(), document.to_json().unwrap())
    };
    let transcript = |policy| {
        let mut out = String::new();
        let mut take = |text: &str| {
            out.push_str(text);
            Ok(())
        };
        let form = Transcript { policy };
        antiphon_recorder::export(&reading, "s", None, form, &mut take).unwrap();
        out
    };
    let foreign = |format| {
        let write = antiphon_formats::find(format).unwrap().write.unwrap();
        whole(|take| write(&reading, "s", take)).unwrap()
    };
    let log = folder.join(format!("{number}.export.jsonl"));
    let options = Options { level: Level::Os, ..Options::default() };
    export_log(path, &log, options, redaction.parts(), None).unwrap();
    vec![
        ("antiphon", std::fs::read_to_string(log).unwrap()),
        ("std-001", document(Standard::Std001)),
        ("std-008", document(Standard::Std008)),
        ("transcript", transcript(Policy::Seed)),
        ("transcript, summary", transcript(Policy::Summary)),
        ("transcript, full", transcript(Policy::Full)),
        ("atif", foreign("atif")),
        ("openai", foreign("openai-chat")),
        ("otlp", foreign("otlp")),
        ("recorded", recorded(path)),
    ]
}

/// What `record` would have written beside its log, had an agent said the same.
fn recorded(path: &Path) -> String {
    let mut redact = line_redactor();
    let mut out = String::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = event["content"].as_str().unwrap_or_default();
        let blocks = json!([
            {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": text}},
            {"type": "tool_result", "tool_use_id": "c", "content": text},
        ]);
        let message = json!({"type": "assistant", "message": {"content": blocks}}).to_string();
        let clean = redact(&message, Printed::Json);
        let message = serde_json::from_str(&clean).unwrap();
        let at = Timestamp::from_millis(0);
        let form = Transcript { policy: Policy::Summary };
        let _ = writeln!(out, "{}", form.message(&message, &clean, at));
    }
    out
}

#[test]
fn no_cut_leaves_a_part_of_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let redactor = Redactor::default();
    let mut tried = 0;
    for (seed, kind) in (1..).zip(kinds::all()) {
        let mut chance = Chance(seed);
        let is_found = |instance: &Instance| {
            let texts = [0, 40].map(|place| padded(instance, place));
            texts.iter().all(|text| {
                let clean = redactor.redact(text, &mut Counts::default()).into_owned();
                instance.leaked_in(&clean).is_none()
            })
        };
        // One that is found where nothing is cut.
        let mut instances = (0..20).map(|_| kind.make(&mut chance));
        let Some(instance) = instances.find(|it| is_found(it)) else { continue };
        tried += 1;
        let number = usize::try_from(seed).unwrap();
        let path = folder.path().join(format!("{number}.jsonl"));
        std::fs::write(&path, session(&instance, number)).unwrap();
        for (name, text) in exports(&path, folder.path(), number) {
            if let Some(part) = instance.leaked_in(&text) {
                let at = text.find(part).unwrap_or_default();
                let around = text.get(text.floor_char_boundary(at.saturating_sub(200))..).unwrap();
                let around: String = around.chars().take(400).collect();
                panic!("{} in {name}: `{part}` of {:?} in\n{around}", kind.name, instance.text);
            }
        }
    }
    println!("{tried} kinds");
    assert!(tried > 100, "{tried} kinds are too few");
}

#[test]
fn a_key_is_redacted_however_its_lines_are_cut_into_pieces() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let edge = |word: &str| format!("-----{word} RSA {KEY}-----");
    let lines = [
        "before",
        &edge("BEGIN"),
        "MIIEvQIBADANBg",
        "kqhkiG9w0BAQEF",
        &edge("END"),
        &secret,
        "after",
    ];
    for size in 1..=lines.len() {
        let mut redact = line_redactor();
        let written: Vec<String> = lines
            .chunks(size)
            .map(|piece| redact(&piece.join("\n"), Printed::Text).into_owned())
            .collect();
        let written = written.join("\n");
        assert!(!written.contains("MIIE") && !written.contains("kqhk"), "{size}: {written}");
        assert!(!written.contains(&secret), "{size}: {written}");
        assert!(written.starts_with("before\n") && written.ends_with("\nafter"), "{written}");
        assert_eq!(written.lines().count(), lines.len(), "{size}: {written}");
    }
}

#[test]
fn a_key_that_never_ends_does_not_swallow_all_that_follows() {
    let mut redact = line_redactor();
    let begun = format!("-----BEGIN PGP {KEY} BLOCK-----\nabc");
    assert!(!redact(&begun, Printed::Text).contains("abc"));
    let line = "x".repeat(1000);
    let clean =
        (0..200).map(|_| redact(&line, Printed::Text).into_owned()).filter(|it| *it == line);
    assert!(clean.count() > 100);
}

/// What is found on its line is found among other lines.
#[test]
fn lines_that_are_redacted_together_keep_no_more_than_each_alone() {
    let redactor = Redactor::default();
    let mut tried = 0;
    for (seed, kind) in (1..).zip(kinds::all()) {
        let mut chance = Chance(seed);
        for instance in (0..10).map(|_| kind.make(&mut chance)) {
            let text = &instance.text;
            let alone: Vec<_> = text
                .split('\n')
                .map(|line| redactor.redact(line, &mut Counts::default()))
                .collect();
            if instance.leaked_in(&alone.join("\n")).is_some() {
                continue;
            }
            tried += 1;
            let lines = format!("compiled it\n{text}\n{text}\n\nand ran its tests:\n");
            let together = line_redactor()(&lines, Printed::Text).into_owned();
            assert_eq!(instance.leaked_in(&together), None, "{}: {together}", kind.name);
        }
    }
    assert!(tried > 500, "{tried}");
}
