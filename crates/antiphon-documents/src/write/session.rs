//! The document as a whole.

use antiphon_model::{BodyError, Detail, Entry, EntryKind, Role, Status, Timestamp};
use antiphon_views::Reading;
use serde_json::{Map, Value};

use super::annotations::Annotations;
use super::call::Calls;
use super::cast::{Cast, spelled};
use super::display::clip;
use super::object::{Object, Origin};
use super::sub_session::Went;
use super::summary::Whole;
use super::{PhaseDetail, Written, agents, messages, sub_session, summary};
use crate::letter::{self, conform};
use crate::name::Name;
use crate::{AgentInfo, Standard};

/// What stands for a time that nobody recorded. It is listed as derived.
pub(super) const NO_TIME: &str = "1970-01-01T00:00:00Z";

pub(super) fn write(
    reading: &Reading<'_>,
    cast: &Cast<'_>,
    standard: Standard,
    phases: PhaseDetail,
) -> Result<Written, BodyError> {
    let origin = Origin::default();
    let session = reading.session;
    let info = session.info();
    let mut extra = cast.session_extra()?;
    extra.remove("standard");
    let ended = info.ended_by.filter(|_| info.ended).map(|event| session.entry(event));
    let mut of_end = ended.map(|entry| cast.extra(entry)).transpose()?.unwrap_or_default();
    let mut object = Object::new("", &origin);
    let (name, is_named) = head(cast, standard, &mut object, &mut extra)?;
    let went = outcome(cast, &mut object, ended, [&mut extra, &mut of_end]);
    agent(cast, &mut object)?;
    let begun = Timestamp::parse(object.text("created_at"));
    let calls = Calls { cast, origin: &origin, standard, begun };
    let written = calls.write(&cast.calls, "/tool_calls")?;
    object.set("tool_calls", written);
    let completed_at = object.text("completed_at");
    let annotations = Annotations { cast, origin: &origin, standard, completed_at };
    let annotations = annotations.write(phases)?;
    object.set_some("phase_annotations", annotations);
    match standard {
        Standard::Std001 => {}
        Standard::Std008 => team(&calls, &mut object, extra.remove("collaboration"))?,
    }
    let declared = ended.map(|entry| cast.detail(entry, Detail::Declared)).transpose()?.flatten();
    let declared = declared.or_else(|| extra.remove("summary").filter(|it| !it.is_null()));
    let list = |name: &str| object.get(name).as_array().cloned().unwrap_or_default();
    let whole = Whole {
        standard,
        time: span(cast),
        went,
        messages: &list("messages"),
        subs: &list("sub_sessions"),
    };
    let summary = summary::write(cast, declared, &whole, &origin)?;
    object.set("summary", summary);

    parts(cast, &origin)?;
    let before = extra.remove("x_antiphon");
    for mut extra in [extra, of_end] {
        tidy(&mut extra, &origin);
        object.rest(extra);
    }
    let mut document = Value::Object(object.members);
    let mut misfits = Vec::new();
    conform(&mut document, letter::of(standard), "", &mut misfits);
    for misfit in misfits {
        if misfit.is_replaced {
            origin.derived(&misfit.pointer);
        }
        origin.keep(&misfit.pointer, misfit.value);
    }
    let native = info.session_id.as_deref().filter(|_| !is_named);
    if let (Some(own), Some(members)) =
        (origin.into_value(before, native), document.as_object_mut())
    {
        members.insert("x_antiphon".to_owned(), own);
    }
    Ok(Written { standard, name, is_named, document })
}

/// What the session is called, when it began, what it was asked. Gives its name, and whether that
/// is its own.
fn head(
    cast: &Cast<'_>,
    standard: Standard,
    object: &mut Object<'_>,
    extra: &mut Map<String, Value>,
) -> Result<(Name, bool), BodyError> {
    let session = cast.reading.session;
    let info = session.info();
    let prompt = prompt(cast)?;
    let title_otherwise = || match clip(&prompt) {
        empty if empty.is_empty() => "Untitled session".to_owned(),
        words => words,
    };
    object.set_or("task_title", info.title.as_deref(), title_otherwise);
    let begun = info.started_by.and_then(|event| session.entry(event).at());
    if !spelled(object, "created_at", begun, extra) {
        let first = span(cast).map(|(first, _)| first.to_short());
        object.derive("created_at", first.unwrap_or_else(|| NO_TIME.to_owned()));
    }
    let own_id = info.session_id.as_deref();
    let name = own_id.and_then(|id| Name::parse(id, standard)).unwrap_or_else(|| {
        Name::new(object.text("created_at"), object.text("task_title"), standard)
    });
    let is_named = cast.is_document && own_id.is_some();
    object.set_or("session_id", own_id.filter(|_| is_named), || name.stem());
    object.set_some("task_description", info.description.as_deref());
    object.set_or("user_prompt", info.prompt.as_deref(), || prompt);
    Ok((name, is_named))
}

/// How the session went, and when it ended.
fn outcome(
    cast: &Cast<'_>,
    object: &mut Object<'_>,
    ended: Option<Entry<'_>>,
    mut extras: [&mut Map<String, Value>; 2],
) -> Went {
    let (went, is_recorded) = went(cast);
    for extra in &mut extras {
        if let Some(word) = extra.remove("status") {
            object.origin().keep("/status", word);
        }
    }
    match is_recorded {
        true => object.set("status", went.status()),
        false => object.derive("status", went.status()),
    }
    let [extra, _] = extras;
    let completed = ended.and_then(Entry::at);
    // The standard wants an end of what goes on as well: it is as far as the record goes.
    if !spelled(object, "completed_at", completed, extra) {
        let updated = extra.get("updated_at").and_then(Value::as_str);
        let updated = updated.filter(|at| Timestamp::parse(at).is_some()).map(str::to_owned);
        let last = span(cast).map(|(_, last)| last.to_short());
        let at = updated.or(last).unwrap_or_else(|| object.text("created_at").to_owned());
        object.derive("completed_at", at);
    }
    went
}

/// What STD-008 adds.
fn team(
    calls: &Calls<'_, '_>,
    object: &mut Object<'_>,
    collaboration: Option<Value>,
) -> Result<(), BodyError> {
    let (cast, origin) = (calls.cast, calls.origin);
    let whole = agents::collaboration(cast, collaboration, origin)?;
    object.set("collaboration", whole);
    let id = object.text("session_id").to_owned();
    let subs = (0..cast.subs.len()).map(|at| sub_session::write(cast, calls, at, &id, origin));
    let subs = subs.collect::<Result<Vec<_>, _>>()?;
    let messages = messages::write(cast, &subs, object.text("created_at"), origin)?;
    object.set("sub_sessions", subs);
    object.set("messages", messages);
    Ok(())
}

/// What stood in a document where something else should stand.
fn parts(cast: &Cast<'_>, origin: &Origin) -> Result<(), BodyError> {
    let is_part = |entry: &Entry<'_>| entry.event_type() == Some("document_part");
    for entry in cast.reading.session.entries().filter(is_part) {
        let line = cast.value(entry.line())?;
        // In a log that was made from a document the line stands in the event.
        let part = line.get("raw").unwrap_or(&line);
        if let Some(pointer) = part.get("pointer").and_then(Value::as_str) {
            origin.keep(pointer, part.get("value").cloned().unwrap_or_default());
        }
    }
    Ok(())
}

/// What has the name of a member of the standards and is none of theirs.
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

fn agent(cast: &Cast<'_>, object: &mut Object<'_>) -> Result<(), BodyError> {
    let session = cast.reading.session;
    let mut agent = Object::new("/agent", object.origin());
    let facts = cast.main.map(|main| session.agent(main));
    let created = facts.and_then(|facts| facts.created).map(|event| session.entry(event));
    let mut extra = created.map(|entry| cast.extra(entry)).transpose()?.unwrap_or_default();
    let model = facts.and_then(|facts| facts.language_model());
    let asked = || {
        let mut requests = session.requests().filter(|(entry, ..)| entry.agent() == cast.main);
        requests.find_map(|(_, _, model)| model).unwrap_or("unknown")
    };
    agent.set_or("model_id", model, asked);
    if let Some(Value::Object(rest)) = extra.remove("agent") {
        agent.rest_of::<AgentInfo>(rest);
    }
    object.set("agent", agent.value());
    Ok(())
}

/// What the session was asked for: the first thing that came from outside.
fn prompt(cast: &Cast<'_>) -> Result<String, BodyError> {
    let session = cast.reading.session;
    if let Some(prompt) = session.info().prompt.as_deref() {
        return Ok(prompt.to_owned());
    }
    let is_asked = |kind| kind == EntryKind::Message(Role::User);
    let mut entries = session.entries().filter(|entry| is_asked(entry.kind()));
    let first = entries.find(|entry| entry.agent() == cast.main && entry.message_type().is_none());
    first.map_or(Ok(String::new()), |entry| cast.reading.text(entry))
}

/// The first and the last time of anything but what was said about it afterwards.
fn span(cast: &Cast<'_>) -> Option<(Timestamp, Timestamp)> {
    let session = cast.reading.session;
    let events = || session.entries().filter(|entry| entry.kind() != EntryKind::Annotation);
    let times = || events().filter_map(|entry| entry.at());
    Some((times().min()?, times().max()?))
}

/// How the session went, and whether anybody said so.
fn went(cast: &Cast<'_>) -> (Went, bool) {
    let session = cast.reading.session;
    let info = session.info();
    if info.ended {
        return match info.outcome.as_deref() {
            Some(word @ ("completed" | "failed")) => (Went::of_word(word), true),
            Some(word) => (Went::of_word(word), false),
            None => (Went::Well, false),
        };
    }
    if cast.is_document {
        return (Went::On, true);
    }
    match session.standing().status {
        Status::Completed => (Went::Well, false),
        // The standard has no word for what stopped in the middle; nobody has seen it fail.
        Status::Running | Status::Interrupted => (Went::On, false),
        Status::Failed | Status::TimedOut | Status::Cancelled => (Went::Badly, false),
    }
}
