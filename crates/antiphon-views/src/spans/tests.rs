use antiphon_model::Activity;

use super::*;
use crate::fixture::{agent, call, fold, read, result};

/// Spans as an outline: level, kind, name, status, role.
fn outline(log: &[String]) -> String {
    let spans = read(log, |reading| spans(reading, "s", &Prices::bundled()).unwrap());
    lines(&spans)
}

fn lines(spans: &[Span]) -> String {
    let line = |span: &Span| {
        let (kind, status, flavor) =
            (span.kind.as_str(), span.status.as_str(), span.flavor.as_str());
        let role = span.role.as_deref().unwrap_or("-");
        format!("{}{} {kind} {status} {flavor} {role}", "  ".repeat(span.level), span.name)
    };
    spans.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn started(more: &str) -> String {
    format!(r#"{{"message_id":"s","event_type":"session_started","session_id":"s"{more}}}"#)
}

fn said(agent: &str, text: &str) -> String {
    format!(
        r#"{{"message_id":"{text}","agent_id":"{agent}","role":"assistant","content":"{text}"}}"#
    )
}

#[test]
fn the_role_of_a_session_is_its_main_agents() {
    let log = [started(r#","role":"planner""#), agent("main", None), said("main", "Done")];
    insta::assert_snapshot!(outline(&log), @r"
    s coordinator completed none -
      Agent main api-agent completed none planner
    ");
}

#[test]
fn an_agent_below_another_is_a_sub_agent_even_where_no_call_made_it() {
    let log = [agent("main", None), agent("scout", Some("main")), said("scout", "Found it")];
    insta::assert_snapshot!(outline(&log), @r"
    s coordinator running none -
      Agent main api-agent running none -
        Agent scout sub-agent completed normal -
    ");
}

#[test]
fn what_was_never_finished_ends_with_its_session() {
    let log = [call("main", "c1", "Bash", "{}", ""), said("main", "Gave up")];
    insta::assert_snapshot!(outline(&log), @r"
    s coordinator completed none -
      main api-agent completed none -
        Bash tool-call interrupted none -
    ");
    let mut session = fold(&[log[0].clone()].join("\n"));
    let bodies = antiphon_model::MemoryBodies::new(vec![log[0].clone().into_bytes()]);
    let status = |session: &antiphon_model::Session| {
        let reading = Reading { session, bodies: &bodies };
        let spans = spans(&reading, "s", &Prices::bundled()).unwrap();
        spans.iter().map(|span| span.status.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(status(&session), "running running running");
    session.set_activity(Activity::Quiet);
    assert_eq!(status(&session), "interrupted interrupted interrupted");
}

#[test]
fn a_call_lasts_as_long_as_the_agent_that_it_made() {
    let at = |line: String, second: u32| {
        line.replacen('{', &format!(r#"{{"timestamp":"2026-01-01T10:00:{second:02}Z","#), 1)
    };
    let made = r#"{"message_id":"m","event_type":"agent_created","agent_id":"b","parent_id":"a","tool_call_id":"c1"}"#;
    let log = [
        at(call("a", "c1", "Task", "{}", ""), 0),
        at(made.to_owned(), 1),
        at(result("a", "c1", ""), 2),
        at(said("b", "Done"), 12),
    ];
    let spans = read(&log, |reading| spans(reading, "s", &Prices::bundled()).unwrap());
    let task = spans.iter().find(|span| span.span_id == "c1").unwrap();
    assert_eq!(task.completed_at.unwrap().since(task.started_at.unwrap()), 12_000);
    let calls = read(&log, |reading| crate::calls(reading).unwrap());
    assert_eq!((calls[0].duration_ms, calls[0].ended_at), (Some(12_000), task.completed_at));
}

#[test]
fn spans_that_stand_in_a_circle_are_still_a_tree() {
    let log = [started(""), agent("main", None), agent("other", None)];
    let mut spans = read(&log, |reading| spans(reading, "s", &Prices::bundled()).unwrap());
    spans[1].parent_span_id = Some("agent:other".to_owned());
    spans[2].parent_span_id = Some("agent:main".to_owned());
    let tree = span_tree(&spans);
    let ids: Vec<&str> = tree.iter().map(|node| node.span.span_id.as_str()).collect();
    assert_eq!(ids, ["session:s", "agent:main"]);
    assert_eq!(tree[1].children.len(), 1);
}

#[test]
fn ids_that_repeat_are_made_unique() {
    let log = ["c", "c#2", "c", "c"].map(|id| call("a", id, "Read", "{}", ""));
    let spans = read(&log, |reading| spans(reading, "s", &Prices::bundled()).unwrap());
    let ids: Vec<&str> = spans.iter().skip(2).map(|span| span.span_id.as_str()).collect();
    assert_eq!(ids, ["c", "c#2", "c#3", "c#4"]);
}

#[test]
fn a_call_that_made_two_agents_has_both_below_it() {
    let made = |id: &str| {
        format!(
            r#"{{"message_id":"{id}","event_type":"agent_created","agent_id":"{id}","name":"{id}","parent_id":"main","tool_call_id":"c1"}}"#
        )
    };
    let spent = |id: &str, agent: &str| crate::fixture::spent(id, agent, r#""output":7"#, "");
    let log = [
        agent("main", None),
        call("main", "c1", "Task", "{}", ""),
        made("one"),
        made("two"),
        spent("m1", "one"),
        spent("m2", "two"),
    ];
    insta::assert_snapshot!(outline(&log), @r"
    s coordinator running none -
      Agent main api-agent running none -
        one sub-agent running normal -
          two sub-agent completed normal -
    ");
    let spans = read(&log, |reading| spans(reading, "s", &Prices::bundled()).unwrap());
    assert_eq!(spans.iter().map(|span| span.usage.output_tokens).sum::<u64>(), 14);
}

#[test]
fn a_sub_agent_whose_maker_is_unknown_is_a_sub_agent() {
    let created = agent("lost", None).replace('}', r#","flavor":"normal"}"#);
    insta::assert_snapshot!(outline(&[created, said("lost", "Found it")]), @r"
    s coordinator completed none -
        Agent lost sub-agent completed normal -
    ");
}
