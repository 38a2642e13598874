//! Every call to the disk fails once, or from then on: what was acknowledged is there, once.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use antiphon_journal::{Error, Level, Options, Writer};
use antiphon_model::json;

use crate::faulty_disk::{Fault, FaultyDisk, Op, Outcome};
use crate::story::{self, Found};

pub(crate) const LEVELS: [Level; 3] = [Level::Os, Level::Interval, Level::Disk];

/// What the sender of the events knows at the end.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) acknowledged: Vec<String>,
    /// Written, and perhaps not durable.
    unsynced: Vec<String>,
    refused: Vec<String>,
    /// Refusals that the log must count: not those that a writer took with it when it could not
    /// even say so.
    to_be_counted: usize,
    /// A writer said at its end that not all is durable.
    is_warned: bool,
}

impl Sent {
    fn send(&mut self, writer: &Writer, id: &str, len: usize) {
        let draft = story::message(id, &"w".repeat(len));
        let list = match writer.append(&draft) {
            Ok(_) => &mut self.acknowledged,
            Err(Error::Sync { .. }) => &mut self.unsynced,
            Err(Error::Conflict { .. }) => panic!("{id} conflicts with itself"),
            Err(_) => {
                self.to_be_counted += 1;
                &mut self.refused
            }
        };
        list.push(id.to_owned());
    }
}

/// Sends a dozen events with two writers, on segments for three events each.
pub(crate) fn send_all(folder: &Path, level: Level, disk: &FaultyDisk) -> Sent {
    let options = || Options {
        segment_bytes_max: 1500,
        disk: Arc::new(disk.clone()),
        ..story::options(level)
    };
    let mut sent = Sent::default();
    for (round, ids) in ["abcdef", "ghijkl"].into_iter().enumerate() {
        let Ok(writer) = Writer::open(folder, options()) else {
            continue;
        };
        let counted_before = sent.to_be_counted;
        for (at, id) in ids.chars().enumerate() {
            sent.send(&writer, &id.to_string(), at * 120 + round * 50);
        }
        // What failed is sent again, as a patient sender would.
        for id in sent.unsynced.clone() {
            let at = ids.find(&id).unwrap_or(9);
            if at < 9 && !sent.acknowledged.contains(&id) {
                sent.send(&writer, &id, at * 120 + round * 50);
            }
        }
        if writer.close().is_err() {
            sent.to_be_counted = counted_before;
            sent.is_warned = true;
        }
    }
    sent
}

/// What must hold when the disk works again.
#[track_caller]
fn check_healed(folder: &Path, level: Level, disk: &FaultyDisk, mut sent: Sent, what: &str) {
    disk.heal();
    let options = Options { disk: Arc::new(disk.clone()), ..story::options(level) };
    let writer = Writer::open(folder, options).unwrap();
    sent.send(&writer, "last", 10);
    writer.close().unwrap();
    assert_eq!(sent.acknowledged.last().unwrap(), "last", "{what}");
    assert_eq!(disk.syncs_retried(), 0, "{what}: a failed sync was tried again");

    let found = Found::at(folder);
    assert!(found.is_gapless(), "{what}: {:?}", found.damage);
    found.assert_ids_unique();
    let counted: u64 = found.events.iter().filter_map(|event| gap_count(&event.text)).sum();
    for id in sent.acknowledged.iter().chain(&sent.unsynced) {
        assert!(found.ids().contains(&id.as_str()), "{what}: {id} is lost");
    }
    let written = |id: &&String| found.ids().contains(&id.as_str());
    let is_sent_again = |id: &&String| sent.acknowledged.contains(id) || sent.unsynced.contains(id);
    for id in sent.refused.iter().filter(|id| !is_sent_again(id)) {
        assert!(!written(&id), "{what}: {id} was refused and written");
    }
    assert!(counted >= sent.to_be_counted as u64, "{what}: {counted} of {sent:?}");
    assert!(counted <= sent.refused.len() as u64, "{what}: {counted} of {sent:?}");
    check_damage(&found, disk.forgets(), what);
    let leftover = |name: &str| name.ends_with(".new") || name.contains("lock");
    assert!(!names(folder).iter().any(|name| leftover(name)), "{what}: {:?}", names(folder));
}

/// Where a write failed a line stops short, and where a sync failed or the power was cut there may
/// be zeros. Neither costs the lines around it, and the chain is never broken.
#[track_caller]
pub(crate) fn check_damage(found: &Found, may_be_zeros: bool, what: &str) {
    for damage in found.errors() {
        let code = damage.kind.code();
        let is_torn = ["torn-tail", "torn-line"].contains(&code);
        let is_zeros = may_be_zeros && ["nul", "welded"].contains(&code);
        assert!(is_torn || is_zeros, "{what}: {damage:?}");
    }
}

fn gap_count(text: &str) -> Option<u64> {
    (json::member(text, "event_type")? == "\"gap\"")
        .then(|| json::member(text, "count")?.parse().ok())?
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Lets the `nth` call fail, for every `nth` there is, on top of `others`. Returns how many.
fn check_every(op: Op, outcome: Outcome, is_once: bool, others: &[Fault]) -> usize {
    let mut runs = 0;
    // Only a sync that fails gives it something to forget.
    let syncs_fail = op == Op::Sync || !others.is_empty();
    let memories: &[bool] = if syncs_fail { &[false, true] } else { &[false] };
    for level in LEVELS {
        for &forgets in memories {
            for nth in 1.. {
                let fault = Fault { op, nth, is_once, outcome };
                let what = format!("{level:?}, {fault:?}, {others:?}, forgets: {forgets}");
                let folder = tempfile::tempdir().unwrap();
                let disk = FaultyDisk::new(&[others, &[fault]].concat(), forgets);
                let sent = send_all(folder.path(), level, &disk);
                let is_clean = disk.count(op) < nth;
                // A disk that forgets, and a writer that says so and is gone: that is lost.
                if !(forgets && sent.is_warned) {
                    check_healed(folder.path(), level, &disk, sent, &what);
                }
                runs += 1;
                if is_clean {
                    break;
                }
                assert!(disk.triggered() > 0, "{what}");
            }
        }
    }
    runs
}

pub(crate) const FULL: Outcome = Outcome::Error(ErrorKind::StorageFull);
pub(crate) const BROKEN: Outcome = Outcome::Error(ErrorKind::Other);

#[test]
fn every_write_may_fail() {
    let mut runs = 0;
    for outcome in [FULL, BROKEN] {
        runs += check_every(Op::Write, outcome, true, &[]);
        runs += check_every(Op::Write, outcome, false, &[]);
    }
    runs += check_every(Op::Write, Outcome::Error(ErrorKind::Interrupted), true, &[]);
    println!("{runs} runs");
    assert!(runs > 200);
}

#[test]
fn every_write_may_be_short() {
    let mut runs = 0;
    // Up to the last byte: a line that lacks only its newline, or its last brace.
    for len in [1, 2, 100, -1, -2, -3] {
        for outcome in [Outcome::Short(len), Outcome::ShortThenFull(len)] {
            runs += check_every(Op::Write, outcome, true, &[]);
        }
    }
    runs += check_every(Op::Write, Outcome::Short(50), false, &[]);
    runs += check_every(Op::Write, Outcome::ShortThenFull(-1), false, &[]);
    println!("{runs} runs");
}

#[test]
fn every_sync_may_fail() {
    let mut runs = check_every(Op::Sync, BROKEN, false, &[]);
    for outcome in [BROKEN, FULL, Outcome::Error(ErrorKind::Interrupted)] {
        runs += check_every(Op::Sync, outcome, true, &[]);
    }
    println!("{runs} runs");
}

#[test]
fn every_open_and_every_sync_of_a_folder_may_fail() {
    let mut runs = 0;
    for op in [Op::Open, Op::SyncFolder] {
        runs += check_every(op, BROKEN, true, &[]);
        runs += check_every(op, FULL, false, &[]);
    }
    println!("{runs} runs");
}

#[test]
fn a_segment_that_takes_over_may_fail_at_every_step() {
    let mut runs = 0;
    for nth in [1, 3] {
        let sync = Fault { op: Op::Sync, nth, is_once: true, outcome: BROKEN };
        for op in [Op::Open, Op::Write, Op::Sync, Op::Rename, Op::SyncFolder] {
            runs += check_every(op, FULL, true, &[sync]);
            runs += check_every(op, FULL, false, &[sync]);
        }
    }
    println!("{runs} runs");
}

#[test]
fn what_waits_for_a_disk_that_never_syncs_is_bounded() {
    for level in [Level::Interval, Level::Disk] {
        let folder = tempfile::tempdir().unwrap();
        let sync = Fault { op: Op::Sync, nth: 1, is_once: false, outcome: BROKEN };
        let disk = FaultyDisk::new(&[sync], false);
        let options = Options { disk: Arc::new(disk.clone()), ..story::options(level) };
        let writer = Writer::open(folder.path(), options).unwrap();
        let mut sent = Sent::default();
        for n in 0..12 {
            sent.send(&writer, &n.to_string(), 1 << 20);
        }
        assert_eq!(sent.refused, ["8", "9", "10", "11"], "{level:?}");
        disk.heal();
        sent.send(&writer, "healed", 1);
        writer.close().unwrap();
        check_healed(folder.path(), level, &disk, sent, "a disk that never syncs");
    }
}

/// The sender gives its events no ids, so that what is written twice is there twice.
#[test]
fn of_a_batch_nothing_is_written_behind_an_event_that_could_not_be() {
    let drafts: Vec<_> = (0..8)
        .map(|n| {
            story::draft(&format!(r#"{{"agent_id":"agent_001","role":"user","content":"<{n}>"}}"#))
        })
        .collect();
    let mut partly = 0;
    for outcome in [FULL, BROKEN, Outcome::ShortThenFull(20), Outcome::ShortThenFull(-1)] {
        for nth in 1..12 {
            let folder = tempfile::tempdir().unwrap();
            let fault = Fault { op: Op::Write, nth, is_once: true, outcome };
            let disk = FaultyDisk::new(&[fault], false);
            let options = || Options { disk: Arc::new(disk.clone()), ..story::options(Level::Os) };
            let mut rest = &drafts[..];
            while !rest.is_empty() {
                let writer = Writer::open(folder.path(), options()).unwrap();
                let answers = writer.append_batch(rest).unwrap();
                let taken = answers.iter().take_while(|answer| answer.is_ok()).count();
                assert!(answers.len() <= taken + 1, "something was tried behind a failure");
                partly += usize::from(taken > 0 && taken < rest.len());
                rest = &rest[taken..];
                let _ = writer.close();
            }
            let found = Found::at(folder.path());
            for n in 0..drafts.len() {
                let content = format!("\"<{n}>\"");
                let times = found.events.iter().filter(|it| it.text.contains(&content)).count();
                assert_eq!(times, 1, "event {n}, {fault:?}");
            }
        }
    }
    assert!(partly > 10, "{partly}");
}
