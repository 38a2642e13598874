//! Tests that every backend has to pass.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{Status, TimeRange, Timestamp, Usage};
use antiphon_views::{CallGroup, CallStatsQuery, CallStatsRow, CostBasis, Prices, Totals, Usd};
use proptest::prelude::*;

use crate::fields::Fields;
use crate::shelf::{Shelf, called, gave_back, said_by};
use crate::{
    Catalog, Change, EventQuery, EventRow, Found, Hit, Key, MainFile, Origin, Query, Record,
    RequestId, RequestRow, RollUp, Row, Search, SessionQuery, SessionSort, Sort, Sqlite, Stamp,
    Summary, ToolCallRow,
};

/// A new catalogue of each backend.
fn backends() -> Vec<Box<dyn Catalog>> {
    vec![Box::new(Sqlite::in_memory().unwrap())]
}

pub(super) fn key(id: &str) -> Key {
    Key::of("test", id)
}

pub(super) fn at(second: i64) -> Option<Timestamp> {
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

pub(super) fn record(id: &str) -> Record {
    let row = Row {
        key: key(id),
        origin: Origin::Archived,
        stamp: Stamp::new(&format!("{id} as it was")),
        session_id: id.to_owned(),
        format: "claude-code".to_owned(),
        agent: Some("claude-code".to_owned()),
        title: None,
        prompt: Some("Fix the \"parser\"\nnow; naïve 🎼".to_owned()),
        project: Some("/srv/shop".to_owned()),
        role: None,
        issue: Some("42".to_owned()),
        run_id: None,
        changed_at: Timestamp::from_millis(0),
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
    let fields = Fields::default();
    Record {
        row,
        events: Vec::new(),
        requests: Vec::new(),
        tool_calls: Vec::new(),
        files: Vec::new(),
        fields,
    }
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

/// The number of requests that count for each session.
fn counted(catalog: &dyn Catalog) -> BTreeMap<Key, u64> {
    let mut counts = BTreeMap::new();
    for RollUp { session, totals, .. } in catalog.sums(&TimeRange::default(), None).unwrap() {
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
            catalog.replace(record).unwrap();
        }
        let mut rows = catalog.rows().unwrap();
        rows.sort_by(|a, b| a.session_id.cmp(&b.session_id));
        assert_eq!(rows, put.map(|record| record.row));
    }
}

/// Sessions that are put into a catalogue and searched, in this order.
struct Scene {
    catalog: Box<dyn Catalog>,
    shelf: Shelf,
    sessions: Vec<Summary>,
}

impl Scene {
    fn all() -> Vec<Self> {
        let scene = |catalog| Self { catalog, shelf: Shelf::default(), sessions: Vec::new() };
        backends().into_iter().map(scene).collect()
    }

    /// Puts a session in, or replaces it.
    fn put(&mut self, id: &str, lines: &[String]) {
        let record = self.shelf.put(id, lines);
        self.sessions.retain(|it| it.key != record.row.key);
        self.sessions.extend(Summary::of_row(record.row.clone()));
        self.catalog.replace(record).unwrap();
    }

    fn search(&self, query: &str, sort: Sort) -> Found {
        let query =
            Query::parse(query, Timestamp::from_millis(0), &antiphon_model::Zone::utc()).unwrap();
        let sessions: Vec<&Summary> = self.sessions.iter().collect();
        let search = Search { query: &query, sort, limit: 10, sessions: &sessions };
        self.catalog.search(&search, &self.shelf).unwrap()
    }

    /// The ids of the events that have all words.
    fn found(&self, query: &str) -> Vec<String> {
        let Found { hits, is_partial } = self.search(query, Sort::Newest);
        let hits = hits.into_iter().filter(|_| !is_partial);
        hits.map(|hit| hit.message_id).collect()
    }

    /// The numbers of the sessions that are listed.
    fn listed(&self, query: &SessionQuery, sort: SessionSort) -> Vec<usize> {
        let sessions: Vec<&Summary> = self.sessions.iter().collect();
        let listed = self.catalog.list(&sessions, query, sort, &self.shelf).unwrap();
        let number = |key: &Key| sessions.iter().position(|it| it.key == *key).unwrap();
        listed.iter().map(|(key, _)| number(key)).collect()
    }
}

#[test]
fn putting_it_in_again_changes_nothing_and_a_new_state_takes_the_place_of_the_old() {
    for mut scene in Scene::all() {
        let lines = |words: &str| [said_by("assistant", "1", words), said_by("user", "2", "other")];
        let all = |scene: &Scene| {
            let (rows, sums) = (
                scene.catalog.rows().unwrap(),
                scene.catalog.sums(&TimeRange::default(), None).unwrap(),
            );
            let ranked = scene.search("violet", Sort::Relevance).hits.len();
            (rows, sums, scene.found("violet"), ranked, scene.found("indigo"))
        };
        scene.put("a", &lines("violet"));
        let once = all(&scene);
        assert_eq!((&*once.2, once.3, &*once.4), (&["1".to_owned()][..], 1, &[][..]));
        scene.put("a", &lines("violet"));
        assert_eq!(all(&scene), once);
        scene.put("a", &lines("indigo"));
        let then = all(&scene);
        assert_eq!((&*then.2, then.3, &*then.4), (&[][..], 0, &["1".to_owned()][..]));
        assert_eq!(then.1, once.1);
        scene.catalog.remove(Shelf::key("a")).unwrap();
        scene.catalog.remove(Shelf::key("nobody")).unwrap();
        assert_eq!(all(&scene), (vec![], vec![], vec![], 0, vec![]));
    }
}

#[test]
fn words_are_found_in_what_was_said_asked_of_tools_and_given_back() {
    for mut scene in Scene::all() {
        scene.put(
            "a",
            &[
                said_by("user", "1", "Why does the parser fail?"),
                called("2", "c", "Bash", r#"{"command":"grep needle src/parser.rs"}"#),
                gave_back("3", "c", "a haystack without end", true),
                said_by("assistant", "4", "The parser is fine."),
            ],
        );
        scene.put("b", &[said_by("user", "5", "Another parser")]);
        assert_eq!(scene.found("parser"), ["4", "2", "1", "5"], "by session, the latest first");
        assert_eq!(scene.found("needle"), ["2"], "by a glimpse");
        assert_eq!(scene.found("PARSER fine"), ["4"]);
        assert_eq!(scene.found("\"parser is\""), ["4"]);
        assert_eq!(scene.found("haystack is:error"), ["3"]);
        assert_eq!(scene.found("tool:bash"), ["3", "2"]);
        assert_eq!(scene.found("parser role:user"), ["1", "5"]);
        assert_eq!(scene.found("nowhere"), [""; 0]);
        assert_eq!(scene.found("/pars.r/"), ["4", "2", "1", "5"]);
        assert_eq!(scene.found(r"/need\w+/ tool:bash"), ["2"]);
        assert_eq!(scene.found("parser /another|nobody/"), ["5"]);
        let within = format!("parser session:{}", Shelf::key("b"));
        assert_eq!(scene.found(&within), ["5"]);
        assert_eq!(scene.found("parser session:nobody"), [""; 0]);
        let nearest = |word: &str| scene.catalog.nearest(word, 3).unwrap();
        assert_eq!(nearest("praser"), ["parser"]);
        assert_eq!(nearest("aprser"), ["parser"]);
        assert_eq!(nearest("parser"), [""; 0], "it is there");
        assert_eq!(nearest("zqnowhere"), [""; 0]);
        let marks = |query: &str| -> Vec<Vec<String>> {
            let hits = scene.search(query, Sort::Newest).hits.into_iter();
            let marked = |hit: Hit| {
                let letters: Vec<char> = hit.snippet.chars().collect();
                let marks = hit.marks.into_iter();
                marks.map(|(from, to)| letters[from..to].iter().collect()).collect()
            };
            hits.map(marked).collect()
        };
        assert_eq!(marks("another PARSER"), [["Another", "parser"]]);
        let Hit { session, role, tool, snippet, .. } =
            scene.search("needle", Sort::Newest).hits.remove(0);
        assert_eq!((session, role, tool.as_deref()), (Shelf::key("a"), "assistant", Some("Bash")));
        assert!(snippet.contains("grep needle"), "{snippet}");
    }
}

#[test]
fn what_was_said_is_ranked_and_what_has_only_some_words_is_told_as_such() {
    for mut scene in Scene::all() {
        scene.put(
            "a",
            &[
                said_by("user", "1", "the parser fails on empty input"),
                said_by("user", "2", "parser parser parser"),
                said_by("user", "3", "empty rooms"),
            ],
        );
        let ids = |found: Found| -> Vec<String> {
            found.hits.into_iter().map(|hit| hit.message_id).collect()
        };
        assert_eq!(ids(scene.search("parser", Sort::Relevance)), ["2", "1"]);
        assert_eq!(ids(scene.search("parser empty", Sort::Relevance)), ["1"]);
        let some = scene.search("parser rooms", Sort::Newest);
        assert!(some.is_partial);
        assert_eq!(ids(some).len(), 3);
    }
}

#[test]
fn what_cannot_be_read_is_not_found_and_costs_nothing_else() {
    for mut scene in Scene::all() {
        scene.put("a", &[said_by("user", "1", "the parser")]);
        scene.put("b", &[said_by("user", "2", "the parser")]);
        scene.shelf.lose("a");
        assert_eq!(scene.found("parser"), ["2"]);
        assert_eq!(scene.search("parser", Sort::Relevance).hits.len(), 1);
    }
}

#[test]
fn a_list_has_what_is_wanted_in_an_order() {
    for mut scene in Scene::all() {
        scene.put("a", &[said_by("user", "1", "Hello")]);
        scene.put(
            "b",
            &[
                said_by("user", "2", "Hello"),
                called("3", "c", "Read", r#"{"file_path":"/srv/shop/till.rs"}"#),
            ],
        );
        let any = SessionQuery::default();
        assert_eq!(scene.listed(&any, SessionSort::Changed), [0, 1]);
        assert_eq!(scene.listed(&any, SessionSort::Events), [1, 0]);
        let word = |word: &str| Some(word.to_owned());
        let tool = SessionQuery { tool: word("read"), ..any.clone() };
        assert_eq!(scene.listed(&tool, SessionSort::Changed), [1]);
        let file = SessionQuery { file: word("shop/till.rs"), ..any.clone() };
        assert_eq!(scene.listed(&file, SessionSort::Changed), [1]);
        for other in ["shop/counter.rs", "till/shop"] {
            let other = SessionQuery { file: word(other), ..any.clone() };
            assert_eq!(scene.listed(&other, SessionSort::Changed), [0; 0]);
        }
        let dear = SessionQuery { min_cost_usd: Some(1.0), ..any };
        assert_eq!(scene.listed(&dear, SessionSort::Cost), [0; 0]);
    }
}

#[test]
fn a_page_is_the_beginning_of_the_list_in_every_order() {
    for mut catalog in backends() {
        let mut put = Vec::new();
        for nth in 0..7_i64 {
            let times: Vec<RequestRow> =
                (0..nth % 4).map(|it| request(&format!("{nth}-{it}"), it, 1_000_000)).collect();
            let mut record = with_requests(&format!("s{nth}"), times);
            record.events = (0..nth % 3).map(|it| said(&it.to_string(), "words")).collect();
            record.row.events = record.events.len() as u64;
            record.row.changed_at = Timestamp::from_millis(nth / 2);
            record.row.last_event_at = at(nth % 2).filter(|_| nth != 4);
            record.row.started_at = at(-nth).filter(|_| nth != 2);
            record.row.project = (nth > 1).then(|| format!("/srv/Shop{}", nth % 2));
            put.push(record.clone());
            catalog.replace(record).unwrap();
        }
        let mut sessions: Vec<Summary> =
            put.into_iter().filter_map(|record| Summary::of_row(record.row)).collect();
        sessions.sort_by(|a, b| {
            let times = |it: &Summary| (it.at(), it.changed_at);
            times(b).cmp(&times(a)).then_with(|| a.key.cmp(&b.key))
        });
        let sessions: Vec<&Summary> = sessions.iter().collect();
        let any = SessionQuery::default();
        let queries = [
            any.clone(),
            SessionQuery { project: Some(crate::ProjectQuery::part("shop1")), ..any.clone() },
            SessionQuery { agent: Some("nobody".to_owned()), ..any.clone() },
            SessionQuery { min_cost_usd: Some(30.0), ..any.clone() },
            SessionQuery { since: at(1), until: at(0), ..any },
        ];
        let sorts =
            [SessionSort::Changed, SessionSort::Started, SessionSort::Cost, SessionSort::Events];
        for (query, sort) in queries.iter().flat_map(|query| sorts.map(|sort| (query, sort))) {
            let list = catalog.list(&sessions, query, sort, &Shelf::default()).unwrap();
            for limit in [0, 1, 3, 100] {
                let page = catalog.page(query, sort, limit).unwrap();
                let rows: Vec<(Key, Totals)> =
                    page.rows.into_iter().map(|(row, totals)| (row.key, totals)).collect();
                assert_eq!(rows, list[..limit.min(list.len())], "{query:?} {sort:?} {limit}");
                assert_eq!(page.ids.len(), list.len());
            }
        }
    }
}

#[test]
fn a_mark_stays_until_something_changes() {
    for mut catalog in backends() {
        assert_eq!(catalog.mark().unwrap(), None);
        catalog.set_mark(u64::MAX).unwrap();
        assert_eq!(catalog.mark().unwrap(), Some(u64::MAX));
        catalog.write(&[]).unwrap();
        assert_eq!(catalog.mark().unwrap(), Some(u64::MAX));
        catalog.replace(record("a")).unwrap();
        assert_eq!(catalog.mark().unwrap(), None);
        assert_eq!(catalog.stamps().unwrap(), [(key("a"), record("a").row.stamp)]);
    }
}

#[test]
fn a_request_counts_for_the_session_in_which_it_is_earliest() {
    for mut catalog in backends() {
        catalog.replace(with_requests("fork", vec![request("r", 5, 1)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("fork"), 1)].into());
        catalog.replace(with_requests("root", vec![request("r", 1, 1)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("root"), 1)].into(), "it comes later, and is earlier");
        catalog.replace(with_requests("alias", vec![request("r", 1, 1)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("alias"), 1)].into(), "`alias` before `root`");
        catalog.remove(key("alias")).unwrap();
        assert_eq!(counted(&*catalog), [(key("root"), 1)].into());
    }
}

#[test]
fn a_recording_does_not_count_beside_the_agents_own_file() {
    for mut catalog in backends() {
        let mut recording = with_requests("run", vec![request("stream", 1, 7)]);
        recording.row.key = Key::of("recorded", "run");
        recording.row.origin = Origin::Recorded;
        catalog.replace(recording.clone()).unwrap();
        assert_eq!(counted(&*catalog).values().sum::<u64>(), 1);
        catalog.replace(with_requests("run", vec![request("own", 2, 8)])).unwrap();
        assert_eq!(counted(&*catalog), [(key("run"), 1)].into());
        catalog.remove(key("run")).unwrap();
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
        // The same session as the second, read by itself.
        let mut thread = with_requests("thread", vec![request("otherwise", 2, 8)]);
        thread.row.main = Some(main_file("thread"));
        catalog.replace(thread.clone()).unwrap();
        assert_eq!(counted(&*catalog), [(key("thread"), 1)].into());
        catalog.replace(maker.clone()).unwrap();
        assert_eq!(counted(&*catalog), [(key("maker"), 2)].into());
        let parts = |catalog: &dyn Catalog| -> Vec<String> {
            let rows = catalog.rows().unwrap().into_iter();
            rows.filter(|row| row.is_part).map(|row| row.session_id).collect()
        };
        assert_eq!(parts(&*catalog), ["thread"]);
        maker.row.parts.remove(0);
        catalog.replace(maker).unwrap();
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
        catalog.replace(with_requests("a", requests)).unwrap();
        let mut totals = Totals::default();
        catalog
            .sums(&TimeRange::default(), None)
            .unwrap()
            .into_iter()
            .for_each(|row| totals += row.totals);
        assert_eq!(totals.known().to_string(), "25.15");
        assert_eq!(
            (totals.basis(), totals.declared()),
            (Some(CostBasis::Mixed), Usd::from_f64(0.3))
        );
        assert!(totals.is_partial() && totals.unpriced == 0, "of one not all tokens are known");
    }
}

#[test]
fn sums_are_by_quarter_model_and_sub_agent_and_priced_by_any_table() {
    let table = r#"{"source":"a test","date":"2026-01-01","currency":"USD","unit":"per million tokens",
        "models":[{"model":"local","prices":[{"input":1,"output":2}]}]}"#;
    for mut catalog in backends() {
        let mut requests = vec![request("1", 0, 1_000_000), request("2", 86_400, 2_000_000)];
        requests[1].model = Some("local".to_owned());
        requests[1].sub_agent = Some("reviewer".to_owned());
        requests.push(RequestRow { at: None, model: None, ..request("3", 0, 5) });
        catalog.replace(with_requests("a", requests)).unwrap();
        let shown = |sums: Vec<RollUp>| -> Vec<(Option<Timestamp>, bool, u64, Option<f64>)> {
            let row = |sum: RollUp| {
                let cost = sum.totals.cost().map(|cost| cost.as_f64());
                (sum.at, sum.sub_agent.is_some(), sum.totals.usage.output, cost)
            };
            sums.into_iter().map(row).collect()
        };
        let own = shown(catalog.sums(&TimeRange::default(), None).unwrap());
        assert_eq!(
            own,
            [
                (None, false, 5, None),
                (at(0), false, 1_000_000, Some(25.0)),
                (at(86_400), true, 2_000_000, None),
            ]
        );
        let other = shown(
            catalog.sums(&TimeRange::default(), Some(&Prices::parse(table).unwrap())).unwrap(),
        );
        assert_eq!(other[1].3, None);
        assert_eq!(other[2].3, Some(4.0));
    }
}

#[test]
fn a_range_counts_requests_to_the_millisecond() {
    for mut catalog in backends() {
        // Four quarters of an hour, with two requests in each.
        let requests = (0..8).map(|nth| request(&nth.to_string(), nth * 450, 1 << nth));
        catalog.replace(with_requests("a", requests.collect())).unwrap();
        let without = RequestRow { at: None, ..request("without a time", 0, 256) };
        catalog.replace(with_requests("b", vec![without])).unwrap();
        let table = Prices::bundled();
        for (since, until) in (-1..10).flat_map(|since| (-1..10).map(move |until| (since, until))) {
            let end = |nth: i64, millis: i64| {
                let end = at(nth * 450)?.as_millis() + millis;
                (0..9).contains(&nth).then(|| Timestamp::from_millis(end))
            };
            for millis in [-1, 0, 1] {
                let range = TimeRange { since: end(since, millis), until: end(until, millis) };
                let times = (0..8).map(|nth| (at(nth * 450), 1 << nth)).chain([(None, 256)]);
                let expected: u64 =
                    times.filter(|(at, _)| range.contains(*at)).map(|(_, output)| output).sum();
                for prices in [None, Some(&table)] {
                    let mut totals = Totals::default();
                    let sums = catalog.sums(&range, prices).unwrap();
                    sums.into_iter().for_each(|sum| totals += sum.totals);
                    assert_eq!(totals.usage.output, expected, "{range:?}");
                }
            }
        }
    }
}

fn with_calls(id: &str, calls: &[(&str, i64)]) -> Record {
    let call = |&(id, second): &(&str, i64)| ToolCallRow {
        id: RequestId::of(&[id]),
        at: at(second),
        tool: "Bash".to_owned(),
        command: Some("cargo test".to_owned()),
        model: Some("claude-opus-4-5".to_owned()),
        error: Some(format!("error: {id}")),
        duration_ms: Some(7),
        output_tokens: 1,
    };
    let mut record = with_events(id, vec![said("1", "words")]);
    record.tool_calls = calls.iter().map(call).collect();
    record
}

#[test]
fn a_call_counts_once_for_the_session_in_which_it_is_earliest() {
    let query =
        CallStatsQuery { group: CallGroup::Error, range: TimeRange::default(), model: None };
    for mut catalog in backends() {
        let mut recorded = with_calls("a", &[("again", 9)]);
        recorded.row.key = Key::of("recorded", "a");
        recorded.row.origin = Origin::Recorded;
        let mut fork = with_calls("fork", &[("shared", 5), ("own", 6)]);
        fork.row.project = Some("/srv/elsewhere".to_owned());
        let mut part = with_calls("part", &[("of another", 1)]);
        part.row.main = Some(main_file("part"));
        let mut whole = with_calls("whole", &[("whole", 1)]);
        (whole.row.main, whole.row.parts) = (Some(main_file("whole")), vec![main_file("part")]);
        let origin = with_calls("a", &[("shared", 1)]);
        for record in [fork, origin, recorded, part, whole] {
            catalog.replace(record).unwrap();
        }
        let sessions: Vec<Summary> =
            catalog.rows().unwrap().into_iter().filter_map(Summary::of_row).collect();
        let sessions: Vec<&Summary> = sessions.iter().collect();
        let errors = |wanted: &SessionQuery| -> Vec<String> {
            let stats = catalog.call_stats(&sessions, wanted, &query).unwrap();
            assert_eq!(stats.totals.calls, stats.rows.len() as u64);
            let name = |row: &CallStatsRow| match row {
                CallStatsRow::Error { error, .. } => Some(error.clone()),
                CallStatsRow::Tool { .. } | CallStatsRow::Command { .. } => None,
            };
            stats.rows.iter().filter_map(name).collect()
        };
        let any = SessionQuery::default();
        assert_eq!(errors(&any), ["error: own", "error: shared", "error: whole"]);
        let elsewhere = SessionQuery {
            project: Some(crate::ProjectQuery::part("elsewhere")),
            ..SessionQuery::default()
        };
        assert_eq!(errors(&elsewhere), ["error: own"], "the fork has only what is its own");
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
        catalog.replace(with_events("a", events)).unwrap();
        catalog.replace(with_events("b", vec![call("1", "Read", true)])).unwrap();
        let count = |query: EventQuery| catalog.events(&query).unwrap();
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

/// A session that a property test puts in: its number, whether it is a recording, and its requests,
/// by number and time.
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

/// The number of requests that should count for each session, worked out from the definition.
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
                    catalog.remove(record.row.key).unwrap();
                } else {
                    records.insert(record.row.key.clone(), record.clone());
                    catalog.replace(record).unwrap();
                }
            }
            prop_assert_eq!(counted(&*catalog), expected(&records));
            let total: Totals = catalog.sums(&TimeRange::default(), None).unwrap().into_iter().fold(
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
