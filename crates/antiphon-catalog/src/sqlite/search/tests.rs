//! The shortcuts of a search find the same as reading everything.

use std::path::Path;

use antiphon_formats::{FORMATS, Format};
use antiphon_sources::{list, open_with_files};

use super::*;
use crate::Catalog as _;
use crate::shelf::Shelf;

/// The sessions of the fixtures of some formats, and a catalogue of them.
fn fixtures(is_wanted: fn(&Format) -> bool) -> (Shelf, Sqlite) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../antiphon-formats/fixtures");
    let (mut shelf, mut catalog) = (Shelf::default(), Sqlite::in_memory().unwrap());
    for format in FORMATS.iter().filter(|format| is_wanted(format)) {
        for fixture in list(&fixtures.join(format.name)) {
            let endings = ["jsonl", "json", "md", "log", "txt"].into_iter();
            let mut files = endings.map(|ending| fixture.join("input").with_extension(ending));
            let Some(file) = files.find(|file| file.is_file()) else { continue };
            let mut names = Vec::new();
            let opened =
                open_with_files(&file, &mut |name, _| names.push(name.to_owned())).unwrap();
            if opened.format != format.name || opened.session.is_empty() {
                continue;
            }
            let bytes = |number| opened.bodies.stream(number).unwrap().to_vec();
            let files = names.into_iter().zip((0..).map(bytes)).collect();
            let name = fixture.file_name().unwrap().to_string_lossy();
            let record = shelf.put_files(Key::of(format.name, &name), format, files);
            catalog.replace(record).unwrap();
        }
    }
    (shelf, catalog)
}

fn look<'a>(shelf: &'a Shelf, query: &'a Query) -> Look<'a> {
    Look { query, words: &query.words, limit: 1000, sessions: &[], texts: shelf }
}

/// Every word of every entry of a session.
fn words(shelf: &Shelf, key: &Key) -> BTreeSet<String> {
    let text = shelf.session(key).unwrap();
    let reading = Reading { session: &text.session, bodies: &*text.bodies };
    let query = Query::default();
    let entries = text.session.entries();
    let texts = entries.filter_map(|entry| entry::text_of(&reading, entry, &query));
    let split = |text: String| {
        let words = text.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|it| it.len() > 2).collect::<Vec<_>>()
    };
    texts.flat_map(split).collect()
}

/// A match without its snippet, which may be shorter if a line is read alone.
fn place(hit: &Hit) -> (Key, String, Option<String>, &'static str, Option<String>) {
    let Hit { session, message_id, agent_id, role, tool, .. } = hit.clone();
    (session, message_id, agent_id, role, tool)
}

#[test]
fn no_session_that_has_a_word_is_passed_over() {
    // A document that is converted to lines gets some words in the conversion.
    let (shelf, catalog) = fixtures(|format| format.lines.is_none());
    let formats: BTreeSet<&str> = shelf.sessions.values().map(|kept| kept.format.name).collect();
    assert!(formats.len() > 10, "{formats:?}");
    let mut having: BTreeMap<String, Vec<&Key>> = BTreeMap::new();
    for key in shelf.sessions.keys() {
        words(&shelf, key).into_iter().for_each(|word| having.entry(word).or_default().push(key));
    }
    let mut passed_over = 0;
    for (word, having) in &having {
        let query = Query { words: vec![word.clone()], ..Query::default() };
        let candidates = look(&shelf, &query).candidates(&catalog, Matching::All).unwrap();
        passed_over += shelf.sessions.len() - candidates.len();
        for key in having {
            let place = format!("{word} in {key} of {}", shelf.sessions[*key].format.name);
            let candidate = candidates.get(*key);
            let candidate = candidate.unwrap_or_else(|| panic!("{place} is ruled out"));
            // The name of a tool need not be in the file literally.
            let bodies = shelf.session(key).unwrap().bodies;
            let streams = (0..).map_while(|number| bodies.stream(number));
            let mut texts = streams.map(|text| String::from_utf8_lossy(text).to_lowercase());
            let may_hold =
                may_hold(&shelf, candidate, finders::finder(std::slice::from_ref(word)).as_ref());
            let is_there = texts.any(|text| text.contains(word));
            assert!(may_hold || !is_there, "{place} is in another block");
        }
    }
    assert!(passed_over > having.len(), "filters rule something out");
}

#[test]
fn a_glimpse_finds_what_reading_everything_finds() {
    let (shelf, catalog) = fixtures(|format| format.stands_alone);
    assert!(shelf.sessions.len() > 20, "{} sessions", shelf.sessions.len());
    let (mut asked, mut glimpsed) = (0, 0);
    for key in shelf.sessions.keys() {
        for word in words(&shelf, key) {
            let query = Query { words: vec![word.clone()], ..Query::default() };
            let look = look(&shelf, &query);
            let needs = query.needs(&query.words, Matching::All);
            let finders = Finders::of(&query, &needs);
            let candidates = look.candidates(&catalog, Matching::All).unwrap();
            let Some(candidate) = candidates.get(key) else { continue };
            let whole = look.hits_in(key, &needs, &finders, Matching::All);
            asked += 1;
            if let Seen::Lines(lines) = look.see(candidate, &needs, &finders, Matching::All) {
                let Some(hits) = look.told(&catalog, key, lines).unwrap() else { continue };
                glimpsed += 1;
                let places = |hits: &[Hit]| hits.iter().map(place).collect::<Vec<_>>();
                assert_eq!(places(&hits), places(&whole), "{word} in {key}");
            }
        }
    }
    assert!(glimpsed * 2 > asked, "{glimpsed} of {asked}");
}

#[test]
fn what_a_query_asks_of_events_is_found_without_the_sessions_that_lack_it() {
    let (shelf, catalog) = fixtures(|_| true);
    let queries =
        ["is:error", "role:user", "role:tool", "role:nobody", "tool:bash", "tool:nothing"];
    let now = antiphon_model::Timestamp::from_millis(0);
    let (mut opened, mut passed_over) = (0, 0);
    for text in queries.into_iter().chain(["file:main", "file:src/nothing.rs", "tool:read file:rs"])
    {
        let query = Query::parse(text, now, &antiphon_model::Zone::utc()).unwrap();
        let look = look(&shelf, &query);
        let needs = query.needs(&query.words, Matching::All);
        let finders = Finders::of(&query, &needs);
        let candidates = look.candidates(&catalog, Matching::All).unwrap();
        for key in shelf.sessions.keys() {
            let whole = look.hits_in(key, &needs, &finders, Matching::All);
            let seen = match candidates.get(key) {
                Some(candidate) => look.see(candidate, &needs, &finders, Matching::All).len(),
                None => 0,
            };
            assert_eq!(seen, whole.len(), "{text} in {key}");
            opened += usize::from(seen > 0);
            passed_over += usize::from(!candidates.contains_key(key));
        }
    }
    assert!(opened > 20 && passed_over > 20, "{opened}, {passed_over}");
}

#[test]
fn a_pattern_finds_what_reading_everything_finds() {
    let (shelf, catalog) = fixtures(|format| format.lines.is_none());
    let patterns = [
        r"err(or|no)\w*",
        r"\bfn \w+\(",
        r"(read|wrote|written) .*file",
        r"hello,? world",
        r"\d{3}",
        r"^use ",
        "(?-i)README",
        r"import\s+\w+\nfrom",
        "zqnowhere+",
    ];
    let everything = |query: &Query, key: &Key| {
        let text = shelf.session(key).unwrap();
        let reading = Reading { session: &text.session, bodies: &*text.bodies };
        let entries = text.session.entries().rev();
        let found = |entry| entry::look(&reading, entry, query, &query.words, Matching::All);
        let hits = entries.filter_map(|entry| Some(found(entry)?.hit(key)));
        hits.map(|hit| place(&hit)).collect::<Vec<_>>()
    };
    let (mut found, mut passed_over) = (0, 0);
    for pattern in patterns {
        let pattern = crate::Pattern::new(pattern).unwrap();
        let query = Query { patterns: vec![pattern], ..Query::default() };
        let keys: Vec<&Key> = shelf.sessions.keys().collect();
        let look =
            Look { query: &query, words: &[], limit: 100_000, sessions: &keys, texts: &shelf };
        let candidates = look.candidates(&catalog, Matching::All).unwrap();
        passed_over += shelf.sessions.len() - candidates.len();
        let hits = look.scan(&catalog, &candidates, Matching::All).unwrap();
        found += hits.len();
        let wanted: Vec<_> = keys.iter().flat_map(|key| everything(&query, key)).collect();
        assert_eq!(hits.iter().map(place).collect::<Vec<_>>(), wanted, "{query:?}");
    }
    assert!(found > 20 && passed_over > 100, "{found} found, {passed_over} passed over");
}
