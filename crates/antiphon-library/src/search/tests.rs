//! What is seen at a glimpse is what is found by reading everything.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

/// A store with all sessions of the fixtures whose lines stand alone.
fn store(folder: &Path) -> Store {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../antiphon-formats/fixtures");
    let store = Store::at(folder.join("store"));
    for format in antiphon_formats::FORMATS.iter().filter(|format| format.stands_alone) {
        for fixture in crate::bundle::list(&fixtures.join(format.name)) {
            let file = fixture.join("input.jsonl");
            let session_id = fixture.file_name().unwrap().to_string_lossy().into_owned();
            let source = crate::Source { agent: format.name, session_id, file };
            store.archive_packed(&source, crate::archive::Known::Nothing).unwrap();
        }
    }
    store
}

/// Every word of every entry of a session.
fn words(session: &StoredSession) -> BTreeSet<String> {
    let opened = open(&session.path()).unwrap();
    let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
    let query = Query::default();
    let entries = opened.session.entries();
    let texts = entries.filter_map(|entry| entry::text_of(&reading, entry, &query));
    let split = |text: String| {
        let words = text.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|it| it.len() > 2).collect::<Vec<_>>()
    };
    texts.flat_map(split).collect()
}

/// A hit without its words, which may be fewer where a line is read alone.
fn place(hit: &Hit) -> (String, String, Option<String>, &'static str, Option<String>) {
    let Hit { session, message_id, agent_id, role, tool, .. } = hit.clone();
    (session, message_id, agent_id, role, tool)
}

#[test]
fn a_glimpse_finds_what_reading_everything_finds() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut catalogue = store.catalogue(&|_, _| {}).unwrap();
    let sessions = catalogue.sessions().unwrap();
    assert!(sessions.len() > 20, "{} sessions", sessions.len());
    let (mut asked, mut glimpsed) = (0, 0);
    for session in &sessions {
        for word in words(session) {
            let query = Query { words: vec![word.clone()], ..Query::default() };
            let search = Search { query: &query, words: &query.words, limit: 1000 };
            let finders = [finder(&word)];
            let candidates = search.candidates(&mut catalogue, true).unwrap();
            let Some(candidate) = candidates.get(&session.key) else { continue };
            let whole = search.in_session(session, &finders, true).unwrap();
            asked += 1;
            if let Seen::Lines(lines) = search.see(session, candidate, &finders, true) {
                let places: Vec<LineAt> = lines.iter().map(|line| line.at).collect();
                let events = catalogue.ask(|it| it.events_at(&session.key, &places)).unwrap();
                let hits = glimpse::hits(session, lines, &events, &query, &query.words);
                let Some(hits) = hits else { continue };
                glimpsed += 1;
                let places = |hits: &[Hit]| hits.iter().map(place).collect::<Vec<_>>();
                assert_eq!(places(&hits), places(&whole), "{word} in {}", session.session_id);
            }
        }
    }
    assert!(glimpsed * 2 > asked, "{glimpsed} of {asked}");
}
