use super::*;
use crate::fixture::{agent, call, read, result};

fn steps(log: &[String], name: &str, from: Option<&str>) -> Vec<Step> {
    read(log, |reading| {
        let agent = reading.session.find_agent(name).unwrap();
        let from = from.map(|id| reading.session.find(id).unwrap().ix());
        Conversation::new(*reading, agent, None).steps(from).collect::<Result<_, _>>().unwrap()
    })
}

fn told(steps: &[Step]) -> Vec<(StepKind, &str)> {
    steps.iter().map(|step| (step.kind, &*step.text)).collect()
}

fn message(id: &str, agent: &str, role: &str, content: &str, more: &str) -> String {
    format!(
        r#"{{"message_id":"{id}","agent_id":"{agent}","role":"{role}","content":"{content}"{more}}}"#
    )
}

fn session() -> Vec<String> {
    vec![
        r#"{"message_id":"s","event_type":"session_started","cwd":"/w"}"#.to_owned(),
        agent("a", None),
        message("m1", "a", "user", "Make it two", r#","source":"external""#),
        message("m2", "a", "user", "a reminder", r#","source":"system""#),
        message("m3", "a", "assistant", "I look.", r#","reasoning":"Where is it?""#),
        call("a", "c1", "Edit", r#"{"file_path":"/w/x","old_string":"1","new_string":"2"}"#, ""),
        result("a", "c1", ""),
        call("a", "c2", "Bash", r#"{"command":"make"}"#, ""),
        result("a", "c2", r#","is_error":true"#),
        message("m4", "a", "assistant", "It is two.", ""),
    ]
}

#[test]
fn a_person_an_agent_its_thoughts_and_its_calls_in_order() {
    let steps = steps(&session(), "a", None);
    use StepKind::{Answer, Call, Notice, Prompt, Thinking};
    let wanted = [
        (Prompt, "Make it two"),
        (Notice, "a reminder"),
        (Thinking, "Where is it?"),
        (Answer, "I look."),
        (Call, "x"),
        (Call, "make"),
        (Answer, "It is two."),
    ];
    assert_eq!(told(&steps), wanted);
}

#[test]
fn a_call_has_its_edits_its_output_and_how_it_went() {
    let steps = steps(&session(), "a", None);
    let calls: Vec<&StepCall> = steps.iter().filter_map(|step| step.call.as_ref()).collect();
    let [edit, failed] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((edit.status, failed.status), (CallStatus::Success, CallStatus::Failed));
    assert_eq!(failed.output, "ok");
    let [changed] = edit.edits.as_slice() else { panic!("{edit:?}") };
    assert_eq!((&*changed.path, changed.base), ("x", crate::Base::Unknown));
    assert!(changed.diff.contains("\n-1\n") && changed.diff.contains("\n+2\n"), "{changed:?}");
}

#[test]
fn it_can_begin_at_a_message_or_at_the_call_of_a_result() {
    assert_eq!(steps(&session(), "a", Some("m4")).len(), 1);
    let from_result = steps(&session(), "a", Some("a got c2"));
    assert_eq!(told(&from_result).first(), Some(&(StepKind::Call, "make")));
}

#[test]
fn what_an_agent_tells_another_has_its_name() {
    let log = [
        agent("a", None),
        agent("b", Some("a")),
        message("m1", "b", "user", "Review it", r#","source":"a""#),
        message("m2", "b", "assistant", "Reviewed", ""),
    ];
    let steps = steps(&log, "b", None);
    assert_eq!(told(&steps)[0], (StepKind::Message, "Review it"));
    assert_eq!(steps[0].from.as_deref(), Some("Agent a"));
}

#[test]
fn thoughts_that_are_repeated_with_each_new_one_are_told_once() {
    let thought = |id: &str, text: &str| {
        let text = serde_json::to_string(text).unwrap();
        format!(r#"{{"message_id":"{id}","agent_id":"a","role":"assistant","reasoning":{text}}}"#)
    };
    let log = [
        thought("m1", "Plan"),
        thought("m2", "Plan\nRefine"),
        thought("m3", "Plan\nRefine"),
        thought("m4", "Plan\nRefine\nDo"),
        message("m5", "a", "assistant", "Done", ""),
        thought("m6", "Plan"),
        thought("m7", "Planets are something else"),
    ];
    use StepKind::{Answer, Thinking};
    let wanted = [
        (Thinking, "Plan"),
        (Thinking, "Refine"),
        (Thinking, "Do"),
        (Answer, "Done"),
        (Thinking, "Plan"),
        (Thinking, "Planets are something else"),
    ];
    assert_eq!(told(&steps(&log, "a", None)), wanted);
}
