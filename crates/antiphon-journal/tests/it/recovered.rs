//! What opening a damaged log writes into it: once, and never in place of anything.

use std::io::ErrorKind;
use std::sync::Arc;

use antiphon_journal::{Level, Options, Writer};
use antiphon_model::json;

use crate::faulty_disk::{Fault, FaultyDisk, Op, Outcome};
use crate::story::{self, Found, Scratch};

fn open_and_close(scratch: &Scratch) {
    Writer::open(&scratch.path, story::options(Level::Os)).unwrap().close().unwrap();
}

/// The kinds of the last three events.
fn kinds(found: &Found) -> Vec<&str> {
    let last = &found.events[found.events.len().saturating_sub(3)..];
    let kind = |text| json::member(text, "event_type").unwrap_or("\"message\"");
    last.iter().map(|event| kind(event.text.as_str())).collect()
}

#[test]
fn damage_is_listed_with_its_place() {
    let whole = story::log_bytes();
    let mut bytes = whole.clone();
    bytes[700] ^= 1;
    bytes.truncate(whole.len() - 10);
    let scratch = Scratch::with(&bytes);
    let found = Found::at(&scratch.path);
    open_and_close(&scratch);
    let after = Found::at(&scratch.path);
    let line = &after.events.last().unwrap().text;
    assert_eq!(json::member(line, "count"), Some("2"));
    let mut listed = Vec::new();
    json::elements(json::member(line, "damage").unwrap(), |place| {
        let number = |name| json::member(place, name).unwrap().parse::<u64>().unwrap();
        let kind = json::member(place, "kind").unwrap().to_owned();
        listed.push((kind, number("line"), number("offset"), number("len")));
        assert_eq!(json::member(place, "segment"), Some("\"log.jsonl\""));
    })
    .unwrap();
    let wanted: Vec<_> = found
        .damage
        .iter()
        .map(|damage| {
            (format!("\"{}\"", damage.kind.code()), damage.line, damage.offset, damage.len)
        })
        .collect();
    assert_eq!(listed, wanted);
    assert_eq!(wanted.len(), 2);
}

#[test]
fn any_number_of_damaged_places_is_recorded_once() {
    for count in [99, 100, 101, 350] {
        let scratch = Scratch::new();
        let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
        for _ in 0..2 * count {
            writer.append(&story::draft(story::EVENTS[2])).unwrap();
        }
        drop(writer);
        let bytes = scratch.bytes();
        let mut lines: Vec<_> = story::lines(&bytes).iter().map(|line| line.to_vec()).collect();
        for line in lines.iter_mut().skip(1).step_by(2) {
            line[30] ^= 1;
        }
        std::fs::write(&scratch.path, lines.concat()).unwrap();
        let damaged = Found::at(&scratch.path).errors().len();
        assert_eq!(damaged, count);
        open_and_close(&scratch);
        let once = scratch.bytes();
        let found = Found::at(&scratch.path);
        let last = found.texts().last().unwrap().to_string();
        assert_eq!(json::member(&last, "count"), Some(&*count.to_string()));
        open_and_close(&scratch);
        assert_eq!(scratch.bytes(), once, "{count} places");

        // Damage that comes later is news, wherever it is.
        let mut bytes = once.clone();
        bytes[60] ^= 1;
        std::fs::write(&scratch.path, &bytes).unwrap();
        open_and_close(&scratch);
        let found = Found::at(&scratch.path);
        assert_eq!(json::member(found.texts().last().unwrap(), "count"), Some("1"));
    }
}

#[test]
fn a_log_whose_first_line_is_torn_still_begins_with_one() {
    let scratch = Scratch::with(b"{\"message_id\":\"msg_001\",\"event_ty");
    open_and_close(&scratch);
    assert_eq!(scratch.bytes().len(), 33, "there is nothing to say it behind yet");
    let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    writer.append(&story::draft(story::EVENTS[0])).unwrap();
    writer.append(&story::draft(story::EVENTS[2])).unwrap();
    assert_eq!(writer.session_id().as_deref(), Some("story"));
    drop(writer);
    let found = Found::at(&scratch.path);
    assert_eq!(kinds(&found), ["\"session_started\"", "\"recovered\"", "\"message\""]);
    assert_eq!(found.ids(), ["msg_002", "log_001", "msg_003"], "the torn one had the first");
}

#[test]
fn a_full_disk_keeps_nobody_from_opening_a_torn_log() {
    let whole = story::log_bytes();
    let scratch = Scratch::with(&whole[..whole.len() - 5]);
    let full = Outcome::Error(ErrorKind::StorageFull);
    let fault = Fault { op: Op::Write, nth: 1, is_once: false, outcome: full };
    let disk = FaultyDisk::new(&[fault], false);
    let options = Options { disk: Arc::new(disk.clone()), ..story::options(Level::Os) };
    let writer = Writer::open(&scratch.path, options).unwrap();
    assert!(writer.append(&story::draft(story::EVENTS[2])).is_err());
    disk.heal();
    writer.append(&story::draft(story::EVENTS[2])).unwrap();
    drop(writer);
    let found = Found::at(&scratch.path);
    assert_eq!(kinds(&found), ["\"recovered\"", "\"gap\"", "\"message\""]);
    found.assert_gapless();
    found.assert_ids_unique();
}

#[test]
fn an_end_stays_an_end_when_something_is_noted_behind_it() {
    let scratch = Scratch::with(&[&story::log_bytes(), &b"{\"torn"[..]].concat());
    let ended = || {
        let log = antiphon_journal::Log::find(&scratch.path).unwrap();
        antiphon_journal::verify(&log, None).unwrap().ended
    };
    assert!(ended());
    open_and_close(&scratch);
    assert!(ended());
}

#[test]
fn a_batch_is_as_good_as_its_events_one_by_one() {
    let drafts: Vec<_> = story::EVENTS.iter().map(|json| story::draft(json)).collect();
    for level in [Level::Os, Level::Interval, Level::Disk] {
        let scratch = Scratch::new();
        let writer = Writer::open(&scratch.path, story::options(level)).unwrap();
        let acks = writer.append_batch(&drafts).unwrap();
        assert!(acks.iter().all(Result::is_ok));
        writer.close().unwrap();
        assert_eq!(scratch.bytes(), story::log_bytes());

        let writer = Writer::open(&scratch.path, story::options(level)).unwrap();
        let mixed = [
            story::message("own", "1"),
            story::message("own", "1"),
            story::message("own", "2"),
            story::message("other", "3"),
        ];
        let acks = writer.append_batch(&mixed).unwrap();
        let repeated: Vec<_> =
            acks.iter().map(|ack| ack.as_ref().ok().map(|a| a.repeated)).collect();
        assert_eq!(repeated, [Some(false), Some(true), None, Some(false)]);
        assert!(writer.append_batch(&[]).unwrap().is_empty());
        writer.close().unwrap();
        let found = Found::at(&scratch.path);
        assert_eq!((found.events.len(), found.damage.len()), (14, 0));
    }
}
