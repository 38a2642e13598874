//! Any file can be opened as a log and gone on with: nothing is rewritten, the new event is whole
//! and sealed, no event is lost, and opening it again changes nothing.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use antiphon_journal::{Damage, Draft, Error, Level, Options, Seal, Sink, Writer, read_bytes};
use antiphon_model::{Event, Line, Severity};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));
static NEXT: LazyLock<Draft> = LazyLock::new(|| {
    let json = r#"{"agent_id":"a","role":"user","content":"and then?"}"#;
    Draft::from_json(json).expect("a message")
});

#[derive(Default, PartialEq, Debug)]
struct Found {
    events: Vec<(u64, Option<String>, bool)>,
    errors: usize,
}

impl Sink for Found {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, seal: Option<&Seal>) {
        let id = event.message_id.as_deref().map(str::to_owned);
        self.events.push((line.place.offset, id, seal.is_some()));
    }

    fn damage(&mut self, damage: Damage) {
        self.errors += usize::from(damage.kind.severity() == Severity::Error);
    }
}

fn read(bytes: &[u8]) -> Found {
    let mut found = Found::default();
    read_bytes(bytes, &mut found);
    found
}

fn open(path: &Path) -> Option<Writer> {
    let options = Options { level: Level::Os, ..Options::default() };
    match Writer::open(path, options) {
        Ok(writer) => Some(writer),
        Err(Error::NewerFormat { .. }) => None,
        Err(error) => panic!("{error:?}"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let path = FOLDER.path().join("log.jsonl");
    std::fs::write(&path, bytes).expect("a file");
    let before = read(bytes);
    let Some(writer) = open(&path) else {
        return;
    };
    let ack = writer.append(&NEXT).expect("an event");
    drop(writer);

    let once = std::fs::read(&path).expect("a log");
    assert!(once.starts_with(bytes), "nothing is rewritten");
    let after = read(&once);
    assert!(after.events.starts_with(&before.events), "{before:?} {after:?}");
    assert_eq!(after.errors, before.errors, "{before:?} {after:?}");
    let (_, id, is_sealed) = after.events.last().expect("the new event");
    assert!(*is_sealed);
    assert_eq!(id.as_deref(), Some(ack.message_id.as_str()));
    let taken =
        before.events.iter().any(|(_, id, _)| id.as_deref() == Some(ack.message_id.as_str()));
    assert!(!taken, "an id is given twice");

    drop(open(&path));
    assert_eq!(std::fs::read(&path).expect("a log"), once, "recovering again changes nothing");
});
