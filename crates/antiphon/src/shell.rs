//! Commands in a form that can be pasted into a shell.

/// A command, with quotes around arguments that need them.
pub(crate) fn quoted(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
