//! What a failed call says about its failure, and which failures are the same.
//!
//! Two messages are the same failure if they differ in numbers, ids, or the folders of paths only.

use crate::clip;

/// A group is named by this much of a message, in columns.
const GROUP_WIDTH: usize = 120;

/// So many lines are looked through for one that says what went wrong.
const LINES_MAX: usize = 200;

/// The line of a result that says what went wrong: the first one that names an error, or else the
/// first that is more than an exit code.
pub(crate) fn failure_line(text: &str) -> Option<&str> {
    let lines = || text.lines().take(LINES_MAX).map(str::trim).filter(|line| is_telling(line));
    let named = lines().find(|line| names_error(line));
    named.or_else(|| lines().next())
}

/// The name of the group of failures that a message belongs to.
pub(crate) fn failure_group(text: &str) -> String {
    let Some(line) = failure_line(text).map(without_markup) else {
        // Nothing but an exit code, which then is all that distinguishes it.
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        return clip(first.unwrap_or("(no message)"), GROUP_WIDTH);
    };
    let mut group = String::new();
    for word in line.split_whitespace() {
        if !group.is_empty() {
            group.push(' ');
        }
        push_general(&mut group, word);
    }
    clip(&group, GROUP_WIDTH)
}

/// Some agents put what a tool says into a tag.
fn without_markup(line: &str) -> &str {
    let inner = line.strip_prefix("<tool_use_error>").unwrap_or(line);
    inner.strip_suffix("</tool_use_error>").unwrap_or(inner)
}

/// Whether a line says more than that something failed.
fn is_telling(line: &str) -> bool {
    let lower = line.get(..line.len().min(24)).unwrap_or(line).to_ascii_lowercase();
    let is_code = ["exit code", "exit status", "process exited with code", "wall time:", "output:"]
        .iter()
        .any(|prefix| lower.starts_with(prefix));
    !is_code && line.chars().any(char::is_alphabetic)
}

fn names_error(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let words = ["error", "panicked", "fatal", "exception", "not found", "denied", "no such file"];
    words.iter().any(|word| lower.contains(word))
}

/// Adds a word without what differs from one failure to the next.
fn push_general(group: &mut String, word: &str) {
    let edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '\\' | '~' | '.' | '<' | '>');
    let core = word.trim_matches(edge);
    let (before, after) = match word.find(core) {
        Some(at) if !core.is_empty() => (&word[..at], &word[at + core.len()..]),
        _ => return group.push_str(word),
    };
    group.push_str(before);
    match core {
        _ if is_path(core) => group.push_str("<path>"),
        _ if is_id(core) => group.push_str("<id>"),
        _ => push_without_numbers(group, core),
    }
    group.push_str(after);
}

fn is_path(word: &str) -> bool {
    let is_absolute = word.starts_with(['/', '~', '\\']) || word.get(1..3) == Some(":\\");
    word.len() > 1 && is_absolute && word.chars().any(char::is_alphanumeric)
}

/// Whether a word is an id: eight or more hexadecimal digits, with a decimal one among them.
fn is_id(word: &str) -> bool {
    let digits = word.chars().filter(|c| c.is_ascii_hexdigit()).count();
    digits >= 8
        && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
        && word.chars().any(|c| c.is_ascii_digit())
}

fn push_without_numbers(group: &mut String, word: &str) {
    // `E0425`, `u64` and `utf8` are names; `3`, `12:34` and `1.5s` are not.
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return group.push_str(word);
    }
    let mut is_number = false;
    for c in word.chars() {
        let belongs = c.is_ascii_digit() || (is_number && matches!(c, '.' | ','));
        if belongs && !is_number {
            group.push_str("<n>");
        } else if !belongs {
            group.push(c);
        }
        is_number = belongs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_differ_in_numbers_ids_and_folders_are_the_same() {
        let cases = [
            ("Exit code 101\nerror: could not compile `shop`", "error: could not compile `shop`"),
            ("Exit code 1\n\nrunning 3 tests\nfatal: not a repo", "fatal: not a repo"),
            ("Exit code 1", "Exit code 1"),
            ("Exit code 2", "Exit code 2"),
            ("", "(no message)"),
            ("File does not exist.", "File does not exist."),
            (
                "cat: /srv/shop/a.txt: No such file or directory",
                "cat: <path>: No such file or directory",
            ),
            (
                "Found 3 matches, 12 expected (after 1.5s).",
                "Found <n> matches, <n> expected (after <n>s).",
            ),
            ("error[E0425]: cannot find `x` at 12:34", "error[E0425]: cannot find `x` at <n>:<n>"),
            ("no task 6f1c2a9e-0d1b-4c5e-9f00-aa11bb22cc33 here", "no task <id> here"),
            (
                "<tool_use_error>File has not been read yet</tool_use_error>",
                "File has not been read yet",
            ),
            ("Process exited with code 1\nOutput:\nnope", "nope"),
            ("a/b is fine, ../up too", "a/b is fine, ../up too"),
        ];
        for (text, group) in cases {
            assert_eq!(failure_group(text), group, "{text:?}");
        }
    }

    #[test]
    fn any_text_has_a_group_of_bounded_width() {
        for text in
            ["é".repeat(500), "9".repeat(500), "\"'`".to_owned(), "\u{0}\n\u{1b}[31m".into()]
        {
            assert!(failure_group(&text).chars().count() <= GROUP_WIDTH);
        }
    }
}
