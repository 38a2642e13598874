use super::*;
use crate::fixture::read;

fn episodes(log: &[&str]) -> String {
    let log: Vec<String> = log.iter().map(|&line| line.to_owned()).collect();
    let episodes = read(&log, |reading| hooks(reading).unwrap());
    let line = |it: &HookEpisode| {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
        let words = [&it.hook, &it.notice, &it.verdict, &it.caller, &it.utterance, &it.result];
        let words = words.map(word).join(" ");
        format!("{words} {}", if it.blocked { "blocked" } else { "passed" })
    };
    episodes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A watched agent and its hook, in the dialect in which a hook has a role.
const WATCHED: [&str; 3] = [
    r#"{"message_id":"0","event_type":"agent_created","agent":"primary","name":"Primary","parent":"user","cause":"user","role":"primary"}"#,
    r#"{"message_id":"1","event_type":"transcript_entry","agent":"primary","role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"hook","arguments":"{\"instructions\":\"Be brief\"}"}}]}"#,
    r#"{"message_id":"2","event_type":"agent_created","agent":"hook_","name":"hook_","parent":"primary","cause":"1.t","role":"hook"}"#,
];

const SAID: &str = r#"{"message_id":"5","event_type":"transcript_entry","agent":"primary","role":"assistant","content":"A long answer"}"#;
const ASKED: &str = r#"{"message_id":"6","event_type":"transcript_entry","agent":"hook_","role":"user","content":"Be brief"}"#;
const READS: &str = r#"{"message_id":"7","event_type":"transcript_entry","agent":"hook_","role":"assistant","content":"Reading","tool_calls":[{"id":"e","type":"function","function":{"name":"read_log","arguments":"{}"}}]}"#;
const MEMO: &str = r#"{"message_id":"8","event_type":"transcript_entry","agent":"hook_","role":"user","content":"Remember this"}"#;

#[test]
fn a_hook_with_a_role_rejects_an_answer() {
    let mut log = WATCHED.to_vec();
    log.extend([
        SAID,
        ASKED,
        READS,
        MEMO,
        r#"{"message_id":"9","event_type":"transcript_entry","agent":"hook_","role":"assistant","content":"Too long"}"#,
        r#"{"message_id":"10","event_type":"transcript_entry","agent":"primary","role":"user","content":"<system>Too long</system>","substance":"9"}"#,
        r#"{"message_id":"11","event_type":"transcript_entry","agent":"primary","role":"assistant","content":"Short"}"#,
    ]);
    assert_eq!(episodes(&log), "hook_ 6 9 primary 5 10 blocked");
}

#[test]
fn a_hook_with_a_role_lets_an_answer_pass() {
    let mut log = WATCHED.to_vec();
    log.extend([
        SAID,
        ASKED,
        r#"{"message_id":"9","event_type":"transcript_entry","agent":"hook_","role":"assistant","content":"ok"}"#,
        r#"{"message_id":"10","event_type":"transcript_entry","agent":"primary","role":"user","content":"Thanks"}"#,
    ]);
    assert_eq!(episodes(&log), "hook_ 6 9 primary 5 - passed");
}

/// An objection names the words that it repeats: the hook that accepted the answer did not reject
/// it, though the objection comes after that hook's verdict as well.
#[test]
fn the_second_hook_of_an_answer_rejects_it_and_the_first_does_not() {
    let mut log = WATCHED.to_vec();
    log.extend([
        r#"{"message_id":"3","event_type":"transcript_entry","agent":"primary","role":"assistant","tool_calls":[{"id":"u","type":"function","function":{"name":"hook","arguments":"{\"instructions\":\"Be kind\"}"}}]}"#,
        r#"{"message_id":"4","event_type":"agent_created","agent":"hook_1","name":"hook_1","parent":"primary","cause":"3.u","role":"hook"}"#,
        SAID,
        ASKED,
        r#"{"message_id":"7","event_type":"transcript_entry","agent":"hook_","role":"assistant","content":"ok"}"#,
        r#"{"message_id":"8","event_type":"transcript_entry","agent":"hook_1","role":"user","content":"Be kind"}"#,
        r#"{"message_id":"9","event_type":"transcript_entry","agent":"hook_1","role":"assistant","content":"Too harsh"}"#,
        r#"{"message_id":"10","event_type":"transcript_entry","agent":"primary","role":"user","content":"<system>Too harsh</system>","substance":"9"}"#,
    ]);
    let wanted = ["hook_ 6 7 primary 5 - passed", "hook_1 8 9 primary 5 10 blocked"];
    assert_eq!(episodes(&log), wanted.join("\n"));
}

#[test]
fn a_watched_agent_is_no_hook() {
    let objection = r#"{"message_id":"6","event_type":"transcript_entry","agent":"primary","role":"user","content":"<system>Too long</system>"}"#;
    assert_eq!(episodes(&[WATCHED[0], SAID, objection]), "- - - primary - 6 blocked");
}

#[test]
fn without_roles_whomever_the_system_asks_is_the_hook() {
    let log = [
        r#"{"message_id":"1","agent_id":"root","role":"assistant","tool_calls":[{"id":"c","function":{"name":"task","arguments":"{}"}}]}"#,
        r#"{"message_id":"2","agent_id":"monitor","role":"user","content":"Approve?","source":"system"}"#,
        r#"{"message_id":"3","agent_id":"monitor","role":"assistant","content":"DENY"}"#,
        r#"{"message_id":"4","agent_id":"root","role":"tool","tool_call_id":"c","content":"Error: blocked by hook"}"#,
    ];
    assert_eq!(episodes(&log), "monitor 2 3 root - 4 blocked");
}
