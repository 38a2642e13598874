//! The text of any file: JSON, lines of which some are JSON, or neither.

use antiphon_model::json;

use crate::redactor::{Finding, Redactor};

/// The secrets of a text, by their places in it. JSON is searched as JSON; the lines between are
/// searched together, because a private key has several.
pub(crate) fn find(redactor: &Redactor, text: &str) -> Vec<Finding> {
    if !crate::json::may_hold_secrets(redactor, text) {
        return Vec::new();
    }
    if is_json(text) {
        return redactor.find_json(text);
    }
    let mut found = Vec::new();
    let mut add = |start: usize, findings: Vec<Finding>| {
        found.extend(findings.into_iter().map(|Finding { range, rule }| Finding {
            range: start + range.start..start + range.end,
            rule,
        }));
    };
    let (mut plain, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if is_json(line) {
            add(plain, redactor.find(text.get(plain..at).unwrap_or_default()));
            add(at, redactor.find_json(line));
            plain = at + line.len();
        }
        at += line.len();
    }
    add(plain, redactor.find(text.get(plain..).unwrap_or_default()));
    found
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && json::check(text).is_ok()
}
