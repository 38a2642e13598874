//! Logs that no session of ours would have written.

use serde_json::{Value, json};

use super::*;

fn call(id: &str, tool: &str, arguments: &Value) -> Value {
    let arguments = arguments.to_string();
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}})
}

#[test]
fn a_chain_of_discussions_of_any_length_is_resumed_without_exhausting_the_stack() {
    const DEPTH: usize = 3000;
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let limits = json!({"agents": DEPTH * 2, "depth": DEPTH * 2, "turns": DEPTH * 2});
    let mut lines = vec![
        json!({"event_type": "session_started", "session_id": "s", "cast": {"limits": limits}}),
        json!({"event_type": "agent_created", "agent_id": "a0", "name": "N0"}),
        json!({"agent_id": "a0", "role": "user", "content": "Begin.", "source": "external"}),
    ];
    for depth in 0..DEPTH {
        let (agent, child) = (format!("a{depth}"), format!("a{}", depth + 1));
        let (task, name) = (format!("t{depth}"), format!("N{}", depth + 1));
        let made = call(&task, "task", &json!({"name": name, "system_prompt": "Go on."}));
        let talk = call(&format!("d{depth}"), "discuss", &json!({"speakers": [name]}));
        lines.extend([
            json!({"agent_id": agent, "role": "assistant", "tool_calls": [made, talk]}),
            json!({
                "event_type": "agent_created", "agent_id": child, "name": name,
                "parent_id": agent, "tool_call_id": task,
            }),
            json!({"agent_id": child, "role": "system", "content": "Go on."}),
            json!({"agent_id": agent, "role": "tool", "tool_call_id": task, "content": "Made."}),
        ]);
    }
    let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text.concat()).unwrap();
    let mut given = setup(HOST, "{\"agent\": \"N0\", \"content\": \"Enough.\"}");
    given.models.set_above_all("openai/mine");
    given.cast = None;
    let turns = run(Session::resume(&path, given, true).unwrap(), &["Stop."]);
    assert_eq!(said(turns.last().unwrap()), "Enough.");
    let interrupted = std::fs::read_to_string(&path).unwrap().matches("\"Interrupted\"").count();
    assert_eq!(interrupted, DEPTH, "every discussion is closed");
}

#[test]
fn a_recording_in_which_agents_have_calls_of_one_id_is_replayed() {
    let stage = Stage::new();
    let (log, again) = (stage.log("log.jsonl"), stage.log("again.jsonl"));
    let none = "You have no sub-agents: make one with `task`.";
    let made = call("c1", "task", &json!({"name": "Ann", "system_prompt": "You are A."}));
    let talk = call("c2", "discuss", &json!({"speakers": ["Ann"]}));
    let tells = call("c1", "broadcast", &json!({"message": "Hello?"}));
    let lines = [
        json!({"event_type": "session_started", "session_id": "s"}),
        json!({"event_type": "agent_created", "agent_id": "h", "name": "Host"}),
        json!({"agent_id": "h", "role": "system", "content": "You host."}),
        json!({"agent_id": "h", "role": "user", "content": "Begin.", "source": "external"}),
        json!({"agent_id": "h", "role": "assistant", "tool_calls": [made, talk]}),
        json!({
            "event_type": "agent_created", "agent_id": "a", "name": "Ann", "parent_id": "h",
            "tool_call_id": "c1",
        }),
        json!({"agent_id": "a", "role": "system", "content": "You are A."}),
        json!({
            "agent_id": "h", "role": "tool", "tool_call_id": "c1",
            "content": "Created subagent: Ann",
        }),
        json!({"agent_id": "a", "role": "assistant", "tool_calls": [tells]}),
        json!({
            "agent_id": "a", "role": "tool", "tool_call_id": "c1", "content": none,
            "is_error": true,
        }),
        json!({"agent_id": "a", "role": "assistant", "content": "Nobody."}),
        json!({"agent_id": "h", "role": "tool", "tool_call_id": "c2", "content": "[Ann]: Nobody."}),
        json!({"agent_id": "h", "role": "assistant", "content": "Nobody is there."}),
    ];
    let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&log, text.concat()).unwrap();
    let cast = setup(HOST, "").cast.unwrap();
    let given = replays::replayed("recorded", &log, cast);
    let turns = run(Session::begin(&again, given).unwrap(), &["Begin."]);
    assert_eq!(said(&turns[0]), "Nobody is there.");
}
