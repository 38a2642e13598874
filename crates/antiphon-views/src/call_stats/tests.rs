use super::*;
use crate::fixture::{call, read, result};
use crate::{CallFacts, call_facts};

fn counted<'c>(facts: &'c CallFacts<'_>) -> CountedCall<'c> {
    CountedCall {
        at: facts.at,
        tool: facts.tool,
        command: facts.command.as_deref(),
        model: facts.model,
        error: facts.error.as_deref(),
        duration_ms: facts.duration_ms,
        output_tokens: facts.output_tokens,
    }
}

fn log() -> Vec<String> {
    let time = |second: u32| format!(r#","timestamp":"2026-01-01T00:00:{second:02}.000Z""#);
    let timed = |line: String, second: u32| {
        format!("{}{}}}", line.strip_suffix('}').unwrap(), time(second))
    };
    let mut log = Vec::new();
    for (nth, (tool, arguments, took, is_error)) in [
        ("Bash", r#"{"command":"cd /srv && FOO=1 cargo test --quiet"}"#, 1, true),
        ("Bash", r#"{"command":"cargo +nightly test"}"#, 9, true),
        ("Bash", r#"{"command":"ls -la | wc -l"}"#, 3, false),
        ("Bash", r#"{"command":"git -C /srv log"}"#, 2, false),
        ("Read", r#"{"file_path":"/a"}"#, 1, false),
    ]
    .into_iter()
    .enumerate()
    {
        let (id, start) = (format!("c{nth}"), u32::try_from(nth).unwrap() * 10);
        let more = if is_error { r#","is_error":true"# } else { "" };
        log.push(timed(call("a", &id, tool, arguments, ""), start));
        log.push(timed(result("a", &id, more), start + took));
    }
    log.push(call("a", "open", "Read", "{}", ""));
    log
}

fn rows(group: CallGroup, range: TimeRange) -> (CallStats, Vec<String>) {
    let query = CallStatsQuery { group, range, model: None };
    let mut stats = CallStatsBuilder::new(&query);
    read(&log(), |reading| {
        call_facts(reading).iter().for_each(|facts| stats.add(&counted(facts)));
    });
    let stats = stats.finish();
    let sums = |sums: &CallSums| {
        format!("{}/{} {:?} {:?}", sums.failed, sums.calls, sums.median_ms, sums.p95_ms)
    };
    let row = |row: &CallStatsRow| match row {
        CallStatsRow::Tool { tool: name, sums: it }
        | CallStatsRow::Command { command: name, sums: it } => format!("{name}: {}", sums(it)),
        CallStatsRow::Error { error, calls, tools } => format!("{error}: {calls} {tools:?}"),
    };
    let rows = stats.rows.iter().map(row).collect();
    (stats, rows)
}

#[test]
fn calls_are_counted_by_tool_by_command_and_by_what_failed() {
    let (stats, tools) = rows(CallGroup::Tool, TimeRange::default());
    assert_eq!(
        tools,
        ["Bash: 2/4 Some(2500) Some(9000)", "Read: 0/2 Some(1000) Some(1000)"],
        "the open call has no time"
    );
    assert_eq!((stats.totals.calls, stats.totals.failed), (6, 2));
    assert!(stats.totals.output_tokens > 0);
    let (stats, commands) = rows(CallGroup::Command, TimeRange::default());
    assert_eq!(
        commands,
        [
            "cargo test: 2/2 Some(5000) Some(9000)",
            "git log: 0/1 Some(2000) Some(2000)",
            "ls: 0/1 Some(3000) Some(3000)"
        ]
    );
    assert_eq!(stats.totals.calls, 4);
    let (stats, errors) = rows(CallGroup::Error, TimeRange::default());
    assert_eq!(errors, [r#"ok: 2 ["Bash"]"#]);
    assert!((stats.totals.share - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_range_counts_the_calls_that_were_made_in_it() {
    let at = |text: &str| Some(Timestamp::parse(text).unwrap());
    let range =
        TimeRange { since: at("2026-01-01T00:00:10.000Z"), until: at("2026-01-01T00:00:40.000Z") };
    let (_, rows) = rows(CallGroup::Tool, range);
    assert_eq!(rows, ["Bash: 1/3 Some(3000) Some(9000)"]);
}

#[test]
fn nothing_has_no_middle() {
    assert_eq!((median(&[]), nearest_rank(&[], 95)), (None, None));
    assert_eq!((median(&[1]), nearest_rank(&[1], 95)), (Some(1), Some(1)));
    let hundred: Vec<u64> = (1..=100).collect();
    assert_eq!((median(&hundred), nearest_rank(&hundred, 95)), (Some(50), Some(95)));
    assert_eq!(median(&[u64::MAX, u64::MAX]), Some(u64::MAX));
}
