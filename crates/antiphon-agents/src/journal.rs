//! The one place where events are written.
//!
//! While a session is resumed, the events of its unfinished turn lie on a tape. Running the turn
//! again meets them in the same order: what is on the tape is taken from there and not written, and
//! where the tape ends, life goes on. So no tool and no hook has code of its own for a resume.

use std::collections::VecDeque;

use antiphon_journal::{Ack, Draft, Error, Writer};
use antiphon_model::{
    AgentCreated, Body, Event, EventKind, Fragment, Json, Message, SessionEnded, SessionStarted,
    Timestamp, ToolCall, Usage,
};

use crate::past::{INTERRUPTED, Recorded, THINKING, What};
use crate::transcript::{Entry, ToolResult};

/// Where events go.
#[derive(Debug)]
pub(crate) struct Journal {
    writer: Writer,
    tape: VecDeque<Recorded>,
    /// Whether anything was written since the session last ended.
    has_news: bool,
    /// Whether anything was written by this process.
    has_written: bool,
}

/// Something that could not be written, or that the tape has otherwise.
#[derive(Debug)]
pub(crate) enum NotWritten {
    Log(Error),
    /// The tape has something else here: what was recorded is no turn of ours.
    Diverged,
}

impl From<Error> for NotWritten {
    fn from(error: Error) -> Self {
        Self::Log(error)
    }
}

/// A message that is about to enter a transcript.
#[derive(Debug, Default)]
pub(crate) struct NewMessage<'a> {
    /// An agent's id, `external` or `system`.
    pub(crate) source: Option<&'a str>,
    pub(crate) utterance_ref: Option<&'a str>,
    pub(crate) cause: &'a [String],
    pub(crate) model: Option<&'a str>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) duration_ms: Option<u64>,
}

/// An agent that is about to be made.
#[derive(Debug)]
pub(crate) struct NewAgent<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) parent: Option<&'a str>,
    pub(crate) call_id: Option<&'a str>,
    pub(crate) is_hook: bool,
}

impl Journal {
    pub(crate) fn new(writer: Writer) -> Self {
        Self { writer, tape: VecDeque::new(), has_news: false, has_written: false }
    }

    pub(crate) fn set_tape(&mut self, events: Vec<Recorded>) {
        self.tape = events.into();
    }

    /// Whether the log has nothing more to say: what happens now happens for the first time.
    pub(crate) fn is_live(&self) -> bool {
        self.tape.is_empty()
    }

    pub(crate) fn has_written(&self) -> bool {
        self.has_written
    }

    /// The next event of the tape.
    pub(crate) fn next(&self) -> Option<&Recorded> {
        self.tape.front()
    }

    pub(crate) fn session_id(&self) -> Option<String> {
        self.writer.session_id()
    }

    fn append(&mut self, event: &Event<'_>) -> Result<String, NotWritten> {
        let draft = Draft::from_event(event).map_err(Error::from)?;
        let Ack { message_id, .. } = self.writer.append(&draft)?;
        (self.has_news, self.has_written) = (true, true);
        Ok(message_id.as_str().to_owned())
    }

    /// Takes the next event from the tape, if it is what should come now. `None` where the tape is
    /// over.
    fn recorded(
        &mut self,
        is_it: impl FnOnce(&Recorded) -> bool,
    ) -> Result<Option<Recorded>, NotWritten> {
        match self.tape.front() {
            None => Ok(None),
            Some(next) if is_it(next) => Ok(self.tape.pop_front()),
            Some(_) => Err(NotWritten::Diverged),
        }
    }

    /// Writes an entry of a transcript; gives its id, and the entry as the log has it.
    pub(crate) fn message(
        &mut self,
        agent: &str,
        entry: Entry,
        new: &NewMessage<'_>,
    ) -> Result<(String, Entry), NotWritten> {
        let is_it = |recorded: &Recorded| match &recorded.what {
            What::Message { entry: old, source, .. } => {
                recorded.agent == agent
                    && old.role() == entry.role()
                    && call_of(old) == call_of(&entry)
                    && source.as_deref() == new.source
            }
            What::Created { .. } | What::Fragment => false,
        };
        if let Some(Recorded { id, what: What::Message { entry, .. }, .. }) =
            self.recorded(is_it)?
        {
            return Ok((id, entry));
        }
        let id = self.write_message(agent, &entry, new)?;
        Ok((id, entry))
    }

    fn write_message(
        &mut self,
        agent: &str,
        entry: &Entry,
        new: &NewMessage<'_>,
    ) -> Result<String, NotWritten> {
        let content = entry.content().to_json();
        let (mut arguments, mut reasoning, mut extra) = (Vec::new(), None, None);
        if let Entry::Assistant(answer) = entry {
            arguments = answer.calls.iter().map(|call| Json::text(&call.arguments)).collect();
            reasoning = answer.reasoning.as_deref().map(Json::text);
            extra = answer.thinking.as_ref().map(|blocks| object(THINKING, blocks));
        }
        let mut message = Message::new(agent, entry.role());
        // What a tool gave back, and what somebody said, is text even if it is empty.
        let blank = Json::text("");
        message.content = content.as_ref().map(Body::of);
        match entry {
            Entry::Assistant(answer) => {
                let calls = answer.calls.iter().zip(&arguments);
                message.tool_calls = calls
                    .map(|(call, it)| ToolCall::new(&*call.id, &*call.name, Some(it)))
                    .collect();
                if answer.calls.is_empty() && message.content.is_none() {
                    message.content = Some(Body::of(&blank));
                }
            }
            Entry::Result(result) => {
                let ToolResult { call_id, tool, is_error, .. } = &**result;
                message.tool_call_id = Some(call_id.into());
                message.name = tool.as_deref().map(Into::into);
                message.is_error = is_error.then_some(true);
                message.content = message.content.or(Some(Body::of(&blank)));
            }
            Entry::System(_) | Entry::User(_) => {
                message.content = message.content.or(Some(Body::of(&blank)));
            }
        }
        message.reasoning = reasoning.as_ref().map(Body::of);
        message.source = new.source.map(Into::into);
        message.utterance_ref = new.utterance_ref.map(Into::into);
        message.cause = new.cause.iter().map(Into::into).collect();
        message.model = new.model.map(Into::into);
        message.request_id = new.request_id.map(Into::into);
        message.usage = new.usage;
        message.cost_usd = new.cost_usd;
        message.started_at = new.started_at;
        message.duration_ms = new.duration_ms;
        let mut event = Event::new(message);
        event.extra = extra.as_ref().map(Body::of);
        self.append(&event)
    }

    /// Writes that an agent was made; gives the id that it has in the log.
    pub(crate) fn agent(&mut self, new: &NewAgent<'_>) -> Result<String, NotWritten> {
        let is_it = |recorded: &Recorded| match &recorded.what {
            What::Created { name } => name.as_deref() == Some(new.name),
            What::Fragment | What::Message { .. } => false,
        };
        if let Some(recorded) = self.recorded(is_it)? {
            return Ok(recorded.agent);
        }
        let mut created = AgentCreated::new(new.id);
        created.name = Some(new.name.into());
        created.language_model = new.model.map(Into::into);
        created.parent_id = new.parent.map(Into::into);
        created.tool_call_id = new.call_id.map(Into::into);
        created.agent_type = new.is_hook.then(|| "hook".into());
        self.append(&Event::new(created))?;
        Ok(new.id.to_owned())
    }

    /// Writes words of an agent that stand in no transcript, because of a message.
    pub(crate) fn fragment(
        &mut self,
        agent: &str,
        text: &str,
        cause: &str,
    ) -> Result<String, NotWritten> {
        let is_it = |recorded: &Recorded| {
            recorded.agent == agent && matches!(recorded.what, What::Fragment)
        };
        if let Some(recorded) = self.recorded(is_it)? {
            return Ok(recorded.id);
        }
        let content = Json::text(text);
        let fragment = Fragment {
            agent: Some(agent.into()),
            content: Some(Body::of(&content)),
            cause: vec![cause.into()],
            printed: None,
        };
        self.append(&Event::new(fragment))
    }

    /// Writes what arrived of an answer that is none. It follows from nothing but chance, so it
    /// has no cause and no place in a turn that is run again.
    pub(crate) fn broken_answer(
        &mut self,
        agent: &str,
        text: &str,
        is_stopped: bool,
    ) -> Result<(), NotWritten> {
        let content = Json::text(text);
        let fragment = Fragment {
            agent: Some(agent.into()),
            content: Some(Body::of(&content)),
            ..Fragment::default()
        };
        let mut event = Event::new(fragment);
        let mark = Json::parse("true").map(|mark| object(INTERRUPTED, &mark)).ok();
        event.extra = mark.as_ref().filter(|_| is_stopped).map(Body::of);
        self.append(&event).map(drop)
    }

    pub(crate) fn started(&mut self, started: SessionStarted<'_>) -> Result<(), NotWritten> {
        self.append(&Event::new(started)).map(drop)
    }

    /// Writes how the session ended, unless nothing happened since it last did.
    pub(crate) fn ended(&mut self, ended: SessionEnded<'_>) -> Result<(), NotWritten> {
        if self.has_news {
            self.append(&Event::new(EventKind::from(ended)))?;
            self.has_news = false;
        }
        Ok(())
    }

    /// Counts a resumed session as one that did something, if it never said that it ended.
    pub(crate) fn owes_an_end(&mut self) {
        self.has_news = true;
    }

    pub(crate) fn close(self) -> Result<(), Error> {
        self.writer.close()
    }
}

fn call_of(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Result(result) => Some(&result.call_id),
        Entry::System(_) | Entry::User(_) | Entry::Assistant(_) => None,
    }
}

fn object(key: &str, value: &Json) -> Json {
    let mut members = antiphon_model::json::Members::default();
    members.json(key, value);
    members.to_json()
}
