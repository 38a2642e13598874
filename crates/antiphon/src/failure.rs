//! How a command ends: the only place that chooses exit codes.

use std::fmt;
use std::process::ExitCode;

use crate::terminal::escape;

/// The result of a command that could do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The answer is no: invalid, nothing found, does not verify.
    No,
    /// Done, but some input was bad; that was reported.
    BadInput,
    /// The exit code of another program that this command ran.
    Exit(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Done => 0,
            Outcome::No => 1,
            Outcome::BadInput => 3,
            Outcome::Exit(code) => code,
        })
    }
}

/// An error that the user can do something about.
#[derive(Debug)]
pub(crate) struct UserError {
    what: String,
    hint: Option<String>,
    exit: u8,
}

impl UserError {
    /// The command line makes no sense: exit code 2.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None, exit: 2 }
    }

    /// The thing asked for does not exist: exit code 1.
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None, exit: 1 }
    }

    /// The command failed: exit code 4.
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None, exit: 4 }
    }

    /// An error with the exit code of another program.
    pub(crate) fn with_exit(what: impl Into<String>, exit: u8) -> Self {
        Self { what: what.into(), hint: None, exit }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for UserError {}

/// Prints an error with its causes and hints, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    crate::terminal::complain(&format!("error: {error:#}"));
    let user = error.downcast_ref::<UserError>();
    if let Some(hint) = user.and_then(|user| user.hint.as_deref()) {
        crate::terminal::complain(&format!("hint: {hint}"));
    }
    // A wrong configuration counts as wrong usage.
    let other = if error.is::<antiphon_library::ConfigError>() { 2 } else { 4 };
    ExitCode::from(user.map_or(other, |user| user.exit))
}

pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// Reports problems of the input on stderr, the first few with their places.
pub(crate) fn report_problems(file: &str, problems: &[antiphon_model::Problem]) -> Outcome {
    const SHOWN: usize = 5;
    if problems.is_empty() {
        return Outcome::Done;
    }
    for problem in problems.iter().take(SHOWN) {
        let message = &problem.message;
        crate::terminal::complain(&match problem.line {
            // The message of a document's problem contains its place.
            0 => format!("{file}: {message}"),
            line => format!("{file}:{line}: {message}"),
        });
    }
    let count = problems.len();
    if count > SHOWN {
        let file = escape(file);
        let rest = count - SHOWN;
        crate::terminal::complain(&format!(
            "… and {rest} more problems; `antiphon show {file} --json` lists all {count}"
        ));
    }
    outcome_of(problems)
}

/// The outcome of a command that has met these problems. An unfinished last line is not one.
pub(crate) fn outcome_of(problems: &[antiphon_model::Problem]) -> Outcome {
    let is_bad = problems.iter().any(|problem| problem.code != "torn");
    if is_bad { Outcome::BadInput } else { Outcome::Done }
}

/// Reports on stderr the sessions that are missing from an answer, wholly or in part.
pub(crate) fn report_left_out(left_out: &[antiphon_library::LeftOut]) -> Outcome {
    for antiphon_library::LeftOut { session, what } in left_out {
        crate::terminal::complain(&format!("session {session}: {what}"));
    }
    if left_out.is_empty() {
        return Outcome::Done;
    }
    let count = crate::terminal::count(left_out.len(), "session");
    crate::terminal::complain(&format!(
        "{count} damaged or unreadable; `antiphon sync` repairs copies whose original files still \
         exist, `antiphon doctor --deep` checks everything"
    ));
    Outcome::BadInput
}
