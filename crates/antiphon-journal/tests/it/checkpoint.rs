//! A long log opens by its checkpoint, and behaves as if all of it had been read.

use std::fs;
use std::path::PathBuf;

use antiphon_journal::{Draft, Error, Level, Log, Options, Writer, verify};

use crate::story::Scratch;

fn options() -> Options {
    Options { level: Level::Os, keeps_checkpoint: true, ..Options::default() }
}

fn event(id: &str, text: &str) -> Draft {
    let line =
        format!(r#"{{"message_id":"{id}","agent_id":"a","role":"user","content":"{text}"}}"#);
    Draft::from_json(&line).unwrap()
}

fn unnamed(text: &str) -> Draft {
    Draft::from_json(&format!(r#"{{"agent_id":"b","role":"user","content":"{text}"}}"#)).unwrap()
}

/// A log that is long enough, of ids of ours and of others.
fn long_log(scratch: &Scratch) {
    let writer = Writer::open(&scratch.path, options()).unwrap();
    let text = "x".repeat(4000);
    for at in 0..700 {
        writer.append(&event(&format!("own-{at}"), &text)).unwrap();
        writer.append(&unnamed(&text)).unwrap();
    }
    writer.close().unwrap();
}

fn checkpoint(scratch: &Scratch) -> PathBuf {
    let mut name = scratch.path.as_os_str().to_owned();
    name.push(".checkpoint");
    name.into()
}

/// What a writer says to events that it knows, to one that it knows otherwise, and to a new one.
fn answers(scratch: &Scratch) -> Vec<String> {
    let text = "x".repeat(4000);
    let writer = Writer::open(&scratch.path, options()).unwrap();
    let acknowledged = |draft: &Draft| match writer.append(draft) {
        Ok(ack) => format!("{} {}", ack.message_id.as_str(), ack.repeated),
        Err(Error::Conflict { id }) => format!("conflict {id}"),
        Err(error) => panic!("{error}"),
    };
    let answers = vec![
        acknowledged(&event("own-0", &text)),
        acknowledged(&event("own-699", &text)),
        acknowledged(&event("own-350", "other words")),
        acknowledged(&event("msg_001", "other words")),
        acknowledged(&unnamed("new")),
        writer.session_id().unwrap_or_default(),
    ];
    writer.close().unwrap();
    answers
}

#[test]
fn a_log_opens_by_its_checkpoint_as_it_does_without() {
    let scratch = Scratch::new();
    long_log(&scratch);
    let whole = fs::read(&scratch.path).unwrap();
    assert!(checkpoint(&scratch).exists());
    let with = answers(&scratch);
    assert_eq!(
        with[..5],
        ["own-0 true", "own-699 true", "conflict own-350", "conflict msg_001", "msg_701 false"]
    );
    assert!(verify(&Log::find(&scratch.path).unwrap(), None).unwrap().findings.is_empty());
    fs::write(&scratch.path, whole).unwrap();
    fs::remove_file(checkpoint(&scratch)).unwrap();
    assert_eq!(answers(&scratch), with);
}

#[test]
fn a_log_that_has_grown_since_is_read_from_the_checkpoint_on() {
    let scratch = Scratch::new();
    long_log(&scratch);
    let before = fs::read(checkpoint(&scratch)).unwrap();
    let writer = Writer::open(&scratch.path, options()).unwrap();
    writer.append(&event("later", "words")).unwrap();
    writer.close().unwrap();
    assert_eq!(fs::read(checkpoint(&scratch)).unwrap(), before, "a line more is not worth one");
    let writer = Writer::open(&scratch.path, options()).unwrap();
    assert!(writer.append(&event("later", "words")).unwrap().repeated);
    assert!(writer.append(&event("own-3", &"x".repeat(4000))).unwrap().repeated);
}

/// Whatever was done to it, a checkpoint that is not as it was written says nothing.
#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let scratch = Scratch::new();
    long_log(&scratch);
    let (log, good) = (fs::read(&scratch.path).unwrap(), fs::read(checkpoint(&scratch)).unwrap());
    let wanted = answers(&scratch);
    let places = (0..good.len()).step_by(good.len() / 40 + 1);
    for at in places {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        for bytes in [&bad[..], &good[..at]] {
            fs::write(&scratch.path, &log).unwrap();
            fs::write(checkpoint(&scratch), bytes).unwrap();
            assert_eq!(answers(&scratch), wanted, "byte {at}");
        }
    }
}

#[test]
fn a_log_that_is_not_what_it_was_is_read_whole() {
    let scratch = Scratch::new();
    long_log(&scratch);
    let good = fs::read(&scratch.path).unwrap();
    let recovered = |bytes: &[u8]| {
        fs::write(&scratch.path, bytes).unwrap();
        Writer::open(&scratch.path, options()).unwrap().close().unwrap();
        let text = fs::read_to_string(&scratch.path).unwrap();
        text.lines().filter(|line| line.contains("\"event_type\":\"recovered\"")).count()
    };
    assert_eq!(recovered(&good), 0);
    // What lies before the checkpoint is not read: whoever reads or verifies the log finds it.
    let mut changed = good.clone();
    changed[1000] ^= 1;
    assert_eq!(recovered(&changed), 0);
    // Cut within the last line, and with half a line behind it.
    assert_eq!(recovered(&good[..good.len() - 9]), 1);
    assert_eq!(recovered(&[&good[..], &good[..77]].concat()), 1);
    // Shorter by many lines, which nobody can see: it goes on where it ends.
    let lines: Vec<&[u8]> = good.split_inclusive(|&byte| byte == b'\n').collect();
    assert_eq!(recovered(&lines[..lines.len() - 100].concat()), 0);
    assert!(verify(&Log::find(&scratch.path).unwrap(), None).unwrap().findings.is_empty());
}
