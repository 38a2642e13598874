//! Logs of several segments, logs that are gone on with, and events that are sent again.

use std::path::Path;

use antiphon_journal::{Draft, Error, Level, Log, LogBodies, Options, Writer, verify};
use antiphon_model::Bodies as _;

use crate::story::{self, Found, Scratch};

/// Small enough for a new segment every two or three events of the story.
fn small_segments(level: Level) -> Options {
    Options { segment_bytes_max: 800, ..story::options(level) }
}

/// Writes the story, closing and opening again before every `step`th event.
fn write_story(path: &Path, level: Level, step: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for events in story::EVENTS.chunks(step) {
        let writer = Writer::open(path, small_segments(level)).unwrap();
        for json in events {
            ids.push(writer.append(&story::draft(json)).unwrap().message_id.to_string());
        }
        writer.close().unwrap();
    }
    ids
}

#[track_caller]
fn check_story(path: &Path, ids: &[String]) {
    let log = Log::find(path).unwrap();
    assert!(log.segments().len() >= 4, "{:?}", log.segments().collect::<Vec<_>>());
    let found = Found::at(path);
    assert_eq!(found.ids(), ids);
    assert_eq!(found.damage, []);
    found.assert_gapless();
    assert!(verify(&log, None).unwrap().is_valid());
}

#[test]
fn numbers_hashes_and_ids_run_on_across_segments_however_often_it_is_opened() {
    for level in [Level::Os, Level::Interval, Level::Disk] {
        for step in [1, 2, 5, story::EVENTS.len()] {
            let folder = tempfile::tempdir().unwrap();
            let ids = write_story(folder.path(), level, step);
            check_story(folder.path(), &ids);
            let first = folder.path().join("000001.jsonl");
            assert!(first.exists() && folder.path().join("000004.jsonl").exists());
            assert!(!folder.path().join("lock").exists());
        }
    }
}

#[test]
fn the_later_segments_of_a_file_stand_beside_it() {
    for name in ["talk.jsonl", "talk", "talk.of.the.day.log"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        // Neither of these is one of its segments.
        std::fs::write(folder.path().join("talk.000002.txt"), "no").unwrap();
        std::fs::write(folder.path().join("walk.000002.jsonl"), "no").unwrap();
        let ids = write_story(&path, Level::Os, 4);
        check_story(&path, &ids);
    }
}

#[test]
fn the_words_of_every_segment_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    write_story(folder.path(), Level::Os, 12);
    let log = Log::find(folder.path()).unwrap();
    let (session, _) = log.fold().unwrap();
    let bodies = LogBodies::new(&log);
    let words: Vec<_> = session
        .entries()
        .filter_map(|entry| entry.content())
        .map(|place| bodies.read(place).unwrap())
        .collect();
    assert_eq!(words.len(), 5);
    assert_eq!(words[0], r#""You are *Jill*, a gardener in Österreich.""#);
    assert_eq!(words[4], r#""a broadcast""#);
}

#[test]
fn a_segment_that_is_gone_is_a_gap_and_hides_nothing_behind_it() {
    for gone in 1..=3 {
        let folder = tempfile::tempdir().unwrap();
        let ids = write_story(folder.path(), Level::Os, 12);
        let removed = folder.path().join(format!("{gone:06}.jsonl"));
        let lines = story::lines(&std::fs::read(&removed).unwrap()).len();
        std::fs::remove_file(&removed).unwrap();
        let found = Found::at(folder.path());
        assert_eq!(found.codes(), [("gap", 1)]);
        assert_eq!(found.events.len(), ids.len() - lines);
        // The log goes on behind the last segment, not in the hole.
        story::append(folder.path(), story::EVENTS[2]);
        assert!(!removed.exists());
        assert_eq!(Found::at(folder.path()).events.len(), ids.len() - lines + 2);
    }
}

#[test]
fn a_segment_of_another_log_takes_nothing_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, story::log_bytes()).unwrap();
    let other = Scratch::new();
    for json in &story::EVENTS[1..] {
        story::append(&other.path, json);
    }
    std::fs::write(folder.path().join("a.000002.jsonl"), other.bytes()).unwrap();
    let found = Found::at(&path);
    let wanted: Vec<_> = [story::log_bytes(), other.bytes()]
        .iter()
        .flat_map(|bytes| Found::in_bytes(bytes).events)
        .collect();
    assert_eq!(found.events, wanted, "all lines of both, and loud about it");
    assert!(found.codes().iter().all(|(code, _)| *code == "forked"));
}

#[test]
fn a_torn_tail_at_the_end_of_a_full_segment_is_left_there() {
    let scratch = Scratch::with(&story::log_bytes()[..2000]);
    let writer = Writer::open(&scratch.path, small_segments(Level::Disk)).unwrap();
    writer.append(&story::draft(story::EVENTS[2])).unwrap();
    writer.close().unwrap();
    assert_eq!(scratch.bytes(), &story::log_bytes()[..2000]);
    let found = Found::at(&scratch.path);
    assert_eq!(found.codes(), [("torn-line", 6)]);
    found.assert_gapless();
    story::append(&scratch.path, story::EVENTS[2]);
    assert_eq!(Found::at(&scratch.path).events.len(), found.events.len() + 1);
}

#[test]
fn an_event_sent_again_is_acknowledged_and_not_written() {
    for level in [Level::Os, Level::Interval, Level::Disk] {
        let folder = tempfile::tempdir().unwrap();
        let sent: Vec<_> = (0..20).map(|n| story::message(&format!("own-{n}"), "hello")).collect();
        for round in 0..3 {
            let writer = Writer::open(folder.path(), small_segments(level)).unwrap();
            for draft in sent.iter().chain(&sent) {
                let before = Found::at_or_none(folder.path()).events.len();
                let ack = writer.append(draft).unwrap();
                let grew = Found::at_or_none(folder.path()).events.len() > before;
                assert_eq!(grew, !ack.repeated, "round {round}");
            }
        }
        let found = Found::at(folder.path());
        assert_eq!(found.events.len(), 21);
        found.assert_ids_unique();
    }
}

#[test]
fn the_first_line_may_be_sent_again_although_its_writer_completed_it() {
    let scratch = Scratch::new();
    let first = story::draft(r#"{"message_id":"s","event_type":"session_started","title":"t"}"#);
    for repeated in [false, true, true] {
        let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
        assert_eq!(writer.append(&first).unwrap().repeated, repeated);
        assert!(writer.append(&first).unwrap().repeated);
    }
    let other = story::draft(r#"{"message_id":"s","event_type":"session_started","title":"u"}"#);
    let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    assert!(matches!(writer.append(&other), Err(Error::Conflict { .. })));
}

#[test]
fn no_line_of_the_journals_own_takes_an_id_that_an_event_brings() {
    let scratch = Scratch::new();
    let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    // The first line has to be written before, under some id.
    for id in ["log_001", "msg_001", "msg_002", "msg_007"] {
        let ack = writer.append(&story::message(id, "as other writers count")).unwrap();
        assert_eq!((ack.message_id.as_str(), ack.repeated), (id, false));
    }
    assert_eq!(
        writer.append(&story::draft(story::EVENTS[2])).unwrap().message_id.as_str(),
        "msg_008"
    );
    drop(writer);
    let found = Found::at(&scratch.path);
    assert_eq!(found.events.len(), 6);
    found.assert_ids_unique();
}

#[test]
fn another_event_with_a_known_id_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |writer: &Writer, draft: &_| {
        assert!(matches!(writer.append(draft), Err(Error::Conflict { id }) if id == "own"));
    };
    let with = |rest: &str| {
        let json = r#"{"message_id":"own","agent_id":"a","role":"user","content":"1""#;
        story::draft(&format!("{json}{rest}}}"))
    };
    for _ in 0..2 {
        let writer = Writer::open(folder.path(), small_segments(Level::Os)).unwrap();
        writer.append(&with("")).unwrap();
        refused(&writer, &story::message("own", "2"));
        refused(&writer, &with(r#","model":"m""#));
        // Its time is the writer's: a sender that names another means another event.
        refused(&writer, &with(r#","timestamp":"2020-01-01T00:00:00.000Z""#));
        for n in 0..10 {
            writer.append(&story::message(&format!("other-{n}"), "to fill the segment")).unwrap();
        }
    }
    let found = Found::at(folder.path());
    assert_eq!((found.events.len(), found.damage.len()), (12, 0), "a refusal leaves no trace");
}

#[test]
fn a_log_of_a_newer_format_is_read_and_not_written() {
    let scratch = Scratch::new();
    let newer = r#"{"event_type":"session_started","format":2}"#;
    assert!(Draft::from_json(newer).is_err(), "we do not write one ourselves");
    std::fs::write(&scratch.path, newer).unwrap();
    let before = scratch.bytes();
    let error = Writer::open(&scratch.path, story::options(Level::Os)).unwrap_err();
    assert!(matches!(error, Error::NewerFormat { format: 2, .. }), "{error}");
    assert_eq!(scratch.bytes(), before);
    assert_eq!(Found::at(&scratch.path).events.len(), 1);
    assert!(!scratch.path.with_extension("jsonl.lock").exists());
}

#[test]
fn a_format_that_a_flipped_bit_made_newer_is_not_believed() {
    let whole = String::from_utf8(story::log_bytes()).unwrap();
    let scratch = Scratch::with(whole.replace("\"format\":1", "\"format\":5").as_bytes());
    assert_eq!(Found::at(&scratch.path).codes(), [("bad-hash", 1)]);
    story::append(&scratch.path, story::EVENTS[2]);
}

#[test]
fn a_foreign_log_is_gone_on_with() {
    let named =
        b"{\"message_id\":\"s\",\"event_type\":\"session_started\",\"session_id\":\"theirs\"}\n";
    let scratch = Scratch::with(&[&named[..], &story::foreign_bytes()].concat());
    let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    assert_eq!(writer.session_id().as_deref(), Some("theirs"));
    let ack = writer.append(&story::draft(story::EVENTS[2])).unwrap();
    // Theirs end at 12, and our own first line counts apart.
    assert_eq!(ack.message_id.as_str(), "msg_013");
    let again = str::from_utf8(story::lines(&story::foreign_bytes())[1]).unwrap().to_owned();
    assert!(writer.append(&story::draft(&again)).unwrap().repeated);
    writer.close().unwrap();

    let found = Found::at(&scratch.path);
    assert_eq!((found.events.len(), found.damage.len()), (14, 0));
    let summary = found.summary.unwrap();
    assert_eq!((summary.unsealed, summary.sealed), (12, 2));
    let (session, _) = Log::find(&scratch.path).unwrap().fold().unwrap();
    assert_eq!(session.info().session_id.as_deref(), Some("theirs"));
}
