//! Raw JSON text: what can be read from a value without building a tree of it.
//!
//! Values come from hostile files. Nothing here recurses on their nesting, allocates by their
//! width, or refuses a lone surrogate.

mod members;
mod passed;
mod scan;
mod value;

use std::borrow::Cow;

use thiserror::Error;

pub use members::Members;
pub use passed::Passed;
pub(crate) use scan::{Extent, object};
pub use value::Json;

/// The text of a JSON string; `None` for any other value.
///
/// A lone surrogate, which no Rust string can contain, becomes U+FFFD; the raw value keeps it.
pub fn text(raw: &str) -> Option<Cow<'_, str>> {
    Some(inner_text(raw.strip_prefix('"')?.strip_suffix('"')?))
}

/// The text of a string without its quotes.
pub(crate) fn inner_text(inner: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\\', inner.as_bytes()) {
        None => Cow::Borrowed(inner),
        Some(first) => Cow::Owned(unescape(inner, first)),
    }
}

/// A string's text, or the characters of a number or word: ids are arbitrary, and some writers use
/// numbers. `null` is no text.
pub fn word(raw: &str) -> Option<Cow<'_, str>> {
    match raw.as_bytes().first()? {
        b'"' => text(raw),
        b'{' | b'[' => None,
        _ if raw == "null" => None,
        _ => Some(Cow::Borrowed(raw)),
    }
}

/// Why a text is not the expected JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotJson {
    #[error("{0}")]
    Syntax(String),
    /// It stops where more must follow.
    #[error("{0}")]
    Incomplete(String),
    #[error("JSON, but not {0}")]
    OtherType(&'static str),
}

impl NotJson {
    /// What is wrong with a text that could not be scanned.
    pub(crate) fn of(text: &str, wanted: &'static str) -> Self {
        let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) else {
            return Self::OtherType(wanted);
        };
        // The text is one line; only the caller knows its number.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        match error.is_eof() {
            true => Self::Incomplete(format!("{reason}, after {} bytes", text.len())),
            false => Self::Syntax(format!("{reason} at byte {}", error.column())),
        }
    }
}

/// Where a text of many lines stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("not JSON, line {line}, column {column}: {reason}")]
pub struct SyntaxError {
    pub line: usize,
    pub column: usize,
    pub reason: String,
}

/// Whether a text of many lines is JSON.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) else { return Ok(()) };
    let whole = error.to_string();
    let reason = whole.split(" at line ").next().unwrap_or_default().to_owned();
    Err(SyntaxError { line: error.line(), column: error.column(), reason })
}

/// Calls `each` with the members of a JSON object, in order, with raw values. Repeated keys come
/// again. For a malformed object, `each` is called up to the error.
pub fn members<'a>(raw: &'a str, mut each: impl FnMut(&str, &'a str)) -> Result<(), NotJson> {
    raw_members(raw, |_, key, value| each(key, value))
}

/// Like [`members()`], with each key also in its raw form between the quotes, which text cannot
/// always represent.
pub fn raw_members<'a>(
    raw: &'a str,
    mut each: impl FnMut(&'a str, &str, &'a str),
) -> Result<(), NotJson> {
    let scanned = object(raw, Extent::Whole, |key, value| each(key, &inner_text(key), value.raw));
    scanned.map_err(|_| NotJson::of(raw, "an object"))
}

/// Calls `each` with the elements of a JSON array, raw.
pub fn elements<'a>(raw: &'a str, each: impl FnMut(&'a str)) -> Result<(), NotJson> {
    scan::array(raw, each).map_err(|_| NotJson::of(raw, "an array"))
}

/// The object that a text begins with, and what follows it.
pub fn split_object(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let object = scan::first(text).filter(|raw| raw.starts_with('{'))?;
    Some((object, text.get(object.len()..)?))
}

/// The last member of that name, raw: of a repeated key the last one counts, as in Python and
/// JavaScript.
pub fn member<'a>(raw: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    members(raw, |key, value| {
        if key == name {
            found = Some(value);
        }
    })
    .ok()?;
    found
}

/// A JSON text without the whitespace between its parts: one line.
pub fn compact(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'"', rest.as_bytes()) {
        let (between, text) = rest.split_at(at);
        out.extend(between.split_ascii_whitespace());
        let end = end_of_string(text);
        out.push_str(text.get(..end).unwrap_or(text));
        rest = text.get(end..).unwrap_or_default();
    }
    out.extend(rest.split_ascii_whitespace());
    out
}

/// The end of the string that a text begins with, after its closing quote.
pub fn end_of_string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        match bytes.get(at + next) {
            Some(b'"') => return at + next + 1,
            _ => at += next + 2,
        }
    }
    text.len()
}

/// Writes `text` as a JSON string. The three characters at which other programs split lines
/// (U+0085, U+2028, U+2029) are escaped in addition to what JSON itself requires.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(needs_a_look) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c) if c < ' ' || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}') => {
                push_escape(out, c as u32);
            }
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Copies a raw value, or a key without its quotes, with the three line separators escaped, which
/// occur only in strings. Line ends occur only between tokens, and become spaces.
pub fn push_on_one_line(out: &mut String, value: &str) {
    let suspicious = |byte: u8| matches!(byte, b'\n' | b'\r' | 0xC2 | 0xE2);
    if memchr::memchr2(b'\n', b'\r', value.as_bytes()).is_none()
        && memchr::memchr2(0xC2, 0xE2, value.as_bytes()).is_none()
    {
        out.push_str(value);
        return;
    }
    let mut rest = value;
    while let Some(at) = rest.bytes().position(suspicious) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next() {
            Some('\n' | '\r') => out.push(' '),
            Some(c @ ('\u{85}' | '\u{2028}' | '\u{2029}')) => push_escape(out, c as u32),
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// Whether a byte may have to be escaped: controls, quote, backslash, and the first byte of the
/// three line separators.
fn needs_a_look(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0xC2 | 0xE2)
}

/// Writes `\u` and four hex digits.
pub fn push_escape(out: &mut String, code: u32) {
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.push(char::from_digit((code >> shift) & 0xF, 16).unwrap_or('0'));
    }
}

/// Decodes the inside of a string literal whose first backslash is at `first`.
fn unescape(inner: &str, first: usize) -> String {
    let mut out = String::with_capacity(inner.len());
    let (plain, mut rest) = inner.split_at(first);
    out.push_str(plain);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        chars.next();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let (decoded, after) = unescape_unit(chars.as_str());
                out.push(decoded);
                rest = after;
                continue;
            }
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// Decodes the four digits after `\u`, and a second unit if the first is a high surrogate.
fn unescape_unit(digits: &str) -> (char, &str) {
    let unit = |text: &str| text.get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let Some(first) = unit(digits) else {
        return (char::REPLACEMENT_CHARACTER, digits);
    };
    let rest = digits.get(4..).unwrap_or_default();
    if (0xD800..0xDC00).contains(&first)
        && let Some(second) = rest.strip_prefix("\\u").and_then(unit)
        && (0xDC00..0xE000).contains(&second)
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        let after = rest.get(6..).unwrap_or_default();
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), after);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_pairs_and_lone_surrogates() {
        assert_eq!(text(r#""plain""#).unwrap(), "plain");
        assert_eq!(text(r#""a\n\"\\\/\u00e9\ud83d\ude00""#).unwrap(), "a\n\"\\/é😀");
        assert_eq!(text(r#""\ud800 \udc00\ud800A""#).unwrap(), "\u{fffd} \u{fffd}\u{fffd}A");
        assert_eq!(text("12"), None);
        assert_eq!(word("12").unwrap(), "12");
        assert_eq!(word("null"), None);
        assert_eq!(word("[1]"), None);
    }

    #[test]
    fn the_last_of_repeated_keys_counts() {
        assert_eq!(member(r#"{"a":1,"b":{"a":2},"\u0061":3}"#, "a"), Some("3"));
        assert_eq!(member("[1]", "a"), None);
    }

    #[test]
    fn deep_nesting_is_passed_over_without_recursion() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(member(&deep, "a").unwrap().len(), 200_001);
    }

    proptest! {
        #[test]
        fn a_compact_text_says_the_same(keys in proptest::collection::vec(any::<String>(), 0..4)) {
            let value: serde_json::Value = keys.iter().map(|key| (key.clone(), key.len().into()))
                .collect::<serde_json::Map<_, _>>().into();
            let compacted = compact(&serde_json::to_string_pretty(&value).unwrap());
            prop_assert_eq!(&compacted, &serde_json::to_string(&value).unwrap());
            prop_assert_eq!(compact(&compacted), compacted);
        }

        #[test]
        fn a_written_string_reads_back_and_splits_no_line(s in any::<String>()) {
            let mut out = String::new();
            push_string(&mut out, &s);
            prop_assert_eq!(text(&out).unwrap(), s.as_str());
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), s);
            let splits = out.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
            prop_assert!(!splits);
        }
    }
}
