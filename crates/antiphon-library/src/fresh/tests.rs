use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use antiphon_catalog::{Key, SessionQuery, SessionSort};

use super::*;
use crate::archive::Copies;

const LONG: Duration = Duration::from_secs(600);

/// A machine with sessions of Claude Code, and a store.
struct Machine {
    home: tempfile::TempDir,
    store: Store,
}

fn line(id: &str, number: usize, words: &str) -> String {
    format!(
        r#"{{"type":"user","sessionId":"{id}","uuid":"{id}-{number}","timestamp":"2026-05-01T10:00:00Z","message":{{"role":"user","content":"{words}"}}}}"#
    ) + "\n"
}

impl Machine {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path().join("store"));
        Self { home, store }
    }

    fn environment(&self) -> Environment {
        Environment { home: Some(self.home.path().to_owned()), ..Environment::default() }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.home.path().join(".claude/projects/shop").join(format!("{id}.jsonl"))
    }

    /// Writes a session of so many lines, last changed so many seconds ago.
    fn write(&self, id: &str, lines: usize, ago: u64) {
        let path = self.file(id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = (0..lines).map(|number| line(id, number, "words")).collect();
        fs::write(&path, text).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - Duration::from_secs(ago)).unwrap();
    }

    fn sync(&self) {
        self.store.sync(&self.environment(), None, &|_, _| {});
    }

    fn freshen(&self, asked: Asked, within: Duration) -> Freshened {
        self.store.freshen(&self.environment(), asked, within)
    }

    fn ids(&self) -> Vec<String> {
        let (query, sort) = (SessionQuery::default(), SessionSort::Changed);
        let list = self.store.list(&query, None, sort, 1000, &|_, _| {}).unwrap();
        let mut ids: Vec<String> =
            list.sessions.into_iter().map(|it| it.session.session_id.clone()).collect();
        ids.sort();
        ids
    }

    fn folder(&self, id: &str) -> PathBuf {
        self.store.archive_folder("claude-code", &Key::of("claude-code", id))
    }
}

fn copied(copied: usize) -> Freshened {
    Freshened { copied, ..Freshened::default() }
}

#[test]
fn what_is_new_is_copied_and_a_store_without_copies_stays_empty() {
    let machine = Machine::new();
    machine.write("a", 2, 5);
    assert_eq!(machine.freshen(Asked::Catalogue, LONG), Freshened::default());
    assert!(!machine.store.root().exists(), "nothing was written");
    machine.sync();
    assert_eq!(machine.freshen(Asked::Catalogue, LONG), Freshened::default(), "nothing is new");
    machine.write("b", 2, 5);
    machine.write("a", 3, 4);
    assert_eq!(machine.freshen(Asked::Catalogue, LONG), copied(2));
    assert_eq!(machine.freshen(Asked::Catalogue, LONG), Freshened::default());
    assert_eq!(machine.ids(), ["a", "b"]);
}

#[test]
fn without_time_only_the_session_that_changed_last_is_copied_and_the_others_are_counted() {
    let machine = Machine::new();
    machine.write("a", 1, 900);
    machine.sync();
    for number in 1..=100_u64 {
        machine.write(&format!("n{number:03}"), 1, 1000 - number);
    }
    let freshened = machine.freshen(Asked::Catalogue, Duration::ZERO);
    // Of those that were not looked at, nobody knows.
    assert_eq!((freshened.copied, freshened.is_cut), (1, true));
    assert!(freshened.left >= 60, "{freshened:?}");
    assert_eq!(machine.ids(), ["a", "n100"]);
    assert_eq!(machine.freshen(Asked::Catalogue, LONG), copied(99));
    assert_eq!(machine.ids().len(), 101);
}

#[test]
fn a_session_that_would_take_too_long_is_left() {
    let machine = Machine::new();
    machine.write("a", 1, 900);
    machine.sync();
    machine.write("long", 60_000, 5);
    let brief = Duration::from_millis(20);
    assert_eq!(
        machine.freshen(Asked::Catalogue, brief),
        Freshened { left: 1, ..Freshened::default() }
    );
    assert_eq!(machine.ids(), ["a"]);
}

#[test]
fn a_session_that_another_process_copies_is_not_waited_for() {
    let machine = Machine::new();
    machine.write("a", 1000, 5);
    machine.sync();
    machine.write("a", 1001, 4);
    // A folder that grows is locked by whoever copies.
    assert_eq!(machine.freshen(Asked::Session, LONG), copied(1));
    machine.write("a", 1002, 3);
    let lock = File::open(machine.folder("a")).unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    let left = Freshened { left: 1, ..Freshened::default() };
    assert_eq!(machine.freshen(Asked::Session, LONG), left);
    assert!(begun.elapsed() < Duration::from_secs(20));
    drop(lock);
    assert_eq!(machine.freshen(Asked::Session, LONG), copied(1));
}

#[test]
fn packs_that_another_process_writes_are_not_waited_for() {
    let machine = Machine::new();
    machine.write("a", 1, 5);
    machine.sync();
    machine.write("b", 1, 4);
    let lock = File::open(machine.store.root().join("packs")).unwrap();
    lock.lock().unwrap();
    let left = Freshened { left: 1, ..Freshened::default() };
    assert_eq!(machine.freshen(Asked::Session, LONG), left);
    drop(lock);
    assert_eq!(machine.freshen(Asked::Session, LONG), copied(1));
}

#[test]
fn nothing_comes_back_while_a_session_is_being_deleted() {
    let machine = Machine::new();
    machine.write("a", 1, 5);
    machine.sync();
    let forgotten = machine.store.root().join("forgotten");
    fs::create_dir_all(&forgotten).unwrap();
    fs::write(forgotten.join("x.pending"), "a\n").unwrap();
    machine.write("a", 2, 4);
    let freshened = machine.freshen(Asked::Session, LONG);
    assert!(freshened.is_deleting && freshened.copied == 0, "{freshened:?}");
    machine.sync();
    machine.store.forget("a").unwrap();
    machine.write("a", 3, 3);
    machine.freshen(Asked::Session, LONG);
    assert!(!Copies::at(&machine.folder("a")).are_kept());
}

#[test]
fn whoever_asks_does_not_wait_for_another_process_that_writes_the_catalogue() {
    let machine = Machine::new();
    machine.write("a", 1, 5);
    machine.sync();
    assert_eq!(machine.ids(), ["a"]);
    let other = rusqlite::Connection::open(machine.store.root().join("catalog.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    machine.write("b", 2, 4);
    assert_eq!(machine.freshen(Asked::Catalogue, LONG), copied(1));
    let begun = Instant::now();
    assert_eq!(machine.ids(), ["a", "b"], "what is not in the catalogue is read from its copy");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(machine.store.behind(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(machine.ids(), ["a", "b"]);
    assert_eq!(machine.store.behind(), 0);
}
