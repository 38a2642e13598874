//! Sessions in memory, for tests: whoever keeps them gives their texts.

use std::collections::BTreeMap;

use antiphon_formats::Format;
use antiphon_model::Timestamp;
use antiphon_sources::{Bundle, Opened, Wanted, open_foreign};
use antiphon_views::Reading;

use crate::{Block, Index, Key, Origin, Record, Stamp, Subject, Text, Texts, blocks};

const FORMAT: &str = "claude-code";

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) sessions: BTreeMap<Key, Kept>,
}

#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) format: &'static Format,
    /// The main file first.
    files: Vec<(String, Vec<u8>)>,
}

impl Kept {
    fn open(&self) -> (Opened, Index) {
        let mut index = Index::default();
        let mut tell = |name: &str, bytes: Option<&[u8]>| index.add(name, bytes);
        let bundle = Bundle::of(self.format.name, self.files.clone(), &mut tell).unwrap();
        (open_foreign(bundle, Wanted::Everything), index)
    }
}

impl Shelf {
    pub(crate) fn key(id: &str) -> Key {
        Key::of(FORMAT, id)
    }

    /// Keeps a session of these lines.
    pub(crate) fn put(&mut self, id: &str, lines: &[String]) -> Record {
        let format = antiphon_formats::find(FORMAT).unwrap();
        let files = vec![(format!("{id}.jsonl"), lines.concat().into_bytes())];
        self.put_files(Self::key(id), format, files)
    }

    pub(crate) fn put_files(
        &mut self,
        key: Key,
        format: &'static Format,
        files: Vec<(String, Vec<u8>)>,
    ) -> Record {
        let kept = Kept { format, files };
        let (opened, index) = kept.open();
        let (origin, stamp) = (Origin::Archived, Stamp::new("as it is"));
        let (name, format) = (key.as_str(), format.name);
        let changed_at = Timestamp::from_millis(0);
        let subject = Subject { key: &key, origin, stamp, changed_at, name, agent: None, format };
        let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
        let record = index.record(&subject, &reading);
        self.sessions.insert(key, kept);
        record
    }

    /// A session cannot be read any more.
    pub(crate) fn lose(&mut self, id: &str) {
        self.sessions.remove(&Self::key(id));
    }
}

impl Texts for Shelf {
    fn session(&self, key: &Key) -> Option<Text> {
        let (opened, _) = self.sessions.get(key)?.open();
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
        let (opened, _) = Kept { format: self.sessions.get(key)?.format, files }.open();
        Some(Text { session: opened.session, bodies: opened.bodies })
    }
}

/// A line in which somebody says something.
pub(crate) fn said_by(role: &str, id: &str, words: &str) -> String {
    line(role, id, &format!(r#"[{{"type":"text","text":"{words}"}}]"#))
}

/// A line in which a tool is called.
pub(crate) fn called(id: &str, call: &str, tool: &str, input: &str) -> String {
    let part = format!(r#"{{"type":"tool_use","id":"{call}","name":"{tool}","input":{input}}}"#);
    line("assistant", id, &format!("[{part}]"))
}

/// A line in which a tool gives something back.
pub(crate) fn gave_back(id: &str, call: &str, words: &str, is_error: bool) -> String {
    let part = format!(
        r#"{{"type":"tool_result","tool_use_id":"{call}","content":"{words}","is_error":{is_error}}}"#
    );
    line("user", id, &format!("[{part}]"))
}

fn line(role: &str, id: &str, content: &str) -> String {
    let message = format!(r#"{{"id":"m{id}","role":"{role}","content":{content}}}"#);
    format!("{{\"type\":\"{role}\",\"sessionId\":\"s\",\"uuid\":\"{id}\",\"message\":{message}}}\n")
}
