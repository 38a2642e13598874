use super::*;
use crate::fixture::{agent, call, calls, read, result};

/// A line for each phase: its type, confidence and source, and its calls.
fn listed(phases: &[Phase]) -> String {
    let lines = phases.iter().map(|phase| {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
        let range = phase.tool_call_range.as_ref();
        let range = range.map(|it| format!(" {}..{}", it.start_call_id, it.end_call_id));
        let name =
            phase.phase_type.clone().or(phase.note.clone().map(|note| format!("note {note}")));
        let broken = phase.reason.as_ref().map(|reason| format!(" broken: {reason}"));
        format!(
            "{} {} {} {}{} {}{}",
            word(&name),
            word(&phase.confidence),
            word(&phase.annotated_by),
            phase.calls,
            range.unwrap_or_default(),
            word(&phase.agent_id),
            broken.unwrap_or_default()
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn of(log: &[String]) -> String {
    read(log, |reading| listed(&phases(reading).unwrap()))
}

/// The types of the automatic phases of calls that all succeeded.
fn kinds(made: &[(&str, &str)]) -> Vec<String> {
    kinds_in(&calls("a", made))
}

fn kinds_in(log: &[String]) -> Vec<String> {
    let phases = read(log, |reading| phases(reading).unwrap());
    phases.into_iter().filter_map(|phase| phase.phase_type).collect()
}

fn annotated(id: &str, more: &str, annotation: &str) -> String {
    format!(r#"{{"message_id":"{id}","event_type":"annotation"{more},"annotation":{annotation}}}"#)
}

const READ: (&str, &str) = ("Read", r#"{"file_path":"a.rs"}"#);
const EDIT: (&str, &str) = ("Edit", r#"{"file_path":"a.rs","old_string":"a","new_string":"b"}"#);
const TEST: (&str, &str) = ("Bash", r#"{"command":"cargo test"}"#);

#[test]
fn calls_that_follow_one_another_with_one_purpose_are_a_phase() {
    let log = calls(
        "a",
        &[
            ("Glob", "{}"),
            ("Grep", "{}"),
            READ,
            ("ExitPlanMode", "{}"),
            ("TaskCreate", "{}"),
            EDIT,
            TEST,
            ("unheard-of", "{}"),
        ],
    );
    insta::assert_snapshot!(of(&log), @r"
    explore high auto 3 c1..c3 a
    plan medium auto 2 c4..c5 a
    execute low auto 1 c6..c6 a
    verify low auto 1 c7..c7 a
    mixed low auto 1 c8..c8 a
    ");
}

#[test]
fn unknown_tools_are_mixed_and_never_sure() {
    let log = calls("a", &[("x", "{}"), ("y", "{}"), ("z", "{}")]);
    assert_eq!(of(&log), "mixed low auto 3 c1..c3 a");
}

#[test]
fn a_tool_that_says_plan_plans() {
    assert_eq!(kinds(&[("make_plan", "{}"), ("planetarium", "{}")]), ["plan", "mixed"]);
}

#[test]
fn a_task_that_is_ticked_off_at_work_is_part_of_the_work() {
    let task = ("TodoWrite", "{}");
    assert_eq!(kinds(&[EDIT, task, EDIT]), ["execute"]);
    assert_eq!(kinds(&[EDIT, task, task, EDIT]), ["execute", "plan", "execute"]);
    assert_eq!(kinds(&[task, EDIT, task]), ["plan", "execute", "plan"]);
    assert_eq!(kinds(&[EDIT, ("Task", "{}"), EDIT]), ["execute", "plan", "execute"]);
}

#[test]
fn a_query_explores_and_any_other_command_executes() {
    let made = [("Bash", r#"{"command":"ls"}"#), ("Bash", r#"{"command":"make"}"#)];
    assert_eq!(kinds(&made), ["explore", "execute"]);
}

#[test]
fn to_read_what_was_changed_verifies_when_nothing_is_changed_any_more() {
    assert_eq!(kinds(&[EDIT, READ]), ["execute", "verify"]);
    assert_eq!(kinds(&[READ, EDIT]), ["explore", "execute"]);
    assert_eq!(kinds(&[EDIT, READ, EDIT]), ["execute", "explore", "execute"]);
    let other = ("Read", r#"{"file_path":"b.rs"}"#);
    assert_eq!(kinds(&[EDIT, other]), ["execute", "explore"]);
}

#[test]
fn a_description_that_says_so_verifies_after_a_change_or_near_the_end() {
    let described = |number: usize, tool: &str, description: &str| {
        let more = format!(r#","description":"{description}""#);
        let id = format!("d{number}");
        [call("a", &id, tool, "{}", &more), result("a", &id, "")]
    };
    let log = |made: &[(&str, &str)]| -> Vec<String> {
        let made = made.iter().enumerate();
        made.flat_map(|(number, (tool, description))| described(number, tool, description))
            .collect()
    };
    assert_eq!(kinds_in(&log(&[("Grep", "验证结果")])), ["verify"]);
    assert_eq!(
        kinds_in(&log(&[("Grep", "检查"), ("Write", ""), ("Write", ""), ("Write", "")])),
        ["explore", "execute"]
    );
    assert_eq!(kinds_in(&log(&[("Bash", "Run the tests")])), ["verify"]);
    assert_eq!(kinds_in(&log(&[("Bash", "Write a test")])), ["execute"]);
    assert_eq!(kinds_in(&log(&[("Write", "Check the box")])), ["execute"]);
    assert_eq!(kinds_in(&log(&[("mcp__ide__getDiagnostics", "")])), ["verify"]);
    assert_eq!(kinds_in(&log(&[("get_latest", "")])), ["mixed"]);
}

#[test]
fn a_derived_phase_names_what_it_used() {
    let log = calls("a", &[READ, EDIT]);
    let phases = read(&log, |reading| phases(reading).unwrap());
    insta::assert_snapshot!(phases[1].annotation(), @r#"{"annotated_by":"auto","annotation_id":"auto-002","confidence":"low","context_used":[{"relevance":"high","source":"a.rs","type":"file","usage_mode":"read_then_modified"}],"phase_type":"execute","tool_call_range":{"end_call_id":"c2","start_call_id":"c2"}}"#);
}

#[test]
fn what_was_recorded_wins_and_is_kept_word_for_word() {
    let mut log = calls("a", &[READ, EDIT]);
    let annotation = r#"{"annotation_id":"ann-001","phase_type":"dreaming","tool_call_range":{"start_call_id":"c1","end_call_id":"c2"},"annotated_by":"agent","decisions":[{"decision_id":"d1"}],"mood":1.50}"#;
    log.push(annotated("n", "", annotation));
    read(&log, |reading| {
        let phases = phases(reading).unwrap();
        assert_eq!(listed(&phases), "dreaming - agent 2 c1..c2 a");
        assert_eq!(phases[0].raw.as_deref(), Some(annotation));
        assert_eq!(phases[0].calls(&CallIndex::new(reading.session)).len(), 2);
        insta::assert_snapshot!(serde_json::to_string(&phases[0]).unwrap(), @r#"{"annotation_id":"ann-001","phase_type":"dreaming","annotated_by":"agent","confidence":null,"tool_call_range":{"start_call_id":"c1","end_call_id":"c2"},"calls":2,"decisions":[{"decision_id":"d1"}],"agent_id":"a","message_id":"n","extra":{"mood":1.5}}"#);
    });
}

#[test]
fn a_range_has_many_forms() {
    let range = |range: &str| {
        let mut log = calls("a", &[READ, EDIT, TEST]);
        let annotation = format!(r#"{{"phase_type":"p","tool_call_range":{range}}}"#);
        log.push(annotated("n", "", &annotation));
        of(&log)
    };
    assert_eq!(range(r#"{"start_call_id":"c1","end_call_id":"c3"}"#), "p - - 3 c1..c3 a");
    assert_eq!(range(r#"{"start":"c2","end":"c3"}"#), "p - - 2 c2..c3 a");
    assert_eq!(range(r#"["c1","c2"]"#), "p - - 2 c1..c2 a");
    assert_eq!(range(r#"["c2"]"#), "p - - 1 c2..c2 a");
    assert_eq!(range(r#"["c1","c2","c2","c3"]"#), "p - - 3 c1..c3 a");
}

#[test]
fn a_range_that_points_nowhere_is_broken_and_never_widened() {
    let annotation = |annotation: &str| {
        let mut log = calls("a", &[READ, EDIT]);
        log.push(annotated("n", "", annotation));
        of(&log)
    };
    insta::assert_snapshot!(
        [
            annotation(r#"{"phase_type":"p","tool_call_range":["c1","c9"]}"#),
            annotation(r#"{"phase_type":"p","tool_call_range":["c2","c1"]}"#),
            annotation(r#"{"phase_type":"p","tool_call_range":[]}"#),
            annotation(r#"{"phase_type":"p","tool_call_range":7}"#),
            annotation(r#"{"phase_type":"p"}"#),
            annotation(r#"{"note":"n","tool_call_range":["c9"]}"#),
        ]
        .join("\n"), @r"
    p - - 0 c1..c9 - broken: there is no call `c9`
    p - - 0 c2..c1 - broken: `c1` comes before `c2`
    p - - 0 - broken: it names no calls
    p - - 0 - broken: it names no calls
    p - - 0 - broken: it names no calls
    explore low auto 1 c1..c1 a
    execute low auto 1 c2..c2 a
    note n - - 0 c9..c9 - broken: there is no call `c9`
    ");
}

#[test]
fn an_annotation_that_is_no_object_is_shown_as_broken() {
    let mut log = calls("a", &[READ]);
    log.push(annotated("n", "", r#""text""#));
    log.push(annotated("m", "", &format!("{}{}", "[".repeat(500), "]".repeat(500))));
    insta::assert_snapshot!(of(&log), @r"
    explore low auto 1 c1..c1 a
    - - - 0 - broken: it is not an object
    - - - 0 - broken: it cannot be read: recursion limit exceeded at line 1 column 128
    ");
}

#[test]
fn a_note_is_no_phase() {
    let mut log = calls("a", &[READ]);
    log.push(annotated("n", "", r#"{"note":"odd","annotated_by":"human"}"#));
    insta::assert_snapshot!(of(&log), @r"
    explore low auto 1 c1..c1 a
    note odd - human 0 -
    ");
}

#[test]
fn sub_agents_have_phases_of_their_own() {
    let mut log = vec![agent("main", None), agent("sub", Some("main"))];
    log.extend(calls("main", &[READ, ("Task", "{}")]));
    log.extend(calls("sub", &[EDIT]));
    assert_eq!(of(&log), "explore low auto 1 c1..c1 main\nplan low auto 1 c2..c2 main");
    let of_sub = |log: &[String]| {
        read(log, |reading| {
            let sub = reading.session.find_agent("sub").unwrap();
            listed(&phases_of(reading, sub).unwrap())
        })
    };
    assert_eq!(of_sub(&log), "execute low auto 1 c1..c1 sub");
    let all = |log: &[String]| read(log, |reading| listed(&phases_of_all(reading).unwrap()));
    insta::assert_snapshot!(all(&log), @r"
    explore low auto 1 c1..c1 main
    plan low auto 1 c2..c2 main
    execute low auto 1 c1..c1 sub
    ");
    // The id is also the main agent's: the event says whose call is meant.
    let annotation = r#"{"phase_type":"verify","tool_call_range":["c1"]}"#;
    log.push(annotated("n", r#","agent":"sub""#, annotation));
    assert_eq!(of_sub(&log), "verify - - 1 c1..c1 sub");
    insta::assert_snapshot!(all(&log), @r"
    verify - - 1 c1..c1 sub
    explore low auto 1 c1..c1 main
    plan low auto 1 c2..c2 main
    ");
    log.push(annotated("m", "", annotation));
    assert_eq!(of(&log), "verify - - 1 c1..c1 sub\nverify - - 1 c1..c1 main");
}

#[test]
fn a_range_may_lead_from_one_agent_to_another() {
    let mut log = calls("a", &[READ]);
    log.push(call("b", "b1", "Read", "{}", ""));
    log.push(call("b", "b2", "Read", "{}", ""));
    log.push(annotated("n", "", r#"{"phase_type":"p","tool_call_range":["c1","b2"]}"#));
    assert_eq!(of(&log), "p - - 3 c1..b2 -");
}

#[test]
fn an_id_that_several_agents_use_means_the_main_agents_or_nobodys() {
    let mut log = vec![agent("main", None), agent("x", Some("main")), agent("y", Some("main"))];
    log.extend(["x", "y"].map(|agent| call(agent, "c1", "Read", "{}", "")));
    log.push(annotated("n", "", r#"{"phase_type":"p","tool_call_range":["c1"]}"#));
    assert_eq!(of(&log), "p - - 0 c1..c1 - broken: several agents have a call `c1`: x, y");
}

#[test]
fn a_session_without_calls_has_no_phases() {
    assert_eq!(of(&[agent("a", None)]), "");
    assert_eq!(of(&[]), "");
}
