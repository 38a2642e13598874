//! What every backend has to pass.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Status, Timestamp, Usage};
use antiphon_views::{Basis, Prices, Totals, Usd};
use proptest::prelude::*;

use super::{
    Catalog, Change, EventQuery, EventRow, FileBlocks, FilterMaker, Held, LineAt, MainFile, Pieces,
    Record, RequestId, RequestRow, RollUp, Row, Sqlite, Stamp,
};
use crate::{Key, Origin};

/// A new catalogue of each backend.
fn backends() -> Vec<Box<dyn Catalog>> {
    vec![Box::new(Sqlite::in_memory().unwrap())]
}

fn key(id: &str) -> Key {
    Key::of("test", id)
}

fn at(second: i64) -> Option<Timestamp> {
    Some(Timestamp::from_millis(1_767_225_600_000 + second * 1000))
}

fn request(id: &str, second: i64, output: u64) -> RequestRow {
    RequestRow {
        id: RequestId::of(&[id]),
        at: at(second),
        model: Some("claude-opus-4-5".to_owned()),
        sub_agent: None,
        usage: Usage { output, ..Usage::default() },
        declared: None,
        is_partial: false,
    }
}

pub(super) fn said(id: &str, prose: &str) -> EventRow {
    EventRow {
        id: id.to_owned(),
        line: None,
        agent: Some("main".to_owned()),
        at: at(1),
        kind: "assistant",
        tool: None,
        is_error: false,
        prose: Some(prose.to_owned()),
    }
}

fn record(id: &str) -> Record {
    let row = Row {
        key: key(id),
        origin: Origin::Archived,
        stamp: Stamp(format!("{id} as it was")),
        session_id: id.to_owned(),
        format: "claude-code".to_owned(),
        agent: Some("claude-code".to_owned()),
        title: None,
        prompt: Some("Fix the \"parser\"\nnow; naïve 🎼".to_owned()),
        project: Some("/srv/shop".to_owned()),
        role: None,
        issue: Some("42".to_owned()),
        run_id: None,
        started_at: at(0),
        last_event_at: None,
        end: Some(Status::TimedOut),
        is_answered: true,
        outcome: Some("completed".to_owned()),
        events: 0,
        agents: 2,
        calls: 3,
        problems: 0,
        main: None,
        parts: Vec::new(),
        is_part: false,
    };
    Record { row, events: Vec::new(), requests: Vec::new(), files: Vec::new() }
}

pub(super) fn with_events(id: &str, events: Vec<EventRow>) -> Record {
    let mut record = record(id);
    record.row.events = events.len() as u64;
    record.events = events;
    record
}

fn with_requests(id: &str, requests: Vec<RequestRow>) -> Record {
    Record { requests, ..record(id) }
}

fn with_file(id: &str, name: &str, blocks: &[&str]) -> Record {
    let mut maker = FilterMaker::new();
    let blocks = blocks.iter().map(|block| vec![maker.make(&[block.as_bytes()])]).collect();
    Record { files: vec![FileBlocks { name: name.to_owned(), blocks }], ..record(id) }
}

/// How many requests count for each session.
fn counted(catalog: &dyn Catalog) -> BTreeMap<Key, u64> {
    let mut counts = BTreeMap::new();
    for RollUp { session, totals, .. } in catalog.roll_up().unwrap() {
        *counts.entry(session).or_default() += totals.requests;
    }
    counts
}

#[test]
fn a_session_comes_back_as_it_was_put_in() {
    for mut catalog in backends() {
        let mut put = [record("a"), record("b"), with_events("c", vec![said("1", "words")])];
        put[1].row.origin = Origin::Recorded;
        for record in put.clone() {
            catalog.replace_session(record).unwrap();
        }
        let mut rows = catalog.rows().unwrap();
        rows.sort_by(|a, b| a.session_id.cmp(&b.session_id));
        assert_eq!(rows, put.map(|record| record.row));
    }
}

#[test]
fn putting_it_in_again_changes_nothing_and_a_new_state_takes_the_place_of_the_old() {
    for mut catalog in backends() {
        let full = |words: &str| Record {
            requests: vec![request("r", 1, 10)],
            files: with_file("a", "a.jsonl", &[words]).files,
            ..with_events("a", vec![said("1", words), said("2", "other things")])
        };
        let all = |catalog: &dyn Catalog| {
            let found = |word: &str| {
                let ranked = catalog.ranked(&[word.to_owned()], true, 9).unwrap();
                let blocks = catalog.candidates(&[Pieces::of(word)], true).unwrap();
                (ranked.len(), blocks.len())
            };
            let (rows, sums) = (catalog.rows().unwrap(), catalog.roll_up().unwrap());
            (rows, sums, found("violet"), found("indigo"))
        };
        catalog.replace_session(full("violet")).unwrap();
        let once = all(&*catalog);
        assert_eq!((once.2, once.3), ((1, 1), (0, 0)));
        catalog.replace_session(full("violet")).unwrap();
        assert_eq!(all(&*catalog), once);
        catalog.replace_session(full("indigo")).unwrap();
        let then = all(&*catalog);
        assert_eq!((then.2, then.3), ((0, 0), (1, 1)));
        assert_eq!(then.1, once.1);
        catalog.write(&[Change::Remove(key("a")), Change::Remove(key("nobody"))]).unwrap();
        assert_eq!(all(&*catalog), (vec![], vec![], (0, 0), (0, 0)));
    }
}

#[test]
fn a_request_counts_for_the_session_in_which_it_is_earliest() {
    for mut catalog in backends() {
        catalog.replace_session(with_requests("fork", vec![request("r", 5, 1)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("fork"), 1)].into());
        catalog.replace_session(with_requests("root", vec![request("r", 1, 1)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("root"), 1)].into(), "it comes later, and is earlier");
        catalog.replace_session(with_requests("alias", vec![request("r", 1, 1)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("alias"), 1)].into(), "`alias` before `root`");
        catalog.write(&[Change::Remove(key("alias"))]).unwrap();
        assert_eq!(counted(&*catalog), [(key("root"), 1)].into());
    }
}

#[test]
fn a_recording_does_not_count_beside_the_agents_own_file() {
    for mut catalog in backends() {
        let mut recording = with_requests("run", vec![request("stream", 1, 7)]);
        recording.row.key = Key::of("recorded", "run");
        recording.row.origin = Origin::Recorded;
        catalog.replace_session(recording.clone()).unwrap();
        assert_eq!(counted(&*catalog).values().sum::<u64>(), 1);
        catalog.replace_session(with_requests("run", vec![request("own", 2, 8)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("run"), 1)].into());
        catalog.write(&[Change::Remove(key("run"))]).unwrap();
        assert_eq!(counted(&*catalog), [(recording.row.key, 1)].into());
    }
}

fn main_file(session: &str) -> MainFile {
    MainFile { session: session.to_owned(), len: 7 }
}

#[test]
fn a_session_that_another_holds_does_not_count_beside_it() {
    for mut catalog in backends() {
        let mut maker = with_requests("maker", vec![request("1", 1, 7), request("2", 2, 8)]);
        maker.row.main = Some(main_file("maker"));
        maker.row.parts = vec![main_file("thread"), main_file("another")];
        // The same as the second, read by itself.
        let mut thread = with_requests("thread", vec![request("otherwise", 2, 8)]);
        thread.row.main = Some(main_file("thread"));
        catalog.replace_session(thread.clone()).unwrap();
        assert_eq!(counted(&*catalog), [(key("thread"), 1)].into());
        catalog.replace_session(maker.clone()).unwrap();
        assert_eq!(counted(&*catalog), [(key("maker"), 2)].into());
        let parts = |catalog: &dyn Catalog| -> Vec<String> {
            let rows = catalog.rows().unwrap().into_iter();
            rows.filter(|row| row.is_part).map(|row| row.session_id).collect()
        };
        assert_eq!(parts(&*catalog), ["thread"]);
        maker.row.parts.remove(0);
        catalog.replace_session(maker).unwrap();
        assert_eq!(counted(&*catalog).values().sum::<u64>(), 3);
        assert!(parts(&*catalog).is_empty());
    }
}

#[test]
fn what_a_request_declares_is_kept_and_counts_where_there_is_no_price() {
    for mut catalog in backends() {
        let declared = Usd::from_f64(0.15);
        let mut requests = vec![request("1", 0, 1_000_000), request("2", 0, 1_000_000)];
        requests[0].declared = declared;
        requests[1] = RequestRow {
            model: Some("nobody's".to_owned()),
            declared,
            is_partial: true,
            ..requests[1].clone()
        };
        catalog.replace_session(with_requests("a", requests)).unwrap();
        let mut totals = Totals::default();
        catalog.roll_up().unwrap().into_iter().for_each(|row| totals += row.totals);
        assert_eq!(totals.known().to_string(), "25.15");
        assert_eq!((totals.basis(), totals.declared()), (Some(Basis::Mixed), Usd::from_f64(0.3)));
        assert!(totals.is_partial() && totals.unpriced == 0, "of one not all tokens are known");
    }
}

#[test]
fn sums_are_by_day_model_and_sub_agent_and_priced_by_any_table() {
    let table = r#"{"source":"a test","date":"2026-01-01","currency":"USD","unit":"per million tokens",
        "models":[{"model":"local","prices":[{"input":1,"output":2}]}]}"#;
    for mut catalog in backends() {
        let mut requests = vec![request("1", 0, 1_000_000), request("2", 86_400, 2_000_000)];
        requests[1].model = Some("local".to_owned());
        requests[1].sub_agent = Some("reviewer".to_owned());
        requests.push(RequestRow { at: None, model: None, ..request("3", 0, 5) });
        catalog.replace_session(with_requests("a", requests)).unwrap();
        let shown = |sums: Vec<RollUp>| -> Vec<(Option<i64>, bool, u64, Option<f64>)> {
            let row = |sum: RollUp| {
                let cost = sum.totals.cost().map(|cost| cost.as_f64());
                (sum.day, sum.sub_agent.is_some(), sum.totals.usage.output, cost)
            };
            sums.into_iter().map(row).collect()
        };
        let own = shown(catalog.roll_up().unwrap());
        assert_eq!(
            own,
            [
                (None, false, 5, None),
                (Some(20_454), false, 1_000_000, Some(25.0)),
                (Some(20_455), true, 2_000_000, None),
            ]
        );
        let other = shown(catalog.roll_up_by(&Prices::parse(table).unwrap()).unwrap());
        assert_eq!(other[1].3, None);
        assert_eq!(other[2].3, Some(4.0));
    }
}

#[test]
fn words_are_ranked_all_or_any_and_nothing_typed_is_a_command() {
    for mut catalog in backends() {
        let events = vec![
            said("1", "the parser fails on empty input"),
            said("2", "parser parser parser"),
            said("3", "empty rooms"),
        ];
        catalog.replace_session(with_events("a", events)).unwrap();
        let ranked = |words: &[&str], all: bool| -> Vec<String> {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let found = catalog.ranked(&words, all, 10).unwrap();
            found.into_iter().map(|ranked| ranked.event_id).collect()
        };
        assert_eq!(ranked(&["parser", "empty"], true), ["1"]);
        assert_eq!(ranked(&["parser"], true), ["2", "1"]);
        assert_eq!(ranked(&["Parser", "rooms"], false).len(), 3);
        assert_eq!(ranked(&["fails on empty"], true), ["1"], "a phrase");
        for strange in ["\"", "a\"b", "AND", "NOT", "*", "text:", "^", "(", "parser OR rooms"] {
            assert!(ranked(&[strange], true).len() < 2, "{strange}");
        }
    }
}

#[test]
fn blocks_that_may_hold_all_words_are_named_by_the_rarest() {
    for mut catalog in backends() {
        let many = with_file("many", "m.jsonl", &["needle common", "common", "common things"]);
        catalog.replace_session(many).unwrap();
        catalog.replace_session(with_file("few", "f.jsonl", &["common"])).unwrap();
        let words = [Pieces::of("common"), Pieces::of("needle")];
        let found = catalog.candidates(&words, true).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].session, key("many"));
        let held = Held { stream: 0, name: "m.jsonl".to_owned(), blocks: vec![0] };
        assert_eq!((found[0].word, &*found[0].files), (Some(1), &[held][..]));
        assert_eq!(catalog.candidates(&words, false).unwrap().len(), 2);
        assert_eq!(catalog.candidates(&[], true).unwrap().len(), 2, "nothing is asked for");
    }
}

#[test]
fn events_are_found_by_their_lines() {
    for mut catalog in backends() {
        let line = |stream, offset| LineAt { stream, offset };
        let on = |id: &str, line| EventRow { line: Some(line), ..said(id, "words") };
        let events = vec![
            said("0", "of no line"),
            on("1", line(0, 0)),
            on("2", line(1, 70)),
            on("2#2", line(1, 70)),
        ];
        catalog.replace_session(with_events("other", events.clone())).unwrap();
        catalog.replace_session(with_events("a", events)).unwrap();
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
}

#[test]
fn sessions_are_found_by_what_their_events_are() {
    for mut catalog in backends() {
        let call = |id: &str, tool: &str, is_error: bool| EventRow {
            kind: "tool",
            tool: Some(tool.to_owned()),
            is_error,
            prose: None,
            ..said(id, "")
        };
        let events = vec![call("1", "Bash", true), call("2", "Bash", false), said("3", "done")];
        catalog.replace_session(with_events("a", events)).unwrap();
        catalog.replace_session(with_events("b", vec![call("1", "Read", true)])).unwrap();
        let count = |query: EventQuery| catalog.sessions_with(&query).unwrap();
        let bash = EventQuery { tool: Some("bash".to_owned()), ..EventQuery::default() };
        assert_eq!(count(bash.clone()), [(key("a"), 2)]);
        assert_eq!(count(EventQuery { is_error: true, ..bash }), [(key("a"), 1)]);
        let errors = EventQuery { is_error: true, ..EventQuery::default() };
        assert_eq!(count(errors).len(), 2);
        let late = EventQuery { since: at(2), ..EventQuery::default() };
        assert_eq!(count(late), []);
        let said = EventQuery { kind: Some("assistant".to_owned()), ..EventQuery::default() };
        assert_eq!(count(said), [(key("a"), 1)]);
    }
}

/// A session that may be put in: its number, whether it is a recording, and its requests, by
/// number and time.
type Put = (u8, bool, Vec<(u8, i64)>);

fn put(&(number, is_recorded, ref requests): &Put) -> Record {
    let requests: Vec<RequestRow> =
        requests.iter().map(|&(id, time)| request(&id.to_string(), time, 1)).collect();
    let mut record = with_requests(&format!("s{number}"), requests);
    if is_recorded {
        record.row.key = Key::of("recorded", &record.row.session_id);
        record.row.origin = Origin::Recorded;
    }
    record
}

/// The same as the catalogue counts, from the definition.
fn expected(records: &BTreeMap<Key, Record>) -> BTreeMap<Key, u64> {
    let own: BTreeSet<&str> = records
        .values()
        .filter(|record| record.row.origin == Origin::Archived)
        .map(|record| record.row.session_id.as_str())
        .collect();
    let mut owners: BTreeMap<RequestId, (Option<Timestamp>, &str, &Key, usize)> = BTreeMap::new();
    for record in records.values() {
        let id = record.row.session_id.as_str();
        if record.row.origin == Origin::Recorded && own.contains(id) {
            continue;
        }
        for (at, request) in record.requests.iter().enumerate() {
            let mine = (request.at, id, &record.row.key, at);
            let known = owners.entry(request.id).or_insert(mine);
            *known = (*known).min(mine);
        }
    }
    let mut counts = BTreeMap::new();
    for (_, _, key, _) in owners.values() {
        *counts.entry((*key).clone()).or_default() += 1;
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_put_in_or_removed_in_whatever_order_each_request_counts_once(
        changes in prop::collection::vec(
            ((0..4_u8, any::<bool>(), prop::collection::vec((0..5_u8, 0..4_i64), 0..5)), 0..5_u8),
            1..12,
        )
    ) {
        for mut catalog in backends() {
            let mut records = BTreeMap::new();
            for (session, dice) in &changes {
                let record = put(session);
                if *dice == 0 {
                    records.remove(&record.row.key);
                    catalog.write(&[Change::Remove(record.row.key)]).unwrap();
                } else {
                    records.insert(record.row.key.clone(), record.clone());
                    catalog.replace_session(record).unwrap();
                }
            }
            prop_assert_eq!(counted(&*catalog), expected(&records));
            let total: Totals = catalog.roll_up().unwrap().into_iter().fold(
                Totals::default(),
                |mut sum, row| { sum += row.totals; sum },
            );
            prop_assert_eq!(total.usage.output, expected(&records).values().sum::<u64>());
            let mut again = Sqlite::in_memory().unwrap();
            let all: Vec<Change> =
                records.values().rev().map(|it| Change::Replace(Box::new(it.clone()))).collect();
            again.write(&all).unwrap();
            prop_assert_eq!(counted(&again), counted(&*catalog), "at once, in another order");
        }
    }
}
