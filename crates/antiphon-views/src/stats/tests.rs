use serde_json::json;

use super::*;
use crate::fixture::{agent, fold, spent};

fn prices() -> Prices {
    let table = r#"{"source":"a test","date":"2026-01-01","currency":"USD","unit":"per million tokens","models":[
        {"model":"large","prices":[{"input":3,"output":15}]}]}"#;
    Prices::parse(table).unwrap()
}

/// Two sessions: one of two days and two models, one without a time.
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
    let mut stats = Stats::new(group);
    for (session, id) in sessions() {
        stats.add(&session, id, &prices());
    }
    stats
}

/// Each row as `key: requests, cost`.
fn rows(group: Group) -> Vec<String> {
    let shown = serde_json::to_value(stats(group)).unwrap();
    let word = match group {
        Group::Model => "model",
        Group::Agent => "agent",
        Group::Day => "day",
        Group::Session => "session_id",
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
    assert_eq!(rows(Group::Agent), [r#""Agent a": 3, 45.0"#, r#""Agent b": 1, null, partial"#]);
    let days = ["null: 1, 15.0", r#""2026-01-01": 1, 15.0"#, r#""2026-01-02": 2, 15.0, partial"#];
    assert_eq!(rows(Group::Day), days);
    assert_eq!(rows(Group::Session), [r#""first": 3, 30.0, partial"#, r#""second": 1, 15.0"#]);
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
            "totals": row(sums(4_000_000, 4), json!({"cost_usd": 45.0, "partial": true})),
            "rows": [
                row(sums(3_000_000, 3), json!({"model": "large", "cost_usd": 45.0})),
                row(sums(1_000_000, 1), json!({"model": "local", "cost_usd": null, "partial": true})),
            ],
            "unpriced": ["local"],
            "sessions": 2,
        })
    );
}

#[test]
fn counting_apart_and_merging_is_counting_together() {
    for group in [Group::Model, Group::Agent, Group::Day, Group::Session] {
        let mut merged = Stats::new(group);
        for (session, id) in sessions() {
            let mut alone = Stats::new(group);
            alone.add(&session, id, &prices());
            merged.merge(alone);
        }
        let together = stats(group);
        assert_eq!(merged.rows, together.rows);
        assert_eq!(merged.totals, together.totals);
        assert_eq!(merged.unpriced, together.unpriced);
        assert_eq!(merged.sessions, together.sessions);
        let mut sum = Totals::default();
        together.rows.values().for_each(|&row| sum += row);
        assert_eq!(sum, together.totals);
    }
}
