//! Files that are packed, cut, damaged, or longer than they should be.

use std::fs;

use super::*;
use crate::utf8::lossy;

#[test]
fn a_packed_file_reads_as_what_was_packed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    let lines = "{\"a\":1}\n".repeat(10_000);
    fs::write(&path, zstd::encode_all(lines.as_bytes(), 3).unwrap()).unwrap();
    let read = Text::read(&path).unwrap();
    assert_eq!(read.text, lines);
    assert!(read.stopped.is_none());
    assert_eq!(read_bytes(&path).unwrap(), lines.as_bytes());
}

#[test]
fn a_packed_file_cut_anywhere_gives_what_came_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    let lines: String = (0..40_000).map(|n| format!("{{\"n\":{}}}\n", n * 7919)).collect();
    let packed = zstd::encode_all(lines.as_bytes(), 1).unwrap();
    for cut in (4..packed.len()).step_by(packed.len() / 9) {
        fs::write(&path, &packed[..cut]).unwrap();
        let read = Text::read(&path).unwrap();
        assert!(lines.starts_with(&read.text));
        let problem = read.stopped.unwrap().at(0, &read.text, "a.jsonl");
        assert_eq!(problem.code, "packed");
    }
    fs::write(&path, &packed[..packed.len() - 1]).unwrap();
    assert!(Text::read(&path).unwrap().text.len() > lines.len() / 2);
}

#[test]
fn what_is_not_utf8_is_replaced_byte_for_byte() {
    for (bytes, wanted) in [
        (&b"plain"[..], "plain"),
        (b"a\xffb", "a?b"),
        (b"a\xe2\x82", "a??"),
        (b"\xe2\x28\xa1 \xc3\xa9 \xf0\x9f\x92", "?(? \u{e9} ???"),
    ] {
        assert_eq!(text(bytes.to_vec()), wanted);
        assert_eq!(lossy(bytes), wanted);
    }
}

/// What of a file is read where so much memory is allowed, and what is said of the rest.
fn read_within(path: &Path, memory: u64) -> (usize, Option<String>) {
    let read = Text::read_within(path, Memory(memory)).unwrap();
    let message = read.stopped.map(|stopped| stopped.at(0, &read.text, "a").message);
    (read.text.len(), message)
}

#[test]
fn what_unpacks_to_more_than_is_allowed_is_cut_and_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb");
    let text = format!("{}\n", "x".repeat(1000)).repeat(10_000);
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    assert!(zstd.len() < 5000);
    fs::write(&path, &zstd).unwrap();
    let (len, message) = read_within(&path, 4 << 20);
    let lines = (2 << 20) / 1001;
    assert_eq!(len, lines * 1001, "half of the memory is for what is made of whole lines");
    assert_eq!(
        message.unwrap(),
        "`a` contains more than 2 MB of data (raise the limit with `--max-memory`); \
         the rest was not read"
    );
    assert_eq!(read_within(&path, 64 << 20), (text.len(), None), "allowed");
    // The same text, packed no better than a transcript is: that is no bomb.
    let rest = vec![0; text.len() / 32];
    let len = u32::try_from(rest.len()).unwrap().to_le_bytes();
    let frame = [&[0x50, 0x2a, 0x4d, 0x18][..], &len, &rest].concat();
    fs::write(&path, [zstd, frame].concat()).unwrap();
    assert_eq!(read_within(&path, 4 << 20), (text.len(), None));
}

/// What of a stream is read where so much memory is allowed, and what is said of the rest.
fn bounded(text: Text, memory: u64) -> (usize, Option<String>) {
    let text = text.bounded_within(false, Memory(memory)).unwrap();
    (text.text.len(), text.stopped.map(|stopped| stopped.at(0, &text.text, "a").message))
}

#[test]
fn a_stream_of_more_records_than_memory_can_hold_is_cut_and_it_is_said() {
    let most = Memory(0).records(None);
    let lines = "{\"type\":\"user\"}\n".repeat(usize::try_from(most).unwrap() + 3);
    let (len, message) = bounded(Text::plain(lines.clone()), 0);
    assert_eq!(lines.len() - len, 3 * 16);
    let message = message.unwrap();
    assert!(message.contains(&format!("more than {most} records")), "{message}");
    // What was packed well was made to be: it may have fewer.
    let packed = Text { packed: Some(5000), ..Text::plain(lines.clone()) };
    let (len, message) = bounded(packed, 4 << 20);
    assert!(len < 5000 * 16, "{len}");
    assert!(message.is_some());
    assert_eq!(bounded(Text::plain(lines.clone()), 8 << 30), (lines.len(), None), "allowed");
}
