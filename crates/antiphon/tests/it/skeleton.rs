//! `view skeleton` says in numbers what the other views say in words.

use serde_json::Value;

use crate::run::{antiphon, command};

const SAMPLES: [&str; 4] = ["debate", "resource-hook", "inner-monologue", "watcher"];

/// The header, and the bytes that its offsets count in.
fn skeleton(arguments: &str) -> (Value, Vec<u8>) {
    let arguments = format!("view skeleton {arguments}");
    let done = command().args(arguments.split_whitespace()).output().unwrap();
    assert!(done.status.success(), "{arguments}: {}", String::from_utf8_lossy(&done.stderr));
    let bytes = done.stdout;
    assert_eq!(bytes[..4], *b"ANSK");
    let len = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..8 + len]).unwrap(), bytes)
}

fn column<const SIZE: usize>(skeleton: &(Value, Vec<u8>), name: &str) -> Vec<[u8; SIZE]> {
    let (header, bytes) = skeleton;
    let columns = header["columns"].as_array().unwrap();
    let column = columns.iter().find(|column| column["name"] == name).unwrap();
    let number = |member: &str| usize::try_from(column[member].as_u64().unwrap()).unwrap();
    let bytes = &bytes[number("offset")..][..SIZE * number("len")];
    bytes.chunks(SIZE).map(|chunk| chunk.try_into().unwrap()).collect()
}

fn view(name: &str, sample: &str) -> Vec<Value> {
    let printed = antiphon(&format!("view {name} samples/{sample}.jsonl --json"));
    let json = printed.out.lines().find(|line| line.starts_with('[')).unwrap_or("[]");
    serde_json::from_str(json).unwrap()
}

#[test]
fn events_and_calls_of_a_skeleton_are_those_of_the_timeline() {
    for sample in SAMPLES {
        let skeleton = skeleton(&format!("samples/{sample}.jsonl"));
        let header = &skeleton.0;
        let timeline = view("timeline", sample);
        let kinds: Vec<&Value> = column::<1>(&skeleton, "kind")
            .iter()
            .map(|[kind]| &header["kinds"][usize::from(*kind)])
            .collect();
        assert_eq!(kinds, timeline.iter().map(|row| &row["kind"]).collect::<Vec<_>>(), "{sample}");
        let step = |id: &Value| {
            let row = timeline.iter().find(|row| row["message_id"] == *id).unwrap();
            u32::try_from(row["step"].as_u64().unwrap()).unwrap()
        };
        let calls = view("calls", sample);
        let made: Vec<u32> =
            column(&skeleton, "call.event").into_iter().map(u32::from_le_bytes).collect();
        let want: Vec<u32> = calls.iter().map(|row| step(&row["message_id"])).collect();
        assert_eq!(made, want, "{sample}: the events of calls");
        let tools: Vec<&Value> = column::<2>(&skeleton, "call.tool")
            .into_iter()
            .map(|tool| &header["tools"][usize::from(u16::from_le_bytes(tool))])
            .collect();
        assert_eq!(tools, calls.iter().map(|row| &row["tool_name"]).collect::<Vec<_>>());
    }
}

#[test]
fn a_skeleton_cannot_begin_behind_the_end() {
    let events = skeleton("samples/debate.jsonl").0["events"].as_u64().unwrap();
    let (header, _) = skeleton(&format!("samples/debate.jsonl --from {events}"));
    assert_eq!(header["columns"][0]["len"], 0);
    let printed = antiphon(&format!("view skeleton samples/debate.jsonl --from {}", events + 1));
    assert!(printed.err.contains(&format!("the session has only {events} events")), "{printed}");
}
