use std::path::Path;
use std::sync::Arc;

use antiphon_journal::{Draft, Options, Writer};
use antiphon_redact::Redactor;

use super::OpenedSessions;
use crate::library::Located;

fn located(path: &Path) -> Located {
    Located {
        path: path.to_owned(),
        key: String::new(),
        folder: path.to_owned(),
        is_recorded: true,
        end: None,
    }
}

fn append(path: &Path, texts: &[&str]) {
    let writer = Writer::open(path, Options::default()).unwrap();
    for text in texts {
        let line = format!(r#"{{"agent_id":"a","role":"user","content":"{text}"}}"#);
        writer.append(&Draft::from_json(&line).unwrap()).unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn a_log_that_grows_is_folded_further_and_keeps_its_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    append(&path, &["one", "two"]);
    let (sessions, at) = (OpenedSessions::new(Redactor::default()), located(&path));
    let look = || sessions.with(&at, false, |it| (it.session().len(), it.epoch())).unwrap();
    let (events, epoch) = look();
    append(&path, &["three"]);
    assert_eq!(look(), (events + 1, epoch));
    assert_eq!(look(), (events + 1, epoch));
    assert_eq!(sessions.folds(), 1, "it was folded from its beginning once");
}

#[test]
fn many_who_ask_at_once_fold_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    append(&path, &["word"; 200]);
    let sessions = Arc::new(OpenedSessions::new(Redactor::default()));
    let threads: Vec<_> = (0..16)
        .map(|_| {
            let (sessions, at) = (Arc::clone(&sessions), located(&path));
            std::thread::spawn(move || sessions.with(&at, false, |it| it.session().len()).unwrap())
        })
        .collect();
    let events: Vec<usize> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    assert!(events.iter().all(|&count| count == events[0]), "{events:?}");
    assert_eq!(sessions.folds(), 1);
}

#[test]
fn a_session_that_somebody_reads_slowly_is_opened_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    append(&path, &["one"]);
    let (sessions, at) = (OpenedSessions::new(Redactor::default()), located(&path));
    let look = || sessions.with(&at, false, |it| it.session().len()).unwrap();
    let (before, after) = sessions
        .with(&at, false, |slow| {
            append(&path, &["two"]);
            (slow.session().len(), look())
        })
        .unwrap();
    assert_eq!(after, before + 1);
    assert_eq!(look(), before + 1);
}

#[test]
fn what_is_redacted_is_another_session_than_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    append(&path, &[&secret]);
    let (sessions, at) = (OpenedSessions::new(Redactor::default()), located(&path));
    let text = |is_redacted| {
        sessions
            .with(&at, is_redacted, |it| {
                let reading = it.reading();
                let all = reading.session.entries().map(|entry| reading.text(entry).unwrap());
                all.collect::<String>()
            })
            .unwrap()
    };
    assert!(text(false).contains(&secret));
    assert!(!text(true).contains(&secret));
}
