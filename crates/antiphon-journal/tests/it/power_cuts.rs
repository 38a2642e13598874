//! The power is cut at every call to the disk: what was acknowledged at level `disk` is there.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_journal::{Error, Level, Log, Options, Writer};

use crate::faults::{BROKEN, FULL, LEVELS, Sent, check_damage, send_all};
use crate::faulty_disk::{Fault, FaultyDisk, Op, Outcome, Tail};
use crate::story::{self, Found};

/// After a power cut: what was acknowledged at level `disk` is there once, and the log goes on.
#[track_caller]
fn check_power_cut(folder: &Path, level: Level, disk: &FaultyDisk, sent: &Sent, what: &str) {
    let found = Found::at_or_none(folder);
    found.assert_ids_unique();
    check_damage(&found, true, what);
    if level == Level::Disk {
        for id in &sent.acknowledged {
            assert!(found.ids().contains(&id.as_str()), "{what}: {id} is lost; {:?}", found.ids());
        }
    }
    let disk = disk.after_power_cut();
    let options = Options { disk: Arc::new(disk.clone()), ..story::options(level) };
    let writer = Writer::open(folder, options).unwrap();
    // Who was not answered sends again. That is acknowledged, and must survive the next cut.
    for id in ["a", "l", "last"] {
        let at = "abcdefghijkl".find(id).unwrap_or(3);
        writer.append(&story::message(id, &"w".repeat(at % 6 * 120 + at / 6 * 50))).unwrap();
    }
    disk.cut_power(folder, Tail::Gone);
    drop(writer);
    let again = Found::at_or_none(folder);
    again.assert_ids_unique();
    if level == Level::Disk {
        for id in ["a", "l", "last"].into_iter().chain(found.ids()) {
            assert!(again.ids().contains(&id), "{what}: {id} is lost on the second cut");
        }
    }
}

fn check_every_cut(others: &[Fault], tail: Tail) -> usize {
    let mut cuts = 0;
    for level in LEVELS {
        for nth in 1.. {
            let cut = Fault { op: Op::Any, nth, is_once: false, outcome: Outcome::PowerCut };
            let what = format!("{level:?}, {others:?}, power cut at call {nth}, {tail:?}");
            let folder = tempfile::tempdir().unwrap();
            let disk = FaultyDisk::new(&[others, &[cut]].concat(), false);
            let sent = send_all(folder.path(), level, &disk);
            let is_clean = disk.count(Op::Any) < nth;
            disk.cut_power(folder.path(), tail);
            check_power_cut(folder.path(), level, &disk, &sent, &what);
            assert_eq!(disk.syncs_retried(), 0, "{what}");
            cuts += 1;
            if is_clean {
                break;
            }
        }
    }
    cuts
}

#[test]
fn the_power_may_be_cut_at_every_call() {
    let mut cuts = 0;
    for tail in [Tail::Gone, Tail::Half, Tail::Zeros] {
        cuts += check_every_cut(&[], tail);
    }
    println!("{cuts} power cuts");
    assert!(cuts > 200);
}

#[test]
fn the_power_may_be_cut_after_a_sync_has_failed() {
    let mut cuts = 0;
    for nth in 1..12 {
        let sync = Fault { op: Op::Sync, nth, is_once: true, outcome: BROKEN };
        cuts += check_every_cut(&[sync], Tail::Zeros);
    }
    for nth in 1..4 {
        let folder = Fault { op: Op::SyncFolder, nth, is_once: true, outcome: BROKEN };
        cuts += check_every_cut(&[folder], Tail::Gone);
    }
    println!("{cuts} power cuts");
}

/// Two writers, the first of which syncs nothing; what the second acknowledges survives.
#[track_caller]
fn check_after_os(segment_bytes_max: u64, send: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let disk = FaultyDisk::default();
    let options = |level| Options {
        segment_bytes_max,
        disk: Arc::new(disk.clone()),
        ..story::options(level)
    };
    let first = Writer::open(folder.path(), options(Level::Os)).unwrap();
    for id in ["a", "b", "c"] {
        first.append(&story::message(id, "")).unwrap();
    }
    drop(first);
    let second = Writer::open(folder.path(), options(Level::Disk)).unwrap();
    for id in send {
        second.append(&story::message(id, "")).unwrap();
    }
    disk.cut_power(folder.path(), Tail::Gone);
    drop(second);
    let found = Found::at(folder.path());
    for id in send {
        assert!(found.ids().contains(id), "{id} is lost of {send:?}");
    }
}

#[test]
fn what_a_writer_left_to_the_system_is_durable_when_the_next_one_says_so() {
    for segment_bytes_max in [u64::MAX, 100] {
        check_after_os(segment_bytes_max, &["d"]);
        check_after_os(segment_bytes_max, &["a"]);
        check_after_os(segment_bytes_max, &["c", "d", "b"]);
    }
}

#[test]
fn what_could_not_be_made_durable_is_not_acknowledged_when_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    drop({
        let first = Writer::open(folder.path(), story::options(Level::Os)).unwrap();
        first.append(&story::message("a", "")).unwrap();
        first
    });
    let sync = Fault { op: Op::Sync, nth: 1, is_once: true, outcome: BROKEN };
    let disk = FaultyDisk::new(&[sync], false);
    let options = Options { disk: Arc::new(disk), ..story::options(Level::Disk) };
    let second = Writer::open(folder.path(), options).unwrap();
    for _ in 0..3 {
        let error = second.append(&story::message("a", "")).unwrap_err();
        assert!(matches!(error, Error::Sync { .. }), "{error}");
    }
    second.append(&story::message("b", "")).unwrap();
    assert!(second.append(&story::message("b", "")).unwrap().repeated);
    second.close().unwrap();
    assert_eq!(Found::at(folder.path()).ids().iter().filter(|&&id| id == "a").count(), 1);
}

#[test]
fn an_event_that_arrives_during_a_sync_waits_for_the_next() {
    for segment_bytes_max in [u64::MAX, 3000] {
        for life in [3, 10, 31] {
            let folder = tempfile::tempdir().unwrap();
            let disk = FaultyDisk::slow(Duration::from_millis(2));
            let options = Options {
                segment_bytes_max,
                disk: Arc::new(disk.clone()),
                ..story::options(Level::Disk)
            };
            let writer = Writer::open(folder.path(), options).unwrap();
            let acknowledged: Vec<String> = std::thread::scope(|scope| {
                let append = |thread: usize| {
                    let writer = &writer;
                    let ids = (0..).map(move |n| format!("{thread}-{n}"));
                    move || {
                        let send = |id: &String| writer.append(&story::message(id, "")).is_ok();
                        ids.take_while(send).collect::<Vec<_>>()
                    }
                };
                let threads: Vec<_> = (0..6).map(|thread| scope.spawn(append(thread))).collect();
                std::thread::sleep(Duration::from_millis(life));
                disk.cut_power(folder.path(), Tail::Gone);
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            drop(writer);
            let found = Found::at_or_none(folder.path());
            for id in &acknowledged {
                assert!(found.ids().contains(&id.as_str()), "{id} is lost");
            }
        }
    }
}

#[test]
fn at_level_interval_a_single_event_is_synced_within_about_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let disk = FaultyDisk::default();
    let options = Options { disk: Arc::new(disk.clone()), ..story::options(Level::Interval) };
    let writer = Writer::open(folder.path(), options).unwrap();
    for round in 1..=2 {
        writer.append(&story::message(&format!("m{round}"), "")).unwrap();
        let begun = Instant::now();
        while disk.count(Op::Sync) < round {
            assert!(begun.elapsed() < Duration::from_secs(4), "round {round}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    disk.cut_power(folder.path(), Tail::Gone);
    drop(writer);
    assert_eq!(Found::at(folder.path()).events.len(), 3);
}

#[test]
fn at_level_interval_a_failed_sync_is_made_good_without_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    let sync = Fault { op: Op::Sync, nth: 1, is_once: true, outcome: BROKEN };
    let rename = Fault { op: Op::Rename, nth: 1, is_once: true, outcome: FULL };
    let disk = FaultyDisk::new(&[sync, rename], true);
    let options = Options { disk: Arc::new(disk.clone()), ..story::options(Level::Interval) };
    let writer = Writer::open(folder.path(), options).unwrap();
    writer.append(&story::message("m", "")).unwrap();
    let begun = Instant::now();
    while disk.count(Op::Rename) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
    writer.append(&story::message("n", "")).unwrap();
    writer.close().unwrap();
    disk.cut_power(folder.path(), Tail::Gone);
    let found = Found::at(folder.path());
    assert_eq!(found.events.len(), 4, "{:?}", found.texts());
    assert_eq!(Log::find(folder.path()).unwrap().segments().len(), 2);
}
