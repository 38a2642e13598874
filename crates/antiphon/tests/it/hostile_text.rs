//! Recorded text can do nothing to a terminal, wherever it stands.

use crate::run::{Done, folder, run_with};

/// Things that a terminal, or the eye, would act on.
const HOSTILE: &str =
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{8}\r\u{7f}\u{202e}\u{200b}\u{e0041}\u{2028}";

fn is_clean(text: &str) -> bool {
    let is_bad = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}' | '\u{2028}' | '\u{202e}' | '\u{e0041}')
    };
    !text.contains(is_bad)
}

#[test]
fn every_field_in_every_command_is_escaped() {
    let folder = folder();
    let log = folder.path().join("hostile.jsonl");
    let log = log.to_str().unwrap();
    let text = serde_json::to_string(&format!("x{HOSTILE}")).unwrap();
    let arguments = serde_json::to_string(&format!("{{\"name\":{text}}}")).unwrap();
    // The hostile text stands in every field that any view shows.
    let events = [
        format!("{{\"event_type\":\"session_started\",\"session_id\":{text},\"title\":{text}}}"),
        format!(
            "{{\"message_id\":{text},\"event_type\":\"agent_created\",\"agent_id\":{text},\"name\":{text},\"language_model\":{text}}}"
        ),
        format!(
            "{{\"agent_id\":{text},\"role\":\"user\",\"content\":{text},\"source\":\"external\"}}"
        ),
        format!(
            "{{\"agent_id\":{text},\"role\":\"assistant\",\"content\":{text},\"tool_calls\":[{{\"id\":{text},\"function\":{{\"name\":{text},\"arguments\":{arguments}}}}}]}}"
        ),
        format!("{{\"event_type\":\"agent_created\",\"agent_id\":\"b\",\"name\":{text}}}"),
        format!(
            "{{\"agent_id\":\"b\",\"role\":\"user\",\"content\":{text},\"source\":\"system\"}}"
        ),
        format!(
            "{{\"message_id\":\"said\",\"agent_id\":\"b\",\"role\":\"assistant\",\"content\":{text}}}"
        ),
        format!(
            "{{\"agent_id\":{text},\"role\":\"tool\",\"tool_call_id\":{text},\"is_error\":true,\"content\":\"blocked {HOSTILE_JSON}\"}}"
        ),
        format!(
            "{{\"agent_id\":{text},\"role\":\"user\",\"content\":{text},\"source\":\"b\",\"utterance_ref\":\"said\"}}"
        ),
        format!("{{\"event_type\":{text},\"agent\":{text}}}"),
        format!(
            "{{\"event_type\":\"agent_ended\",\"agent\":\"b\",\"status\":{text},\"error\":{text}}}"
        ),
        format!(
            "{{\"event_type\":\"session_ended\",\"outcome\":{text},\"reason\":{text},\"error\":{text}}}"
        ),
    ];
    let done = run_with(&["append", log], (events.join("\n") + "\n").as_bytes());
    assert_eq!((done.exit, done.out.lines().count()), (0, events.len()), "{done}");
    assert!(is_clean(&done.out), "{:?}", done.out);

    let mut seen = 0;
    let mut check = |arguments: &[&str]| {
        for json in [&[][..], &["--json"]] {
            let done = run_with(&[arguments, json].concat(), b"");
            let Done { out, err, exit } = &done;
            assert!([0, 1, 3].contains(exit), "{arguments:?}: {done}");
            assert!(is_clean(out) && is_clean(err), "{arguments:?}: {out:?} {err:?}");
            seen += usize::from(out.contains('x'));
        }
    };
    check(&["show", log]);
    check(&["resume", log]);
    check(&["verify", log]);
    check(&["tail", log, "--once"]);
    for view in ["tree", "dialog", "causality", "delivery", "hooks", "flow", "timeline", "phases"] {
        check(&["view", view, log]);
    }
    for view in ["transcript", "perspective", "context"] {
        check(&["view", view, log, "--agent", "b"]);
        check(&["view", view, log, "--agent", &format!("x{HOSTILE}")]);
        check(&["view", view, log, "--agent", &format!("nobody{HOSTILE}")]);
    }
    check(&["view", "trace", log, "said"]);
    check(&["view", "trace", log, &format!("x{HOSTILE}")]);
    assert!(seen > 30, "the text itself is shown: {seen}");
    let picture = run_with(&["view", "flow", log, "--svg"], b"").out;
    assert!(is_clean(&picture) && picture.contains("x\u{fffd}"), "{picture:?}");
    assert!(is_clean(&run_with(&["view", "flow", log, "--mermaid"], b"").out));
}

#[test]
fn annotations_are_escaped() {
    let folder = folder();
    let log = folder.path().join("hostile.jsonl");
    let log = log.to_str().unwrap();
    let text = serde_json::to_string(&format!("x{HOSTILE}")).unwrap();
    let range = format!("\"tool_call_range\":[{text}]");
    let said = format!(
        "\"phase_type\":{text},\"confidence\":{text},\"annotated_by\":{text},\"description\":{text}"
    );
    let lists = format!(
        "\"decisions\":[{{\"type\":{text}}},{text}],\"context_used\":{{{text}:1}},\"odd\":{text}"
    );
    let annotation =
        |members: &str| format!("{{\"event_type\":\"annotation\",\"annotation\":{{{members}}}}}\n");
    let events = [
        format!(
            "{{\"agent_id\":\"a\",\"role\":\"assistant\",\"tool_calls\":[{{\"id\":{text},\"function\":{{\"name\":{text},\"arguments\":{text}}}}}]}}\n"
        ),
        annotation(&format!("{said},{range},{lists}")),
        annotation(&format!("\"note\":{text},{range}")),
        annotation(&format!("\"note\":{text},\"tool_call_range\":[\"none {HOSTILE_JSON}\"]")),
    ];
    let done = run_with(&["append", log], events.concat().as_bytes());
    assert_eq!(done.exit, 0, "{done}");
    for json in [&[][..], &["--json"]] {
        let done = run_with(&[&["view", "phases", log], json].concat(), b"");
        assert!(is_clean(&done.out) && done.out.matches('x').count() > 9, "{:?}", done.out);
    }
    let unknown = run_with(&["annotate", log, "--phase", "plan", "--from", "x\u{1b}[2J"], b"");
    assert!(unknown.exit == 1 && is_clean(&unknown.err), "{:?}", unknown.err);
}

/// The same within a JSON string that is written by hand.
const HOSTILE_JSON: &str = "\\u001b[2J\\u009b31m\\r\\u202e";
