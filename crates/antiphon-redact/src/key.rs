//! Private keys of all programs: complete, truncated at either end, and in listings of files.
//!
//! A private key is the only secret with several lines. A complete one is replaced from its first
//! line to its last. If either is missing, lines of base64 are the key, whatever a listing writes
//! before them: numbers, file names, marks of a diff, of a comment, of a string.

use crate::bytes::Set;
use crate::keywords::MARKER;
use crate::rule::{Verdict, Window};

/// The maximum length of a private key, from its first line to its last. More is read as its
/// continuation.
pub(crate) const KEY_BYTES_MAX: usize = 64 << 10;
/// How much is searched before a last line that has no first line.
pub(crate) const TAIL_BYTES_MAX: usize = 8 << 10;
/// The maximum length of a line of a key, with what a listing writes before it.
pub(crate) const LINE_BYTES_MAX: usize = 256;

pub(crate) const KEYWORDS: &[&str] =
    &["-----BEGIN", "-----END", "---- BEGIN", "---- END", "Private-Lines:"];

/// Whether a key may begin in a line, so that more than the line may be secret.
pub(crate) fn may_begin_in(line: &[u8]) -> bool {
    let begins = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    begins(b"--- BEGIN") || begins(b"---BEGIN") || begins(b"Private-Lines:")
}

pub(crate) fn private_key(window: &Window<'_>) -> Verdict {
    if is_end(window.keyword) {
        return tail(window);
    }
    let Some(header) = header_end(window.after) else { return Verdict::No };
    let body = window.after.get(header..).unwrap_or_default();
    if let Some(end) = last_line_end(window.after)
        && has_long_run(window.after.get(header..end).unwrap_or_default())
    {
        return Verdict::Secret(window.at..window.at + end);
    }
    let lead = window.before.rsplit('\n').next().unwrap_or_default();
    let body_end = body_end(body, file_of(lead));
    match has_long_run(body.get(..body_end).unwrap_or_default()) {
        true => Verdict::Secret(window.at..window.at + header + body_end),
        false => Verdict::No,
    }
}

/// Whether the keyword is that of a last line, so that the text before it counts.
pub(crate) fn is_end(keyword: &str) -> bool {
    keyword.ends_with("END")
}

/// Whether more text cannot change the verdict on a key that a text begins with.
pub(crate) fn is_certain(after: &str) -> bool {
    if after.len() > KEY_BYTES_MAX + 4 {
        return true;
    }
    let first_line = memchr::memchr(b'\n', after.as_bytes()).is_some() || after.len() > 128;
    match label(after) {
        // A key with a last line ends there; one that cannot have any ends with its lines.
        _ if last_line_end(after).is_some() => true,
        Some(_) => false,
        None if after.starts_with("Private-Lines:") => header_end(after).is_some_and(|header| {
            let body = after.get(header..).unwrap_or_default();
            body_end(body, "") + 2 * LINE_BYTES_MAX < body.len()
        }),
        None => first_line,
    }
}

/// How much of a text is the continuation of a key whose first 64 KiB precede it, and whether that
/// is all of it.
pub(crate) fn continuation(text: &str) -> (usize, bool) {
    let near = text.get(..text.floor_char_boundary(KEY_BYTES_MAX.min(text.len())));
    let near = near.unwrap_or_default();
    let mut end = Set::Base64.run(near).len();
    end += body_end(near.get(end..).unwrap_or_default(), "");
    let rest = near.get(end..).unwrap_or_default();
    let behind = gap(rest, "");
    let last = rest.get(behind..).and_then(|rest| Some(rest).filter(|rest| label(rest).is_some()));
    if let Some(length) = last.and_then(last_line_end) {
        return (end + behind + length, true);
    }
    (end, end + 2 * LINE_BYTES_MAX < near.len())
}

/// Where the first line ends, if it is a private key's.
fn header_end(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix("Private-Lines:") {
        let count = rest.trim_start_matches(' ');
        let digits = count.bytes().take_while(u8::is_ascii_digit).count();
        return (digits > 0).then_some(text.len() - count.len() + digits);
    }
    label(text)
}

/// Where `-----BEGIN RSA PRIVATE KEY-----` ends, or the same with `END`, or in the form of SSH2.
fn label(text: &str) -> Option<usize> {
    let rest = text.trim_start_matches(['-', ' ']);
    let rest = rest.strip_prefix("BEGIN").or_else(|| rest.strip_prefix("END"))?;
    let dashes = if text.starts_with("-----") { "-----" } else { "----" };
    let end = rest.find(dashes)?;
    let words = rest.get(..end)?;
    let of_label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let is_label = end < 40 && words.bytes().all(of_label) && words.contains("PRIVATE KEY");
    is_label.then_some(text.len() - rest.len() + end + dashes.len())
}

/// Where the last line ends of the key that a text begins with.
fn last_line_end(text: &str) -> Option<usize> {
    let near = text.floor_char_boundary(KEY_BYTES_MAX.min(text.len()));
    let mut near = text.get(..near)?;
    if let Some(marker) = near.find(MARKER) {
        near = near.get(..marker)?;
    }
    let word = if text.starts_with("-----") { "-----END" } else { "---- END" };
    let last = near.find(word)?;
    label(near.get(last..)?).map(|length| last + length)
}

/// Whether a text contains a line of a key: prose about keys does not.
fn has_long_run(body: &str) -> bool {
    body.split(|c: char| !c.is_ascii() || !Set::Base64.has(c as u8)).any(|run| run.len() >= 32)
}

/// The last lines of a key whose first lines are elsewhere.
fn tail(window: &Window<'_>) -> Verdict {
    let Some(last) = label(window.after) else { return Verdict::No };
    let mut before = window.before;
    // What the limit has cut off is not a complete line.
    if before.len() + 4 >= TAIL_BYTES_MAX {
        before = before.split_once('\n').map_or("", |(_, lines)| lines);
    }
    let lead = before.rsplit('\n').next().unwrap_or_default();
    if !is_lead(without_colours(lead)) {
        return Verdict::No;
    }
    let mut start = before.len() - lead.len();
    let mut least = 1;
    while let Some(lines) = before.get(..start.saturating_sub(1)).filter(|_| start > 0) {
        let line = lines.rsplit('\n').next().unwrap_or_default();
        if !is_line(line, least) {
            break;
        }
        start -= line.len() + 1;
        least = 40;
    }
    let body = before.get(start..).unwrap_or_default();
    match has_long_run(body) {
        true => Verdict::Secret(window.at - body.len()..window.at + last),
        false => Verdict::No,
    }
}

/// From where on a text has to be kept, because a last line may follow that makes it a key: the
/// lines of base64 at its end.
pub(crate) fn tail_start(text: &str) -> usize {
    let bound = text.len().saturating_sub(TAIL_BYTES_MAX);
    let mut start = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
    let last = text.get(start..).unwrap_or_default();
    // For an incomplete line it is enough that it contains no words.
    let words = without_number(last.trim_start_matches(|c: char| !c.is_ascii_alphabetic()));
    let is_word = |text: &str| text.contains(|c: char| c.is_ascii_alphanumeric());
    if last.len() > LINE_BYTES_MAX || words.split_whitespace().skip(1).any(is_word) {
        return text.len();
    }
    while start > bound {
        let lines = text.get(..start - 1).unwrap_or_default();
        let first = memchr::memrchr(b'\n', lines.as_bytes()).map_or(0, |at| at + 1);
        if !is_line(lines.get(first..).unwrap_or_default(), 1) {
            break;
        }
        start = first;
    }
    start.max(text.floor_char_boundary(bound))
}

/// Whether a line is one of a key, with at least that many characters.
fn is_line(line: &str, least: usize) -> bool {
    if line.len() > LINE_BYTES_MAX {
        return false;
    }
    let line = without_colours(line.trim_end()).trim_end_matches(['"', '\'', '+', ',', '|', ' ']);
    let line = line.strip_suffix("\\n").unwrap_or(line);
    let run = Set::Base64.run_back(line);
    let lead = line.get(..line.len() - run.len()).unwrap_or_default();
    run.len() >= least && is_lead(lead)
}

/// Whether this is what a listing writes before a line: marks and numbers, `L12: `, and `file:12:`.
fn is_lead(lead: &str) -> bool {
    let lead = lead.trim_start();
    let has_letters = |text: &str| text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let plain = lead.strip_prefix('L').unwrap_or(lead);
    let file = lead.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '-'));
    let is_file = file.len() < lead.len() && !file.contains(char::is_whitespace);
    !has_letters(plain) || is_file
}

/// The name of the file in `file:12:`.
fn file_of(lead: &str) -> &str {
    let name = lead.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '-'));
    if name.contains(char::is_whitespace) { "" } else { name }
}

fn without_colours(mut text: &str) -> &str {
    while let Some(colour) = colour(text) {
        text = text.get(colour..).unwrap_or_default();
    }
    while let Some(escape) = text.rfind('\u{1b}')
        && let Some(last) = text.get(escape..)
        && colour(last) == Some(last.len())
    {
        text = text.get(..escape).unwrap_or_default();
    }
    text
}

/// The length of the escape sequence for a colour that a text begins with.
fn colour(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\u{1b}[")?;
    let end = rest.bytes().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
    rest.as_bytes().get(end).filter(|&&byte| byte == b'm').map(|_| end + 3)
}

/// How far a key without its last line goes: lines of base64, and what may be between them.
fn body_end(body: &str, file: &str) -> usize {
    const LINE_MIN: usize = 16;
    let mut at = headers_end(body, file);
    let headers = at;
    loop {
        let rest = body.get(at..).unwrap_or_default();
        let between = gap(rest, file);
        let line = Set::Base64.run(rest.get(between..).unwrap_or_default());
        let is_last = line.len() < LINE_MIN;
        if between == 0 || line.is_empty() || is_last && (at == headers || !is_rest(line)) {
            return if at == headers { 0 } else { at };
        }
        at += between + line.len();
        if is_last {
            return at;
        }
    }
}

/// Where headers such as `Proc-Type: 4,ENCRYPTED` after the first line end.
fn headers_end(body: &str, file: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = body.get(at..).unwrap_or_default();
        let between = gap(rest, file);
        let line = rest.get(between..).unwrap_or_default();
        let line = line.split(['\n', '\\']).next().unwrap_or_default();
        let name = Set::Dashed.run(line);
        let is_header = line.len() < LINE_BYTES_MAX
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && line.get(name.len()..).is_some_and(|rest| rest.starts_with(": "));
        if between == 0 || !is_header {
            return at;
        }
        at += between + line.len();
    }
}

/// Whether a short line is the rest of a truncated one, and not a word.
fn is_rest(line: &str) -> bool {
    let has = |of: fn(&u8) -> bool| line.bytes().any(|byte| of(&byte));
    let kinds = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
    line.ends_with('=') || line.len() < 4 || kinds.into_iter().filter(|&of| has(of)).count() > 1
}

/// What is between two lines of a key: the end of one, and what a listing writes before the next.
fn gap(text: &str, file: &str) -> usize {
    let mut rest = text;
    loop {
        let before = rest.len();
        // `+` and `/` may be the key's own, which makes no difference.
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "+>|\"',`#/*-;→".contains(c));
        for escape in ["\\\\r", "\\\\n", "\\r", "\\n", "\\t", "\\\"", "\\\\", "\\", "<br>"] {
            rest = rest.strip_prefix(escape).unwrap_or(rest);
        }
        rest = colour(rest).and_then(|length| rest.get(length..)).unwrap_or(rest);
        let here = text.get(..text.len() - rest.len()).unwrap_or_default();
        if here.contains('\n') {
            rest = rest.strip_prefix(file).unwrap_or(rest);
            rest = without_number(rest);
        }
        if rest.len() == before {
            return text.len() - rest.len();
        }
    }
}

/// What follows the number of a line: `12:`, `12-`, `12→`, a tab; `L12: `.
fn without_number(text: &str) -> &str {
    let plain = text.strip_prefix('L').unwrap_or(text).trim_start_matches(':');
    let behind = plain.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number =
        behind.len() < plain.len() && behind.starts_with([':', '-', '\t', '→', '|', ' ']);
    match is_number {
        true => behind.trim_start_matches([':', '-']),
        false => text,
    }
}
