//! A task of which only the screen's messages are available.

use std::borrow::Cow;

use antiphon_model::{Event, EventKind, Message, Role, is_blank};

use super::conversation::{Conversation, MAIN};
use super::requests::Requests;
use crate::line::Record;
use crate::script::{Script, blank};

/// Whether a list that was cut within its first element is a list of the screen's messages.
pub(super) fn is_cut(raw: &str) -> bool {
    raw.starts_with("{\"ts\":")
        && ["say", "ask"]
            .iter()
            .any(|kind| raw.contains(&format!("\"type\":\"{kind}\",\"{kind}\":")))
}

impl<'a> Conversation<'a> {
    /// Reads the screen's messages as the conversation, with the usage of each request. Everything
    /// else that was shown is kept.
    pub(super) fn screen_alone(
        &mut self,
        shown: &[Record<'a>],
        requests: &Requests,
    ) -> Vec<Event<'a>> {
        let Some(first) = shown.first() else { return Vec::new() };
        self.begin(first);
        let mut script = Script::new(self.script.name());
        for (place, record) in shown.iter().enumerate() {
            let object = &record.object;
            let kind = object.id("say").or_else(|| object.id("ask")).unwrap_or("line");
            let request = requests.shown(place).map(|(request, _)| request);
            let message = match request.filter(|request| request.has_spent()) {
                Some(request) => Some(request.message()),
                None => words(record, kind, place == 0),
            };
            let Some(message) = message else {
                script.unknown(record, None, (Some(MAIN), kind));
                continue;
            };
            if message.role == Role::User {
                self.script.prompted(message.content);
            }
            script.push(record, None, EventKind::Message(message));
        }
        script.events
    }
}

/// A message that a person or the agent wrote. In older versions the first text is the task.
fn words<'a>(record: &Record<'a>, kind: &str, is_first: bool) -> Option<Message<'a>> {
    let text = record.object.raw("text").filter(|raw| !is_blank(raw));
    let body = text.map(|raw| record.body(raw))?;
    match kind {
        "task" | "user_feedback" => {}
        "text" if is_first => {}
        "text" | "completion_result" | "followup" | "plan_mode_respond" | "act_mode_respond" => {
            return Some(Message { content: Some(body), ..blank(MAIN, Role::Assistant) });
        }
        "reasoning" => {
            return Some(Message { reasoning: Some(body), ..blank(MAIN, Role::Assistant) });
        }
        _ => return None,
    }
    let source = Some(Cow::Borrowed("external"));
    Some(Message { content: Some(body), source, ..blank(MAIN, Role::User) })
}
