//! What a collector of spans notes with an event: facts for which the log has no name.
//!
//! A program that dispatches agents knows more about them than a log can show: what kind of agent
//! it started, under which span, for which run. That is in the event's `extra`, in `span`.

use antiphon_model::{BodyError, Detail, Entry, json};

use super::{Flavor, SpanKind, SpanStatus};
use crate::{Reading, Usd};

/// The members of `extra.span`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanNote {
    pub span_id: Option<String>,
    pub parent_span_id: Option<String>,
    /// The level of the span in its run, if its parent is in another log.
    pub level: Option<usize>,
    pub kind: Option<SpanKind>,
    pub flavor: Option<Flavor>,
    /// The agent at work; several executions of one agent are several agents of the log.
    pub agent_id: Option<String>,
    pub role: Option<String>,
    /// The name in the later creation of a sub-agent, which is recorded after the call.
    pub name: Option<String>,
    pub adapter_id: Option<String>,
    pub run_id: Option<String>,
    pub status: Option<SpanStatus>,
    pub cost_usd: Option<Usd>,
}

impl SpanNote {
    /// The note on an event, if there is one.
    pub fn read(reading: &Reading<'_>, entry: Entry<'_>) -> Result<Option<Self>, BodyError> {
        let Some(extra) = entry.detail(Detail::Extra) else { return Ok(None) };
        let extra = reading.bodies.read(extra)?;
        Ok(json::member(&extra, "span").map(Self::of))
    }

    /// Whether a collector wrote the log: its note is where the session starts.
    pub(crate) fn is_collected(reading: &Reading<'_>) -> Result<bool, BodyError> {
        let session = reading.session;
        let started = session.info().started_by.map(|event| session.entry(event));
        let note = started.map(|entry| Self::read(reading, entry)).transpose()?;
        Ok(note.flatten().is_some())
    }

    fn of(object: &str) -> Self {
        let mut note = Self::default();
        // A value that is no object is ignored.
        let _ = json::members(object, |key, value| {
            let word = || json::text(value).map(|text| text.into_owned());
            match key {
                "span_id" => note.span_id = word(),
                "parent_span_id" => note.parent_span_id = word(),
                "level" => note.level = value.parse().ok(),
                "kind" => note.kind = word().and_then(|word| SpanKind::from_word(&word)),
                "flavor" => note.flavor = word().and_then(|word| Flavor::from_word(&word)),
                "agent_id" => note.agent_id = word(),
                "role" => note.role = word(),
                "name" => note.name = word(),
                "adapter_id" => note.adapter_id = word(),
                "run_id" => note.run_id = word(),
                "status" => note.status = word().map(|word| SpanStatus::from_word(&word)),
                "cost_usd" => note.cost_usd = value.parse().ok().and_then(Usd::from_f64),
                _ => {}
            }
        });
        note
    }
}
