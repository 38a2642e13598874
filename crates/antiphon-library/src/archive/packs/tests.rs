use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;

use super::super::bytes;
use super::super::lock::Patience;
use super::super::state::{FileCopy, STATE_FILE, State};
use super::super::sums::Sums;
use super::*;

const AGENT: &str = "claude-code";

/// What was forgotten is given; what is damaged is noted.
#[derive(Default)]
struct Noted {
    forgotten: Vec<Key>,
    damaged: RefCell<Vec<Key>>,
}

impl Marks for Noted {
    fn is_forgotten(&self, key: &Key) -> bool {
        self.forgotten.contains(key)
    }

    fn damaged(&self, key: &Key) {
        self.damaged.borrow_mut().push(key.clone());
    }
}

/// The words of a session: some that all have, and some that only it has.
fn words(id: usize) -> Vec<u8> {
    let own = format!("needle-{id:05} ").repeat(20 + id % 7);
    format!("{{\"type\":\"user\",\"message\":\"the same words in all of them\"}}\n{own}\n").into()
}

fn key(id: usize) -> Key {
    Key::of(AGENT, &id.to_string())
}

fn session(root: &Path, id: usize, text: Vec<u8>) -> Incoming {
    let name = format!("000001/{id}.jsonl");
    let copy = FileCopy { sums: Sums::of(&text), ..FileCopy::default() };
    let state = State {
        session_id: id.to_string(),
        source: format!("/srv/agent/{id}.jsonl").into(),
        files: [(name.clone(), copy)].into(),
        ..State::default()
    };
    let entry = Entry {
        key: key(id),
        agent: AGENT.to_owned(),
        time: 1000 + id as u64,
        files: vec![(name, text)],
        record: state.to_text().unwrap().into_bytes(),
        stamp: format!("stamp of {id}").into_bytes(),
    };
    let folder = root.join("archive").join(AGENT).join(key(id).as_str());
    Incoming { entry, folder, has_folder: false }
}

fn add(root: &Path, ids: impl Iterator<Item = usize>) {
    let incoming = ids.map(|id| session(root, id, words(id))).collect();
    Packs::add(root, incoming, &Noted::default(), Patience::Waits).unwrap();
}

fn text(root: &Path, id: usize) -> Option<Vec<u8>> {
    let packed = Packs::of(root).find(&key(id))?;
    bytes::read(&packed, &format!("000001/{id}.jsonl")).ok()
}

fn packs(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root.join(PACKS)).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "zst"));
    files.sort();
    files
}

/// Whether any file of the packs holds a text, compressed or not.
fn holds(root: &Path, needle: &str) -> bool {
    packs(root).iter().any(|path| {
        let raw = fs::read(path).unwrap();
        let all = zstd::decode_all(&*raw).unwrap();
        [raw, all].iter().any(|it| memchr::memmem::find(it, needle.as_bytes()).is_some())
    })
}

#[test]
fn many_sessions_lie_in_one_file_and_each_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, 0..2000);
    assert_eq!(packs(root).len(), 1);
    let all = Packs::of(root);
    assert_eq!(all.sessions().count(), 2000);
    for id in [0, 1, 999, 1999] {
        assert_eq!(text(root, id).unwrap(), words(id));
        let packed = all.find(&key(id)).unwrap();
        let name = format!("000001/{id}.jsonl");
        assert_eq!(packed.list(""), [name.clone(), STATE_FILE.to_owned(), "stamp".to_owned()]);
        assert_eq!(packed.list("000001").len(), 1);
        assert_eq!(packed.len(&name), Some(words(id).len() as u64));
        assert_eq!(bytes::read(&packed, "stamp").unwrap(), format!("stamp of {id}").as_bytes());
        assert!(packed.create("a").is_err() && packed.remove(&name).is_err());
    }
    assert!(all.find(&key(2000)).is_none());
    assert!(all.damages(true).is_empty());
    // Any program that knows zstd can read it.
    let raw = fs::read(&packs(root)[0]).unwrap();
    assert!(holds(root, "needle-01999") && raw.len() < 2000 * words(0).len());
}

#[test]
fn short_packs_become_one_and_a_session_that_comes_again_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for id in 0..40 {
        add(root, [id].into_iter());
    }
    assert!(packs(root).len() < 8, "{}", packs(root).len());
    add(root, 0..40);
    assert_eq!(Packs::of(root).sessions().count(), 40, "what is packed is not packed again");
    for id in 0..40 {
        assert_eq!(text(root, id).unwrap(), words(id));
    }
}

#[test]
fn whoever_comes_second_with_a_session_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, 0..2);
    let late = vec![session(root, 0, words(7)), session(root, 2, words(2))];
    Packs::add(root, late, &Noted::default(), Patience::Waits).unwrap();
    assert_eq!(text(root, 0).unwrap(), words(0));
    assert_eq!(text(root, 2).unwrap(), words(2));
    // One that has a folder meanwhile is there, and not in a pack.
    let copied = session(root, 3, words(3));
    fs::create_dir_all(&copied.folder).unwrap();
    Packs::add(root, vec![copied], &Noted::default(), Patience::Waits).unwrap();
    assert!(text(root, 3).is_none());
}

#[test]
fn a_session_that_is_forgotten_on_its_way_is_not_packed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let forgotten = Noted { forgotten: vec![key(1)], ..Noted::default() };
    let incoming = (0..3).map(|id| session(root, id, words(id))).collect();
    Packs::add(root, incoming, &forgotten, Patience::Waits).unwrap();
    assert!(!holds(root, "needle-00001"));
    assert!(holds(root, "needle-00000") && holds(root, "needle-00002"));
}

#[test]
fn a_session_that_comes_out_of_its_folder_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let incoming = |id: usize| {
        let incoming = Incoming { has_folder: true, ..session(root, id, words(id)) };
        fs::create_dir_all(&incoming.folder).unwrap();
        fs::write(incoming.folder.join(STATE_FILE), &incoming.entry.record).unwrap();
        incoming
    };
    let (quiet, changed) = (incoming(0), incoming(1));
    // Somebody has copied more of this one since.
    fs::write(changed.folder.join(STATE_FILE), "another record").unwrap();
    let folders = [quiet.folder.clone(), changed.folder.clone()];
    Packs::add(root, vec![quiet, changed], &Noted::default(), Patience::Waits).unwrap();
    assert_eq!(text(root, 0).unwrap(), words(0));
    assert!(text(root, 1).is_none());
    assert_eq!(folders.map(|it| it.exists()), [false, true]);
    let mut left = fs::read_dir(root.join(PACKS)).unwrap().map(|it| it.unwrap().path());
    assert!(!left.any(|it| it.is_dir()), "nothing is left of the folder");
}

#[test]
fn of_a_session_that_is_removed_no_byte_remains_and_its_neighbours_do() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, 0..300);
    assert!(holds(root, "needle-00123"));
    // As somebody would leave it who was killed while writing.
    let half = root.join(PACKS).join("000002.zst.123.new");
    fs::write(&half, words(123)).unwrap();
    let before = Packs::of(root).find(&key(7)).unwrap();
    Packs::remove(root, &BTreeSet::from([key(123)])).unwrap();
    assert!(!holds(root, "needle-00123") && !half.exists());
    assert!(text(root, 123).is_none());
    let read = bytes::read(&before, "000001/7.jsonl").unwrap();
    assert_eq!(read, words(7), "whoever had looked it up finds where it is now");
    for id in (0..300).filter(|id| *id != 123) {
        assert_eq!(text(root, id).unwrap(), words(id));
    }
    let all: BTreeSet<Key> = (0..300).map(key).collect();
    Packs::remove(root, &all).unwrap();
    assert!(packs(root).is_empty());
}

#[test]
fn whoever_is_killed_between_two_packs_leaves_both_and_the_next_one_removes_the_old() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, 0..300);
    let old = fs::read(&packs(root)[0]).unwrap();
    Packs::remove(root, &BTreeSet::from([key(123)])).unwrap();
    fs::write(root.join(PACKS).join("000001.zst"), old).unwrap();
    assert!(holds(root, "needle-00123"));
    Packs::remove(root, &BTreeSet::from([key(123)])).unwrap();
    assert!(!holds(root, "needle-00123"));
    assert_eq!(Packs::of(root).sessions().count(), 299);
    assert_eq!(packs(root).len(), 1, "what a later pack has is not written again");
}

#[test]
fn wherever_a_pack_is_damaged_every_other_session_is_right_and_it_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    add(root, 0..120);
    let path = packs(root)[0].clone();
    let whole = fs::read(&path).unwrap();
    let check = |damaged: &[u8], what: &str, losses: usize| {
        for old in packs(root) {
            fs::remove_file(old).unwrap();
        }
        // Another name, so that nothing is known of it.
        fs::write(root.join(PACKS).join("000009.zst"), damaged).unwrap();
        let is_right = |id: &usize| text(root, *id).is_some_and(|it| it == words(*id));
        let lost = (0..120).filter(|id| !is_right(id)).count();
        assert!(lost <= losses, "{what}: {lost} are lost");
        assert!(!Packs::of(root).damages(true).is_empty() || lost > 0, "{what} is noticed");
        let noted = Noted::default();
        Packs::repair(root, &BTreeSet::from(["000009.zst".to_owned()]), &noted).unwrap();
        assert!(Packs::of(root).damages(true).is_empty(), "{what}");
        let there = Packs::of(root).sessions().count();
        assert_eq!(noted.damaged.borrow().len() + 120 - there, lost, "{what}");
        assert_eq!((0..120).filter(|id| !is_right(id)).count(), lost, "{what}");
    };
    for bit in (0..whole.len() * 8).step_by(whole.len() / 3) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        check(&bytes, &format!("bit {bit} of {}", whole.len() * 8), 120);
    }
    let list = whole.len() - 400;
    let mut bytes = whole.clone();
    bytes[list] ^= 1;
    check(&bytes, "the list", 0);
    check(&whole[..whole.len() - 3], "the table", 0);
    // The footer has nine bytes; before it stands how long the last frame is when decompressed.
    let mut bytes = whole.clone();
    bytes[whole.len() - 9 - 4] ^= 1;
    check(&bytes, "a length in the table", 0);
    check(&whole[..whole.len() / 2], "half of it", 120);
    let aside = root.join(PACKS).join("000009.zst.damaged");
    assert!(aside.exists(), "what could not be read stays beside");
    Packs::remove(root, &BTreeSet::from([key(3)])).unwrap();
    assert!(!aside.exists(), "until something is forgotten, which may be in it");
}
