//! A clean copy of a damaged log: all that can be read, and a word about the rest.

use std::path::PathBuf;

use antiphon_journal::{Error, Level, Log, Salvaged, salvage, verify};
use antiphon_model::{Event, EventKind, Line, json};

use crate::story::{self, Found, Scratch};

/// Salvages `bytes`; the copy is whole. Returns what went into it, and where it is.
#[track_caller]
fn copy_of(bytes: &[u8]) -> (Scratch, Salvaged, PathBuf) {
    let scratch = Scratch::with(bytes);
    let path = scratch.folder.path().join("copy.jsonl");
    let log = Log::find(&scratch.path).unwrap();
    let salvaged = salvage(&log, &path, story::options(Level::Os)).unwrap();
    assert_eq!(scratch.bytes(), bytes, "the damaged log is evidence");
    let copy = verify(&Log::find(&path).unwrap(), None).unwrap();
    assert!(copy.is_valid(), "{:?}", copy.findings);
    (scratch, salvaged, path)
}

#[test]
fn a_whole_log_is_copied_to_the_byte() {
    let whole = story::log_bytes();
    let (_scratch, salvaged, path) = copy_of(&whole);
    assert_eq!(salvaged, Salvaged { events: 12, changed: 0, lost: 0 });
    assert_eq!(std::fs::read(path).unwrap(), whole);
}

#[test]
fn what_was_lost_is_counted_in_the_copy_and_what_was_changed_is_marked() {
    let whole = story::log_bytes();
    let mut lines: Vec<_> = story::lines(&whole).iter().map(|line| line.to_vec()).collect();
    lines[2] = lines[2].strip_suffix(b"}\n").unwrap().to_vec();
    lines[2].push(b'\n');
    lines[6] = String::from_utf8(lines[6].clone()).unwrap().replace("bloom", "gloom").into_bytes();
    lines.remove(8);
    let (_scratch, salvaged, path) = copy_of(&lines.concat());
    assert_eq!(salvaged, Salvaged { events: 10, changed: 1, lost: 2 });
    let copy = Found::at(&path);
    let marked: Vec<_> = copy.events.iter().filter(|e| e.text.contains("\"salvaged\"")).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(json::member(&marked[0].text, "salvaged"), Some("\"bad-hash\""));
    assert!(marked[0].text.contains("gloom"));
    let last = &copy.events.last().unwrap().text;
    assert_eq!(json::member(last, "event_type"), Some("\"gap\""));
    assert_eq!(json::member(last, "count"), Some("2"));
}

#[test]
fn lines_in_another_order_are_not_lost() {
    let whole = story::log_bytes();
    let mut lines = story::lines(&whole);
    lines.swap(4, 5);
    lines.insert(8, lines[2]);
    let (_scratch, salvaged, _) = copy_of(&lines.concat());
    assert_eq!(salvaged, Salvaged { events: 12, changed: 0, lost: 0 });
}

#[test]
fn events_of_a_foreign_log_keep_their_ids() {
    let foreign = String::from_utf8(story::foreign_bytes()).unwrap().replace("msg_002", "msg_001");
    let own = "{\"message_id\":\"log_001\",\"event_type\":\"gap\",\"count\":1}\n";
    let foreign = format!("{foreign}{own}");
    let (_scratch, salvaged, path) = copy_of(foreign.as_bytes());
    assert_eq!(salvaged, Salvaged { events: 12, changed: 0, lost: 0 });
    let (copy, original) = (Found::at(&path), Found::in_bytes(foreign.as_bytes()));
    // The first line of the copy is its own, under an id that is free.
    assert_eq!(copy.ids()[1..], original.ids());
    copy.assert_ids_unique();
}

#[test]
fn two_events_with_one_id_stay_two() {
    let line = b"{\"message_id\":\"m\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"?\"}\n";
    let other = b"{\"message_id\":\"m\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"!\"}\n";
    let (_scratch, _, path) = copy_of(&[&line[..], line, other].concat());
    assert_eq!(Found::at(&path).ids()[1..], ["m", "m#2", "m#3"]);
}

#[test]
fn what_only_others_write_survives() {
    let lines = [
        &b"{\"message_id\":\"a\",\"agent_id\":\"x\",\"role\":\"user\",\"content\":\"\xff\xfe\"}\n"
            [..],
        b"{\"message_id\":\"b\",\"agent_id\":\"x\",\"role\":\"user\",\"timestamp\":1700000000}\n",
        b"{\"message_id\":\"c\",\"event_type\":\"transcript_edit\",\"agent_id\":\"x\",\"n\":7}\n",
    ];
    let (_scratch, salvaged, path) = copy_of(&lines.concat());
    assert_eq!(salvaged.lost, 0);
    let copy = Found::at(&path);
    let texts = copy.texts();
    assert!(texts[1].contains(r#""content":"\udcff\udcfe""#), "{}", texts[1]);
    assert!(texts[2].contains(r#""timestamp":1700000000,"#), "{}", texts[2]);
    assert_eq!(kept_first(texts[3]), Some(7), "{}", texts[3]);
    // And once more: the seal's own number must not be taken for the count.
    let (_scratch, _, path) = copy_of(&std::fs::read(&path).unwrap());
    assert_eq!(Found::at(&path), copy);
}

fn kept_first(text: &str) -> Option<u64> {
    let place = antiphon_model::Place { offset: 0, len: 0, stream: 0 };
    let line = Line::new(text, 1, place);
    let event: Event<'_> = antiphon_model::decode(&line).unwrap();
    let EventKind::ContextEdited(edited) = event.kind else { panic!("{text}") };
    edited.kept_first
}

#[test]
fn a_copy_never_takes_the_place_of_anything() {
    let scratch = Scratch::with(&story::log_bytes());
    let log = Log::find(&scratch.path).unwrap();
    let error = salvage(&log, &scratch.path, story::options(Level::Os)).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }));
    assert_eq!(scratch.bytes(), story::log_bytes());
}
