//! The whole document.

use antiphon_model::{BodyError, Detail, Entry, EntryKind, Role, Status, Timestamp};
use serde_json::{Map, Value};

use super::annotations::{Annotations, Phases};
use super::call::Calls;
use super::display::clip;
use super::messages::Messages;
use super::notes::Notes;
use super::object::Object;
use super::origin::{Origin, Stage};
use super::pieces::{Pieces, WriteError};
use super::roles::{Roles, spelled};
use super::sub_session::{Outcome, SubSessions};
use super::summary::{ReviewResults, SummaryInput};
use super::text::Text;
use super::x_antiphon::XAntiphon;
use super::{Document, agents, summary};
use crate::interfaces;
use crate::name::Name;
use crate::{AgentInfo, Standard};

/// Replaces a time that was not recorded; it is listed as derived.
pub(super) const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// Writes a document: a frame that is composed as a whole, and lists that are composed item by
/// item. What the frame says about sub-sessions and messages comes before them in the text, so
/// these are composed twice: once for that, and once to be written.
pub(super) fn write(document: &Document<'_>, pieces: &mut Pieces<'_>) -> Result<(), WriteError> {
    let (roles, standard) = (&document.roles, document.standard);
    let session = roles.reading.session;
    let info = session.info();
    let origin = Origin::default();
    let mut extra = roles.session_extra()?;
    extra.remove("standard");
    let ended = info.ended_by.filter(|_| info.ended).map(|event| session.entry(event));
    let mut of_end = ended.map(|entry| roles.extra(entry)).transpose()?.unwrap_or_default();
    let mut object = Object::new("", &origin);
    head(roles, &mut object, &mut extra)?;
    object.set_or("session_id", document.own_id(), || document.name.stem());
    let outcome = write_outcome(roles, &mut object, ended, [&mut extra, &mut of_end]);
    agent(roles, &mut object)?;

    let text = |name: &str| object.text(name).to_owned();
    let (created_at, completed_at) = (text("created_at"), text("completed_at"));
    let calls = Calls { roles, standard, begun: Timestamp::parse(&created_at) };
    let subs = SubSessions { calls, session_id: text("session_id") };
    open_list(&mut object, "tool_calls");
    let annotations = Annotations { roles, origin: &origin, standard, completed_at: &completed_at };
    let phases = annotations.compose(document.phases)?;
    match &phases {
        Phases::None => {}
        Phases::Held(phases) => object.set("phase_annotations", phases.clone()),
        Phases::Derived => open_list(&mut object, "phase_annotations"),
    }
    let mut notes = Notes::default();
    let (mut facts, mut messages, mut results) = (Vec::new(), None, ReviewResults::default());
    if standard == Standard::Std008 {
        let whole = agents::collaboration(roles, extra.remove("collaboration"), &origin)?;
        object.set("collaboration", whole);
        open_list(&mut object, "sub_sessions");
        open_list(&mut object, "messages");
        facts = notes.add_subs(&subs, &origin)?;
        let list = messages.insert(Messages::of(&subs, &facts, &created_at)?);
        results = notes.add_messages(list)?;
    }
    let declared = ended.map(|entry| roles.detail(entry, Detail::Declared)).transpose()?.flatten();
    let declared = declared.or_else(|| extra.remove("summary").filter(|it| !it.is_null()));
    let whole =
        SummaryInput { standard, time: span(roles), outcome, results: &results, subs: &facts };
    let summary = summary::write(roles, declared, &whole, &origin)?;
    object.set("summary", summary);

    origin.set_stage(Stage::Part);
    parts(roles, &origin)?;
    origin.set_stage(Stage::Conformed);
    let before = extra.remove("x_antiphon");
    for mut extra in [extra, of_end] {
        tidy(&mut extra, &origin);
        object.rest(extra);
    }
    let mut frame = object.value();
    origin.conform(&mut frame, interfaces::of(standard));
    frame["x_antiphon"] = Value::Null;
    let mut own = origin.take_earlier(before);
    if let (Some(id), None) = (info.session_id.as_deref(), document.own_id()) {
        own.insert("session_id".to_owned(), id.into());
    }
    let annotations =
        Annotations { roles, origin: &Origin::default(), standard, completed_at: &completed_at };
    let messages = messages.as_ref();
    let detail = document.phases;
    let text = Text { subs: &subs, messages, annotations, phases: &phases, detail, notes };
    text.write(&frame, origin, XAntiphon(own), pieces)
}

/// Adds an empty list, whose items are composed one by one when it is written.
fn open_list(object: &mut Object<'_>, name: &str) {
    object.set(name, Vec::<Value>::new());
}

/// The name of a document, and the id of the document that was read, if any.
pub(super) fn name(
    roles: &Roles<'_>,
    standard: Standard,
) -> Result<(Name, Option<String>), BodyError> {
    let origin = Origin::default();
    let mut object = Object::new("", &origin);
    head(roles, &mut object, &mut roles.session_extra()?)?;
    let own_id = roles.reading.session.info().session_id.as_deref();
    let name = own_id.and_then(|id| Name::parse(id, standard)).unwrap_or_else(|| {
        Name::new(object.text("created_at"), object.text("task_title"), standard)
    });
    Ok((name, own_id.filter(|_| roles.is_document).map(str::to_owned)))
}

/// Writes the session's title, when it began and what the user asked for.
fn head(
    roles: &Roles<'_>,
    object: &mut Object<'_>,
    extra: &mut Map<String, Value>,
) -> Result<(), BodyError> {
    let session = roles.reading.session;
    let info = session.info();
    let prompt = prompt(roles)?;
    let title_otherwise = || match clip(&prompt) {
        empty if empty.is_empty() => "Untitled session".to_owned(),
        words => words,
    };
    object.set_or("task_title", info.title.as_deref(), title_otherwise);
    let begun = info.started_by.and_then(|event| session.entry(event).at());
    if !spelled(object, "created_at", begun, extra) {
        let first = span(roles).map(|(first, _)| first.to_short());
        object.derive("created_at", first.unwrap_or_else(|| NO_TIME.to_owned()));
    }
    object.set_some("task_description", info.description.as_deref());
    object.set_or("user_prompt", info.prompt.as_deref(), || prompt);
    Ok(())
}

/// Writes the session's status and when it ended.
fn write_outcome(
    roles: &Roles<'_>,
    object: &mut Object<'_>,
    ended: Option<Entry<'_>>,
    mut extras: [&mut Map<String, Value>; 2],
) -> Outcome {
    let (outcome, is_recorded) = outcome(roles);
    for extra in &mut extras {
        if let Some(word) = extra.remove("status") {
            object.origin().keep("/status", word);
        }
    }
    match is_recorded {
        true => object.set("status", outcome.status()),
        false => object.derive("status", outcome.status()),
    }
    let [extra, _] = extras;
    let completed = ended.and_then(Entry::at);
    // The standard requires an end even of a running session: the time of the last event.
    if !spelled(object, "completed_at", completed, extra) {
        let updated = extra.get("updated_at").and_then(Value::as_str);
        let updated = updated.filter(|at| Timestamp::parse(at).is_some()).map(str::to_owned);
        let last = span(roles).map(|(_, last)| last.to_short());
        let at = updated.or(last).unwrap_or_else(|| object.text("created_at").to_owned());
        object.derive("completed_at", at);
    }
    outcome
}

/// Keeps what the document that was read had in place of a part of another type.
fn parts(roles: &Roles<'_>, origin: &Origin) -> Result<(), BodyError> {
    let is_part = |entry: &Entry<'_>| entry.event_type() == Some("document_part");
    for entry in roles.reading.session.entries().filter(is_part) {
        let line = roles.value(entry.line())?;
        // In a log that was made from a document, the line is a member of the event.
        let part = line.get("raw").unwrap_or(&line);
        if let Some(pointer) = part.get("pointer").and_then(Value::as_str) {
            origin.keep(pointer, part.get("value").cloned().unwrap_or_default());
        }
    }
    Ok(())
}

/// Moves members that have a name of the standards, but another type, to `x_antiphon`.
fn tidy(extra: &mut Map<String, Value>, origin: &Origin) {
    let names = ["tool_calls", "phase_annotations", "sub_sessions", "messages", "agent"];
    for name in names.into_iter().chain(["collaboration", "summary", "user_prompt", "task_title"]) {
        if let Some(other) = extra.remove(name) {
            origin.keep(&format!("/{name}"), other);
        }
    }
    for (name, is_right) in
        [("phases", Value::is_array as fn(&Value) -> bool), ("task_description", Value::is_string)]
    {
        if let Some(other) = extra.remove(name) {
            match is_right(&other) || other.is_null() {
                true => drop(extra.insert(name.to_owned(), other)),
                false => origin.keep(&format!("/{name}"), other),
            }
        }
    }
}

fn agent(roles: &Roles<'_>, object: &mut Object<'_>) -> Result<(), BodyError> {
    let session = roles.reading.session;
    let mut agent = Object::new("/agent", object.origin());
    let facts = roles.main.map(|main| session.agent(main));
    let created = facts.and_then(|facts| facts.created).map(|event| session.entry(event));
    let mut extra = created.map(|entry| roles.extra(entry)).transpose()?.unwrap_or_default();
    let model = facts.and_then(|facts| facts.language_model());
    let asked = || {
        let mut requests = session.requests().filter(|(entry, ..)| entry.agent() == roles.main);
        requests.find_map(|(_, _, model)| model).unwrap_or("unknown")
    };
    agent.set_or("model_id", model, asked);
    if let Some(Value::Object(rest)) = extra.remove("agent") {
        agent.rest_of::<AgentInfo>(rest);
    }
    object.set("agent", agent.value());
    Ok(())
}

/// What the user asked for: the first message from outside.
fn prompt(roles: &Roles<'_>) -> Result<String, BodyError> {
    let session = roles.reading.session;
    if let Some(prompt) = session.info().prompt.as_deref() {
        return Ok(prompt.to_owned());
    }
    let is_asked = |kind| kind == EntryKind::Message(Role::User);
    let mut entries = session.entries().filter(|entry| is_asked(entry.kind()));
    let first = entries.find(|entry| entry.agent() == roles.main && entry.message_type().is_none());
    first.map_or(Ok(String::new()), |entry| roles.reading.text(entry))
}

/// The first and the last time of all events except annotations, which are made afterwards.
fn span(roles: &Roles<'_>) -> Option<(Timestamp, Timestamp)> {
    let session = roles.reading.session;
    let events = || session.entries().filter(|entry| entry.kind() != EntryKind::Annotation);
    let times = || events().filter_map(|entry| entry.at());
    Some((times().min()?, times().max()?))
}

/// The session's outcome, and whether it was recorded.
fn outcome(roles: &Roles<'_>) -> (Outcome, bool) {
    let session = roles.reading.session;
    let info = session.info();
    if info.ended {
        return match info.outcome.as_deref() {
            Some(word @ ("completed" | "failed")) => (Outcome::of_word(word), true),
            Some(word) => (Outcome::of_word(word), false),
            None => (Outcome::Success, false),
        };
    }
    if roles.is_document {
        return (Outcome::InProgress, true);
    }
    match session.standing().status {
        Status::Completed => (Outcome::Success, false),
        // The standard has no word for an interrupted session, and it is not known to have failed.
        Status::Running | Status::Interrupted => (Outcome::InProgress, false),
        Status::Failed | Status::TimedOut | Status::Cancelled => (Outcome::Failed, false),
    }
}
