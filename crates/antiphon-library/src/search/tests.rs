//! What is found at a glimpse, or passed over, is what reading everything would find or not.

use std::collections::BTreeSet;
use std::path::Path;

use antiphon_formats::{FORMATS, Format};

use super::*;

/// A store with all sessions of the fixtures of some formats.
fn store(folder: &Path, is_wanted: fn(&Format) -> bool) -> Store {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../antiphon-formats/fixtures");
    let store = Store::at(folder.join("store"));
    for format in FORMATS.iter().filter(|format| is_wanted(format)) {
        for fixture in antiphon_sources::list(&fixtures.join(format.name)) {
            let endings = ["jsonl", "json", "md", "log", "txt"].into_iter();
            let mut files = endings.map(|ending| fixture.join("input").with_extension(ending));
            let Some(file) = files.find(|file| file.is_file()) else { continue };
            let session_id = fixture.file_name().unwrap().to_string_lossy().into_owned();
            let source = crate::Source::new(format.name, session_id, file);
            store.archive_packed(&source, crate::archive::Known::Nothing, false).unwrap();
        }
    }
    store
}

fn searching<'a>(store: &'a Store, query: &'a Query) -> Search<'a> {
    Search { query, words: &query.words, limit: 1000, store, damaged: Mutex::default() }
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
fn no_session_that_has_a_word_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    // Of a document that is made into lines, some words are made with them.
    let store = store(folder.path(), |format| format.lines.is_none());
    let mut catalogue = store.catalogue(&|_, _| {}).unwrap();
    let sessions = catalogue.sessions().unwrap();
    let formats: BTreeSet<&str> = sessions.iter().map(|session| session.format).collect();
    assert!(formats.len() > 10, "{formats:?}");
    let mut having: BTreeMap<String, Vec<&StoredSession>> = BTreeMap::new();
    for session in &sessions {
        words(session).into_iter().for_each(|word| having.entry(word).or_default().push(session));
    }
    let mut passed_over = 0;
    for (word, having) in &having {
        let query = Query { words: vec![word.clone()], ..Query::default() };
        let search = searching(&store, &query);
        let candidates = search.candidates(&mut catalogue, true).unwrap();
        passed_over += sessions.len() - candidates.len();
        for session in having {
            let place = format!("{word} in {} of {}", session.session_id, session.format);
            let candidate = candidates.get(&session.key);
            let candidate = candidate.unwrap_or_else(|| panic!("{place} is ruled out"));
            // The name of a tool need not stand in the file as it is.
            let bundle = find_bundle(&session.path()).unwrap().unwrap();
            let is_there = || bundle.texts().any(|text| text.to_lowercase().contains(word));
            let may_hold = may_hold(session, candidate, finder(word).as_ref());
            assert!(may_hold || !is_there(), "{place} is in another block");
        }
    }
    assert!(passed_over > having.len(), "filters rule something out");
}

#[test]
fn a_glimpse_finds_what_reading_everything_finds() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), |format| format.stands_alone);
    let mut catalogue = store.catalogue(&|_, _| {}).unwrap();
    let sessions = catalogue.sessions().unwrap();
    assert!(sessions.len() > 20, "{} sessions", sessions.len());
    let (mut asked, mut glimpsed) = (0, 0);
    for session in &sessions {
        for word in words(session) {
            let query = Query { words: vec![word.clone()], ..Query::default() };
            let search = searching(&store, &query);
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
