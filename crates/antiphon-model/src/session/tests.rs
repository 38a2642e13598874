use proptest::prelude::*;

use super::*;
use crate::CallIx;
use crate::{Bodies, Line, MemoryBodies, Place, decode};

/// Folds lines of JSON; what does not decode becomes a problem.
fn fold(log: &str) -> Session {
    let mut session = Session::default();
    let mut offset = 0;
    for (number, text) in (1..).zip(log.split('\n')) {
        let place = Place { offset, len: u32::try_from(text.len()).unwrap(), stream: 0 };
        offset += text.len() as u64 + 1;
        if text.trim().is_empty() {
            continue;
        }
        match decode(&Line::new(text, number, place)) {
            Ok(event) => session.apply(&event),
            Err(problem) => session.add_problem(problem),
        }
    }
    session
}

/// Each agent with its parent, and how that is known.
fn parents(log: &str) -> String {
    let session = fold(log);
    let line = |(ix, agent): (AgentIx, &Agent)| {
        let parent = match agent.parent {
            Parent::None => "root".to_owned(),
            Parent::Recorded { agent: None, .. } => "made by a person".to_owned(),
            Parent::Recorded { agent: Some(parent), .. } => {
                format!("recorded {}", session.agent_id(parent))
            }
            Parent::Inferred { agent, call, candidates, .. } => format!(
                "inferred {} by {} of {candidates}",
                session.agent_id(agent),
                call.map_or("no call", |call| session.call_id(call))
            ),
        };
        format!("{}: {parent}", session.agent_id(ix))
    };
    session.agents().map(line).collect::<Vec<_>>().join("\n")
}

/// Every link as `from kind to`, with the rule of inferred ones.
fn links(log: &str) -> String {
    let session = fold(log);
    let bodies = MemoryBodies::new(vec![log.as_bytes().to_vec()]);
    let links = session.links(&bodies).unwrap();
    let line = |link: &crate::Link<'_>| {
        let from = match link.from {
            MessageRef::Event(event) => session.entry(event).id().to_owned(),
            MessageRef::Dangling(id) => format!("{id}?"),
        };
        let basis = match link.basis {
            crate::Basis::Recorded => String::new(),
            crate::Basis::Inferred(rule) => format!(" ({})", rule.as_str()),
        };
        let to = session.entry(link.to).id();
        format!("{from} {} {to}{basis}", format!("{:?}", link.kind).to_lowercase())
    };
    links.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn call(id: &str, agent: &str, call: &str, tool: &str, arguments: &str) -> String {
    let arguments = serde_json::to_string(arguments).unwrap();
    format!(
        r#"{{"message_id":"{id}","agent_id":"{agent}","role":"assistant","tool_calls":[{{"id":"{call}","function":{{"name":"{tool}","arguments":{arguments}}}}}]}}"#
    )
}

fn result(id: &str, agent: &str, call: &str) -> String {
    format!(
        r#"{{"message_id":"{id}","agent_id":"{agent}","role":"tool","tool_call_id":"{call}","content":"ok"}}"#
    )
}

fn created(id: &str, agent: &str, more: &str) -> String {
    format!(r#"{{"message_id":"{id}","event_type":"agent_created","agent_id":"{agent}"{more}}}"#)
}

fn said(id: &str, agent: &str, content: &str) -> String {
    format!(
        r#"{{"message_id":"{id}","agent_id":"{agent}","role":"assistant","content":"{content}"}}"#
    )
}

#[test]
fn a_name_within_a_prompt_makes_nobody() {
    let log = [
        created("1", "root", ""),
        call(
            "2",
            "root",
            "a",
            "task",
            r#"{"name":"Jill","prompt":"You will meet Jack, a Jackson"}"#,
        ),
        created("3", "jack", r#","name":"Jack""#),
        created("4", "jill", r#","name":"Jill""#),
    ];
    insta::assert_snapshot!(parents(&log.join("\n")), @r"
    root: root
    jack: root
    jill: inferred root by a of 1
    ");
}

#[test]
fn a_call_that_has_its_result_makes_nobody() {
    let log = [
        call("1", "root", "a", "task", r#"{"name":"Jack"}"#),
        result("2", "root", "a"),
        created("3", "jack", r#","name":"Jack""#),
    ];
    insta::assert_snapshot!(parents(&log.join("\n")), @r"
    root: root
    jack: root
    ");
}

#[test]
fn of_two_open_calls_the_oldest_comes_first_and_the_doubt_shows() {
    let log = [
        call("1", "left", "a", "task", r#"{"name":"Scout"}"#),
        call("2", "right", "b", "task", r#"{"name":"Scout"}"#),
        created("3", "scout1", r#","name":"Scout""#),
        created("4", "scout2", r#","name":"Scout""#),
    ];
    insta::assert_snapshot!(parents(&log.join("\n")), @r"
    left: root
    right: root
    scout1: inferred left by a of 2
    scout2: inferred right by b of 1
    ");
}

#[test]
fn a_parent_may_be_inferred_without_a_call() {
    let log = [
        created("1", "scout", r#","parent_id":"root","inferred_by":"same-session""#),
        created("2", "root", ""),
    ];
    insta::assert_snapshot!(parents(&log.join("\n")), @r"
    scout: inferred root by no call of 1
    root: root
    ");
}

#[test]
fn a_field_that_says_so_wins() {
    let log = [
        call("1", "left", "a", "task", r#"{"name":"Scout"}"#),
        call("2", "right", "b", "task", r#"{"name":"Other"}"#),
        created("3", "s1", r#","name":"Scout","parent_id":"right""#),
        created("4", "s2", r#","name":"Scout","tool_call_id":"b""#),
        created("5", "s3", r#","name":"Scout","cause":"2""#),
        created("6", "s4", r#","name":"Scout","cause":"2.b""#),
        created("7", "s5", r#","name":"Scout","parent":"user""#),
        created("8", "s6", r#","name":"Scout","cause":"user""#),
    ];
    insta::assert_snapshot!(parents(&log.join("\n")), @r"
    left: root
    right: root
    s1: recorded right
    s2: recorded right
    s3: recorded right
    s4: recorded right
    s5: made by a person
    s6: made by a person
    ");
}

#[test]
fn nobody_is_their_own_ancestor() {
    let log = [
        created("1", "a", r#","parent_id":"b""#),
        created("2", "b", r#","parent_id":"a""#),
        created("3", "c", r#","parent_id":"c""#),
    ];
    insta::assert_snapshot!(parents(&log.join("\n")), @r"
    a: recorded b
    b: root
    c: root
    ");
}

#[test]
fn agents_exist_by_what_they_say_and_by_being_named() {
    let log = r#"{"message_id":"1","agent_id":"a","role":"user","content":"x","source":"b"}
{"message_id":"2","event_type":"agent_ended","agent":"c","status":"failed"}
{"message_id":"3","agent_id":"a","role":"user","content":"x","source":"external"}
{"message_id":"4","event_type":"invented","agent":"d"}"#;
    let session = fold(log);
    let ids: Vec<_> = session.agents().map(|(ix, _)| session.agent_id(ix)).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(session.agent(session.find_agent("c").unwrap()).status(), Some("failed"));
    assert_eq!(session.agent(AgentIx(0)).transcript().len(), 2);
}

#[test]
fn calls_have_no_result_or_one_or_several() {
    let log = [
        call("1", "a", "x", "discuss", "{}"),
        result("2", "a", "x"),
        result("3", "a", "x"),
        result("4", "a", "x"),
        call("5", "a", "y", "Read", "{}"),
        result("6", "a", "unknown"),
    ];
    let session = fold(&log.join("\n"));
    let results = |n| {
        let ids = session.results(CallIx(n)).map(|event| session.entry(event).id().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(results(0), ["2", "3", "4"]);
    assert!(results(1).is_empty() && session.call(CallIx(1)).is_open());
    assert_eq!(session.find("6").unwrap().call(), None, "a result whose call is not there");
}

#[test]
fn a_repeated_call_id_belongs_to_the_agent_that_made_it() {
    let log = [
        call("1", "a", "call_1", "Read", "{}"),
        call("2", "b", "call_1", "Read", "{}"),
        result("3", "a", "call_1"),
        result("4", "b", "call_1"),
    ];
    let session = fold(&log.join("\n"));
    let call_of = |id: &str| session.find(id).unwrap().call().unwrap();
    assert_eq!(session.call(call_of("3")).event.index(), 0);
    assert_eq!(session.call(call_of("4")).event.index(), 1);
}

#[test]
fn a_reference_means_the_nearest_earlier_line_with_that_id() {
    let log = [
        said("m1", "a", "first"),
        r#"{"message_id":"d1","agent_id":"b","role":"user","utterance_ref":"m1"}"#.to_owned(),
        said("m1", "a", "second"),
        r#"{"message_id":"d2","agent_id":"b","role":"user","utterance_ref":"m1"}"#.to_owned(),
        r#"{"message_id":"d3","agent_id":"b","role":"user","utterance_ref":"later"}"#.to_owned(),
        said("later", "a", "third"),
        r#"{"message_id":"own","agent_id":"b","role":"user","utterance_ref":"own"}"#.to_owned(),
    ];
    let session = fold(&log.join("\n"));
    let refers = |id: &str| session.find(id).unwrap().utterance_ref().unwrap();
    assert_eq!(refers("d1"), MessageRef::Event(EventIx(0)));
    assert_eq!(refers("d2"), MessageRef::Event(EventIx(2)));
    assert_eq!(refers("d3"), MessageRef::Dangling("later"));
    assert_eq!(refers("own"), MessageRef::Dangling("own"));
    let codes: Vec<_> = session.problems().iter().map(|p| (p.line, p.code)).collect();
    assert_eq!(codes, [(3, "duplicate-id")]);
}

#[test]
fn words_with_a_call_are_no_utterance_and_neither_is_silence() {
    let log = [
        said("1", "a", "said"),
        said("2", "a", ""),
        r#"{"message_id":"3","agent_id":"a","role":"assistant","content":"thinking","tool_calls":[{"id":"x","function":{"name":"f"}}]}"#.to_owned(),
        r#"{"message_id":"4","agent_id":"a","role":"user","content":"told"}"#.to_owned(),
        r#"{"message_id":"5","agent_id":"a","role":"assistant","content":null}"#.to_owned(),
    ];
    let session = fold(&log.join("\n"));
    let said: Vec<_> = session.entries().filter(|e| e.is_utterance()).map(|e| e.id()).collect();
    assert_eq!(said, ["1"]);
}

#[test]
fn a_discussion_is_linked_from_end_to_end() {
    let log = [
        r#"{"message_id":"1","agent_id":"host","role":"user","content":"Go","source":"external"}"#
            .to_owned(),
        call("2", "host", "d", "discuss", r#"{"speakers":["A","B"]}"#),
        r#"{"message_id":"3","agent_id":"a","role":"user","content":"Meet.","source":"host"}"#.to_owned(),
        r#"{"message_id":"4","agent_id":"b","role":"user","content":"Meet.","source":"host"}"#.to_owned(),
        said("5", "a", "Hello"),
        r#"{"message_id":"6","agent_id":"host","role":"tool","tool_call_id":"d","content":"Hello","utterance_ref":"5"}"#.to_owned(),
        r#"{"message_id":"7","agent_id":"b","role":"user","content":"[A]: Hello","source":"a","utterance_ref":"5"}"#.to_owned(),
        said("8", "b", "Hi there"),
        r#"{"message_id":"9","agent_id":"host","role":"tool","tool_call_id":"d","content":"Hi there"}"#.to_owned(),
    ];
    insta::assert_snapshot!(links(&log.join("\n")), @r"
    1 previous 2 (transcript-order)
    2 sent 3 (open-call-of-source)
    3 broadcast 4 (same-text-same-source)
    2 sent 4 (open-call-of-source)
    3 previous 5 (transcript-order)
    5 delivery 6
    2 result 6
    5 delivery 7
    7 previous 8 (transcript-order)
    2 result 9
    8 delivery 9 (same-text-in-result)
    ");
}

#[test]
fn a_hooks_verdict_is_linked_to_what_it_stopped() {
    let log = [
        call("1", "root", "c", "task", r#"{"name":"Fourth"}"#),
        r#"{"message_id":"2","agent_id":"hook","role":"user","content":"Approve?","source":"system"}"#.to_owned(),
        said("3", "hook", "DENY"),
        result("4", "root", "c"),
    ];
    insta::assert_snapshot!(links(&log.join("\n")), @r"
    1 notice 2 (open-call-at-notice)
    2 previous 3 (transcript-order)
    1 result 4
    3 verdict 4 (answer-before-result)
    ");
}

#[test]
fn session_facts_usage_and_outcome_are_gathered() {
    let log = r#"{"message_id":"1","event_type":"session_started","session_id":"s","format":1,"title":"T"}
{"message_id":"2","agent_id":"a","role":"assistant","content":"x","model":"m","usage":{"input":3,"output":5,"cache_read":7,"odd":1}}
{"message_id":"3","agent_id":"a","role":"assistant","content":"y","usage":{"input":1}}
{"message_id":"4","event_type":"session_ended","outcome":"failed","reason":"timeout"}"#;
    let session = fold(log);
    let info = session.info();
    assert_eq!((info.session_id.as_deref(), info.format), (Some("s"), Some(1)));
    assert_eq!((info.outcome.as_deref(), info.ended), (Some("failed"), true));
    let usage = session.usage();
    assert_eq!((usage.input, usage.output, usage.cache_read), (4, 5, 7));
}

/// Lines that refer to one another in every way, from a small set of ids so that they collide.
fn any_line() -> impl Strategy<Value = String> {
    let id = 0..12_u8;
    let kind = 0..9_u8;
    (kind, id.clone(), id.clone(), id.clone(), id).prop_map(|(kind, me, agent, other, call)| {
        let id = format!(r#""message_id":"m{me}""#);
        match kind {
            0 => format!(r#"{{{id},"event_type":"agent_created","agent_id":"a{agent}","name":"n{other}"}}"#),
            1 => format!(r#"{{{id},"event_type":"agent_created","agent_id":"a{agent}","parent_id":"a{other}"}}"#),
            2 => format!(r#"{{{id},"agent_id":"a{agent}","role":"assistant","tool_calls":[{{"id":"c{call}","function":{{"name":"task","arguments":"{{\"name\":\"n{other}\"}}"}}}}]}}"#),
            3 => format!(r#"{{{id},"agent_id":"a{agent}","role":"tool","tool_call_id":"c{call}","content":"t{other}"}}"#),
            4 => format!(r#"{{{id},"agent_id":"a{agent}","role":"user","content":"t{call}","source":"a{other}"}}"#),
            5 => format!(r#"{{{id},"agent_id":"a{agent}","role":"user","content":"t","source":"system"}}"#),
            6 => format!(r#"{{{id},"agent_id":"a{agent}","role":"assistant","content":"t{other}"}}"#),
            7 => format!(r#"{{{id},"agent_id":"a{agent}","role":"user","utterance_ref":"m{other}","cause":["m{call}"]}}"#),
            _ => format!(r#"{{{id},"agent_id":"a{agent}","role":"assistant","content":"x","previous_id":"m{other}","reply_to":"m{call}"}}"#),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The fold of the events so far never depends on later ones, except for results of calls, so a
    /// live view is right at every moment.
    #[test]
    fn folding_a_prefix_gives_a_prefix(
        lines in prop::collection::vec(any_line(), 1..60),
        cut in 0_usize..60,
    ) {
        let whole = lines.join("\n");
        let cut = cut.min(lines.len());
        let prefix = lines[..cut].join("\n");
        let (whole, prefix) = (fold(&whole), fold(&prefix));
        prop_assert_eq!(prefix.len(), cut);
        for (a, b) in prefix.entries().zip(whole.entries()) {
            prop_assert_eq!(a.id(), b.id());
            prop_assert_eq!(a.kind(), b.kind());
            prop_assert_eq!(a.agent(), b.agent());
            prop_assert_eq!(a.utterance_ref(), b.utterance_ref());
            prop_assert_eq!(a.call(), b.call());
        }
    }

    #[test]
    fn links_lead_from_earlier_to_later_and_the_tree_has_no_circle(
        lines in prop::collection::vec(any_line(), 1..60),
    ) {
        let log = lines.join("\n");
        let session = fold(&log);
        let bodies = MemoryBodies::new(vec![log.into_bytes()]);
        for link in session.links(&bodies).unwrap() {
            if let MessageRef::Event(from) = link.from {
                prop_assert!(from < link.to, "{link:?}");
            }
        }
        for (agent, _) in session.agents() {
            let up = |&agent: &AgentIx| session.agent(agent).parent.agent();
            let line = std::iter::successors(Some(agent), up).take(100).count();
            prop_assert!(line < 100);
        }
        for entry in session.entries() {
            if let Some(place) = entry.content() {
                prop_assert!(bodies.read(place).unwrap().starts_with('"'));
            }
        }
    }
}
