//! Just enough of Rust's grammar to distinguish code from comments and literals.
//!
//! A rule that forbids a word must not forbid writing about it. Delimiters count as code, so a
//! line's shape stays visible; what is between them does not.

use std::ops::Range;

/// What a byte of a Rust file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Code,
    Comment,
    /// The inside of a string or character.
    Literal,
}

/// The part that each byte belongs to.
pub(super) fn parts(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(text.len());
    while let Some(rest) = text.get(parts.len()..).filter(|rest| !rest.is_empty()) {
        let before = text.get(..parts.len()).unwrap_or_default();
        let (part, length) = match rest {
            [b'/', b'/', ..] => (Part::Comment, line_length(rest)),
            [b'/', b'*', ..] => (Part::Comment, block_comment_length(rest)),
            [b'"', inside @ ..] => {
                parts.push(Part::Code);
                let length = match raw_string_hashes(before) {
                    Some(hashes) => raw_string_length(inside, hashes),
                    None => escaped_length(inside, b'"'),
                };
                (Part::Literal, length)
            }
            [b'\'', inside @ ..] => {
                parts.push(Part::Code);
                (Part::Literal, character_length(inside))
            }
            _ => (Part::Code, 1),
        };
        let end = (parts.len() + length).min(text.len());
        parts.resize(end, part);
        // The closing delimiter is code; pushed here, it does not open another literal.
        if part == Part::Literal && end < text.len() && is_closed(text, end, length) {
            parts.push(Part::Code);
        }
    }
    parts
}

/// The places of items after `#[cfg(test)]`. Takes code whose comments and literals are blank.
pub(super) fn test_items(code: &str) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(rest) = code.get(from..)
        && let Some(at) =
            ["#[cfg(test)]", "#[cfg(all(test,"].iter().filter_map(|a| rest.find(a)).min()
    {
        let start = from + at;
        from = start + item_length(rest.get(at..).unwrap_or_default());
        items.push(start..from);
    }
    items
}

/// The length of an item with its attributes: up to a `;` outside brackets, or its last `}`.
fn item_length(item: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in item.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if byte == b'}' && depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    item.len()
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
}

/// Block comments nest.
fn block_comment_length(rest: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some([first, second]) = rest.get(at..at + 2) {
        match (first, second) {
            (b'/', b'*') => depth += 1,
            (b'*', b'/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// If a raw string opens after `before` (`r`, `br##` ...): the number of its hashes.
fn raw_string_hashes(before: &[u8]) -> Option<usize> {
    let hashes = before.iter().rev().take_while(|&&byte| byte == b'#').count();
    let prefix = before.get(..before.len() - hashes)?.strip_suffix(b"r")?;
    let prefix = prefix.strip_suffix(b"b").or(prefix.strip_suffix(b"c")).unwrap_or(prefix);
    // `for"` would be the end of a word, and no prefix.
    (!prefix.last().is_some_and(|&byte| is_word(byte))).then_some(hashes)
}

fn raw_string_length(inside: &[u8], hashes: usize) -> usize {
    let closes = |rest: &[u8]| {
        rest.strip_prefix(b"\"")
            .and_then(|rest| rest.get(..hashes))
            .is_some_and(|end| end.iter().all(|&byte| byte == b'#'))
    };
    (0..inside.len()).find(|&at| inside.get(at..).is_some_and(closes)).unwrap_or(inside.len())
}

/// The length up to a delimiter that no backslash precedes.
fn escaped_length(inside: &[u8], delimiter: u8) -> usize {
    let mut at = 0;
    while let Some(&byte) = inside.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == delimiter => return at,
            _ => at += 1,
        }
    }
    inside.len()
}

/// The length of the content of a character literal; 0 if the quote begins a lifetime.
fn character_length(inside: &[u8]) -> usize {
    if inside.first() == Some(&b'\\') {
        return escaped_length(inside, b'\'');
    }
    let continues = |&&byte: &&u8| byte & 0b1100_0000 == 0b1000_0000;
    let length = 1 + inside.iter().skip(1).take_while(continues).count();
    if inside.get(length) == Some(&b'\'') { length } else { 0 }
}

/// Whether a literal of that length, which ends before `end`, has its closing delimiter there.
/// A lifetime has none.
fn is_closed(text: &[u8], end: usize, length: usize) -> bool {
    let opened_by = end.checked_sub(length + 1).and_then(|open| text.get(open));
    opened_by == text.get(end) && (length > 0 || opened_by == Some(&b'"'))
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}
