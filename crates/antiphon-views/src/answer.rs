//! The last words of a session.

use antiphon_model::{BodyError, Timestamp};
use serde::Serialize;

use crate::Reading;

/// What the main agent said last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastAnswer {
    /// The id of the message.
    pub message_id: String,
    /// The words.
    pub text: String,
    /// When they were said.
    pub timestamp: Option<Timestamp>,
}

/// The last thing that an agent without a parent said. What is said beside a call is no answer.
pub fn last_answer(reading: &Reading<'_>) -> Result<Option<LastAnswer>, BodyError> {
    let session = reading.session;
    let is_root = |agent| session.agent(agent).parent.agent().is_none();
    for entry in session.entries().rev() {
        if !entry.is_utterance() || !entry.agent().is_some_and(is_root) {
            continue;
        }
        let text = reading.text(entry)?;
        if !text.trim().is_empty() {
            let (message_id, timestamp) = (entry.id().to_owned(), entry.at());
            return Ok(Some(LastAnswer { message_id, text, timestamp }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{agent, call, read, result, spent};

    #[test]
    fn the_last_words_of_the_main_agent_count() {
        let log = [
            agent("a", None),
            agent("b", Some("a")),
            spent("first", "a", "", ""),
            spent("last", "a", "", ""),
            spent("of another", "b", "", ""),
            call("a", "c", "Bash", "{}", ""),
            result("a", "c", ""),
        ];
        let told = read(&log, |reading| last_answer(reading).unwrap());
        assert_eq!(told.unwrap().message_id, "last");
        assert_eq!(read(&log[..2], |reading| last_answer(reading).unwrap()), None);
    }
}
