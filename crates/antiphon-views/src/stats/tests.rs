use serde_json::json;

use super::*;
use crate::Prices;
use crate::fixture::{agent, fold, spent};

fn prices() -> Prices {
    let table = r#"{"source":"a test","date":"2026-01-01","currency":"USD","unit":"per million tokens","models":[
        {"model":"large","prices":[{"input":3,"output":15}]}]}"#;
    Prices::parse(table).unwrap()
}

/// Two sessions: one with two days and two models, one without a time.
fn sessions() -> [(Session, &'static str); 2] {
    let million = r#""output":1000000"#;
    let first = [
        agent("a", None),
        spent("1", "a", million, r#","model":"large","timestamp":"2026-01-01T23:59:59.999Z""#),
        spent("2", "a", million, r#","model":"large","timestamp":"2026-01-02T00:00:00.000Z""#),
        agent("b", Some("a")),
        spent("3", "b", million, r#","model":"local","timestamp":"2026-01-02T00:00:01.000Z""#),
    ];
    let second = [agent("a", None), spent("1", "a", million, r#","model":"large""#)];
    [(fold(&first.join("\n")), "first"), (fold(&second.join("\n")), "second")]
}

fn stats(group: Group) -> Stats {
    of(&StatsQuery::all(group))
}

fn of(query: &StatsQuery) -> Stats {
    let read =
        |(session, id): (Session, &str)| SessionRequests::read(&session, id, true, &prices());
    Stats::of(query, &sessions().map(read))
}

/// Each row as `key: requests, cost`.
fn rows(group: Group) -> Vec<String> {
    rows_of(&StatsQuery::all(group))
}

fn rows_of(query: &StatsQuery) -> Vec<String> {
    let shown = serde_json::to_value(of(query)).unwrap();
    let word = match query.group {
        Group::Model => "model",
        Group::Agent => "agent",
        Group::SubAgent => "sub_agent",
        Group::Project => "project",
        Group::Day => "day",
        Group::Session => "session_id",
        Group::Hour => "hour",
        Group::Week => "week",
        Group::Month => "month",
        Group::Block => "block",
    };
    let row = |row: &serde_json::Value| {
        let partial = if row["partial"] == true { ", partial" } else { "" };
        format!("{}: {}, {}{partial}", row[word], row["requests"], row["cost_usd"])
    };
    shown["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn sums_by_model_agent_day_and_session() {
    assert_eq!(rows(Group::Model), [r#""large": 3, 45.0"#, r#""local": 1, null, partial"#]);
    assert_eq!(rows(Group::Agent), ["null: 4, 45.0, partial"], "no program was named");
    assert_eq!(rows(Group::SubAgent), ["null: 3, 45.0", r#""Agent b": 1, null, partial"#]);
    let days = ["null: 1, 15.0", r#""2026-01-01": 1, 15.0"#, r#""2026-01-02": 2, 15.0, partial"#];
    assert_eq!(rows(Group::Day), days);
    assert_eq!(rows(Group::Session), [r#""first": 3, 30.0, partial"#, r#""second": 1, 15.0"#]);
}

#[test]
fn sums_by_time_are_in_the_zone_of_the_person() {
    let zone = |text: &str| Zone::new(jiff::tz::TimeZone::posix(text).unwrap());
    let query = StatsQuery { zone: zone("WST-2"), ..StatsQuery::all(Group::Day) };
    assert_eq!(rows_of(&query), ["null: 1, 15.0", r#""2026-01-02": 3, 30.0, partial"#]);
    let query = StatsQuery { group: Group::Hour, ..query };
    let hours =
        [r#""2026-01-02T01:00+02:00": 1, 15.0"#, r#""2026-01-02T02:00+02:00": 2, 15.0, partial"#];
    assert_eq!(rows_of(&query), ["null: 1, 15.0", hours[0], hours[1]]);
    assert_eq!(rows(Group::Week), ["null: 1, 15.0", r#""2026-W01": 3, 30.0, partial"#]);
    assert_eq!(rows(Group::Month), ["null: 1, 15.0", r#""2026-01": 3, 30.0, partial"#]);
    for group in [Group::Model, Group::Hour, Group::Day, Group::Week, Group::Month, Group::Block] {
        let stats = stats(group);
        assert_eq!(stats.totals, self::stats(Group::Session).totals, "{group:?}");
        let mut sum = Totals::default();
        stats.rows.values().for_each(|row| sum += *row);
        assert_eq!(sum, stats.totals, "{group:?}");
    }
}

#[test]
fn a_range_and_a_model_leave_requests_out_and_sessions_without_any() {
    let since = Timestamp::parse("2026-01-02T00:00:00.000Z");
    let range = TimeRange { since, until: None };
    let stats = of(&StatsQuery { range, ..StatsQuery::all(Group::Model) });
    assert_eq!((stats.totals.requests, stats.sessions), (2, 1));
    let model = Some("loc".to_owned());
    let stats = of(&StatsQuery { range, model, ..StatsQuery::all(Group::Model) });
    assert_eq!((stats.totals.requests, stats.rows.len()), (1, 1));
    let until = Timestamp::parse("2026-01-02T00:00:00.000Z");
    let range = TimeRange { since: None, until };
    let stats = of(&StatsQuery { range, ..StatsQuery::all(Group::Model) });
    assert_eq!((stats.totals.requests, stats.sessions), (1, 1), "what has no time is not before");
}

/// Each block as `from hour:minute, requests, minutes left`, for requests at these times.
fn blocks(times: &[&str], since: Option<&str>, now: &str) -> Vec<String> {
    let day = |time: &str| Timestamp::parse(&format!("2026-01-01T{time}:00.000Z")).unwrap();
    let spent = |time: &&str| {
        let at = format!(r#","timestamp":"2026-01-01T{time}:00.000Z""#);
        spent(time, "a", r#""output":1"#, &at)
    };
    let log: Vec<String> =
        std::iter::once(agent("a", None)).chain(times.iter().map(spent)).collect();
    let read = SessionRequests::read(&fold(&log.join("\n")), "s", true, &prices());
    let range = TimeRange { since: since.map(day), until: None };
    let query = StatsQuery { range, now: day(now), ..StatsQuery::all(Group::Block) };
    let row = |(key, totals): (&StatsKey, &Totals)| {
        let StatsKey::Block { block: Some(block), until, running, left_ms } = key else {
            return key.to_string();
        };
        assert_eq!(until.unwrap().since(*block), BLOCK_MILLIS);
        assert_eq!(*running, left_ms.is_some());
        let (block, left) = (block.to_string(), left_ms.map(|left| left / 60_000));
        format!("{}, {}, {left:?}", &block[11..16], totals.requests)
    };
    Stats::of(&query, &[read]).rows.iter().map(row).collect()
}

#[test]
fn a_block_lasts_five_hours_from_the_full_hour_of_its_first_request() {
    assert_eq!(blocks(&["02:59", "06:59"], None, "06:59"), ["02:00, 2, Some(1)"]);
    assert_eq!(blocks(&["02:59", "07:00"], None, "11:59"), ["02:00, 1, None", "07:00, 1, Some(1)"]);
    assert_eq!(
        blocks(&["00:10", "04:50", "05:10", "12:30"], None, "17:00"),
        ["00:00, 2, None", "05:00, 1, None", "12:00, 1, None"],
        "a pause begins a new one at the next request"
    );
    assert_eq!(
        blocks(&["00:10", "04:50"], Some("04:00"), "23:00"),
        ["00:00, 1, None"],
        "the range does not move the beginning"
    );
    assert_eq!(blocks(&["20:00"], None, "01:00"), ["20:00, 1, None"], "nothing runs in the future");
}

#[test]
fn the_document() {
    let shown = serde_json::to_value(stats(Group::Model)).unwrap();
    let sums = |output: u64, requests: u64| {
        json!({
            "input": 0, "output": output, "reasoning": 0, "cache_read": 0, "cache_write": 0,
            "cache_write_1h": 0, "requests": requests,
        })
    };
    let row = |mut row: serde_json::Value, more: serde_json::Value| {
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    assert_eq!(
        shown,
        json!({
            "totals": row(sums(4_000_000, 4), json!({"cost_usd": 45.0, "basis": "priced", "partial": true})),
            "rows": [
                row(sums(3_000_000, 3), json!({"model": "large", "cost_usd": 45.0, "basis": "priced"})),
                row(sums(1_000_000, 1), json!({"model": "local", "cost_usd": null, "partial": true})),
            ],
            "unpriced": ["local"],
            "sessions": 2,
        })
    );
}

#[test]
fn a_request_that_two_sessions_hold_is_the_earlier_ones() {
    let request = |id: &str, day: u32| {
        let time = format!("2026-01-0{day}T00:00:00.000Z");
        let more = format!(r#","model":"large","request_id":"{id}","timestamp":"{time}""#);
        spent(id, "a", r#""output":1000000"#, &more)
    };
    let session = |requests: &[String]| fold(&[&[agent("a", None)], requests].concat().join("\n"));
    let early = session(&[request("r1", 1), request("r2", 2)]);
    let fork = session(&[request("r1", 3), request("r2", 2), request("r3", 3)]);
    let read = |session: &Session, id: &str| SessionRequests::read(session, id, true, &prices());
    for sessions in [[read(&early, "b"), read(&fork, "c")], [read(&fork, "c"), read(&early, "b")]] {
        let stats = Stats::of(&StatsQuery::all(Group::Session), &sessions);
        let counts: Vec<u64> = stats.rows.values().map(|row| row.requests).collect();
        assert_eq!(counts, [2, 1], "whichever comes first");
        assert_eq!(stats.totals.requests, 3);
    }
    let named_otherwise =
        Stats::of(&StatsQuery::all(Group::Session), &[read(&fork, "a"), read(&early, "b")]);
    let counts: Vec<u64> = named_otherwise.rows.values().map(|row| row.requests).collect();
    assert_eq!(counts, [2, 1], "of two at the same time, the one whose id comes first has it");
}

#[test]
fn messages_that_share_a_request_id_count_each_and_a_copy_of_them_does_not() {
    let part = |id: &str, output: u64| {
        spent(id, "a", &format!(r#""output":{output}"#), r#","model":"large","request_id":"r""#)
    };
    let session = |parts: &[String]| fold(&[&[agent("a", None)], parts].concat().join("\n"));
    let own = session(&[part("1", 407), part("2", 669)]);
    let fork = session(&[part("1", 407), part("2", 669), part("3", 1)]);
    let read = |session: &Session, id: &str| SessionRequests::read(session, id, true, &prices());
    let alone = Stats::of(&StatsQuery::all(Group::Session), &[read(&own, "own")]);
    assert_eq!((alone.totals.usage.output, alone.totals.requests), (1076, 2));
    let both =
        Stats::of(&StatsQuery::all(Group::Session), &[read(&own, "own"), read(&fork, "fork")]);
    assert_eq!((both.totals.usage.output, both.totals.requests), (1077, 3));
}

#[test]
fn a_copy_of_a_session_whose_requests_have_no_ids_counts_once() {
    let started = r#"{"message_id":"0","event_type":"session_started","session_id":"s"}"#;
    let request = |id: &str, second: u32| {
        let time = format!(r#","model":"large","timestamp":"2026-01-01T00:00:0{second}.000Z""#);
        spent(id, "a", r#""output":10"#, &time)
    };
    let session = |requests: &[String]| {
        fold(&[&[started.to_owned(), agent("a", None)], requests].concat().join("\n"))
    };
    let whole = session(&[request("1", 1), request("2", 2)]);
    let earlier = session(&[request("1", 1)]);
    let another = session(&[request("1", 3)]);
    let read = |session: &Session| SessionRequests::read(session, "s", true, &prices());
    let stats = Stats::of(
        &StatsQuery::all(Group::Session),
        &[read(&earlier), read(&whole), read(&another)],
    );
    assert_eq!(stats.totals.requests, 3, "the third is at another time");
}
