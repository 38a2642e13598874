//! What sums over many sessions count of a call: the tool, how it went, how long it took, and how
//! much its output put into the context.

use antiphon_model::{CallIx, Entry, Timestamp};

use crate::calls::{Delegations, call_duration, has_failed};
use crate::failure_text::failure_group;
use crate::request::{line_of, model_of, thread};
use crate::shell::{Script, is_shell};
use crate::{Reading, tokens};

/// A call, as it is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFacts<'s> {
    pub identity: CallIdentity<'s>,
    pub at: Option<Timestamp>,
    pub tool: &'s str,
    /// The program that a shell ran, with its subcommand: `cargo test`.
    pub command: Option<String>,
    /// The model that made the call.
    pub model: Option<&'s str>,
    /// The group of its failure, if it failed.
    pub error: Option<String>,
    pub duration_ms: Option<u64>,
    /// How many tokens its output has; estimated.
    pub output_tokens: u64,
}

/// Identifies a call in every session that contains it, such as forks and copies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallIdentity<'s> {
    /// The id that the service gave the request whose answer made the call.
    Service { request: &'s str, call: &'s str },
    /// Without one: the session, the message and its time.
    Message { session: &'s str, message: &'s str, at: Option<Timestamp>, call: &'s str },
    /// Without either: the position, which identifies it in this session only.
    Position(usize),
}

impl<'s> CallIdentity<'s> {
    fn of(own_id: Option<&'s str>, made: Entry<'s>, call: &'s str, ix: CallIx) -> Self {
        match (made.request_id(), own_id) {
            (Some(request), _) => Self::Service { request, call },
            (None, Some(session)) => {
                let (session, message) = match line_of(made) {
                    Some(line) => (thread(made).unwrap_or(session), line),
                    None => (session, made.id()),
                };
                Self::Message { session, message, at: made.at(), call }
            }
            (None, None) => Self::Position(ix.index()),
        }
    }
}

/// Every call of a session, in the order of the log. What cannot be read counts as empty.
pub fn call_facts<'s>(reading: &Reading<'s>) -> Vec<CallFacts<'s>> {
    let session = reading.session;
    let own_id = session.info().session_id.as_deref();
    let delegations = Delegations::of(session);
    let facts = session.calls().map(|(ix, call)| {
        let made = session.entry(call.event);
        let tool = session.tool_name(ix);
        let duration = call_duration(reading, &delegations, ix);
        CallFacts {
            identity: CallIdentity::of(own_id, made, session.call_id(ix), ix),
            at: session.call_started_at(ix),
            tool,
            command: is_shell(tool).then(|| command(reading, ix)),
            model: model_of(made, made.model()),
            error: has_failed(reading, ix).then(|| error(reading, ix)),
            duration_ms: duration.and_then(|(millis, _)| u64::try_from(millis).ok()),
            output_tokens: output_tokens(reading, ix),
        }
    });
    facts.collect()
}

fn command(reading: &Reading<'_>, ix: CallIx) -> String {
    let script = Script::of(reading, ix).ok().flatten();
    let name = script.and_then(|script| script.command_name());
    name.unwrap_or_else(|| "(unknown)".to_owned())
}

fn error(reading: &Reading<'_>, ix: CallIx) -> String {
    let results = reading.session.results(ix).map(|event| reading.session.entry(event));
    let failed = results.filter(|entry| entry.is_error()).last();
    failure_group(&failed.and_then(|entry| reading.text(entry).ok()).unwrap_or_default())
}

/// The tokens that the results of a call put into the context; estimated.
pub(crate) fn output_tokens(reading: &Reading<'_>, ix: CallIx) -> u64 {
    let results = reading.session.results(ix).map(|event| reading.session.entry(event));
    let places = results.flat_map(Entry::contents);
    places.map(|place| tokens::of_place(reading, place).unwrap_or_default()).sum()
}
