//! Sessions with lines that are longer than anything that is read at once: a pasted screenshot.

use crate::home::Home;

const SESSION: &str = "21111111-2222-4333-8444-555555555555";

/// Letters that do not repeat, so that they hardly pack.
fn noise(len: usize) -> String {
    let mut state = 7_u64;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'A' + u8::try_from(state >> 60).unwrap())
    });
    letters.take(len).collect()
}

/// A question with a picture in it; what the session is called stands behind the picture.
fn question(session: &str, picture: usize) -> String {
    format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"message":{{"role":"user","content":[{{"type":"text","text":"what is on this picture?"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}]}},"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/work","version":"2.1.7","sessionId":"{session}"}}"#,
        noise(picture)
    )
}

fn answer(session: &str, id: &str, output: u32) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","parentUuid":"u1","sessionId":"{session}","timestamp":"2026-01-01T00:00:05.000Z","cwd":"/work","version":"2.1.7","requestId":"r-{id}","message":{{"id":"m-{id}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"A heron."}}],"usage":{{"input_tokens":8,"output_tokens":{output}}}}}}}"#
    )
}

const SNAPSHOT: &str = r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{"messageId":"x","trackedFileBackups":{},"timestamp":"2026-01-01T00:00:00.000Z"},"isSnapshotUpdate":false}"#;

fn output_tokens(home: &Home, arguments: &str) -> Option<u64> {
    let done = home.run(arguments);
    let json: serde_json::Value = serde_json::from_str(&done.out).ok()?;
    json["usage"]["output"].as_u64().or_else(|| json["totals"]["usage"]["output"].as_u64())
}

#[test]
fn a_session_is_known_and_kept_however_long_its_first_lines_are() {
    for (lines, picture) in [(vec![SNAPSHOT], 200_000), (vec![], 80_000), (vec![], 700_000)] {
        let home = Home::new();
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        text += &format!("{}\n{}\n", question(SESSION, picture), answer(SESSION, "a1", 79));
        let file = format!(".claude/projects/-work/{SESSION}.jsonl");
        home.write(&file, &text);
        assert_eq!(output_tokens(&home, &format!("show --json {file}")), Some(79), "{picture}");
        let synced = home.run("sync");
        assert_eq!((synced.exit, synced.err.as_str()), (0, ""), "{picture}: {synced}");
        assert_eq!(output_tokens(&home, "show --json 2111"), Some(79), "kept, {picture}");
        let native = home.run("export --as native 2111");
        assert!(native.out == text, "{picture}: {}", native.err);
        let again = home.run("reindex");
        assert_eq!(again.exit, 0, "{again}");
        assert!(home.run("ls").out.contains("2111"), "{picture}: lost by reindex");
    }
}

#[test]
fn a_sub_agent_is_found_however_long_its_first_line_is() {
    let home = Home::new();
    let folder = ".claude/projects/-work";
    let main = format!("{folder}/{SESSION}.jsonl");
    home.write(&main, &format!("{}\n{}\n", question(SESSION, 10), answer(SESSION, "a1", 5)));
    let of_agent = |line: String| {
        line.replace("\"uuid\":\"", "\"isSidechain\":true,\"agentId\":\"abc\",\"uuid\":\"s")
    };
    let lines = [question(SESSION, 300_000), answer(SESSION, "a2", 70)].map(of_agent);
    home.write(&format!("{folder}/agent-abc.jsonl"), &format!("{}\n", lines.join("\n")));
    assert_eq!(output_tokens(&home, &format!("show --json {main}")), Some(75));
    assert_eq!(home.run("sync").exit, 0);
    assert_eq!(output_tokens(&home, "show --json 2111"), Some(75), "kept");
}

#[test]
fn stats_name_a_session_with_a_line_that_could_not_be_read() {
    let home = Home::new();
    let file = format!(".claude/projects/-work/{SESSION}.jsonl");
    let broken = "{\"type\":\"assistant\",";
    let text = format!("{}\n{broken}\n{}\n", question(SESSION, 9), answer(SESSION, "a1", 79));
    home.write(&file, &text);
    let at = home.run("stats .claude");
    assert!(at.err.contains("1 session has problems; some of its tokens may be missing"), "{at}");
    assert!(at.err.contains(&format!("{SESSION}.jsonl: 1 problem")), "{at}");
    home.run("sync");
    let kept = home.run("stats");
    assert!(kept.err.contains(&format!("{SESSION}: 1 problem; see `antiphon show`")), "{kept}");
    let json: serde_json::Value = serde_json::from_str(&home.run("stats --json").out).unwrap();
    assert_eq!(json["with_problems"][0]["at"], SESSION);
    home.write(&file, &text.replace(&format!("{broken}\n"), ""));
    home.run("sync");
    assert_eq!(home.run("stats").err, "");
}
