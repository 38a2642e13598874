//! Commands as a person can paste them into a shell.

/// A command with quotes where its words need them.
pub(crate) fn quoted(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
