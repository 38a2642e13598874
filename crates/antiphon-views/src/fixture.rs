//! Sessions for tests, from lines of JSON.

use antiphon_model::{Line, Place, Session, decode};

/// Folds a log, every line of which must decode.
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

/// An agent, made by `parent` or by nobody.
pub(crate) fn agent(id: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or(String::new(), |parent| format!(r#","parent_id":"{parent}""#));
    format!(
        r#"{{"message_id":"made {id}","event_type":"agent_created","agent_id":"{id}","name":"Agent {id}"{parent}}}"#
    )
}

/// A message of `agent` that spent tokens; `more` is more members.
pub(crate) fn spent(id: &str, agent: &str, usage: &str, more: &str) -> String {
    format!(
        r#"{{"message_id":"{id}","agent_id":"{agent}","role":"assistant","content":"x","usage":{{{usage}}}{more}}}"#
    )
}
