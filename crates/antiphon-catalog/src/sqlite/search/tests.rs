//! What is found at a glimpse, or passed over, is what reading everything would find or not.

use std::path::{Path, PathBuf};

use antiphon_formats::{FORMATS, Format};
use antiphon_sources::{Bundle, list, open, open_foreign, open_telling};

use super::*;
use crate::{Change, Index, Origin, Sqlite, Stamp, Subject, Text, blocks};

/// The sessions of the fixtures of some formats.
#[derive(Default)]
struct Shelf {
    sessions: BTreeMap<Key, Kept>,
}

struct Kept {
    format: &'static Format,
    path: PathBuf,
    /// What stands in its files, by the numbers of their streams.
    files: Vec<(String, Vec<u8>)>,
}

impl Shelf {
    /// With a catalogue of them.
    fn new(is_wanted: fn(&Format) -> bool) -> (Self, Sqlite) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../antiphon-formats/fixtures");
        let (mut shelf, mut catalog) = (Self::default(), Sqlite::in_memory().unwrap());
        for format in FORMATS.iter().filter(|format| is_wanted(format)) {
            for fixture in list(&fixtures.join(format.name)) {
                let endings = ["jsonl", "json", "md", "log", "txt"].into_iter();
                let mut files = endings.map(|ending| fixture.join("input").with_extension(ending));
                let Some(file) = files.find(|file| file.is_file()) else { continue };
                let name = fixture.file_name().unwrap().to_string_lossy().into_owned();
                shelf.add(&mut catalog, format, &name, file);
            }
        }
        (shelf, catalog)
    }

    fn add(&mut self, catalog: &mut Sqlite, format: &'static Format, name: &str, path: PathBuf) {
        let (mut index, mut files) = (Index::default(), Vec::new());
        let opened = open_telling(&path, &mut |name, bytes| {
            index.add(name, bytes);
            files.push((name.to_owned(), bytes.map(<[u8]>::to_vec)));
        });
        let opened = opened.unwrap();
        if opened.format != format.name || opened.session.is_empty() {
            return;
        }
        let read = |(number, (name, bytes)): (u32, (String, Option<Vec<u8>>))| {
            let bytes = bytes.unwrap_or_else(|| opened.bodies.stream(number).unwrap().to_vec());
            (name, bytes)
        };
        let files = (0..).zip(files).map(read).collect();
        let (key, stamp) = (Key::of(format.name, name), Stamp::new(String::new()));
        let origin = Origin::Archived;
        let subject =
            Subject { key: &key, origin, stamp: &stamp, agent: None, format: format.name };
        let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
        let record = index.record(&subject, &reading);
        catalog.write(&[Change::Replace(Box::new(record))]).unwrap();
        self.sessions.insert(key, Kept { format, path, files });
    }

    fn look<'a>(&'a self, query: &'a Query) -> Look<'a> {
        Look { query, words: &query.words, limit: 1000, sessions: &[], texts: self }
    }

    /// Every word of every entry of a session.
    fn words(&self, key: &Key) -> BTreeSet<String> {
        let text = self.session(key).unwrap();
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
}

impl Texts for Shelf {
    fn session(&self, key: &Key) -> Option<Text> {
        let opened = open(&self.sessions.get(key)?.path).ok()?;
        Some(Text { session: opened.session, bodies: opened.bodies })
    }

    fn blocks(&self, key: &Key, file: &str, numbers: &[u32]) -> Option<Vec<Block>> {
        let (_, bytes) = self.sessions.get(key)?.files.iter().find(|(name, _)| name == file)?;
        let mut offset = 0;
        let block = |(number, bytes): (u32, &[u8])| {
            let block = Block { offset, bytes: bytes.to_vec() };
            offset += bytes.len() as u64;
            numbers.contains(&number).then_some(block)
        };
        Some((0..).zip(blocks(bytes)).filter_map(block).collect())
    }

    fn stands_alone(&self, key: &Key) -> bool {
        self.sessions.get(key).is_some_and(|kept| kept.format.stands_alone)
    }

    fn line(&self, key: &Key, file: &str, line: Vec<u8>) -> Option<Text> {
        let files = vec![(file.to_owned(), line)];
        let bundle = Bundle::of(self.sessions.get(key)?.format.name, files, &mut |_, _| {})?;
        let opened = open_foreign(bundle, false);
        Some(Text { session: opened.session, bodies: opened.bodies })
    }
}

/// A hit without its words, which may be fewer where a line is read alone.
fn place(hit: &Hit) -> (Key, String, Option<String>, &'static str, Option<String>) {
    let Hit { session, message_id, agent_id, role, tool, .. } = hit.clone();
    (session, message_id, agent_id, role, tool)
}

#[test]
fn no_session_that_has_a_word_is_passed_over() {
    // Of a document that is made into lines, some words are made with them.
    let (shelf, catalog) = Shelf::new(|format| format.lines.is_none());
    let formats: BTreeSet<&str> = shelf.sessions.values().map(|kept| kept.format.name).collect();
    assert!(formats.len() > 10, "{formats:?}");
    let mut having: BTreeMap<String, Vec<&Key>> = BTreeMap::new();
    for key in shelf.sessions.keys() {
        shelf.words(key).into_iter().for_each(|word| having.entry(word).or_default().push(key));
    }
    let mut passed_over = 0;
    for (word, having) in &having {
        let query = Query { words: vec![word.clone()], ..Query::default() };
        let candidates = shelf.look(&query).candidates(&catalog, true).unwrap();
        passed_over += shelf.sessions.len() - candidates.len();
        for key in having {
            let place = format!("{word} in {}", shelf.sessions[*key].path.display());
            let candidate = candidates.get(*key);
            let candidate = candidate.unwrap_or_else(|| panic!("{place} is ruled out"));
            // The name of a tool need not stand in the file as it is.
            let bodies = shelf.session(key).unwrap().bodies;
            let streams = (0..).map_while(|number| bodies.stream(number));
            let mut texts = streams.map(|text| String::from_utf8_lossy(text).to_lowercase());
            let may_hold = may_hold(&shelf, candidate, finder(word).as_ref());
            let is_there = texts.any(|text| text.contains(word));
            assert!(may_hold || !is_there, "{place} is in another block");
        }
    }
    assert!(passed_over > having.len(), "filters rule something out");
}

#[test]
fn a_glimpse_finds_what_reading_everything_finds() {
    let (shelf, catalog) = Shelf::new(|format| format.stands_alone);
    assert!(shelf.sessions.len() > 20, "{} sessions", shelf.sessions.len());
    let (mut asked, mut glimpsed) = (0, 0);
    for key in shelf.sessions.keys() {
        for word in shelf.words(key) {
            let query = Query { words: vec![word.clone()], ..Query::default() };
            let look = shelf.look(&query);
            let finders = [finder(&word)];
            let candidates = look.candidates(&catalog, true).unwrap();
            let Some(candidate) = candidates.get(key) else { continue };
            let whole = look.hits_in(key, &finders, true);
            asked += 1;
            if let Seen::Lines(lines) = look.see(candidate, &finders, true) {
                let Some(hits) = look.told(&catalog, key, lines).unwrap() else { continue };
                glimpsed += 1;
                let places = |hits: &[Hit]| hits.iter().map(place).collect::<Vec<_>>();
                assert_eq!(places(&hits), places(&whole), "{word} in {key}");
            }
        }
    }
    assert!(glimpsed * 2 > asked, "{glimpsed} of {asked}");
}
