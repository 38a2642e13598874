//! Recognising an event when its source is read again.
//!
//! Only the event's own content is compared. A body counts by its place: in a source that only
//! grows, a place always has the same content, so it need not be read.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Event, Message};
use crate::Body;

impl Event<'_> {
    /// The same for the same event of the same source; different when anything about it has
    /// changed, such as an answer that was continued.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

impl Hash for Body<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.hash(state);
    }
}

impl Hash for Message<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { agent, role, content, more_content, source, utterance_ref, .. } = self;
        (agent, role, content, more_content, source, utterance_ref).hash(state);
        let Self { tool_calls, tool_call_id, name, model, request_id, usage, .. } = self;
        (tool_calls, tool_call_id, name, model, request_id, usage).hash(state);
        let Self { usage_partial, cost_usd, reasoning, cause, previous_id, is_error, .. } = self;
        (usage_partial, cost_usd.map(f64::to_bits), reasoning, cause, previous_id, is_error)
            .hash(state);
        let Self { started_at, duration_ms, result, context_contribution, .. } = self;
        (started_at, duration_ms, result, context_contribution).hash(state);
        let Self { subagent_info, message_type, payload, correlation_id, reply_to, .. } = self;
        (subagent_info, message_type, payload, correlation_id, reply_to).hash(state);
    }
}
