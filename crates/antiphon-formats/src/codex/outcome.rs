//! How a call ended: from the event message at its end, or from the first lines of its output.

use antiphon_model::{Body, json};

use super::entry::Entry;
use crate::line::Object;

/// The end of a call, as an event message reports it.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) line: u64,
    /// The whole payload, which is the result in structured form.
    pub(super) body: Body<'a>,
    pub(super) outcome: Outcome,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) is_error: Option<bool>,
    pub(super) duration_ms: Option<u64>,
}

impl Outcome {
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            is_error: self.is_error.or(other.is_error),
            duration_ms: self.duration_ms.or(other.duration_ms),
        }
    }
}

/// Whether event messages of this type end a call.
pub(super) fn ends_a_call(what: &str) -> bool {
    matches!(
        what,
        "exec_command_end"
            | "patch_apply_end"
            | "mcp_tool_call_end"
            | "web_search_end"
            | "dynamic_tool_call_response"
            | "collab_agent_spawn_end"
            | "collab_agent_interaction_end"
            | "collab_waiting_end"
            | "collab_close_end"
            | "collab_resume_end"
            | "image_generation_end"
            | "view_image_tool_call"
    )
}

/// The end that a line reports; `payload` is the part of it that has the facts.
pub(super) fn end<'a>(entry: &Entry<'a>, payload: &Object<'a>) -> End<'a> {
    let result = payload.object("result").unwrap_or_default();
    let exit_code = payload.raw("exit_code").map(|code| code != "0");
    let success = payload.raw("success").map(|success| success == "false");
    let status = payload.id("status").map(|status| matches!(status, "failed" | "declined"));
    let is_refused = || result.raw("Err").map(|_| true);
    let is_bad = || result.object("Ok").map(|ok| ok.flag("isError") || ok.flag("is_error"));
    let is_error = exit_code.or(success).or(status).or_else(is_refused).or_else(is_bad);
    let duration_ms = payload.object("duration").map(|duration| milliseconds(&duration));
    let outcome = Outcome { is_error: is_error.filter(|error| *error), duration_ms };
    End { line: entry.line(), body: entry.body(entry.raw), outcome }
}

fn milliseconds(duration: &Object<'_>) -> u64 {
    let seconds = duration.number("secs").unwrap_or_default();
    let nanos = duration.number("nanos").unwrap_or_default();
    seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000)
}

/// How a call ended according to its output: a flag, JSON with the exit code, or a heading.
pub(super) fn outcome_in_output(output: &str) -> Outcome {
    match output.as_bytes().first() {
        Some(b'{') => {
            let failed = json::member(output, "success") == Some("false");
            Outcome { is_error: failed.then_some(true), duration_ms: None }
        }
        Some(b'"') => json::text(output).map_or_else(Outcome::default, |text| in_text(&text)),
        Some(b'[') => {
            let first = crate::line::elements(output).first().and_then(|part| Object::parse(part));
            let heading = first.and_then(|part| part.text("text"));
            heading.map_or_else(Outcome::default, |heading| in_heading(&heading))
        }
        _ => Outcome::default(),
    }
}

fn in_text(text: &str) -> Outcome {
    if !text.starts_with('{') {
        return in_heading(text);
    }
    let Some(metadata) = json::member(text, "metadata").and_then(Object::parse) else {
        return Outcome::default();
    };
    let exit_code = metadata.raw("exit_code").map(|code| code != "0");
    Outcome {
        is_error: exit_code.filter(|failed| *failed),
        duration_ms: metadata.raw("duration_seconds").and_then(thousandfold),
    }
}

/// Reads the lines before `Output:`, as the shell tools write them.
fn in_heading(text: &str) -> Outcome {
    let mut outcome = Outcome::default();
    for line in text.lines().take(6).take_while(|line| *line != "Output:") {
        let code = ["Process exited with code ", "Exit code: "];
        if let Some(code) = code.iter().find_map(|heading| line.strip_prefix(heading)) {
            outcome.is_error = (code.trim() != "0").then_some(true);
        } else if line == "Script failed" {
            outcome.is_error = Some(true);
        } else if let Some(time) = line.strip_prefix("Wall time") {
            let time = time.trim_start_matches(':').trim();
            outcome.duration_ms = time.strip_suffix(" seconds").and_then(thousandfold);
        }
    }
    outcome
}

/// Converts decimal seconds to milliseconds, without floating point.
fn thousandfold(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits = part.chars().chain("000".chars()).take(3).collect::<String>();
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(digits.parse().ok()?)
}
