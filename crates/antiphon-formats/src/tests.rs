//! What holds for every format, on every fixture.

pub(crate) mod fixture;

use std::collections::BTreeSet;

use crate::tests::fixture::{all, read};
use crate::{FORMATS, Stream};

#[test]
fn every_line_is_accounted_for() {
    for fixture in all() {
        let streams = fixture.streams();
        let found = read(fixture.format, &streams);
        let accounted = found.accounted(&streams);
        for (number, stream) in (0..).zip(&streams).filter(|(_, s)| s.name.ends_with(".jsonl")) {
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

/// A file that stops within a line has what its whole lines have, and one problem.
#[test]
fn a_file_may_stop_at_any_byte() {
    // A document that is cut is none; that is told by the tests of documents.
    for fixture in all().into_iter().filter(|fixture| fixture.format.lines.is_none()) {
        let format = fixture.format;
        let whole = fixture.streams();
        let with = |text| {
            let mut streams = whole.clone();
            streams[0] = Stream { name: streams[0].name, text };
            streams
        };
        let text = whole[0].text;
        let mut lines_end = 0;
        for line in text.split_inclusive('\n') {
            let lines = with(&text[..lines_end]);
            let expected = read(format, &lines);
            // Every byte where a line is short; of long ones the ends, and some between.
            let step = line.len() / 96 + 1;
            let cuts = (1..line.len()).filter(|at| at % step == 0 || line.len() - at < 4);
            for at in cuts.filter(|at| line.is_char_boundary(*at)) {
                let torn = with(&text[..lines_end + at]);
                let found = read(format, &torn);
                let place = (fixture.folder.display(), lines_end + at);
                // A line that lacks nothing but its end of line is whole.
                if found.problems.len() > expected.problems.len() {
                    assert_eq!(found.problems.len(), expected.problems.len() + 1, "{place:?}");
                    assert_eq!(found.events_text(&torn), expected.events_text(&lines), "{place:?}");
                }
            }
            lines_end += line.len();
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
