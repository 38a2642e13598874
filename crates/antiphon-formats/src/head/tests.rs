use super::*;
use crate::tests::fixture::{Kind, all};

fn name(head: &str) -> Option<&'static str> {
    detect(head).map(|format| format.name)
}

/// A stream whose first line is very long is recognised by the beginning of that line.
#[test]
fn a_first_line_may_be_longer_than_what_is_at_hand() {
    let picture = "iVBORw0KGgo".repeat(10_000);
    let begins = [
        (
            "claude-code",
            r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":[{"type":"image","source":{"data":""#,
        ),
        (
            "claude-code",
            r#"{"parentUuid":null,"isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":[{"type":"image","source":{"data":""#,
        ),
        (
            "codex",
            r#"{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_image","image_url":""#,
        ),
        (
            "cline",
            r#"[{"role":"user","content":[{"type":"text","text":"<task>\nLook"},{"type":"image","data":""#,
        ),
        (
            "openai-chat",
            r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":""#,
        ),
    ];
    for (format, begin) in begins {
        for len in [0, 1, 70_000] {
            let head = format!("{begin}{}", &picture[..len]);
            assert_eq!(name(&head), Some(format), "{len} {begin}");
        }
    }
}

/// Wherever the beginning of a stream is cut after its first line, the format is the same.
#[test]
fn a_stream_is_known_wherever_its_beginning_stops() {
    let streams = all().into_iter().filter(|fixture| fixture.kind() == Kind::Stream);
    for fixture in streams.filter(|fixture| name(&fixture.main).is_some()) {
        let lines: Vec<&str> = fixture.main.split_inclusive('\n').collect();
        let mut len = 0;
        for line in &lines {
            let cut = len + line.len() / 2;
            if let Some(found) = fixture.main.get(..cut).and_then(name) {
                assert_eq!(found, fixture.format.name, "{} {cut}", fixture.folder.display());
            }
            len += line.len();
        }
    }
}

#[test]
fn a_format_may_be_recognised_by_a_late_line() {
    let notes = "{\"type\":\"note\",\"text\":\"nothing\"}\n".repeat(200);
    let line =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    assert_eq!(name(&format!("{notes}{line}\n")), Some("claude-code"));
    assert_eq!(name(&notes), None);
}

#[test]
fn records_that_share_the_first_line_are_known() {
    let line =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    assert_eq!(name(&format!("{line}{line}\n")), Some("claude-code"));
    assert_eq!(name(&format!("{line}{line}{{\"type\":\"us")), Some("claude-code"));
}
