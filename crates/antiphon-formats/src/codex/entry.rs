//! A line of a rollout, without its envelope.

use antiphon_model::{Body, Problem};

use crate::Stream;
use crate::line::{Object, Record, records};

/// A line of a rollout.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) record: Record<'a>,
    /// `session_meta`, `response_item`, `event_msg` …
    pub(super) kind: &'a str,
    pub(super) payload: Object<'a>,
    /// The raw payload.
    pub(super) raw: &'a str,
    /// The payload's own type.
    pub(super) what: &'a str,
}

impl<'a> Entry<'a> {
    fn new(record: Record<'a>) -> Self {
        let object = &record.object;
        if let Some(kind) = object.id("type")
            && let Some(payload) = object.object("payload")
        {
            let raw = object.raw("payload").unwrap_or_default();
            let what = payload.id("type").unwrap_or_default();
            return Self { kind, payload, raw, what, record };
        }
        let (kind, what) = match (object.id("type"), object.id("record_type")) {
            (Some(what), _) if is_item(object) => ("response_item", what),
            (Some(kind), _) => (kind, ""),
            (None, Some(kind)) => (kind, ""),
            (None, None) if object.id("id").is_some() => ("session_meta", ""),
            (None, None) => ("line", ""),
        };
        let (payload, raw) = (object.clone(), record.line.text);
        Self { kind, payload, raw, what, record }
    }

    pub(super) fn line(&self) -> u64 {
        self.record.line.number
    }

    pub(super) fn body(&self, raw: &'a str) -> Body<'a> {
        self.record.body(raw)
    }

    pub(super) fn is_event(&self, what: &str) -> bool {
        self.kind == "event_msg" && self.what == what
    }

    /// The name under which a line that is not recognised is kept.
    pub(super) fn label(&self) -> &'a str {
        if self.what.is_empty() { self.kind } else { self.what }
    }

    /// The call that the line is about.
    pub(super) fn call_id(&self) -> Option<&'a str> {
        self.payload.id("call_id").filter(|id| !id.is_empty())
    }
}

/// Whether a line without an envelope is an item of the conversation.
fn is_item(object: &Object<'_>) -> bool {
    object.raw("role").is_some() || object.raw("call_id").is_some() || object.has("summary")
}

/// The lines of a rollout.
pub(super) fn entries<'a>(
    stream: &Stream<'a>,
    number: u32,
) -> impl Iterator<Item = Result<Entry<'a>, Problem>> + use<'a> {
    records(stream, number).map(|record| record.map(Entry::new))
}
