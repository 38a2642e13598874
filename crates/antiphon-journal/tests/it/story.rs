//! A short session of varied events, the log that our writer makes of it, and what is read back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_journal::{
    Clock, Damage, Draft, Level, Log, LogSummary, Options, Seal, Sink, Writer, read_bytes,
};
use antiphon_model::{Event, Line, Severity, Timestamp};

/// Calls, results, escapes, characters of two to four bytes, and two that become a newline when
/// one bit of them flips (`J` and `*`).
pub(crate) const EVENTS: &[&str] = &[
    r#"{"event_type":"session_started","session_id":"story","title":"Jill's day"}"#,
    r#"{"event_type":"agent_created","agent_id":"agent_001","name":"Jill"}"#,
    r#"{"agent_id":"agent_001","role":"system","content":"You are *Jill*, a gardener in Österreich."}"#,
    r#"{"agent_id":"agent_001","role":"user","source":"external","content":"Wie geht’s? 🌱\n\"So\" \\ la la\u2028"}"#,
    r#"{"agent_id":"agent_001","role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"at\": \"the *Jasmine*\"}"}}],"usage":{"input":12,"output":3}}"#,
    r#"{"agent_id":"agent_001","role":"tool","tool_call_id":"call_1","content":"a lone \ud83d surrogate","is_error":false}"#,
    r#"{"agent_id":"agent_001","role":"assistant","content":[{"type":"text","text":"In bloom."}],"cause":["msg_006"]}"#,
    r#"{"event_type":"fragment","agent":"agent_001","content":"a broadcast"}"#,
    r#"{"event_type":"weather","sky":{"message_id":"not one of ours"},"big":123456789012345678901234567890,"tiny":1e-999}"#,
    r#"{"event_type":"context_edited","agent":"agent_001","action":"compact","kept":["msg_003"]}"#,
    r#"{"event_type":"agent_ended","agent":"agent_001","status":"completed"}"#,
    r#"{"event_type":"session_ended","outcome":"completed"}"#,
];

/// The same moment, always: the same events make the same bytes.
#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_767_268_800_000)
    }
}

pub(crate) fn options(level: Level) -> Options {
    Options { level, clock: Arc::new(Noon), ..Options::default() }
}

pub(crate) fn draft(json: &str) -> Draft {
    Draft::from_json(json).unwrap()
}

/// A message of an agent, which names itself.
pub(crate) fn message(id: &str, content: &str) -> Draft {
    let content = serde_json::to_string(content).unwrap();
    draft(&format!(
        r#"{{"message_id":"{id}","agent_id":"agent_001","role":"user","content":{content}}}"#
    ))
}

/// Appends one event, opening and closing the log for it.
pub(crate) fn append(path: &Path, json: &str) -> String {
    let writer = Writer::open(path, options(Level::Os)).unwrap();
    let ack = writer.append(&draft(json)).unwrap();
    writer.close().unwrap();
    ack.message_id.to_string()
}

/// The log of [`EVENTS`], as bytes.
pub(crate) fn log_bytes() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("story.jsonl");
    let writer = Writer::open(&path, options(Level::Os)).unwrap();
    for json in EVENTS {
        writer.append(&draft(json)).unwrap();
    }
    writer.close().unwrap();
    std::fs::read(&path).unwrap()
}

/// The same events as a writer without seals leaves them.
pub(crate) fn foreign_bytes() -> Vec<u8> {
    let lines = (1..).zip(EVENTS).skip(1).map(|(number, json)| {
        let rest = json.strip_prefix('{').unwrap();
        format!("{{\"message_id\":\"msg_{number:03}\",{rest}\n")
    });
    lines.collect::<String>().into_bytes()
}

/// Lines, each with its newline.
pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// An event as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) id: String,
    pub(crate) n: Option<u64>,
    pub(crate) text: String,
}

/// All that reading found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) events: Vec<Read>,
    pub(crate) damage: Vec<Damage>,
    pub(crate) summary: Option<LogSummary>,
}

impl Sink for Found {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, seal: Option<&Seal>) {
        let id = event.message_id.as_deref().unwrap_or_default().to_owned();
        self.events.push(Read { id, n: seal.map(|seal| seal.n), text: line.text.to_owned() });
    }

    fn damage(&mut self, damage: Damage) {
        self.damage.push(damage);
    }
}

impl Found {
    pub(crate) fn in_bytes(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        found.summary = Some(read_bytes(bytes, &mut found));
        found
    }

    pub(crate) fn at(path: &Path) -> Self {
        let mut found = Self::default();
        found.summary = Some(Log::find(path).unwrap().read(&mut found).unwrap());
        found
    }

    /// The same, also where nothing was written yet.
    pub(crate) fn at_or_none(path: &Path) -> Self {
        Log::find(path).map_or_else(|_| Self::default(), |_| Self::at(path))
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.events.iter().map(|event| event.id.as_str()).collect()
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.events.iter().map(|event| event.text.as_str()).collect()
    }

    /// What is wrong, and on which line.
    pub(crate) fn codes(&self) -> Vec<(&'static str, u64)> {
        self.damage.iter().map(|damage| (damage.kind.code(), damage.line)).collect()
    }

    pub(crate) fn errors(&self) -> Vec<&Damage> {
        let is_error = |damage: &&Damage| damage.kind.severity() == Severity::Error;
        self.damage.iter().filter(is_error).collect()
    }

    /// That every line is one of the chain, and none is missing.
    #[track_caller]
    pub(crate) fn assert_gapless(&self) {
        assert!(self.is_gapless(), "{:?}, {:?}", self.numbers(), self.codes());
    }

    pub(crate) fn is_gapless(&self) -> bool {
        let numbers = self.numbers();
        numbers.iter().copied().eq(1..=numbers.len() as u64)
    }

    fn numbers(&self) -> Vec<u64> {
        self.events.iter().filter_map(|event| event.n).collect()
    }

    #[track_caller]
    pub(crate) fn assert_ids_unique(&self) {
        let mut ids = self.ids();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id is doubled");
    }
}

/// A folder of its own for a test, with the path of a log in it.
pub(crate) struct Scratch {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        Self { folder, path }
    }

    pub(crate) fn with(bytes: &[u8]) -> Self {
        let scratch = Self::new();
        std::fs::write(&scratch.path, bytes).unwrap();
        scratch
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }
}
