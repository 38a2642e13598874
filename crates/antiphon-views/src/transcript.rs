//! One agent's messages, in order.

use antiphon_model::{AgentIx, BodyError, Entry};

use crate::Reading;

/// The entries of an agent's transcript: its messages, without its creation and edits.
pub fn transcript<'a>(
    reading: &Reading<'a>,
    agent: AgentIx,
) -> Result<Vec<(Entry<'a>, String)>, BodyError> {
    let entries = reading.session.agent(agent).transcript();
    let entries = entries.map(|event| reading.session.entry(event));
    entries
        .filter(|entry| entry.role().is_some())
        .map(|entry| Ok((entry, reading.line(entry)?)))
        .collect()
}
