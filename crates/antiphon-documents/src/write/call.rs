//! A tool call: its input, its output, what it added to the context, and the agent that it started.

use antiphon_model::{BodyError, CallIx, Detail, Entry, Timestamp};
use antiphon_views::{Category, category};
use serde_json::{Map, Value};

use super::contribution::contribution;
use super::object::{Object, fits, is_duration, missing};
use super::origin::Origin;
use super::roles::{Roles, spelled};
use super::session::NO_TIME;
use super::{display, tool_kind};
use crate::interfaces;
use crate::{CallInput, CallOutput, ContextContribution, Standard, SubagentInfo, ToolCall};

/// Composes the calls of a document, one at a time.
#[derive(Clone, Copy)]
pub(super) struct Calls<'c, 'a> {
    pub(super) roles: &'c Roles<'a>,
    pub(super) standard: Standard,
    /// When the session began.
    pub(super) begun: Option<Timestamp>,
}

impl Calls<'_, '_> {
    /// A call that fits the interface of the standard, and the origin of its members.
    pub(super) fn compose(&self, ix: CallIx) -> Result<(Value, Origin), BodyError> {
        let origin = Origin::default();
        let mut value = Writer { calls: *self, origin: &origin }.call(ix)?;
        origin.conform(&mut value, interfaces::call());
        Ok((value, origin))
    }
}

/// Composes one call.
struct Writer<'c, 'a> {
    calls: Calls<'c, 'a>,
    origin: &'c Origin,
}

impl<'c, 'a> std::ops::Deref for Writer<'c, 'a> {
    type Target = Calls<'c, 'a>;

    fn deref(&self) -> &Self::Target {
        &self.calls
    }
}

impl Writer<'_, '_> {
    fn call(&self, ix: CallIx) -> Result<Value, BodyError> {
        let (roles, reading) = (self.roles, self.roles.reading);
        let session = reading.session;
        let call = session.call(ix);
        let made = session.entry(call.event);
        let result = call.last_result().map(|event| session.entry(event));
        // The calls of one message share its `extra`, which then belongs to none of them.
        let mut extra = match made.calls().count() {
            1 => roles.extra(made)?,
            _ => Map::new(),
        };
        let mut of_result = result.map(|it| roles.extra(it)).transpose()?.unwrap_or_default();
        let text = result.map(|it| reading.text(it)).transpose()?.unwrap_or_default();
        let mut object = Object::new(String::new(), self.origin);
        object.set("call_id", roles.call_id(ix));
        self.tool(&mut object, ix)?;
        self.times(&mut object, ix, &mut extra);
        let input = self.input(&object, ix, extra.remove("input"))?;
        object.set("input", input);
        let said = of_result.remove("output").or_else(|| extra.remove("output"));
        let output = self.output(&object, ix, said, &text)?;
        object.set("output", output);
        self.contribution(&mut object, ix, &text, &mut extra)?;
        self.subagent(&mut object, ix, result, &mut extra)?;
        if Some(call.agent) != self.roles.main && self.roles.sub_of(call.agent).is_none() {
            object.set("agent_id", session.agent_id(call.agent));
        }
        object.rest_of::<ToolCall>(extra);
        object.rest_of::<ToolCall>(of_result);
        Ok(object.value())
    }

    /// Writes the tool's name and category. In STD-008 a call that starts an agent is a `Task`
    /// call, whatever name the agent's program uses.
    fn tool(&self, object: &mut Object<'_>, ix: CallIx) -> Result<(), BodyError> {
        let (roles, session) = (self.roles, self.roles.reading.session);
        let tool = session.tool_name(ix);
        let starts_agent = roles.sent_by(ix).is_some();
        if starts_agent && self.standard == Standard::Std008 && tool != "Task" {
            self.origin.keep(&object.below("tool_name"), tool.into());
            object.derive("tool_name", "Task");
        } else {
            object.set("tool_name", tool);
        }
        let recorded = session.call_category(ix);
        let known = category(roles.reading, ix)?;
        if let (Some(word), Some(category)) = (recorded, known)
            && word == category.as_str()
        {
            object.set("tool_category", word);
            return Ok(());
        }
        if let Some(other) = recorded {
            self.origin.keep(&object.below("tool_category"), other.into());
        }
        let category = match known {
            Some(category) => category,
            None if starts_agent => Category::Interaction,
            None => tool_kind::guess(tool),
        };
        object.derive("tool_category", category.as_str());
        Ok(())
    }

    /// Writes when the call began and ended. A call without a result ends when it began; one
    /// without a time takes the last time recorded before it.
    fn times(&self, object: &mut Object<'_>, ix: CallIx, extra: &mut Map<String, Value>) {
        let (roles, session) = (self.roles, self.roles.reading.session);
        let call = session.call(ix);
        let result = call.last_result().map(|event| session.entry(event));
        let began = session.call_started_at(ix);
        let ended = roles.ended_at(ix);
        let took = result.and_then(Entry::duration_ms);
        let started = began.or(ended).or_else(|| roles.time_before(ix)).or(self.begun);
        if !spelled(object, "started_at", began, extra) {
            object.derive("started_at", started.map_or(NO_TIME.to_owned(), Timestamp::to_short));
        }
        if !spelled(object, "ended_at", ended, extra) {
            let after = started.map(|at| later(at, took));
            object.derive("ended_at", after.map_or(NO_TIME.to_owned(), Timestamp::to_short));
        }
        let other = extra.remove("duration_ms");
        match (took, other.filter(is_duration)) {
            (Some(millis), _) => object.set("duration_ms", millis),
            // A recorded duration that is not a whole number.
            (None, Some(spelling)) => object.set("duration_ms", spelling),
            (None, None) => {
                let took = started.zip(ended).map(|(started, ended)| ended.since(started));
                let took = took.and_then(|millis| u64::try_from(millis).ok());
                object.derive("duration_ms", took.unwrap_or(0));
            }
        }
    }

    fn input(
        &self,
        call: &Object<'_>,
        ix: CallIx,
        extra: Option<Value>,
    ) -> Result<Value, BodyError> {
        let session = self.roles.reading.session;
        let mut input = Object::new(call.below("input"), self.origin);
        let given = session.call(ix).arguments;
        let mut arguments = match given.is_none() {
            true => None,
            false => Some(self.roles.value(given)?),
        };
        // In the log, arguments are a string that contains JSON.
        if let Some(Value::String(text)) = &arguments
            && let Ok(inner) = serde_json::from_str(text)
        {
            arguments = Some(inner);
        }
        let params = match arguments {
            Some(Value::Object(params)) => params,
            Some(Value::Null) | None => Map::new(),
            Some(other) => {
                let mut params = Map::new();
                self.origin.keep(&input.below("params"), other.clone());
                params.insert("input".to_owned(), other);
                params
            }
        };
        let own = params.get("description").and_then(Value::as_str).map(str::to_owned);
        input.set("params", params);
        match (session.call_description(ix), own) {
            (Some(description), _) => input.set("description", description),
            (None, Some(description)) if !self.is_document() => {
                input.derive("description", description);
            }
            (None, _) => {}
        }
        match session.raw_command(ix) {
            Some(command) => input.set("raw_command", command),
            None if self.is_document() => {}
            None => {
                if let Some(command) = display::command(session.tool_name(ix), &input.members) {
                    input.derive("raw_command", command);
                }
            }
        }
        if let Some(Value::Object(extra)) = extra {
            input.rest_of::<CallInput>(extra);
        }
        Ok(input.value())
    }

    /// Whether the session was read from a document, in which case it is written with the same
    /// members and no others.
    fn is_document(&self) -> bool {
        self.roles.is_document
    }

    fn output(
        &self,
        call: &Object<'_>,
        ix: CallIx,
        extra: Option<Value>,
        text: &str,
    ) -> Result<Value, BodyError> {
        let session = self.roles.reading.session;
        let mut output = Object::new(call.below("output"), self.origin);
        let mut extra = match extra {
            Some(Value::Object(extra)) => extra,
            Some(other) => {
                self.origin.keep(&output.pointer, other);
                Map::new()
            }
            None => Map::new(),
        };
        if let Some(word) = extra.remove("status") {
            self.origin.keep(&output.below("status"), word);
        }
        let Some(result) = session.call(ix).last_result().map(|event| session.entry(event)) else {
            // The standard has no word for a call without a result.
            output.set("status", "failed");
            output.set("error", "no result was recorded");
            self.origin.derived(&output.pointer);
            output.rest_of::<CallOutput>(extra);
            return Ok(output.value());
        };
        output.set("status", if result.is_error() { "failed" } else { "success" });
        let structured = self.roles.detail(result, Detail::Result)?;
        let mut members = match structured {
            Some(Value::Object(members)) => Some(members),
            Some(other) => {
                self.origin.keep(&output.below("result"), other);
                None
            }
            None => None,
        };
        if result.is_error() {
            if !text.is_empty() {
                output.set("error", text);
            }
        } else if self.is_document() || extra.contains_key("error") {
            if !text.is_empty() {
                members.get_or_insert_default().insert("display".to_owned(), text.into());
            }
        } else {
            let shown = display::result(session.tool_name(ix), text, members.as_ref());
            members.get_or_insert_default().insert("display".to_owned(), shown.into());
            self.origin.derived(&format!("{}/result/display", output.pointer));
        }
        output.set_some("result", members);
        output.rest_of::<CallOutput>(extra);
        Ok(output.value())
    }

    fn contribution(
        &self,
        object: &mut Object<'_>,
        ix: CallIx,
        text: &str,
        extra: &mut Map<String, Value>,
    ) -> Result<(), BodyError> {
        let name = "context_contribution";
        let session = self.roles.reading.session;
        let result = session.call(ix).last_result().map(|event| session.entry(event));
        let of_result = result.map(|it| self.roles.detail(it, Detail::ContextContribution));
        let recorded = of_result.transpose()?.flatten().or_else(|| extra.remove(name));
        match recorded {
            Some(value) if fits::<ContextContribution>(&value) => object.set(name, value),
            Some(Value::String(text)) => {
                let mut whole = Map::new();
                whole.insert("type".to_owned(), "knowledge".into());
                whole.insert("summary".to_owned(), text.clone().into());
                self.origin.keep(&object.below(name), text.into());
                object.set(name, whole);
            }
            Some(other) => self.origin.keep(&object.below(name), other),
            None if self.is_document() => {}
            None => {
                if let Some(derived) = contribution(self.roles.reading, ix, text)? {
                    object.derive(name, derived);
                }
            }
        }
        Ok(())
    }

    fn subagent(
        &self,
        object: &mut Object<'_>,
        ix: CallIx,
        result: Option<Entry<'_>>,
        extra: &mut Map<String, Value>,
    ) -> Result<(), BodyError> {
        let name = "subagent_info";
        let of_result = result.map(|it| self.roles.detail(it, Detail::SubagentInfo));
        let recorded = of_result.transpose()?.flatten().or_else(|| extra.remove(name));
        let sub = self.roles.sent_by(ix);
        let mut recorded = match recorded {
            Some(Value::Object(members)) => members,
            Some(other) => {
                self.origin.keep(&object.below(name), other);
                Map::new()
            }
            None => Map::new(),
        };
        if sub.is_none() && recorded.is_empty() {
            return Ok(());
        }
        let mut info = Object::new(object.below(name), self.origin);
        self.link(&mut info, sub, &mut recorded);
        let agent = sub.and_then(|sub| sub.agent);
        let facts = agent.map(|agent| self.roles.reading.session.agent(agent));
        let kind = facts.and_then(|agent| agent.agent_type());
        let kind = kind.or(sub.and_then(|sub| sub.wanted.as_deref())).unwrap_or("agent");
        missing(&mut info, &mut recorded, "subagent_type", Value::is_string, kind);
        let calls = sub.map_or(0, |sub| sub.calls.len());
        missing(&mut info, &mut recorded, "tool_uses", Value::is_u64, calls);
        if let Some(sub) = sub.filter(|_| !self.is_document()) {
            let session = self.roles.reading.session;
            let tokens = agent.map_or(0, |agent| self.roles.tokens_of(agent));
            if tokens > 0 {
                missing(&mut info, &mut recorded, "tokens_used", Value::is_u64, tokens);
            }
            if calls > 0 && !recorded.contains_key("tools_breakdown") {
                info.derive("tools_breakdown", breakdown(session, &sub.calls));
            }
        }
        info.rest_of::<SubagentInfo>(recorded);
        let whole = info.value();
        object.set(name, whole);
        Ok(())
    }

    /// A call and its sub-session name each other; a sub-session that does not exist is not named.
    fn link(
        &self,
        info: &mut Object<'_>,
        sub: Option<&super::roles::Sub>,
        recorded: &mut Map<String, Value>,
    ) {
        if self.standard == Standard::Std001 {
            return;
        }
        let named = recorded.remove("sub_session_id");
        match sub {
            Some(sub) if named.as_ref().and_then(Value::as_str) == Some(&sub.id) => {
                info.set("sub_session_id", sub.id.as_str());
            }
            sub => {
                if let Some(other) = named {
                    self.origin.keep(&info.below("sub_session_id"), other);
                }
                if let Some(sub) = sub {
                    info.derive("sub_session_id", sub.id.as_str());
                }
            }
        }
    }
}

/// A time some milliseconds later; unchanged if the number is implausibly large for a call.
fn later(at: Timestamp, millis: Option<u64>) -> Timestamp {
    const MOST: i64 = 366 * 24 * 3600 * 1000;
    let millis = millis.and_then(|it| i64::try_from(it).ok()).filter(|it| *it <= MOST);
    Timestamp::from_millis(at.as_millis().saturating_add(millis.unwrap_or(0)))
}

/// How often each tool was called, in the order of first use.
fn breakdown(session: &antiphon_model::Session, calls: &[CallIx]) -> Value {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for &call in calls {
        let tool = session.tool_name(call);
        match counts.iter_mut().find(|(name, _)| *name == tool) {
            Some((_, count)) => *count += 1,
            None => counts.push((tool, 1)),
        }
    }
    let rows = counts.into_iter().map(|(tool, count)| {
        let mut row = Map::new();
        row.insert("tool_name".to_owned(), tool.into());
        row.insert("count".to_owned(), count.into());
        Value::Object(row)
    });
    rows.collect::<Vec<_>>().into()
}

/// When a call began and ended, if that is known.
pub(super) fn interval(roles: &Roles<'_>, ix: CallIx) -> Option<(Timestamp, Timestamp)> {
    let session = roles.reading.session;
    session.call(ix).last_result()?;
    let started = session.call_started_at(ix)?;
    Some((started, roles.ended_at(ix)?.max(started)))
}
