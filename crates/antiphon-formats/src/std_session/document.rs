//! Converts a document to lines in the log's own vocabulary.

use std::borrow::Cow;
use std::collections::BTreeSet;

use antiphon_model::json::{self, Members};
use antiphon_model::{Place, Problem, Severity, Timestamp};

use super::agents::Cast;
use super::call::Caller;
use super::fields::{Fields, Notes};
use super::original::Originals;
use super::phase::Phases;
use super::status::Status;
use crate::Lines;

/// The lines, and what deviates from the standard.
pub(super) fn lines(text: &str) -> Lines {
    let text = text.trim_start_matches('\u{feff}');
    if let Err(error) = json::check(text) {
        return Lines { text: String::new(), problems: vec![not_json(&error)] };
    }
    let text = json::compact(text);
    let mut notes = Notes::default();
    let Some(fields) = Fields::of(&text, String::new(), &mut notes) else {
        notes.lenient("", "is not a JSON object");
        return Lines { text: String::new(), problems: notes.problems };
    };
    let mut document = Document {
        out: String::new(),
        ids: BTreeSet::new(),
        reserved: BTreeSet::new(),
        originals: Originals::of(&fields),
        notes,
    };
    document.write(fields);
    Lines { text: document.out, problems: document.notes.problems }
}

fn not_json(error: &json::SyntaxError) -> Problem {
    let (severity, code, place) = (Severity::Error, "not-json", Place::NONE);
    Problem { severity, code, line: error.line as u64, message: error.to_string(), place }
}

/// The lines of a document while they are written.
pub(super) struct Document {
    out: String,
    ids: BTreeSet<String>,
    /// The ids of messages that are still to come.
    reserved: BTreeSet<String>,
    pub(super) originals: Originals,
    pub(super) notes: Notes,
}

/// What a document says about the session as a whole.
struct Header<'a> {
    session_id: Option<Cow<'a, str>>,
    title: Option<Cow<'a, str>>,
    description: Option<Cow<'a, str>>,
    prompt: Option<Cow<'a, str>>,
    created: Option<Timestamp>,
    completed: Option<Timestamp>,
    updated: Option<Timestamp>,
    status: Status,
    summary: Option<&'a str>,
}

impl Header<'_> {
    /// The standard requires a completion time, so a session in progress may have one as well.
    fn has_ended(&self) -> bool {
        self.status.outcome.is_some() || (self.completed.is_some() && !self.status.goes_on())
    }
}

impl Document {
    fn write(&mut self, mut fields: Fields<'_>) {
        let mut header = self.header(&mut fields);
        let agent = fields.take_object("agent", &mut self.notes);
        let collaboration = fields.take_object("collaboration", &mut self.notes);
        let mut list = |name| fields.take_list(name, &mut self.notes);
        let (subs, messages) = (list("sub_sessions"), list("messages"));
        let (annotations, phases) = (list("phase_annotations"), list("phases"));
        let (calls, steps) = (list("tool_calls"), list("steps"));
        // In the first drafts only the steps have a status.
        if calls.is_none() && header.status.is_unknown() {
            header.status = Status::of_steps(steps.as_deref().unwrap_or_default());
            header.completed = header.completed.or(header.updated);
        }
        // Ids of messages are the document's own, so ours give way to them.
        self.reserve(messages.as_deref().unwrap_or_default());
        let subs = subs.unwrap_or_default();
        let mut cast = Cast::new(collaboration, subs, &self.originals, &mut self.notes);
        let phases = Phases::of(phases, self);

        let mut extra = fields.rest();
        // A writer must know what it need not infer.
        extra.word("standard", if cast.is_team() { "std-008" } else { "std-001" });
        phases.leave(&mut extra);
        extra.members("collaboration", &cast.collaboration());
        self.beginning(&header, extra);
        self.main_agent(&cast, agent, header.created);
        self.participants(&cast);
        if let Some(prompt) = &header.prompt {
            let mut said = Members::default();
            said.word("message_id", &self.id("prompt"));
            said.word("agent_id", &cast.main);
            said.word("role", "user");
            said.word("content", prompt);
            said.word("source", "external");
            self.line(said, header.created);
        }
        let main = Caller { agent: cast.main.clone(), prefix: String::new() };
        for (pointer, raw) in calls.unwrap_or_default() {
            self.call(&main, raw, &pointer);
        }
        for (pointer, raw) in steps.unwrap_or_default() {
            self.step(&main, raw, &pointer);
        }
        self.sub_sessions(&mut cast, header.session_id.as_deref().unwrap_or_default());
        for (at, (pointer, raw)) in (1..).zip(messages.unwrap_or_default()) {
            self.message(&cast, raw, &pointer, at);
        }
        self.phases(&main, phases);
        let agents = cast.by_session();
        for (pointer, raw) in annotations.unwrap_or_default() {
            self.annotation(raw, &pointer, &agents);
        }
        self.other_annotations();
        self.end(&header);
    }

    fn header<'a>(&mut self, fields: &mut Fields<'a>) -> Header<'a> {
        let summary = fields.take("summary");
        if summary.is_some_and(|summary| !summary.starts_with('{')) {
            self.notes.lenient("/summary", "is not an object; it is kept as it is");
        }
        Header {
            session_id: fields.take_text("session_id"),
            title: self.text_of(fields, ["task_title", "title"]),
            description: self.text_of(fields, ["task_description", "description"]),
            prompt: fields.take_text("user_prompt"),
            created: self.time_of(fields, ["created_at", "started_at"]),
            completed: fields.take_time("completed_at", &mut self.notes),
            updated: fields
                .get("updated_at")
                .and_then(json::text)
                .and_then(|at| Timestamp::parse(&at)),
            status: Status::take(fields, &mut self.notes),
            summary,
        }
    }

    fn beginning(&mut self, header: &Header<'_>, mut extra: Members) {
        if !header.has_ended() {
            header.status.leave(&mut extra);
            header.summary.into_iter().for_each(|summary| extra.raw("summary", summary));
        }
        let mut line = Members::default();
        line.word("message_id", &self.id("session"));
        line.word("event_type", "session_started");
        line.text("session_id", header.session_id.as_deref());
        line.text("title", header.title.as_deref());
        line.text("prompt", header.prompt.as_deref());
        line.text("description", header.description.as_deref());
        line.members("extra", &extra);
        self.line(line, header.created);
    }

    fn end(&mut self, header: &Header<'_>) {
        if !header.has_ended() {
            return;
        }
        let mut line = Members::default();
        line.word("message_id", &self.id("end"));
        line.word("event_type", "session_ended");
        line.text("outcome", header.status.outcome.as_deref());
        header.summary.into_iter().for_each(|summary| line.raw("declared", summary));
        let mut extra = Members::default();
        header.status.leave(&mut extra);
        line.members("extra", &extra);
        self.line(line, header.completed);
    }

    /// Reads a text; one under an old name is reported.
    fn text_of<'a>(&mut self, fields: &mut Fields<'a>, names: [&str; 2]) -> Option<Cow<'a, str>> {
        let [name, old] = names;
        let found = fields.take_text(name);
        if found.is_some() || !fields.has(old) {
            return found;
        }
        self.notes.lenient(&format!("/{old}"), &format!("is read as `{name}`"));
        fields.take_text(old)
    }

    /// Reads a time; one under an old name is reported.
    fn time_of(&mut self, fields: &mut Fields<'_>, names: [&str; 2]) -> Option<Timestamp> {
        let [name, old] = names;
        if fields.has(name) || !fields.has(old) {
            return fields.take_time(name, &mut self.notes);
        }
        self.notes.lenient(&format!("/{old}"), &format!("is read as `{name}`"));
        fields.take_time(old, &mut self.notes)
    }

    fn reserve(&mut self, messages: &[(String, &str)]) {
        for (_, raw) in messages {
            let id = json::member(raw, "message_id").and_then(json::text);
            self.reserved.extend(id.map(Cow::into_owned));
        }
    }

    /// An id like `wanted` that no other line has.
    pub(super) fn id(&mut self, wanted: &str) -> String {
        let numbered = (2_u64..).map(|n| format!("{wanted}#{n}"));
        let mut ids = std::iter::once(wanted.to_owned()).chain(numbered);
        let free = ids
            .find(|id| !self.ids.contains(id) && !self.reserved.contains(id))
            .unwrap_or_default();
        self.ids.insert(free.clone());
        free
    }

    /// Takes a reserved id; returns whether it was still reserved.
    pub(super) fn claim(&mut self, id: &str) -> bool {
        self.reserved.remove(id) && self.ids.insert(id.to_owned())
    }

    /// Keeps a value of the wrong type as an unknown event.
    pub(super) fn keep(&mut self, pointer: &str, raw: &str, what: &str) {
        self.notes.lenient(pointer, what);
        let mut line = Members::default();
        line.word("message_id", &self.id(pointer));
        line.word("event_type", "document_part");
        line.word("pointer", pointer);
        line.raw("value", raw);
        self.line(line, None);
    }

    /// Writes a line.
    pub(super) fn line(&mut self, mut members: Members, at: Option<Timestamp>) {
        members.text("timestamp", at.map(|at| at.to_string()).as_deref());
        self.out.push_str(&members.object());
        self.out.push('\n');
    }
}
