//! What only this backend is asked.

use super::*;
use crate::conformance::{at, key, record, said, with_events};
use crate::filter::FilterMaker;
use crate::{EventRow, FileBlocks, Record};

fn with_file(id: &str, name: &str, blocks: &[&str]) -> Record {
    let mut maker = FilterMaker::new();
    let blocks = blocks.iter().map(|block| vec![maker.make(&[block.as_bytes()])]).collect();
    Record { files: vec![FileBlocks { name: name.to_owned(), blocks }], ..record(id) }
}

#[test]
fn words_are_ranked_all_or_any_and_nothing_typed_is_a_command() {
    let mut catalog = Sqlite::in_memory().unwrap();
    let events = vec![
        said("1", "the parser fails on empty input"),
        said("2", "parser parser parser"),
        said("3", "empty rooms"),
    ];
    catalog.replace(with_events("a", events)).unwrap();
    let ranked = |words: &[&str], matching: Matching| -> Vec<String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let found = catalog.ranked(&words, matching, 10).unwrap();
        found.into_iter().map(|ranked| ranked.event_id).collect()
    };
    assert_eq!(ranked(&["parser", "empty"], Matching::All), ["1"]);
    assert_eq!(ranked(&["parser"], Matching::All), ["2", "1"]);
    assert_eq!(ranked(&["Parser", "rooms"], Matching::Any).len(), 3);
    assert_eq!(ranked(&["fails on empty"], Matching::All), ["1"], "a phrase");
    for strange in ["\"", "a\"b", "AND", "NOT", "*", "text:", "^", "(", "parser OR rooms"] {
        assert!(ranked(&[strange], Matching::All).len() < 2, "{strange}");
    }
}

#[test]
fn blocks_that_may_hold_all_words_are_named_by_the_rarest() {
    let mut catalog = Sqlite::in_memory().unwrap();
    let many = with_file("many", "m.jsonl", &["needle common", "common", "common things"]);
    catalog.replace(many).unwrap();
    catalog.replace(with_file("few", "f.jsonl", &["common"])).unwrap();
    let words = [Grams::of("common"), Grams::of("needle")];
    let candidates = |words: &[Grams], matching: Matching| {
        catalog.candidates(&Asked { words, matching, fields: &[] }).unwrap()
    };
    let found = candidates(&words, Matching::All);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].session, key("many"));
    let held = Held { stream: 0, name: "m.jsonl".to_owned(), blocks: vec![0] };
    assert_eq!((found[0].word, &*found[0].files), (Some(1), &[held][..]));
    assert_eq!(candidates(&words, Matching::Any).len(), 2);
    assert_eq!(candidates(&[], Matching::All).len(), 2, "nothing is asked for");
}

#[test]
fn events_are_found_by_their_lines() {
    let mut catalog = Sqlite::in_memory().unwrap();
    let line = |stream, offset| LineAt { stream, offset };
    let on = |id: &str, line| EventRow { line: Some(line), ..said(id, "words") };
    let events = vec![
        said("0", "of no line"),
        on("1", line(0, 0)),
        on("2", line(1, 70)),
        on("2#2", line(1, 70)),
    ];
    catalog.replace(with_events("other", events.clone())).unwrap();
    catalog.replace(with_events("a", events)).unwrap();
    let found = |lines: &[LineAt]| {
        let found = catalog.events_at(&key("a"), lines).unwrap();
        found.into_iter().map(|event| (event.id, event.position)).collect::<Vec<_>>()
    };
    assert_eq!(found(&[line(1, 70)]), [("2".to_owned(), 2), ("2#2".to_owned(), 3)]);
    assert_eq!(found(&[line(0, 0), line(0, 70)]), [("1".to_owned(), 1)]);
    assert_eq!(found(&[]), []);
    let one = &catalog.events_at(&key("a"), &[line(0, 0)]).unwrap()[0];
    let seen = (one.agent.as_deref(), one.at, &*one.kind, &one.tool);
    assert_eq!(seen, (Some("main"), at(1), "assistant", &None));
    assert_eq!(catalog.events_at(&key("none"), &[line(0, 0)]).unwrap(), []);
}
