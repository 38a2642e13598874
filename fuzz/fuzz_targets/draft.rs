//! Any bytes can be offered as an event. What is taken is written as one line and read back.

#![no_main]

use std::sync::LazyLock;

use antiphon_journal::{Damage, Draft, Level, Options, Seal, Sink, Writer, read_bytes};
use antiphon_model::{Event, Line, Severity};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

#[derive(Default)]
struct Last {
    id: String,
    text: String,
    errors: usize,
}

impl Sink for Last {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, seal: Option<&Seal>) {
        assert!(seal.is_some());
        self.id = event.message_id.as_deref().unwrap_or_default().to_owned();
        self.text = line.text.to_owned();
    }

    fn damage(&mut self, damage: Damage) {
        self.errors += usize::from(damage.kind.severity() == Severity::Error);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(draft) = Draft::from_bytes(bytes) else {
        return;
    };
    let path = FOLDER.path().join("log.jsonl");
    let _ = std::fs::remove_file(&path);
    let options = Options { level: Level::Os, ..Options::default() };
    let writer = Writer::open(&path, options.clone()).expect("an empty folder");
    let ack = writer.append(&draft).expect("a checked draft");
    assert!(!ack.repeated);
    drop(writer);

    let written = std::fs::read(&path).expect("a log");
    let mut last = Last::default();
    read_bytes(&written, &mut last);
    assert_eq!(last.errors, 0, "what is let in can be read");
    assert_eq!(last.id, ack.message_id.as_str());
    let again = Draft::from_bytes(last.text.as_bytes()).expect("what was written can be sent");
    // It has an id by now, and sent again it is known.
    let writer = Writer::open(&path, options).expect("a good log");
    assert!(writer.append(&again).expect("what is there").repeated);
});
