//! Cookies: the one of a session gives access to its user's account.

use std::ops::Range;

use crate::placeholder;
use crate::rule::{Verdict, Window};
use crate::value::{Written, literal};

/// No session id is shorter.
const VALUE_BYTES_MIN: usize = 16;

/// What follows `Cookie:` and `Set-Cookie:`, in a header or as a member of an object.
pub(crate) fn cookie(window: &Window<'_>) -> Verdict {
    let rest = window.rest().trim_start_matches([' ', '\t', '"', '\'', '\\']);
    let end = rest.find(['"', '\'', '\\', '\r', '\n']).unwrap_or(rest.len());
    let mut pairs = rest.get(..end).unwrap_or_default();
    if window.before.to_ascii_lowercase().ends_with("set-c") {
        pairs = pairs.split(';').next().unwrap_or_default();
    }
    found(window, pairs)
}

/// `curl -b name=value`.
pub(crate) fn curl_cookie(window: &Window<'_>) -> Verdict {
    let is_curl = window.before.contains("curl");
    match literal(window.rest().trim_start()).filter(|_| is_curl) {
        Some(given) => found(window, given.text),
        None => Verdict::No,
    }
}

fn found(window: &Window<'_>, pairs: &str) -> Verdict {
    let part = secret_part(pairs).and_then(|range| pairs.get(range));
    part.map_or(Verdict::No, |part| window.secret(part))
}

/// From the first value that looks random to the last one.
pub(crate) fn secret_part(pairs: &str) -> Option<Range<usize>> {
    let mut part: Option<Range<usize>> = None;
    let mut at = 0;
    for pair in pairs.split_inclusive(';') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = value.trim_end_matches(';');
        let start = at + name.len() + 1;
        if value.len() >= VALUE_BYTES_MIN
            && !value.contains(char::is_whitespace)
            && !placeholder::is_value(value, Written::AsValue)
            && placeholder::is_random(value, Written::AsValue)
        {
            let first = part.map_or(start, |part| part.start);
            part = Some(first..start + value.len());
        }
        at += pair.len();
    }
    part
}
