//! An event to be written to the log: checked, on one line, without its seal.

use std::borrow::Cow;

use antiphon_model::{Event, EventKind, SessionStarted, json};
use thiserror::Error;

use crate::lines::LINE_BYTES_MAX;
use crate::state::FORMAT;

/// An event that may be written. Its members keep their order and their exact text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub(crate) message_id: Option<String>,
    /// The members but `message_id`: `"role":"user","content":"hi"`.
    pub(crate) members: String,
    pub(crate) has_timestamp: bool,
    pub(crate) event_type: Option<String>,
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DraftError {
    #[error("not a JSON object: {0}")]
    NotJson(String),
    #[error("`message_id` is not a string")]
    BadId,
    #[error("a message needs `agent_id` and `role`; any other event needs `event_type`")]
    NeitherMessageNorEvent,
    #[error("`{0}` names its agent in `agent`; `agent_id` belongs to messages and agent_created")]
    AgentIdOutsideMessage(String),
    #[error("`{0}` needs `{1}`")]
    Missing(&'static str, &'static str),
    #[error(
        "`transcript_edit` uses `n`, which is the line number here: use `context_edited` instead"
    )]
    TranscriptEdit,
    #[error("`session_started` has format {0}, but this program writes format {FORMAT}")]
    NewerFormat(u64),
    #[error("a line of {0} bytes is too long; the limit is {LINE_BYTES_MAX}")]
    TooLong(usize),
}

/// Room for what the writer adds to a line: id, time and seal.
const ADDED_BYTES_MAX: usize = 1024;

impl Draft {
    /// Reads an event from bytes that should be one JSON object.
    ///
    /// A byte that is not UTF-8 becomes the escape `\udcXX`, as Python's `surrogateescape` does,
    /// so that it survives in a log that everybody can read.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DraftError> {
        Self::from_json(&text_of(bytes))
    }

    /// Prevents the writer from adding the current time to an event without a time, because it did
    /// not happen now.
    #[must_use]
    pub fn of_the_past(mut self) -> Self {
        self.has_timestamp = true;
        self
    }

    /// Reads an event from the text of a JSON object. `n`, `prev` and `hash` are dropped.
    pub fn from_json(text: &str) -> Result<Self, DraftError> {
        let (draft, seen) = Self::unchecked(text, Origin::Sender)?;
        seen.check(&draft)?;
        Ok(draft)
    }

    /// Makes a draft of an event. Nothing is parsed again, because a [`Body`](antiphon_model::Body)
    /// is JSON already, and an event cannot have most of what [`from_json`](Self::from_json)
    /// refuses.
    pub fn from_event(event: &Event<'_>) -> Result<Self, DraftError> {
        if let EventKind::SessionStarted(SessionStarted { format: Some(format), .. }) = event.kind
            && format > FORMAT
        {
            return Err(DraftError::NewerFormat(format));
        }
        let draft = Self {
            message_id: event.message_id.as_deref().map(Into::into),
            members: event.members().into_text(),
            has_timestamp: event.at.is_some(),
            event_type: event.kind.event_type().map(Into::into),
            agent: event.kind.agent().map(Into::into),
        };
        draft.check_len()?;
        Ok(draft)
    }

    fn check_len(&self) -> Result<(), DraftError> {
        // A character of the id takes at most three times its bytes when it is escaped.
        let id_len = self.message_id.as_ref().map_or(0, String::len) * 3;
        let len = self.members.len() + id_len;
        if len > LINE_BYTES_MAX - ADDED_BYTES_MAX { Err(DraftError::TooLong(len)) } else { Ok(()) }
    }

    /// Reads a line of any log unchanged, even one that this writer would refuse: no time is added
    /// if it has none.
    pub(crate) fn verbatim(bytes: &[u8]) -> Result<Self, DraftError> {
        let mut draft = Self::unchecked(&text_of(bytes), Origin::Log)?.0;
        draft.has_timestamp = true;
        Ok(draft)
    }

    /// Whether this, read from a log, is `sent` with nothing added but what a writer adds.
    pub(crate) fn is_completed_from(&self, sent: &Self) -> bool {
        let Some(added) = self.members.strip_prefix(sent.members.as_str()) else {
            return false;
        };
        let Some(added) = added.strip_prefix(',') else {
            return added.is_empty();
        };
        let is_first = sent.event_type.as_deref() == Some("session_started");
        let mut all_ours = true;
        let parsed = json::members(&format!("{{{added}}}"), |key, _| {
            all_ours &= match key {
                "timestamp" => !sent.has_timestamp,
                "session_id" | "format" | "program" => is_first,
                _ => false,
            };
        });
        parsed.is_ok() && all_ours
    }

    fn unchecked(text: &str, origin: Origin) -> Result<(Self, Seen), DraftError> {
        if text.len() > LINE_BYTES_MAX - ADDED_BYTES_MAX {
            return Err(DraftError::TooLong(text.len()));
        }
        let mut draft = Self {
            message_id: None,
            members: String::with_capacity(text.len()),
            has_timestamp: false,
            event_type: None,
            agent: None,
        };
        let mut seen = Seen::default();
        json::raw_members(text, |raw, key, value| draft.add(&mut seen, (raw, key), value, origin))
            .map_err(|error| DraftError::NotJson(error.to_string()))?;
        draft.check_len()?;
        Ok((draft, seen))
    }

    /// Adds a member, given its key as written and as decoded.
    fn add(&mut self, seen: &mut Seen, (raw, key): (&str, &str), value: &str, origin: Origin) {
        match key {
            "message_id" => {
                self.message_id = json::word(value).map(Into::into);
                seen.bad_id = self.message_id.is_none() && value != "null";
                return;
            }
            "n" | "prev" | "hash" => return,
            "event_type" => self.event_type = json::word(value).map(Into::into),
            // Null or not a string: the writer adds its own.
            "timestamp" if origin == Origin::Sender && !value.starts_with('"') => return,
            "timestamp" | "ts" => self.has_timestamp |= value.starts_with('"'),
            "agent_id" => {
                seen.agent_id = true;
                self.agent = json::word(value).map(Into::into);
            }
            "agent" => self.agent = json::word(value).map(Into::into),
            "role" => seen.role = json::word(value).is_some(),
            "format" => seen.format = value.parse().ok(),
            _ => {}
        }
        if !self.members.is_empty() {
            self.members.push(',');
        }
        self.members.push('"');
        json::push_on_one_line(&mut self.members, raw);
        self.members.push_str("\":");
        json::push_on_one_line(&mut self.members, value);
    }
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Sender,
    /// It was read from a log, with a time or without.
    Log,
}

/// What decides whether the seed's own Python can read the line, and whether Antiphon can.
#[derive(Debug, Default)]
struct Seen {
    agent_id: bool,
    role: bool,
    bad_id: bool,
    format: Option<u64>,
}

impl Seen {
    fn check(&self, draft: &Draft) -> Result<(), DraftError> {
        if self.bad_id {
            return Err(DraftError::BadId);
        }
        let has_agent = draft.agent.is_some();
        match draft.event_type.as_deref() {
            None | Some("message" | "transcript_entry") => {
                let is_message = self.agent_id && has_agent && self.role;
                is_message.then_some(()).ok_or(DraftError::NeitherMessageNorEvent)
            }
            Some("agent_created") if self.agent_id && has_agent => Ok(()),
            Some("agent_created") => Err(DraftError::Missing("agent_created", "agent_id")),
            Some("transcript_edit") => Err(DraftError::TranscriptEdit),
            // The log would claim a format that this version cannot write.
            Some("session_started") if self.format > Some(FORMAT) => {
                Err(DraftError::NewerFormat(self.format.unwrap_or_default()))
            }
            Some("agent_ended") if !has_agent => Err(DraftError::Missing("agent_ended", "agent")),
            Some("context_edited") if !has_agent => {
                Err(DraftError::Missing("context_edited", "agent"))
            }
            Some(other) if self.agent_id && !self.role => {
                Err(DraftError::AgentIdOutsideMessage(other.to_owned()))
            }
            Some(_) => Ok(()),
        }
    }
}

/// The text of bytes, with an escape for each byte that is not UTF-8.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 64);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for &byte in chunk.invalid() {
            json::push_escape(&mut text, 0xDC00 + u32::from(byte));
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Result<String, DraftError> {
        Draft::from_json(text).map(|draft| draft.members)
    }

    #[test]
    fn members_keep_their_order_and_text() {
        let text = r#" { "message_id": "m", "n": 4, "agent_id": "a", "role":"user", "x": [1.50, 12345678901234567890,"\ud800"], "hash":"" } "#;
        let wanted = r#""agent_id":"a","role":"user","x":[1.50, 12345678901234567890,"\ud800"]"#;
        assert_eq!(members(text).unwrap(), wanted);
    }

    #[test]
    fn what_splits_lines_elsewhere_is_escaped() {
        let text =
            "{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"\u{2028}é\u{85}’\",\"x\":[1,\n2]}";
        let wanted = r#""agent_id":"a","role":"user","content":"\u2028é\u0085’","x":[1, 2]"#;
        assert_eq!(members(text).unwrap(), wanted);
    }

    #[test]
    fn bytes_that_are_not_utf8_survive_as_python_writes_them() {
        let draft =
            Draft::from_bytes(b"{\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"\xff!\"}");
        assert!(draft.unwrap().members.ends_with(r#""content":"\udcff!""#));
    }

    #[test]
    fn what_the_seeds_own_loader_would_choke_on_is_refused() {
        let reason = |text| Draft::from_json(text).unwrap_err().to_string();
        insta::assert_snapshot!(reason("[]"), @"not a JSON object: JSON, but not an object");
        insta::assert_snapshot!(reason("{}"), @"a message needs `agent_id` and `role`; any other event needs `event_type`");
        insta::assert_snapshot!(reason(r#"{"event_type":"x","agent_id":"a"}"#), @"`x` names its agent in `agent`; `agent_id` belongs to messages and agent_created");
        insta::assert_snapshot!(reason(r#"{"event_type":"agent_created","name":"a"}"#), @"`agent_created` needs `agent_id`");
        insta::assert_snapshot!(reason(r#"{"message_id":{},"agent_id":"a","role":"user"}"#), @"`message_id` is not a string");
    }
}
