use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use antiphon_journal::Session;

use super::*;
use crate::SessionFolder;

fn record(store: &Store, events: &str) -> SessionFolder {
    let folder = store.new_session(None).unwrap();
    let session = Session::open(&folder.path).unwrap();
    for event in events.lines() {
        session.event(event).unwrap();
    }
    folder
}

fn started(id: &str) -> String {
    format!(
        "{{\"event_type\":\"session_started\",\"session_id\":\"{id}\",\"title\":\"Title {id}\"}}"
    )
}

/// Makes a session the older the greater the number.
fn age(folder: &SessionFolder, number: u64) {
    let time = UNIX_EPOCH + Duration::from_secs(1_800_000_000 - number);
    let log = fs::File::options().append(true).open(folder.path.join("000001.jsonl")).unwrap();
    log.set_modified(time).unwrap();
}

#[test]
fn a_store_is_made_by_the_first_write_and_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data/antiphon");
    let store = Store::at(&root);
    assert!(store.sessions().is_empty());
    assert!(matches!(store.find("latest"), Found::Nothing));
    assert!(!root.exists(), "reading makes nothing");
    let session = store.new_session(None).unwrap();
    assert!(session.path.starts_with(&root));
    #[cfg(unix)]
    for path in [&root, &root.join("sessions"), &session.path] {
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700, "{}", path.display());
    }
    assert!(store.sessions().is_empty(), "a folder without a log is no session yet");
}

#[test]
fn no_name_becomes_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    for id in ["../../../etc", "/", "a/b", "", "\0", &"x".repeat(10_000)] {
        let session = store.new_session(Some(("../agent", id))).unwrap();
        assert_eq!(session.path.parent().unwrap(), folder.path().join("sessions"));
        assert!(Key::parse(session.key.as_str()).is_some());
    }
    assert_ne!(Key::of("ab", "c"), Key::of("a", "bc"));
}

#[test]
fn a_session_that_is_recorded_again_gets_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let [one, two] = [0, 1].map(|_| store.new_session(Some(("claude-code", "s1"))).unwrap());
    assert_eq!(one.key, Key::of("claude-code", "s1"));
    assert_ne!(one.path, two.path);
}

#[test]
fn a_list_tells_how_each_began_and_ended_the_last_to_change_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let long: String = (0..4000)
        .map(|n| format!("{{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"number {n}\"}}\n"))
        .collect();
    let end = "{\"event_type\":\"session_ended\",\"outcome\":\"failed\"}";
    let old = record(&store, &format!("{}\n{long}{end}", started("old")));
    let new = record(&store, &started("new"));
    age(&old, 2);
    age(&new, 1);
    let sessions = store.sessions();
    let ids: Vec<_> = sessions.iter().map(|session| session.session_id.as_str()).collect();
    assert_eq!(ids, ["new", "old"]);
    let [new, old] = sessions.try_into().unwrap();
    assert_eq!((new.ended, &new.outcome, new.events), (false, &None, Some(1)));
    assert_eq!(old.title.as_deref(), Some("Title old"));
    assert_eq!((old.ended, old.outcome.as_deref(), old.events), (true, Some("failed"), Some(4002)));
    assert!(old.started_at <= old.last_event_at);
}

#[test]
fn a_session_is_found_by_its_id_its_key_or_how_one_of_them_begins() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let made = ["alpha-1", "alpha-2", "beta", "be"].map(|id| {
        // Times are told by the millisecond.
        std::thread::sleep(std::time::Duration::from_millis(2));
        record(&store, &started(id))
    });
    for (folder, number) in made.iter().zip(1..) {
        age(folder, number);
    }
    let one = |word: &str| match store.find(word) {
        Found::One(session) => session.summary.session_id,
        other @ (Found::Several(_) | Found::Nothing) => panic!("{word}: {other:?}"),
    };
    assert_eq!(one("latest"), "be", "by what happened in it, whenever its file was touched");
    assert_eq!(one("alpha-2"), "alpha-2");
    assert_eq!(one("beta"), "beta");
    assert_eq!(one("be"), "be", "a whole id may be short");
    assert_eq!(one(made[2].key.as_str()), "beta");
    assert_eq!(one(&made[2].key.as_str()[..12]), "beta");
    let Found::Several(sessions) = store.find("alph") else { panic!("two begin so") };
    assert_eq!(sessions.len(), 2);
    for word in ["alp", "gamma", "", "alpha-1x"] {
        assert!(matches!(store.find(word), Found::Nothing), "{word}");
    }
}

#[test]
fn what_is_not_a_session_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    record(&store, &started("fine"));
    let sessions = folder.path().join("sessions");
    fs::create_dir(sessions.join("notes")).unwrap();
    fs::write(sessions.join("0123456789abcdef0123456789abcdef"), "a file").unwrap();
    let empty = sessions.join("00000000000000000000000000000000");
    fs::create_dir(&empty).unwrap();
    fs::write(empty.join("000001.jsonl"), "").unwrap();
    assert_eq!(store.sessions().len(), 1);
}
