//! One event: a fact, decoded from its line and borrowing from it.
//!
//! The envelope (ids, roles, links) is decoded; bodies (contents, arguments, results) stay raw. The
//! table of events and fields is in `docs/format.md`; [`wire`] knows their names, including those
//! of the seed project's dialects.

mod fingerprint;
mod make;
mod wire;
mod write;

use std::borrow::Cow;

use crate::{Body, ContextAction, Place, Problem, Role, Timestamp, Usage};

pub use wire::decode;

/// A decoded string; borrowed if the line contains it without escapes.
pub(crate) type Text<'a> = Cow<'a, str>;

/// A line of a source, as a reader passes it to a decoder.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    pub text: &'a str,
    /// From 1, within its stream.
    pub number: u64,
    pub place: Place,
    /// Where the members of the event end. What follows was checked by the reader.
    members_end: usize,
}

impl<'a> Line<'a> {
    pub fn new(text: &'a str, number: u64, place: Place) -> Self {
        Self { text, number, place, members_end: text.len() }
    }

    /// A line whose last `seal_bytes` bytes are a seal that was checked already: half of a short
    /// line, which need not be scanned again.
    pub fn sealed(text: &'a str, number: u64, place: Place, seal_bytes: usize) -> Self {
        Self { text, number, place, members_end: text.len().saturating_sub(seal_bytes) }
    }

    fn is_sealed(&self) -> bool {
        self.members_end < self.text.len()
    }

    /// The text up to the seal: an object without its end, if there is a seal.
    fn members(&self) -> &'a str {
        self.text.get(..self.members_end).unwrap_or(self.text)
    }

    /// The whole line, as a body.
    pub fn whole(&self) -> Body<'a> {
        self.body(self.text)
    }

    /// The body whose raw JSON is `part`, a slice of this line.
    pub fn body(&self, part: &'a str) -> Body<'a> {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        debug_assert!(start + part.len() <= self.text.len(), "a body is a part of its line");
        let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
        let offset = self.place.offset + start as u64;
        Body { json: part, place: Place { offset, len, ..self.place } }
    }
}

/// One fact of a session.
#[derive(Debug, Clone, Hash)]
pub struct Event<'a> {
    pub message_id: Option<Text<'a>>,
    pub at: Option<Timestamp>,
    pub line: u64,
    pub place: Place,
    pub kind: EventKind<'a>,
    /// Facts for which the log has no name: an object, kept verbatim.
    pub extra: Option<Body<'a>>,
    /// What was odd about the line without making it unreadable.
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, Hash)]
#[expect(clippy::large_enum_variant, reason = "most events are messages, and none is kept")]
pub enum EventKind<'a> {
    Message(Message<'a>),
    AgentCreated(Agent<'a>),
    AgentEnded(AgentEnded<'a>),
    SessionStarted(SessionStarted<'a>),
    SessionEnded(SessionEnded<'a>),
    RunStatus(RunStatus<'a>),
    ContextEdited(ContextEdited<'a>),
    Fragment(Fragment<'a>),
    Annotation(Annotation<'a>),
    /// What was lost: `gap`.
    Gap(Loss<'a>),
    /// What was found damaged when the log was opened: `recovered`.
    Recovered(Loss<'a>),
    Unknown(Unknown<'a>),
}

/// An entry in an agent's transcript (no `event_type`, or `transcript_entry`).
#[derive(Debug, Clone)]
pub struct Message<'a> {
    pub agent: Text<'a>,
    pub role: Role,
    pub content: Option<Body<'a>>,
    /// Further content, if a source keeps a message in several pieces.
    pub more_content: Vec<Body<'a>>,
    /// An agent's id, `external` or `system`.
    pub source: Option<Text<'a>>,
    /// The message whose words these are.
    pub utterance_ref: Option<Text<'a>>,
    pub tool_calls: Vec<ToolCall<'a>>,
    /// The call that this is a result of.
    pub tool_call_id: Option<Text<'a>>,
    /// The tool's name, on a result.
    pub name: Option<Text<'a>>,
    pub model: Option<Text<'a>>,
    pub request_id: Option<Text<'a>>,
    pub usage: Option<Usage>,
    /// Whether the source reports only a part of the request's tokens.
    pub usage_partial: bool,
    /// The cost of the request as the source itself declares it.
    pub cost_usd: Option<f64>,
    pub reasoning: Option<Body<'a>>,
    pub cause: Vec<Text<'a>>,
    /// The entry before this one, if that is not the line before (a branch).
    pub previous_id: Option<Text<'a>>,
    pub is_error: Option<bool>,
    pub started_at: Option<Timestamp>,
    pub duration_ms: Option<u64>,
    /// The result in structured form.
    pub result: Option<Body<'a>>,
    pub context_contribution: Option<Body<'a>>,
    pub subagent_info: Option<Body<'a>>,
    pub message_type: Option<Text<'a>>,
    pub payload: Option<Body<'a>>,
    pub correlation_id: Option<Text<'a>>,
    pub reply_to: Option<Text<'a>>,
}

/// One entry of `tool_calls`.
#[derive(Debug, Clone, Default, Hash)]
pub struct ToolCall<'a> {
    pub id: Text<'a>,
    pub name: Text<'a>,
    /// The arguments: JSON, or a string that contains JSON, or neither.
    pub arguments: Option<Body<'a>>,
    pub category: Option<Text<'a>>,
    pub description: Option<Text<'a>>,
    pub raw_command: Option<Text<'a>>,
    /// When it was made, if that is later than its message.
    pub started_at: Option<Timestamp>,
}

/// `agent_created`.
#[derive(Debug, Clone, Hash)]
pub struct Agent<'a> {
    pub agent: Text<'a>,
    pub name: Option<Text<'a>>,
    pub language_model: Option<Text<'a>>,
    pub parent_id: Option<Text<'a>>,
    /// The call that created the agent.
    pub tool_call_id: Option<Text<'a>>,
    pub cause: Vec<Text<'a>>,
    pub agent_type: Option<Text<'a>>,
    pub adapter_id: Option<Text<'a>>,
    pub flavor: Option<Text<'a>>,
    pub task: Option<Body<'a>>,
    /// The rule by which a reader inferred `parent_id` and `tool_call_id`; `None` if they were
    /// recorded.
    pub rule: Option<crate::Rule>,
}

/// `agent_ended`.
#[derive(Debug, Clone, Hash)]
pub struct AgentEnded<'a> {
    pub agent: Text<'a>,
    pub status: Option<Text<'a>>,
    pub output: Option<Body<'a>>,
    pub error: Option<Text<'a>>,
}

/// `session_started`.
#[derive(Debug, Clone, Default, Hash)]
pub struct SessionStarted<'a> {
    pub session_id: Option<Text<'a>>,
    pub format: Option<u64>,
    pub title: Option<Text<'a>>,
    pub prompt: Option<Text<'a>>,
    pub description: Option<Text<'a>>,
    pub cwd: Option<Text<'a>>,
    pub branch: Option<Text<'a>>,
    pub program: Option<Text<'a>>,
    pub version: Option<Text<'a>>,
    pub role: Option<Text<'a>>,
    pub spec_paths: Vec<Text<'a>>,
    pub issue: Option<Text<'a>>,
    pub run_id: Option<Text<'a>>,
    pub task_id: Option<Text<'a>>,
    /// The agents at the beginning of a session that a program of ours runs.
    pub cast: Option<Body<'a>>,
    /// Where the session branched off another: `{session_id, message_id}`.
    pub forked_from: Option<Body<'a>>,
}

/// `session_ended`.
#[derive(Debug, Clone, Default, Hash)]
pub struct SessionEnded<'a> {
    pub outcome: Option<Text<'a>>,
    pub reason: Option<Text<'a>>,
    pub error: Option<Text<'a>>,
    /// A summary as its author declared it.
    pub declared: Option<Body<'a>>,
}

/// `run_status`.
#[derive(Debug, Clone, Default, Hash)]
pub struct RunStatus<'a> {
    pub run_id: Option<Text<'a>>,
    pub status: Option<Text<'a>>,
    pub title: Option<Text<'a>>,
    pub feature_branch: Option<Text<'a>>,
    pub base_branch: Option<Text<'a>>,
}

/// `context_edited`, and the seed project's `transcript_edit`.
#[derive(Debug, Clone, Hash)]
pub struct ContextEdited<'a> {
    pub agent: Text<'a>,
    pub action: ContextAction,
    pub kept: Option<Body<'a>>,
    pub dropped: Option<Body<'a>>,
    /// How many of the first entries stay (`transcript_edit`).
    pub kept_first: Option<u64>,
    pub summary_ref: Option<Text<'a>>,
}

/// `fragment`: text that is in no transcript; or `output`, if a recorded command printed it.
#[derive(Debug, Clone, Default, Hash)]
pub struct Fragment<'a> {
    pub agent: Option<Text<'a>>,
    pub content: Option<Body<'a>>,
    pub cause: Vec<Text<'a>>,
    pub printed: Option<Printed<'a>>,
}

/// How a recorded command printed a fragment.
#[derive(Debug, Clone, Default, Hash)]
pub struct Printed<'a> {
    /// `stdout` or `stderr`.
    pub stream: Option<Text<'a>>,
    /// How often in a row, if more than once.
    pub times: Option<u64>,
    /// Whether it is a line of JSON (`record`) and not text (`content`).
    pub is_record: bool,
}

/// `annotation`: it points at calls, and never changes them.
#[derive(Debug, Clone, Hash)]
pub struct Annotation<'a> {
    /// The agent whose calls it is about; `None` for the session's.
    pub agent: Option<Text<'a>>,
    /// What it says: an object.
    pub annotation: Body<'a>,
}

/// `gap` and `recovered`.
#[derive(Debug, Clone, Default, Hash)]
pub struct Loss<'a> {
    pub count: Option<u64>,
    /// Lines that were copied although they are not as they were written.
    pub changed: Option<u64>,
    /// Lines that were written again, after a file could not be synced.
    pub rewritten: Option<u64>,
    pub reason: Option<Text<'a>>,
    pub damage: Option<Body<'a>>,
    /// From where on damage is counted and not listed: `{stream, offset}`.
    pub rest: Option<Body<'a>>,
}

/// An event of an unknown type, kept verbatim.
#[derive(Debug, Clone, Hash)]
pub struct Unknown<'a> {
    pub event_type: Text<'a>,
    pub agent: Option<Text<'a>>,
    /// The whole record.
    pub raw: Option<Body<'a>>,
}

#[cfg(test)]
mod tests;
