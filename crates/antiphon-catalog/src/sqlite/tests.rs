//! Tests of this backend only.

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
    let words = [vec![Grams::of("common")], vec![Grams::of("needle")]];
    let candidates = |needs: &[Vec<Grams>], matching: Matching| {
        catalog.candidates(&Asked { needs, matching, fields: &[] }).unwrap()
    };
    let found = candidates(&words, Matching::All);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].session, key("many"));
    let held = Held { stream: 0, name: "m.jsonl".to_owned(), blocks: vec![0] };
    assert_eq!((found[0].need, &*found[0].files), (Some(1), &[held][..]));
    assert_eq!(candidates(&words, Matching::Any).len(), 2);
    assert_eq!(candidates(&[], Matching::All).len(), 2, "nothing is asked for");
    let either = [vec![Grams::of("zqnowhere"), Grams::of("needle")]];
    let found = candidates(&either, Matching::All);
    assert_eq!((found.len(), &found[0].session), (1, &key("many")), "one of two is enough");
    let any = [vec![Grams::of("zq"), Grams::of("needle")]];
    assert_eq!(candidates(&any, Matching::All).len(), 2, "what is too short may be anywhere");
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

#[test]
fn whatever_is_changed_or_lost_in_a_table_is_noticed() {
    let events = vec![said("1", "the parser"), said("2", "fails")];
    let ask = |catalog: &Sqlite| -> Result<(), CatalogError> {
        catalog.rows()?;
        catalog.page(&SessionQuery::default(), SessionSort::Cost, 9)?;
        let always = antiphon_model::TimeRange::default();
        catalog.sums(&always, None)?;
        catalog.sums(&always, Some(&Prices::bundled()))?;
        catalog.each_call(&mut |_, _, _| {})?;
        catalog.events(&EventQuery::default())?;
        Ok(())
    };
    for spoil in [
        "UPDATE session SET told = substr(told, 2)",
        "UPDATE session SET told = x'00' || substr(told, 2)",
        "UPDATE session SET session_id = 'b'",
        "UPDATE session SET stamp = stamp + 1",
        "UPDATE session SET first_event = 7",
        "UPDATE session SET is_part = 1",
        "UPDATE event SET events = substr(events, 1, length(events) - 1)",
        "UPDATE event SET events = x'01', sum = sum + 1",
        "UPDATE event SET first = 2",
        "UPDATE request SET requests = x'00'",
        "UPDATE roll_up SET parts = x'00'",
        "UPDATE tool_call SET calls = x'00'",
        "DELETE FROM session",
        "DELETE FROM event",
        "DELETE FROM request",
        "DELETE FROM roll_up",
        "DELETE FROM tool_call",
    ] {
        let mut catalog = Sqlite::in_memory().unwrap();
        catalog.replace(with_events("a", events.clone())).unwrap();
        ask(&catalog).unwrap();
        assert_eq!(catalog.connection.execute(spoil, []).unwrap(), 1);
        assert!(matches!(ask(&catalog), Err(CatalogError::Damaged(_))), "{spoil}");
    }
}

#[test]
fn a_long_session_is_found_by_its_events_wherever_they_stand() {
    let mut catalog = Sqlite::in_memory().unwrap();
    let on = |nth: u32| {
        let line = LineAt { stream: 0, offset: u64::from(nth) * 100 };
        EventRow { line: Some(line), ..said(&format!("e{nth}"), &format!("word{nth}")) }
    };
    for id in ["before", "a", "after"] {
        catalog.replace(with_events(id, (0..700).map(on).collect())).unwrap();
    }
    for nth in [0_u64, 1, 255, 256, 511, 512, 699] {
        let line = LineAt { stream: 0, offset: nth * 100 };
        let found = &catalog.events_at(&key("a"), &[line]).unwrap()[0];
        assert_eq!((&*found.id, found.position), (&*format!("e{nth}"), nth));
        let ranked = catalog.ranked(&[format!("word{nth}")], Matching::All, 9).unwrap();
        assert_eq!(ranked.len(), 3);
        assert!(ranked.iter().all(|it| it.event_id == format!("e{nth}")));
    }
    catalog.remove(key("a")).unwrap();
    assert_eq!(catalog.ranked(&["word300".to_owned()], Matching::All, 9).unwrap().len(), 2);
    assert_eq!(catalog.events(&EventQuery::default()).unwrap().len(), 2);
}
