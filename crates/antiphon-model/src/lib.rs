//! The vocabulary that every part of Antiphon shares, and the fold from events to a session.
//!
//! Two halves. An [`Event`] is one fact, borrowed from its line; a [`Session`] is the result of all
//! facts so far: agents, transcripts, calls with their results, utterances and links.
//! `Session::apply` takes one event at a time, so a live view follows a log as it grows.
//!
//! This crate does no I/O, reads no clock and uses no randomness: the same events give the same
//! session on any machine.

mod arguments;
mod body;
mod content;
mod event;
mod hostile;
mod id;
pub mod json;
mod link;
mod moment;
mod problem;
mod range;
mod reading;
mod session;
mod status;
mod time;
mod usage;
mod vocabulary;
mod workers;
mod zone;

pub use arguments::{Arguments, short_arguments};
pub use body::{Bodies, Body, BodyError, MemoryBodies, Place};
pub use content::{is_blank, plain_text};
pub use event::{
    Agent as AgentCreated, AgentEnded, Annotation, ContextEdited, Event, EventKind, Fragment, Line,
    Loss, Message, Printed, RunStatus, SessionEnded, SessionStarted, ToolCall, Unknown, decode,
};
pub use hostile::is_dangerous;
pub use id::{AgentId, AgentIx, CallId, CallIx, EventIx, MessageId, SessionId};
pub use json::Json;
pub use link::{Basis, Link, LinkKind, Rule};
pub use moment::{NotAMoment, parse_moment};
pub use problem::{Problem, ProblemKind, Severity};
pub use range::TimeRange;
pub use reading::{AgentNotFound, MessageNotFound, Reading};
pub use session::{
    Agent, Call, ContextEdit, Detail, Entry, EntryKind, Info, MessageRef, Parent, Selection,
    Session, Source,
};
pub use status::{Activity, Standing, Status, StatusFacts, StatusRule};
pub use time::Timestamp;
pub use usage::Usage;
pub use vocabulary::{ContextAction, Role};
pub use workers::{on_every_processor, on_processors};
pub use zone::{Span, Zone};
