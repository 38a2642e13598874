use std::fs;
use std::path::PathBuf;

use antiphon_model::{Event, MemoryBodies, Problem, Reading, Session};

use super::{Writer, whole};
use crate::tests::cases::cases;
use crate::{Duplicate, FORMATS, Sink, Stream, detect};

#[derive(Default)]
struct Fold(Session);

impl<'a> Sink<'a> for Fold {
    fn event(&mut self, event: Event<'a>) {
        self.0.apply(&event);
    }

    fn problem(&mut self, _: Problem) {}

    fn duplicate(&mut self, _: Duplicate) {}
}

/// Reads texts in the format that the first of them has.
fn read(name: &str, texts: &[(String, String)]) -> (Session, MemoryBodies) {
    let (_, main) = texts.first().unwrap();
    let format = detect(main).unwrap_or_else(|| panic!("a format for {name}"));
    let lines = |text: &String| match format.lines {
        Some(lines) => lines(text).text,
        None => text.clone(),
    };
    let texts: Vec<(&str, String)> =
        texts.iter().map(|(name, text)| (name.as_str(), lines(text))).collect();
    let streams: Vec<Stream<'_>> = texts.iter().map(|(name, text)| Stream { name, text }).collect();
    let mut fold = Fold::default();
    (format.read)(&streams, &mut fold);
    let bodies = texts.into_iter().map(|(_, text)| text.into_bytes()).collect();
    (fold.0, MemoryBodies::new(bodies))
}

/// The fixtures of every reader: a name, and the files of a session.
fn fixtures() -> Vec<(String, Vec<(String, String)>)> {
    let mut found = Vec::new();
    for (case, files) in cases() {
        let name = |path: &PathBuf| path.strip_prefix(&case).unwrap().to_str().unwrap().to_owned();
        let kept = |name: &String| {
            let is_stream = [".jsonl", ".json", ".log"].iter().any(|end| name.ends_with(end));
            is_stream || name.starts_with("input.")
        };
        let mut names: Vec<String> = files.iter().map(name).filter(kept).collect();
        names.sort_by_key(|name| (!name.starts_with("input."), name.clone()));
        let texts = names.into_iter().map(|name| {
            let text = fs::read_to_string(case.join(&name)).unwrap();
            (name, text)
        });
        found.push((case.display().to_string(), texts.collect()));
    }
    assert!(found.len() > 80);
    found
}

fn writer(format: &str) -> Writer {
    FORMATS.iter().find(|it| it.name == format).unwrap().write.unwrap()
}

fn written(format: &str, reading: &Reading<'_>) -> String {
    whole(|take| writer(format)(reading, "fixture", take)).unwrap()
}

/// Reads what was written, and writes it again.
fn round(text: &str, write: impl Fn(&Reading<'_>) -> String) -> String {
    let (session, bodies) = read(text, &[("again.json".to_owned(), text.to_owned())]);
    write(&Reading { session: &session, bodies: &bodies })
}

#[test]
fn a_trajectory_reads_back_as_it_was_written() {
    let write = |reading: &Reading<'_>| written("atif", reading);
    for (name, files) in fixtures() {
        let (session, bodies) = read(&name, &files);
        let written = write(&Reading { session: &session, bodies: &bodies });
        if written.is_empty() {
            continue;
        }
        let again = round(&written, write);
        assert_eq!(again, written, "{name}");
        let value: serde_json::Value = serde_json::from_str(&written).unwrap();
        let laid_out = serde_json::to_string_pretty(&value).unwrap() + "\n";
        assert_eq!(laid_out, written, "{name}: piece by piece it is what it is at once");
        assert!(!written.contains("null"), "{name}: {written}");
        let (read, _) = read(&name, &[("a".to_owned(), written)]);
        let mut counted = session.usage();
        // The formats have only one kind of cache write.
        counted.cache_write_1h = 0;
        assert_eq!(read.usage(), counted, "{name}");
        assert_eq!(read.calls().len(), session.calls().len(), "{name}");
    }
}

#[test]
fn conversations_read_back_as_they_were_written() {
    let write = |reading: &Reading<'_>| written("openai-chat", reading);
    for (name, files) in fixtures() {
        let (session, bodies) = read(&name, &files);
        let written = write(&Reading { session: &session, bodies: &bodies });
        if !written.is_empty() {
            assert_eq!(round(&written, write), written, "{name}");
        }
    }
}

#[test]
fn spans_read_back_with_every_call_and_every_token() {
    for (name, files) in fixtures() {
        let (session, bodies) = read(&name, &files);
        let reading = Reading { session: &session, bodies: &bodies };
        let text = written("otlp", &reading);
        assert_eq!(text, written("otlp", &reading));
        let written = text;
        assert!(antiphon_model::json::check(&written).is_ok(), "{name}");
        if !written.contains("spanId") {
            continue;
        }
        let (again, _) = read(&name, &[("a".to_owned(), written)]);
        let mut counted = session.usage();
        counted.cache_write_1h = 0;
        assert_eq!(again.usage(), counted, "{name}");
    }
}

/// The API accepts a conversation only if each call is followed by one result with its id.
#[test]
fn every_call_of_a_chat_has_one_result() {
    let call = |id: &str| {
        format!(
            r#"{{"id":"{id}","type":"function","function":{{"name":"Bash","arguments":"{{}}"}}}}"#
        )
    };
    let log = [
        r#"{"agent_id":"a","role":"user","content":"Go","source":"external"}"#.to_owned(),
        format!(
            r#"{{"agent_id":"a","role":"assistant","content":null,"tool_calls":[{},{},{}]}}"#,
            call("c1"),
            call("c2"),
            call("c1")
        ),
        r#"{"agent_id":"a","role":"tool","tool_call_id":"c1","content":"first"}"#.to_owned(),
        r#"{"agent_id":"a","role":"tool","tool_call_id":"c1","content":"second"}"#.to_owned(),
        r#"{"agent_id":"a","role":"assistant","content":"Done."}"#.to_owned(),
    ];
    let mut session = Session::default();
    let mut offset = 0;
    for (number, text) in (1..).zip(&log) {
        let len = u32::try_from(text.len()).unwrap();
        let place = antiphon_model::Place { offset, len, stream: 0 };
        offset += u64::from(len) + 1;
        let line = antiphon_model::Line::new(text, number, place);
        session.apply(&antiphon_model::decode(&line).unwrap());
    }
    let bodies = MemoryBodies::new(vec![log.join("\n").into_bytes()]);
    let reading = Reading { session: &session, bodies: &bodies };
    let text = written("openai-chat", &reading);
    let chat: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    let messages = chat["messages"].as_array().unwrap();
    let calls = messages[1]["tool_calls"].as_array().unwrap().iter();
    let asked: Vec<&serde_json::Value> = calls.map(|call| &call["id"]).collect();
    let answered: Vec<&serde_json::Value> =
        messages[2..5].iter().map(|message| &message["tool_call_id"]).collect();
    assert_eq!(asked, answered);
    let ids: std::collections::BTreeSet<String> = asked.iter().map(|id| id.to_string()).collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    assert!(text.contains("first") && text.contains("second"));
    assert_eq!(messages[5]["role"], "assistant");
    assert_eq!(messages.len(), 6);
}

#[test]
fn a_chat_names_its_functions_as_services_take_them() {
    let names =
        ["mcp.server:tool name", "", &"x".repeat(80)].map(crate::openai_chat::write::function_name);
    assert_eq!(names, ["mcp_server_tool_name".to_owned(), "tool".to_owned(), "x".repeat(64)]);
}
