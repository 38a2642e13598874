//! Passwords in SQL statements: `IDENTIFIED BY '…'`, `WITH PASSWORD '…'`.

use crate::context::is_password;
use crate::rule::{Verdict, Window};
use crate::value::{literal, strip_any};

pub(crate) const KEYWORDS: &[&str] =
    &["IDENTIFIED ", "identified ", "Identified ", "PASSWORD '", "password '", "Password '"];

pub(crate) fn sql_password(window: &Window<'_>) -> Verdict {
    let given = match window.keyword.ends_with('\'') {
        true => window.after.get(window.keyword.len() - 1..).filter(|_| is_statement(window)),
        false => identified_by(window.rest()),
    };
    match given.and_then(literal) {
        Some(value) if value.is_quoted() && is_password(value.text) => window.secret(value.text),
        _ => Verdict::No,
    }
}

/// What follows `IDENTIFIED BY`, or `IDENTIFIED WITH plugin BY`.
fn identified_by(rest: &str) -> Option<&str> {
    let at = rest.get(..rest.floor_char_boundary(rest.len().min(64)))?.to_ascii_lowercase();
    let end = if at.starts_with("by ") { 3 } else { at.find(" by ")? + 4 };
    let given = rest.get(end..)?.trim_start();
    let given = strip_any(given, &["PASSWORD ", "password "]).unwrap_or(given);
    // In prose, `identified by` is followed by other quotes.
    Some(given).filter(|given| given.starts_with('\''))
}

/// Whether a statement precedes: prose may contain `the password 'x'` too.
fn is_statement(window: &Window<'_>) -> bool {
    let line = window.before.rsplit('\n').next().unwrap_or_default().to_ascii_lowercase();
    ["user ", "role ", "login ", " with ", "alter ", "create "]
        .iter()
        .any(|word| line.contains(word))
        || line.trim().is_empty()
}
