//! Lines of a person that begin with `/`: the same views as everywhere, on the session that runs.

use std::path::Path;

use clap::Parser as _;

use crate::cli::Cli;
use crate::commands;

const HELP: &str = "\
/tree               who created whom
/dialog             who said what, and who heard it
/perspective NAME   the session as one agent saw it
/cost               tokens and cost of each agent
/fork [MESSAGE]     go another way from a message on, or from here
/save PATH          write a copy of the log, without secrets
/quit               end the session
Ctrl-C stops an answer; twice, it ends the session. Ctrl-D ends it.";

/// A line that begins with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slash<'l> {
    Help,
    /// A command of ours: its words before and after the session.
    Command(Vec<&'l str>, Vec<&'l str>),
    /// From which message, if not from the last.
    Fork(Option<&'l str>),
    Quit,
    /// Not understood, and why.
    Wrong(String),
}

impl<'l> Slash<'l> {
    /// Reads a line; `None` if it is a prompt.
    pub(super) fn parse(line: &'l str) -> Option<Self> {
        let line = line.strip_prefix('/')?;
        let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
        let needs = |what: &str| Self::Wrong(format!("write /{verb} {what}"));
        Some(match (verb, rest) {
            ("help" | "?", _) => Self::Help,
            ("tree" | "dialog" | "cost", _) => Self::Command(vec!["view", verb], vec![]),
            ("perspective", Some(name)) => {
                Self::Command(vec!["view", "perspective"], vec!["--agent", name])
            }
            ("perspective", None) => needs("NAME"),
            ("save", Some(path)) => {
                Self::Command(vec!["export"], vec!["--as", "antiphon", "-o", path])
            }
            ("save", None) => needs("PATH"),
            ("fork", message) => Self::Fork(message),
            ("quit" | "exit", _) => Self::Quit,
            _ => Self::Wrong(format!("there is no /{verb}; /help lists what there is")),
        })
    }
}

pub(super) fn help() -> &'static str {
    HELP
}

/// Runs a command of ours on the session that is at `path`. Gives what a person should know.
pub(super) fn run(before: &[&str], path: &Path, after: &[&str]) -> Option<String> {
    let words = std::iter::once("antiphon").chain(before.iter().copied()).map(Into::into);
    let words: Vec<std::ffi::OsString> =
        words.chain([path.into()]).chain(after.iter().map(Into::into)).collect();
    let done = match Cli::try_parse_from(words) {
        Ok(cli) => commands::run(cli),
        Err(error) => Err(error.into()),
    };
    done.err().map(|error| format!("{error:#}"))
}

#[cfg(test)]
mod tests;
