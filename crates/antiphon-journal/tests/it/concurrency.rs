//! Many threads in one writer, and many writers at one log.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use antiphon_journal::{Error, Level, Options, Writer, verify};

use crate::story::{self, Found, Scratch};

#[test]
fn what_many_threads_append_is_all_there_once_and_in_one_chain() {
    for (level, each) in [(Level::Os, 200), (Level::Interval, 200), (Level::Disk, 25)] {
        for segment_bytes_max in [u64::MAX, 20_000] {
            check_threads(level, each, segment_bytes_max);
        }
    }
}

fn check_threads(level: Level, each: usize, segment_bytes_max: u64) {
    const THREADS: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let options = Options { segment_bytes_max, ..story::options(level) };
    let writer = Writer::open(folder.path(), options).unwrap();
    let acknowledged: BTreeSet<String> = std::thread::scope(|scope| {
        let append = |thread: usize| {
            let writer = &writer;
            move || {
                let draft = |n: usize| {
                    let content = "x".repeat(n * 37 % 1000);
                    story::message(&format!("{thread}-{n}"), &content)
                };
                (0..each)
                    .map(|n| writer.append(&draft(n)).unwrap().message_id.to_string())
                    .collect::<Vec<_>>()
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(append(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let head = writer.head();
    writer.close().unwrap();

    let found = Found::at(folder.path());
    assert_eq!(acknowledged.len(), THREADS * each);
    assert_eq!(found.events.len(), THREADS * each + 1);
    assert!(found.ids()[1..].iter().all(|&id| acknowledged.contains(id)));
    assert_eq!(found.damage, []);
    found.assert_gapless();
    found.assert_ids_unique();
    assert_eq!(found.summary.unwrap().head, head);
    // Each thread's own events stand in the order in which it sent them.
    for thread in 0..THREADS {
        let own = format!("{thread}-");
        let ids = found.ids().into_iter().filter_map(|id| id.strip_prefix(&own)).map(str::to_owned);
        let wanted = (0..each).map(|n| n.to_string());
        assert!(ids.eq(wanted), "{level:?}");
    }
}

#[test]
fn a_second_writer_waits_then_fails_and_names_the_first() {
    let scratch = Scratch::new();
    let options = |program: &str, millis| Options {
        program: program.to_owned(),
        wait: Duration::from_millis(millis),
        ..story::options(Level::Os)
    };
    let first = Writer::open(&scratch.path, options("the-first 1.0", 0)).unwrap();
    first.append(&story::message("m", "")).unwrap();
    let before = scratch.bytes();
    for wait in [0, 150] {
        let begun = Instant::now();
        let error = Writer::open(&scratch.path, options("second", wait)).unwrap_err();
        assert!(begun.elapsed() >= Duration::from_millis(wait));
        let wanted = format!("is being written by process {} (the-first 1.0)", std::process::id());
        assert!(error.to_string().ends_with(&wanted), "{error}");
    }
    assert_eq!(scratch.bytes(), before, "who waits in vain writes nothing");
    first.append(&story::message("n", "")).unwrap();
    first.close().unwrap();
    assert_eq!(Found::at(&scratch.path).events.len(), 3);
}

#[test]
fn a_second_writer_waits_and_goes_on_where_the_first_stopped() {
    let scratch = Scratch::new();
    let first = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    first.append(&story::message("early", "")).unwrap();
    let is_closed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let second = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
            assert!(is_closed.load(Ordering::SeqCst));
            second.append(&story::message("after", "")).unwrap();
        });
        std::thread::sleep(Duration::from_millis(100));
        // Written while the second waits: it must not have read the log before it had the lock.
        first.append(&story::message("late", "")).unwrap();
        is_closed.store(true, Ordering::SeqCst);
        first.close().unwrap();
    });
    let found = Found::at(&scratch.path);
    assert_eq!(found.ids()[1..], ["early", "late", "after"]);
    found.assert_gapless();
    assert_eq!(found.damage, []);
}

#[test]
fn no_lock_is_left_behind() {
    let scratch = Scratch::new();
    let names = || {
        let entries = std::fs::read_dir(scratch.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let writer = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    assert_eq!(names(), ["log.jsonl.lock"], "the log itself is made by the first event");
    writer.append(&story::message("m", "")).unwrap();
    assert_eq!(names(), ["log.jsonl", "log.jsonl.lock"]);
    writer.close().unwrap();
    assert_eq!(names(), ["log.jsonl"]);
    drop(Writer::open(&scratch.path, story::options(Level::Disk)).unwrap());
    assert_eq!(names(), ["log.jsonl"]);

    // One that its holder could not remove (it was killed) keeps nobody out.
    std::fs::write(scratch.path.with_extension("jsonl.lock"), "process 1 (dead)").unwrap();
    story::append(&scratch.path, story::EVENTS[2]);
    assert_eq!(names(), ["log.jsonl"]);
}

#[test]
fn a_lock_that_somebody_removed_is_not_taken_from_its_next_holder() {
    let scratch = Scratch::new();
    let lock = scratch.path.with_extension("jsonl.lock");
    let first = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    std::fs::remove_file(&lock).unwrap();
    let second = Writer::open(&scratch.path, story::options(Level::Os)).unwrap();
    drop(first);
    assert!(lock.exists());
    let third = Options { wait: Duration::ZERO, ..story::options(Level::Os) };
    let error = Writer::open(&scratch.path, third).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    drop(second);
    assert!(!lock.exists());
}

#[test]
fn writers_that_take_turns_never_interleave() {
    const WRITERS: usize = 8;
    const TURNS: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    let options = || Options {
        wait: Duration::from_secs(60),
        segment_bytes_max: 30_000,
        ..story::options(Level::Os)
    };
    let inside = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..WRITERS {
            let (inside, folder, options) = (&inside, folder.path(), &options);
            scope.spawn(move || {
                for turn in 0..TURNS {
                    let writer = Writer::open(folder, options()).unwrap();
                    assert!(!inside.swap(true, Ordering::SeqCst), "two at once");
                    for part in 0..3 {
                        let id = format!("{thread}-{turn}-{part}");
                        writer.append(&story::message(&id, &"y".repeat(part * 100))).unwrap();
                    }
                    inside.store(false, Ordering::SeqCst);
                    writer.close().unwrap();
                }
            });
        }
    });
    let found = Found::at(folder.path());
    assert_eq!(found.events.len(), WRITERS * TURNS * 3 + 1);
    assert_eq!(found.damage, []);
    found.assert_gapless();
    found.assert_ids_unique();
    let turn = |id: &str| id.rsplit_once('-').unwrap().0.to_owned();
    for turns in found.ids()[1..].chunks(3) {
        assert!(turns.iter().all(|id| turn(id) == turn(turns[0])), "{turns:?}");
    }
    let log = antiphon_journal::Log::find(folder.path()).unwrap();
    assert!(verify(&log, None).unwrap().is_valid());
}
