//! What holds for every format, on every fixture.

use std::collections::BTreeSet;

use crate::testing::{all, read};
use crate::{FORMATS, Stream};

#[test]
fn every_line_is_accounted_for() {
    for fixture in all() {
        let streams = fixture.streams();
        let found = read(fixture.format(), &streams);
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
        for event in read(fixture.format(), &streams).events {
            let id = event.message_id.unwrap().into_owned();
            assert!(seen.insert(id.clone()), "{} {id}", fixture.folder.display());
        }
    }
}

/// A file that stops anywhere has all events of its whole lines, and at most one problem more.
#[test]
fn a_file_may_stop_at_any_byte() {
    for fixture in all() {
        let format = fixture.format();
        let whole = fixture.streams();
        for cut in (0..whole[0].text.len()).filter(|cut| whole[0].text.is_char_boundary(*cut)) {
            let (head, _) = whole[0].text.split_at(cut);
            let lines = &head[..head.rfind('\n').map_or(0, |end| end + 1)];
            let with = |text| {
                let mut streams = whole.clone();
                streams[0] = Stream { name: streams[0].name, text };
                streams
            };
            let torn = read(format, &with(head));
            let upto = read(format, &with(lines));
            let place = (fixture.folder.display(), cut);
            assert!(torn.problems.len() <= upto.problems.len() + 1, "{place:?}");
            // A torn line may be whole by chance: only then are there more events.
            assert!(torn.events.len() >= upto.events.len(), "{place:?}");
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
        assert!(crate::detect(&[line]).is_none(), "{line}");
    }
}
