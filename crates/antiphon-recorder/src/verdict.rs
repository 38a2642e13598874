//! How a run went, from the command's exit status and the agent's own result.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

use antiphon_model::Timestamp;
use serde_json::Value;

use crate::event::{Figures, Reason};
use crate::frame::Exit;
use crate::transcript::Outcome;

pub(crate) struct Verdict {
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<Reason>,
    pub(crate) error: Option<String>,
}

/// The verdict on a command with this exit status, whose agent reported this result.
pub(crate) fn verdict(exit: Exit, result: Option<&Value>) -> Verdict {
    let says_error = result.is_some_and(|it| {
        let subtype = it["subtype"].as_str().unwrap_or_default();
        it["is_error"] == true || subtype.starts_with("error")
    });
    if exit.code == Some(0) && !says_error {
        return Verdict { outcome: Outcome::Completed, reason: None, error: None };
    }
    let (outcome, reason) = match exit {
        exit if exit.was_too_long => (Outcome::Cancelled, Reason::Timeout),
        exit if exit.was_cancelled => (Outcome::Cancelled, Reason::Cancelled),
        _ => (Outcome::Failed, Reason::Error),
    };
    let own_words = result.filter(|_| says_error).and_then(|it| {
        let first = it["errors"][0].as_str().or(it["result"].as_str());
        first.or(it["subtype"].as_str()).map(str::to_owned)
    });
    let by_exit = || match (exit.code, exit.signal) {
        (Some(code), _) => Some(format!("the command exited with status {code}")),
        (None, Some(signal)) => Some(format!("the command was killed by signal {signal}")),
        (None, None) => None,
    };
    Verdict { outcome, reason: Some(reason), error: own_words.or_else(by_exit) }
}

/// The figures of the run, as far as the agent's result has them.
pub(crate) fn figures(
    exit: Exit,
    result: Option<&Value>,
    (begun, ended): (Timestamp, Timestamp),
) -> Figures {
    let none = Value::Null;
    let result = result.unwrap_or(&none);
    let took = u64::try_from(ended.since(begun)).ok();
    Figures {
        exit_code: exit.code,
        duration_ms: result["duration_ms"].as_u64().or(took),
        cost_usd: result["total_cost_usd"].as_f64(),
        turns: result["num_turns"].as_u64(),
        input_tokens: result["usage"]["input_tokens"].as_u64(),
        output_tokens: result["usage"]["output_tokens"].as_u64(),
    }
}
