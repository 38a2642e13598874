//! What holds for every format, on every fixture.

pub(crate) mod cases;
pub(crate) mod fixture;

use std::collections::BTreeSet;

use crate::tests::fixture::{Fixture, Kind, all, read};
use crate::{FORMATS, Stream, hooked};

#[test]
fn every_line_is_accounted_for() {
    for fixture in all() {
        let streams = fixture.streams();
        let found = read(fixture.format, &streams);
        let accounted = found.accounted(&streams);
        // Documents beside the main file describe it, and are not sessions themselves.
        let is_session =
            |(number, stream): &(u32, &Stream<'_>)| *number == 0 || stream.name.ends_with(".jsonl");
        for (number, stream) in (0..).zip(&streams).filter(is_session) {
            for (line, text) in (1..).zip(stream.text.lines()) {
                let is_blank = text.trim().is_empty();
                let place = (fixture.folder.display(), stream.name, line);
                assert!(is_blank || accounted.contains(&(number, line)), "{place:?} {text}");
            }
        }
    }
}

#[test]
fn every_event_has_an_id_of_its_own() {
    for fixture in all() {
        let streams = fixture.streams();
        let mut seen = BTreeSet::new();
        for event in read(fixture.format, &streams).events {
            let id = event.message_id.unwrap().into_owned();
            assert!(seen.insert(id.clone()), "{} {id}", fixture.folder.display());
        }
    }
}

/// A file that stops within a line has the same events as its complete lines, and one problem.
#[test]
fn a_file_may_stop_at_any_byte() {
    // A line with several records may stop after one of them.
    let is_shared = |fixture: &Fixture| fixture.folder.ends_with("shared-line");
    let is_stream = |fixture: &Fixture| fixture.kind() == Kind::Stream && !is_shared(fixture);
    // A complete line may mention a sub-agent whose file is missing or truncated.
    let problems_of = |found: &fixture::Found<'_>| {
        found.problems.iter().filter(|it| !it.code.ends_with("-sub-agent")).count()
    };
    for fixture in all().into_iter().filter(is_stream) {
        let format = fixture.format;
        let mut lines_end = 0;
        for line in fixture.main.split_inclusive('\n') {
            // Every byte of a short line; of a long one the ends, and some bytes between.
            let step = line.len() / 96 + 1;
            let cuts = (1..line.len()).filter(|at| at % step == 0 || line.len() - at < 4);
            let mut known: Option<(usize, String, usize)> = None;
            for at in cuts.filter(|at| line.is_char_boundary(*at)) {
                let torn = fixture.cut(lines_end + at);
                let found = read(format, &torn.streams());
                let place = (fixture.folder.display(), lines_end + at);
                // Records that were on one line may have become several.
                let whole = torn.files[0].1.rfind('\n').map_or(0, |end| end + 1);
                if known.as_ref().is_none_or(|(len, ..)| *len != whole) {
                    let mut lines = torn.clone();
                    lines.files[0].1.truncate(whole);
                    let expected = read(format, &lines.streams());
                    let text = expected.events_text(&lines.streams());
                    known = Some((whole, text, problems_of(&expected)));
                }
                let (_, expected, problems) = known.as_ref().unwrap();
                // A line that lacks only its end of line is complete.
                if problems_of(&found) > *problems {
                    assert_eq!(problems_of(&found), problems + 1, "{place:?}");
                    assert_eq!(&found.events_text(&torn.streams()), expected, "{place:?}");
                }
            }
            lines_end += line.len();
        }
    }
}

/// A document that stops anywhere has the messages before that point, and one problem.
#[test]
fn a_document_may_stop_at_any_byte() {
    // The events of these come out of order, or depend on the end of the document, so they may
    // differ when it is cut. It is read all the same.
    let depends_on_end = |fixture: &Fixture| {
        ["std-session", "inspect", "langfuse", "otlp"].contains(&fixture.format.name)
    };
    let is_document = |fixture: &Fixture| fixture.kind() == Kind::Document;
    for fixture in all().into_iter().filter(is_document) {
        let said = |fixture: &Fixture| {
            let streams = &fixture.streams()[..1];
            read(fixture.format, streams).said()
        };
        let all = said(&fixture);
        let mut most = 0;
        let end = fixture.main.trim_end().len();
        let step = end / 400 + 1;
        for at in (0..end).filter(|at| at % step == 0 && fixture.main.is_char_boundary(*at)) {
            let torn = fixture.cut(at);
            let place = (fixture.folder.display(), at);
            let found = said(&torn);
            if depends_on_end(&fixture) {
                continue;
            }
            // What a sub-agent said is further down, and comes in between.
            let mut rest = all.iter();
            assert!(found.iter().all(|it| rest.any(|other| other == it)), "{place:?} {found:?}");
            assert!(found.len() >= most, "{place:?}");
            assert!(at == 0 || torn.problems.len() == 1, "{place:?}");
            most = found.len();
        }
        assert!(depends_on_end(&fixture) || most + 1 >= all.len(), "{}", fixture.folder.display());
    }
}

/// Text that stops anywhere has everything before the record in which it stops.
#[test]
fn a_text_may_stop_at_any_byte() {
    // A transcript begins with facts about the whole session; its own tests cut it.
    let is_text = |it: &Fixture| it.kind() == Kind::Text && it.format.name != "transcript";
    for fixture in all().into_iter().filter(is_text) {
        let whole = fixture.cut(fixture.main.len()).files.remove(0).1;
        for at in (0..fixture.main.len()).filter(|at| fixture.main.is_char_boundary(*at)) {
            let torn = fixture.cut(at).files.remove(0).1;
            let lines: Vec<&str> = torn.lines().collect();
            let before = lines.split_last().map_or(0, |(_, before)| before.len());
            let same = whole.lines().zip(&lines).take_while(|(a, b)| a == *b).count();
            assert!(same >= before, "{} {at}", fixture.folder.display());
        }
    }
}

#[test]
fn every_line_alone_and_every_pair_of_lines_is_read() {
    for fixture in all() {
        let text = &fixture.files[0].1;
        let lines: Vec<&str> = text.lines().collect();
        for format in FORMATS {
            for pair in lines.windows(2) {
                let swapped = format!("{}\n{}\n", pair[1], pair[0]);
                let streams = [Stream { name: "input.jsonl", text: &swapped }];
                let found = read(format, &streams);
                found.accounted(&streams);
            }
        }
    }
}

#[test]
fn nothing_is_ours_that_is_not() {
    let others = [
        "",
        "{}",
        "[1]",
        "no JSON",
        r#"{"role":"user","content":"hi"}"#,
        r#"{"type":"message","session_id":"s","role":"user","text":"Do thing"}"#,
        r#"{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"event_type":"session_started","session_id":"s","format":1}"#,
        r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","parts":[]}}"#,
    ];
    for line in others {
        assert!(crate::detect(line).is_none(), "{line}");
    }
}

#[test]
fn an_agent_that_keeps_sessions_or_has_hooks_has_its_makers_name() {
    for format in FORMATS {
        let is_agents = format.layout.kept.is_some() || format.layout.hooks.is_some();
        assert!(!is_agents || !format.product.is_empty(), "{format:?}");
    }
}

#[test]
fn hooks_can_be_set_and_understood() {
    let unnamed: Vec<_> = hooked().filter(|(_, hooks)| !hooks.is_named).collect();
    assert_eq!(unnamed.len(), 1, "a hook that names no agent is of one: {unnamed:?}");
    for (format, hooks) in hooked() {
        assert!(format.layout.kept.is_some(), "{format:?}: the settings lie in its folder");
        assert!(!hooks.command().is_empty(), "{format:?}");
        assert!(hooks.events.contains(&hooks.end), "{format:?}");
    }
}
