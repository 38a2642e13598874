//! What listeners are told, whoever is killed when.

use std::path::Path;

use antiphon_journal::{Draft, Options, Writer};
use antiphon_library::Store;
use proptest::prelude::*;

use super::{Position, session_step};
use crate::app::App;
use crate::library::Located;

fn append(path: &Path, from: usize, count: usize) {
    let writer = Writer::open(path, Options::default()).unwrap();
    for number in from..from + count {
        let line = format!(
            r#"{{"message_id":"m{number}","agent_id":"a","role":"user","content":"{number}"}}"#
        );
        writer.append(&Draft::from_json(&line).unwrap()).unwrap();
    }
    writer.close().unwrap();
}

fn located(path: &Path) -> Located {
    let (path, folder) = (path.to_owned(), path.to_owned());
    Located { path, key: String::new(), folder, is_recorded: true, end: None }
}

/// The numbers of the events in frames.
fn heard(frames: &[super::Frame]) -> Vec<u64> {
    let events = frames.iter().filter(|frame| frame.event == "events");
    let rows = events
        .flat_map(|frame| serde_json::from_str::<Vec<serde_json::Value>>(&frame.data).unwrap());
    rows.map(|row| row["n"].as_u64().unwrap()).collect()
}

#[derive(Debug, Clone)]
enum Act {
    /// Another process writes.
    Write(usize),
    /// The listener is told what there is.
    Listen,
    /// The listener goes away and comes back with the last id.
    ComeBack,
    /// The server is killed, and another one takes over.
    Kill,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => (1_usize..4).prop_map(Act::Write),
        3 => Just(Act::Listen),
        1 => Just(Act::ComeBack),
        1 => Just(Act::Kill),
    ];
    proptest::collection::vec(act, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_told_twice_whoever_is_killed(acts in acts()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        append(&path, 0, 1);
        let at = located(&path);
        let new_server = || App::for_tests(Store::at(folder.path()));
        let mut app = new_server();
        let first = session_step(&app, &at, false, None, true).unwrap();
        let (mut position, mut is_new, mut written) = (first.position, false, 1);
        let mut told = Vec::new();
        let start = first.position.events;
        for act in acts.into_iter().chain([Act::Listen]) {
            match act {
                Act::Write(count) => {
                    append(&path, written, count);
                    written += count;
                }
                Act::Listen => {
                    let step = session_step(&app, &at, false, Some(position), is_new).unwrap();
                    told.extend(heard(&step.frames));
                    (position, is_new) = (step.position, false);
                }
                Act::ComeBack => {
                    position = Position::parse(&position.to_string()).unwrap();
                    is_new = true;
                }
                Act::Kill => {
                    app = new_server();
                    position = Position::parse(&position.to_string()).unwrap();
                    is_new = true;
                }
            }
        }
        let all = app.sessions.with(&at, false, |it| it.session().len()).unwrap();
        let want: Vec<u64> = (start + 1..=all).map(|n| u64::try_from(n).unwrap()).collect();
        prop_assert_eq!(told, want);
    }
}

#[test]
fn an_id_of_another_past_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    append(&path, 0, 3);
    let app = App::for_tests(Store::at(folder.path()));
    let at = located(&path);
    let now = session_step(&app, &at, false, None, true).unwrap().position;
    for other in [Position { chain: 1, ..now }, Position { events: now.events + 1, ..now }] {
        let step = session_step(&app, &at, false, Some(other), true).unwrap();
        assert_eq!(step.frames.len(), 1);
        assert_eq!((step.frames[0].event, step.position), ("snapshot", now));
    }
}
