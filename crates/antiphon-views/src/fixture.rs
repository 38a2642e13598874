//! Sessions for tests, from lines of JSON.

use antiphon_model::{Line, MemoryBodies, Place, Session, decode};

use crate::Reading;

/// Folds a log, every line of which must be valid.
pub(crate) fn fold(log: &str) -> Session {
    let mut session = Session::default();
    let mut offset = 0;
    for (number, text) in (1..).zip(log.lines()) {
        let place = Place { offset, len: u32::try_from(text.len()).unwrap(), stream: 0 };
        offset += text.len() as u64 + 1;
        session.apply(&decode(&Line::new(text, number, place)).unwrap());
    }
    session
}

/// An agent, created by `parent` if there is one.
pub(crate) fn agent(id: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or(String::new(), |parent| format!(r#","parent_id":"{parent}""#));
    format!(
        r#"{{"message_id":"made {id}","event_type":"agent_created","agent_id":"{id}","name":"Agent {id}"{parent}}}"#
    )
}

/// A message of `agent` with token counts; `more` is additional members.
pub(crate) fn spent(id: &str, agent: &str, usage: &str, more: &str) -> String {
    format!(
        r#"{{"message_id":"{id}","agent_id":"{agent}","role":"assistant","content":"x","usage":{{{usage}}}{more}}}"#
    )
}

/// Folds a log and reads it.
pub(crate) fn read<T>(log: &[String], look: impl FnOnce(&Reading<'_>) -> T) -> T {
    let log = log.join("\n");
    let session = fold(&log);
    let bodies = MemoryBodies::new(vec![log.into_bytes()]);
    look(&Reading { session: &session, bodies: &bodies })
}

/// A call of `agent`, with JSON arguments; `more` is additional members of the call.
pub(crate) fn call(agent: &str, id: &str, tool: &str, arguments: &str, more: &str) -> String {
    let arguments = serde_json::to_string(arguments).unwrap();
    format!(
        r#"{{"message_id":"{agent} calls {id}","agent_id":"{agent}","role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"{tool}","arguments":{arguments}}}{more}}}]}}"#
    )
}

/// The result of a call; `more` is additional members.
pub(crate) fn result(agent: &str, id: &str, more: &str) -> String {
    format!(
        r#"{{"message_id":"{agent} got {id}","agent_id":"{agent}","role":"tool","tool_call_id":"{id}","content":"ok"{more}}}"#
    )
}

/// Successful calls of `agent`, numbered `c1`, `c2` …, each a tool and its arguments.
pub(crate) fn calls(agent: &str, calls: &[(&str, &str)]) -> Vec<String> {
    let mut log = Vec::new();
    for (number, (tool, arguments)) in (1..).zip(calls) {
        let id = format!("c{number}");
        log.push(call(agent, &id, tool, arguments, ""));
        log.push(result(agent, &id, ""));
    }
    log
}
