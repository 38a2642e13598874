//! Messages between agents. In the log they are in the transcript of the recipient.

use antiphon_model::json::Members;

use super::agents::Cast;
use super::document::Document;
use super::fields::Fields;

impl Document {
    pub(super) fn message(&mut self, cast: &Cast<'_>, raw: &str, pointer: &str, position: u64) {
        let Some(mut message) = Fields::of(raw, pointer.to_owned(), &mut self.notes) else {
            return self.keep(pointer, raw, "is not an object and cannot be a message");
        };
        let at = message.take_time("timestamp", &mut self.notes);
        let sequence = message.take_number("sequence_number");
        let own_id = message.take_text("message_id");
        // The id was reserved for it, unless an earlier message has it.
        let id = match &own_id {
            Some(id) if self.claim(id) => id.clone().into_owned(),
            Some(id) => self.id(id),
            None => self.id(pointer),
        };
        let mut extra = Members::default();
        let mut end = |name: &'static str, extra: &mut Members| {
            let raw = message.take(name);
            let fields = raw.and_then(|raw| Fields::of(raw, pointer.to_owned(), &mut self.notes));
            let (agent, is_plain) = fields.map_or((None, false), |fields| cast.known(&fields));
            if let Some(raw) = raw.filter(|_| !is_plain) {
                extra.raw(name, raw);
            }
            agent
        };
        let from = end("from_agent", &mut extra);
        let to = end("to_agent", &mut extra);
        let message_type = message.take_text("message_type");
        let original = self.originals.text(pointer, "message_type");
        let message_type = original.map(|it| it.to_owned().into()).or(message_type);
        let mut line = Members::default();
        line.word("message_id", &id);
        line.word("agent_id", to.as_deref().unwrap_or(&cast.main));
        line.word("role", "user");
        line.raw("content", "null");
        line.word("source", from.as_deref().unwrap_or(&cast.main));
        line.word("message_type", message_type.as_deref().unwrap_or_default());
        if let Some(payload) = message.take("payload") {
            line.raw("payload", payload);
        }
        line.text("correlation_id", message.take_text("correlation_id").as_deref());
        line.text("reply_to", message.take_text("reply_to").as_deref());
        if sequence != Some(position) {
            extra.number("sequence_number", sequence);
        }
        if own_id.as_deref() != Some(&*id) {
            extra.text("message_id", own_id.as_deref());
        }
        message.rest_into(&mut extra);
        line.members("extra", &extra);
        self.line(line, at);
    }
}
