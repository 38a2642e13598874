//! The calls that failed.

use antiphon_model::{BodyError, CallIx, Timestamp};
use serde::Serialize;

use crate::Reading;
use crate::call_subject::call_subject;
use crate::calls::has_failed;

/// A call whose result is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedCall {
    /// The id of the call.
    pub call_id: String,
    /// The tool that was called.
    pub tool_name: String,
    /// What the call was about: the command of a shell, the path of a file, or its arguments in
    /// short.
    pub text: String,
    /// What its result says.
    pub error: String,
    /// The id of the agent that made the call.
    pub agent_id: String,
    /// The id of the message that made the call.
    pub message_id: String,
    /// When the call was made.
    pub timestamp: Option<Timestamp>,
}

/// How lines begin that some agents put before what a command printed.
const PREAMBLE: [&str; 6] =
    ["Chunk ID:", "Wall time:", "Original token count:", "Output:", "Exit code:", "Command:"];

impl FailedCall {
    /// What went wrong, without what the agent's program says about every command.
    pub fn gist(&self) -> &str {
        let mut rest = self.error.trim();
        while let Some(line) = rest.lines().next()
            && PREAMBLE.iter().any(|begin| line.trim_start().starts_with(begin))
        {
            rest = rest.get(line.len()..).unwrap_or_default().trim_start();
        }
        if rest.is_empty() { self.error.trim() } else { rest }
    }
}

/// Every call that failed, in the order in which they were made.
pub fn failures(reading: &Reading<'_>) -> Result<Vec<FailedCall>, BodyError> {
    let failed = reading.session.calls().filter(|(ix, _)| has_failed(reading, *ix));
    failed.map(|(ix, _)| failure(reading, ix)).collect()
}

fn failure(reading: &Reading<'_>, ix: CallIx) -> Result<FailedCall, BodyError> {
    let session = reading.session;
    let call = session.call(ix);
    let mut errors = Vec::new();
    for entry in session.results(ix).map(|event| session.entry(event)) {
        if entry.is_error() {
            errors.push(reading.text(entry)?);
        }
    }
    Ok(FailedCall {
        call_id: session.call_id(ix).to_owned(),
        tool_name: session.tool_name(ix).to_owned(),
        text: call_subject(reading, ix)?,
        error: errors.join("\n"),
        agent_id: session.agent_id(call.agent).to_owned(),
        message_id: session.entry(call.event).id().to_owned(),
        timestamp: session.call_started_at(ix),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{call, read, result};

    #[test]
    fn only_what_failed_is_told_with_its_error() {
        let log = [
            call("a", "c1", "Bash", r#"{"command":"make"}"#, ""),
            result("a", "c1", r#","is_error":true"#),
            call("a", "c2", "Bash", r#"{"command":"make test"}"#, ""),
            result("a", "c2", ""),
            call("a", "c3", "Bash", r#"{"command":"sleep 9"}"#, ""),
        ];
        let told = read(&log, |reading| failures(reading).unwrap());
        let gist = |error: &str| {
            let call = FailedCall { error: error.to_owned(), ..told[0].clone() };
            call.gist().to_owned()
        };
        assert_eq!(
            gist("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno such file\n"),
            "no such file"
        );
        assert_eq!(gist("Exit code 101\ntest FAILED"), "Exit code 101\ntest FAILED");
        assert_eq!(gist("Exit code: 1\nOutput:\n"), "Exit code: 1\nOutput:");
        let told: Vec<_> =
            told.iter().map(|it| (&*it.call_id, &*it.text, &*it.error, &*it.message_id)).collect();
        assert_eq!(told, [("c1", "make", "ok", "a calls c1")]);
    }
}
