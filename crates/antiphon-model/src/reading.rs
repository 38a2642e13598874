//! A session with its bodies: the input of every view and every writer.

use std::borrow::Cow;

use crate::{
    Agent, AgentIx, Bodies, BodyError, Call, Detail, Entry, EntryKind, EventIx, EventKind, Line,
    Link, MessageRef, Place, Session, Source, decode, json, plain_text, short_arguments,
};

/// A session whose texts can be read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub session: &'a Session,
    pub bodies: &'a dyn Bodies,
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reading({} events)", self.session.len())
    }
}

/// Why `--agent` means no agent, or more than one.
#[derive(Debug, PartialEq, Eq)]
pub enum AgentNotFound {
    Unknown { known: Vec<String> },
    Ambiguous { ids: Vec<String> },
}

/// Why a word names no message, or more than one.
#[derive(Debug, PartialEq, Eq)]
pub enum MessageNotFound {
    Unknown,
    /// The ids that begin with it, as many as are worth naming.
    Ambiguous {
        ids: Vec<String>,
    },
}

impl<'a> Reading<'a> {
    /// The message that a person means: by its id, or by the beginning of its id.
    pub fn message(&self, wanted: &str) -> Result<Entry<'a>, MessageNotFound> {
        const NAMED: usize = 8;
        if let Some(entry) = self.session.find(wanted) {
            return Ok(entry);
        }
        let begins = |entry: &Entry<'_>| !wanted.is_empty() && entry.id().starts_with(wanted);
        let mut ids: Vec<&str> = Vec::new();
        for entry in self.session.entries().filter(begins) {
            if !ids.contains(&entry.id()) {
                ids.push(entry.id());
            }
            if ids.len() == NAMED {
                break;
            }
        }
        match ids.as_slice() {
            [id] => self.session.find(id).ok_or(MessageNotFound::Unknown),
            [] => Err(MessageNotFound::Unknown),
            ids => {
                let ids = ids.iter().map(|&id| id.to_owned()).collect();
                Err(MessageNotFound::Ambiguous { ids })
            }
        }
    }

    /// The agent that a person means: by id, by name, or by name in another letter case.
    pub fn agent(&self, wanted: &str) -> Result<AgentIx, AgentNotFound> {
        if let Some(agent) = self.session.find_agent(wanted) {
            return Ok(agent);
        }
        let named = |is_it: &dyn Fn(&str) -> bool| -> Vec<AgentIx> {
            let agents = self.session.agents();
            agents.filter(|(ix, _)| is_it(self.session.agent_name(*ix))).map(|(ix, _)| ix).collect()
        };
        let mut found = named(&|name| name == wanted);
        if found.is_empty() {
            found = named(&|name| name.to_lowercase() == wanted.to_lowercase());
        }
        match found.as_slice() {
            [agent] => Ok(*agent),
            [] => {
                let names = self.session.agents().map(|(ix, _)| self.session.agent_name(ix));
                Err(AgentNotFound::Unknown { known: names.map(Into::into).collect() })
            }
            several => {
                let ids = several.iter().map(|&ix| self.session.agent_id(ix).to_owned());
                Err(AgentNotFound::Ambiguous { ids: ids.collect() })
            }
        }
    }

    /// The text of an entry, for a person.
    pub fn text(&self, entry: Entry<'_>) -> Result<String, BodyError> {
        let mut text = String::new();
        for place in entry.contents() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&self.place_text(place)?);
        }
        if text.is_empty()
            && let Some(kind) = entry.message_type()
        {
            text = self.message_summary(entry, kind)?;
        }
        Ok(text)
    }

    /// A message between agents without text: its type, and the beginning of its payload.
    fn message_summary(&self, entry: Entry<'_>, kind: &str) -> Result<String, BodyError> {
        let Some(place) = entry.detail(Detail::Payload) else { return Ok(kind.to_owned()) };
        let payload = self.bodies.read(place)?;
        let words = |object: &str, names: &[&str]| {
            let mut found = names.iter().filter_map(|name| json::member(object, name));
            found.find_map(json::text).map(Cow::into_owned)
        };
        let said = ["summary", "content", "subject", "reason", "current_step", "description"];
        let of_task =
            || words(json::member(&payload, "task")?, &["task_description", "description"]);
        let fallback = || words(&payload, &["verdict", "status", "task_id", "review_id"]);
        Ok(match words(&payload, &said).or_else(of_task).or_else(fallback) {
            Some(words) => format!("{kind}: {words}"),
            None => kind.to_owned(),
        })
    }

    /// The text at a place.
    pub fn place_text(&self, place: Place) -> Result<String, BodyError> {
        let raw = self.bodies.read(place)?;
        Ok(plain_text(&raw).into_owned())
    }

    /// The entry's line, as it is in the log.
    pub fn line(&self, entry: Entry<'_>) -> Result<String, BodyError> {
        self.bodies.read(entry.line())
    }

    /// A call as a person writes it: `task(name: "Jack")`.
    pub fn call_text(&self, tool: &str, call: &Call) -> Result<String, BodyError> {
        if call.arguments.is_none() {
            return Ok(format!("{tool}()"));
        }
        let raw = self.bodies.read(call.arguments)?;
        Ok(format!("{tool}({})", short_arguments(&raw)))
    }

    /// What an entry says or does, in words: its text and its calls; for other events, their
    /// subject.
    pub fn description(&self, entry: Entry<'_>) -> Result<String, BodyError> {
        if entry.role().is_none() && entry.kind() != EntryKind::Fragment {
            return self.subject(entry);
        }
        let mut words = self.text(entry)?;
        if entry.kind() == EntryKind::Fragment
            && let Some(times) = self.times_printed(entry, &words)?
        {
            words.push_str(&format!(" (printed {times} times in a row)"));
        }
        for (ix, call) in entry.calls() {
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(&self.call_text(self.session.tool_name(ix), call)?);
        }
        Ok(words)
    }

    /// How often in a row a recorded command printed this line, if its event says so.
    fn times_printed(&self, entry: Entry<'_>, text: &str) -> Result<Option<u64>, BodyError> {
        if text.contains('\n') {
            return Ok(None);
        }
        let line = self.line(entry)?;
        Ok(json::member(&line, "times").and_then(|times| times.parse().ok()))
    }

    /// The subject of an event that is in no transcript.
    fn subject(&self, entry: Entry<'_>) -> Result<String, BodyError> {
        let info = self.session.info();
        let agent = entry.agent_info();
        let word = match entry.kind() {
            EntryKind::AgentCreated => agent.and_then(Agent::agent_type),
            EntryKind::AgentEnded => agent.and_then(Agent::status),
            EntryKind::SessionStarted => info.title.as_deref(),
            EntryKind::SessionEnded => info.outcome.as_deref(),
            EntryKind::ContextEdited => entry.edit().map(|edit| edit.action.as_str()),
            EntryKind::Unknown => entry.event_type(),
            EntryKind::RunStatus | EntryKind::Gap | EntryKind::Recovered => {
                return self.line_summary(entry);
            }
            EntryKind::Annotation => return self.annotation_text(entry),
            EntryKind::Message(_) | EntryKind::Fragment => None,
        };
        Ok(word.unwrap_or_default().to_owned())
    }

    /// The phase that an annotation names, or its note.
    fn annotation_text(&self, entry: Entry<'_>) -> Result<String, BodyError> {
        let Some(place) = entry.content() else { return Ok(String::new()) };
        let object = self.bodies.read(place)?;
        let words = ["phase_type", "note"].iter().find_map(|name| json::member(&object, name));
        Ok(words.and_then(json::text).map(Cow::into_owned).unwrap_or_default())
    }

    /// A summary of what only the line itself says. These events occur in logs only.
    fn line_summary(&self, entry: Entry<'_>) -> Result<String, BodyError> {
        let text = self.line(entry)?;
        let line = Line::new(&text, entry.line_number(), entry.line());
        let Ok(event) = decode(&line) else { return Ok(String::new()) };
        let words = match &event.kind {
            EventKind::RunStatus(run) => [run.title.as_deref(), run.status.as_deref()],
            EventKind::Gap(loss) | EventKind::Recovered(loss) => [loss.reason.as_deref(), None],
            EventKind::Message(_)
            | EventKind::AgentCreated(_)
            | EventKind::AgentEnded(_)
            | EventKind::SessionStarted(_)
            | EventKind::SessionEnded(_)
            | EventKind::ContextEdited(_)
            | EventKind::Fragment(_)
            | EventKind::Annotation(_)
            | EventKind::Unknown(_) => [None; 2],
        };
        Ok(words.into_iter().flatten().collect::<Vec<_>>().join(": "))
    }

    /// The sender of a message, if that is another agent.
    pub fn sender(&self, entry: Entry<'_>) -> Option<AgentIx> {
        let by_source = match entry.source() {
            Source::Agent(agent) => Some(agent),
            Source::Own | Source::External | Source::System => None,
        };
        // Some dialects name the utterance and not its speaker.
        let by_words = || match entry.utterance_ref() {
            Some(MessageRef::Event(said)) => self.session.entry(said).agent(),
            Some(MessageRef::Dangling(_)) | None => None,
        };
        by_source.or_else(by_words).filter(|&sender| Some(sender) != entry.agent())
    }

    /// The links that lead to an entry, among all links of the session.
    pub fn links_to<'l>(
        &self,
        links: &'l [Link<'a>],
        entry: Entry<'_>,
    ) -> impl Iterator<Item = &'l Link<'a>> + use<'l, 'a> {
        let event = entry.ix();
        let start = links.partition_point(|link| link.to < event);
        links.get(start..).unwrap_or_default().iter().take_while(move |link| link.to == event)
    }

    pub fn id_of(&self, reference: MessageRef<'a>) -> &'a str {
        match reference {
            MessageRef::Event(event) => self.session.entry(event).id(),
            MessageRef::Dangling(id) => id,
        }
    }

    pub fn agent_id_of(&self, event: EventIx) -> Option<&'a str> {
        self.session.entry(event).agent().map(|agent| self.session.agent_id(agent))
    }
}
