use serde_json::Value;

use crate::fixture::{call, read, result, spent};
use crate::{Prices, SkeletonOptions, skeleton};

fn log() -> Vec<String> {
    let mut log = vec![
        r#"{"message_id":"m1","event_type":"agent_created","agent_id":"a","name":"Ann","timestamp":"2026-01-01T00:00:00.000Z"}"#.to_owned(),
        r#"{"message_id":"m2","agent_id":"a","role":"user","content":"do it","timestamp":"2026-01-01T00:00:01.500Z"}"#.to_owned(),
    ];
    log.push(call("a", "c1", "Read", r#"{"file_path":"x.rs"}"#, ""));
    log.push(result("a", "c1", ""));
    log.push(call(
        "a",
        "c2",
        "Edit",
        r#"{"file_path":"x.rs","old_string":"a","new_string":"b"}"#,
        "",
    ));
    log.push(spent("m6", "a", r#""input":10,"output":5"#, r#","utterance_id":"u1""#));
    log
}

fn skeleton_of(log: &[String], from: usize) -> (Value, Vec<u8>) {
    let bytes = read(log, |reading| {
        let prices = Prices::bundled();
        let options = SkeletonOptions { session_id: "s", epoch: 7, from, prices: &prices };
        skeleton(reading, &options).unwrap()
    });
    assert_eq!(bytes[..4], *b"ANSK");
    let len = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..8 + len]).unwrap(), bytes)
}

fn column(header: &Value, bytes: &[u8], name: &str) -> Vec<f64> {
    let columns = header["columns"].as_array().unwrap();
    let column = columns.iter().find(|it| it["name"] == name).unwrap();
    let offset = usize::try_from(column["offset"].as_u64().unwrap()).unwrap();
    let len = usize::try_from(column["len"].as_u64().unwrap()).unwrap();
    assert_eq!(offset % 8, 0, "{name} is aligned");
    let number =
        |size: usize, at: usize| bytes[offset + at * size..offset + (at + 1) * size].to_vec();
    (0..len)
        .map(|at| match column["type"].as_str().unwrap() {
            "u8" => f64::from(number(1, at)[0]),
            "u16" => f64::from(u16::from_le_bytes(number(2, at).try_into().unwrap())),
            "u32" => f64::from(u32::from_le_bytes(number(4, at).try_into().unwrap())),
            "f32" => f64::from(f32::from_le_bytes(number(4, at).try_into().unwrap())),
            "f64" => f64::from_le_bytes(number(8, at).try_into().unwrap()),
            other => panic!("{other}"),
        })
        .collect()
}

#[test]
fn a_skeleton_has_every_event_and_every_call_under_its_number() {
    let (header, bytes) = skeleton_of(&log(), 0);
    assert_eq!(
        (&header["events"], &header["from"], &header["epoch"]),
        (&6.into(), &0.into(), &7.into())
    );
    assert_eq!(header["tools"], serde_json::json!(["Read", "Edit"]));
    assert_eq!(header["agents"][0]["name"], "Ann");
    let times = column(&header, &bytes, "time");
    assert_eq!(times[..2], [0.0, 1500.0]);
    assert!(times[2..].iter().all(|time| time.is_nan()), "an event without a time has none");
    assert_eq!(column(&header, &bytes, "call.event"), [3.0, 5.0]);
    assert_eq!(column(&header, &bytes, "call.result"), [4.0, 0.0]);
    assert_eq!(column(&header, &bytes, "call.status"), [0.0, 2.0]);
    assert_eq!(column(&header, &bytes, "usage.context"), [10.0]);
}

#[test]
fn a_later_part_has_new_events_and_calls_whose_result_is_new() {
    let mut log = log();
    log.push(result("a", "c2", ""));
    let (whole, _) = skeleton_of(&log, 0);
    let (header, bytes) = skeleton_of(&log, 6);
    assert_eq!((&header["from"], &header["events"]), (&6.into(), &7.into()));
    assert_eq!((&header["tools"], &header["agents"]), (&whole["tools"], &whole["agents"]));
    assert_eq!(column(&header, &bytes, "kind").len(), 1);
    assert_eq!(column(&header, &bytes, "call.number"), [1.0], "only the call that was open");
    assert_eq!(column(&header, &bytes, "call.result"), [7.0]);
    assert_eq!(column(&header, &bytes, "usage.event"), [] as [f64; 0]);
    assert_eq!(column(&header, &bytes, "context.from"), [0.0]);
    assert_eq!(column(&header, &bytes, "context.to"), [1.0]);
}

#[test]
fn columns_follow_one_another_whatever_the_header_holds() {
    for agents in [0, 1, 9, 10, 99, 100, 1000] {
        let log: Vec<_> =
            (0..agents).map(|n| crate::fixture::agent(&n.to_string(), None)).collect();
        let (header, bytes) = skeleton_of(&log, 0);
        let mut end = 8 + u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        for column in header["columns"].as_array().unwrap() {
            let offset = usize::try_from(column["offset"].as_u64().unwrap()).unwrap();
            assert!(offset >= end && offset < end + 8, "{column} follows what ends at {end}");
            let size = match column["type"].as_str().unwrap() {
                "u8" => 1,
                "u16" => 2,
                "u32" | "f32" => 4,
                _ => 8,
            };
            end = offset + size * usize::try_from(column["len"].as_u64().unwrap()).unwrap();
        }
        assert!(end <= bytes.len() && bytes.len() < end + 8);
    }
}
