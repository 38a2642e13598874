//! One agent's messages, in order.

use antiphon_model::{AgentIx, BodyError, Entry};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Reading;

/// A line of a session's file, exactly as it is there: unknown members, numbers and all.
#[derive(Debug, Clone)]
pub struct LogLine(String);

impl LogLine {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A line that is not JSON cannot be serialised.
impl Serialize for LogLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue =
            serde_json::from_str(self.0.trim()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for LogLine {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LogLine".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A line of a session's file, exactly as it is there. `docs/format.md` \
                            describes the lines of an Antiphon log; other programs have their own.",
            "type": "object",
        })
    }
}

/// The entries of an agent's transcript: its messages, without its creation and edits.
pub fn transcript<'a>(
    reading: &Reading<'a>,
    agent: AgentIx,
) -> Result<Vec<(Entry<'a>, LogLine)>, BodyError> {
    let entries = reading.session.agent(agent).transcript();
    let entries = entries.map(|event| reading.session.entry(event));
    entries
        .filter(|entry| entry.role().is_some())
        .map(|entry| Ok((entry, LogLine(reading.line(entry)?))))
        .collect()
}
