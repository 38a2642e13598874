//! Tests that every implementation of [`Bytes`] must pass.

use std::io::SeekFrom;

use super::*;

/// Runs a check on a new instance of every implementation.
fn places(check: impl Fn(&dyn Bytes)) {
    check(&Memory::default());
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("000001/below")).unwrap();
    std::fs::create_dir_all(folder.path().join("000002")).unwrap();
    check(&Folder::new(folder.path()));
}

fn put(bytes: &dyn Bytes, name: &str, text: &str) {
    write(bytes, name, Settled::Later, text.as_bytes()).unwrap();
}

fn text(bytes: &dyn Bytes, name: &str) -> String {
    String::from_utf8(read(bytes, name).unwrap()).unwrap()
}

#[test]
fn what_is_written_is_listed_measured_read_and_removed() {
    places(|bytes| {
        assert!(bytes.list("").is_empty());
        assert_eq!(bytes.len("000001/a.jsonl"), None);
        let missing = bytes.open("000001/a.jsonl").err().unwrap();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        put(bytes, "000001/b.jsonl", "two");
        put(bytes, "000001/below/c.json", "three");
        put(bytes, "000002/a.jsonl", "");
        put(bytes, "session.json", "{}");
        assert_eq!(bytes.list("000001"), ["000001/b.jsonl", "000001/below/c.json"]);
        assert_eq!(bytes.list("").len(), 4);
        assert_eq!((bytes.len("000001/b.jsonl"), bytes.len("000002/a.jsonl")), (Some(3), Some(0)));
        assert_eq!(text(bytes, "000001/below/c.json"), "three");
        bytes.remove("000001/b.jsonl").unwrap();
        bytes.remove("000001/b.jsonl").unwrap();
        assert_eq!(bytes.list("000001"), ["000001/below/c.json"]);
    });
}

#[test]
fn what_is_not_put_has_never_been_and_what_is_takes_the_place_of_what_was() {
    places(|bytes| {
        put(bytes, "a", "before");
        let mut draft = bytes.create("a").unwrap();
        draft.write_all(b"half").unwrap();
        assert_eq!(text(bytes, "a"), "before");
        drop(draft);
        assert_eq!((text(bytes, "a"), bytes.list("")), ("before".to_owned(), vec!["a".to_owned()]));
        let mut open = bytes.open("a").unwrap();
        write(bytes, "a", Settled::First, b"after").unwrap();
        assert_eq!(text(bytes, "a"), "after");
        let mut still = String::new();
        open.read_to_string(&mut still).unwrap();
        assert_eq!(still, "before", "whoever reads is not disturbed");
    });
}

#[test]
fn what_grows_goes_on_where_it_was_and_any_part_of_it_is_read() {
    places(|bytes| {
        for words in ["one ", "two ", "three"] {
            bytes.append("a").unwrap().write_all(words.as_bytes()).unwrap();
        }
        assert_eq!(text(bytes, "a"), "one two three");
        let mut open = bytes.open("a").unwrap();
        open.seek(SeekFrom::Start(4)).unwrap();
        let mut part = [0; 3];
        open.read_exact(&mut part).unwrap();
        assert_eq!(&part, b"two");
        assert_eq!(open.seek(SeekFrom::End(0)).unwrap(), 13);
    });
}
