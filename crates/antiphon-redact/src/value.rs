//! The value of a name: in JSON, YAML, shells, headers, XML, options, commands and code.

use crate::bytes::Set;
use crate::keywords::MARKER;
use crate::placeholder;

/// The maximum length of a value.
pub(crate) const VALUE_BYTES_MAX: usize = 2048;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'t> {
    pub(crate) text: &'t str,
    pub(crate) written: Written,
}

/// What the notation of a value shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// In quotes, or where only a value can be.
    AsValue,
    /// Without quotes: it may be code.
    Bare,
}

impl Value<'_> {
    pub(crate) fn is_quoted(&self) -> bool {
        self.written == Written::AsValue
    }

    fn as_value(self) -> Self {
        Self { written: Written::AsValue, ..self }
    }
}

/// What precedes a value: the parts of its name, and what precedes that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left<'t> {
    pub(crate) before: &'t str,
    pub(crate) name: [&'t str; 3],
}

impl Left<'_> {
    /// What precedes the name on its line.
    fn lead(&self) -> &str {
        let [first, ..] = self.name;
        let line = self.before.rsplit('\n').next().unwrap_or_default();
        line.get(..line.len().saturating_sub(first.len())).unwrap_or_default()
    }

    /// Whether the name begins its line, except for what a shell, a list or a listing writes there.
    fn begins_line(&self) -> bool {
        let lead = self.lead().trim();
        let is_word = matches!(lead, "export" | "set" | "ENV" | "ARG" | "declare -x" | "$ export");
        let lead = lead.trim_end_matches('→');
        is_word || lead.bytes().all(|byte| byte.is_ascii_digit() || b"-+>$#:/*|".contains(&byte))
    }

    /// Whether it is an option: `--password`.
    fn is_option(&self) -> bool {
        self.name.first().is_some_and(|name| name.starts_with("--"))
    }

    /// Whether it is `NAME=value`, as in files of variables, and hardly in code.
    fn is_variable(&self) -> bool {
        !self.name.iter().any(|part| part.bytes().any(|byte| byte.is_ascii_lowercase()))
    }

    /// Whether it is a command or an instruction that takes a name and its value as two words.
    fn is_setter(&self) -> bool {
        const SETTERS: &[&str] = &["ENV ", "setx ", " set ", "git config ", " env add "];
        let lead = self.lead();
        SETTERS.iter().any(|setter| lead.contains(setter))
    }
}

/// The value that follows a name.
pub(crate) fn after_name<'t>(rest: &'t str, left: &Left<'_>) -> Option<Value<'t>> {
    let mut after = rest;
    let mut is_closed = false;
    while let Some(next) = strip_any(after, &["\\\"", "\"", "'", "`", "]"]) {
        after = next;
        is_closed = true;
    }
    let trimmed = after.trim_start_matches([' ', '\t']);
    let assigned = strip_any(trimmed, &[":=", "=>", "==", "="])
        .or_else(|| trimmed.strip_prefix(':').map(without_type));
    if let Some(assigned) = assigned {
        let text = assigned.trim_start_matches([' ', '\t']);
        if is_closed || !left.begins_line() {
            return literal(text);
        }
        let is_glued = after.starts_with('=') && text.len() == assigned.len();
        return in_line(text, is_glued && left.is_variable());
    }
    if let Some(text) = after.strip_prefix('>') {
        let end = text.find("</")?;
        return Some(Value { text: text.get(..end)?, written: Written::AsValue });
    }
    // `("X-Api-Key", "…")`, `.password("…")`, `--password …`
    if let Some(listed) = after.strip_prefix(',').filter(|_| is_closed) {
        return literal(listed.trim_start()).filter(Value::is_quoted);
    }
    if let Some(passed) = after.strip_prefix('(') {
        return literal(passed).filter(Value::is_quoted);
    }
    if trimmed.len() == after.len() {
        return None;
    }
    if left.is_option() {
        return literal(trimmed).map(Value::as_value);
    }
    // `the password is …`
    if let Some(said) = strip_any(trimmed, &["is ", "is: "]) {
        let has_digit = |value: &Value<'_>| value.text.bytes().any(|byte| byte.is_ascii_digit());
        return literal(said.trim_start()).filter(has_digit);
    }
    if !left.is_setter() {
        return None;
    }
    let options = ["--body=", "--body ", "--value=", "--value ", "-b ", "-b"];
    let given = strip_any(trimmed, &options).unwrap_or(trimmed);
    in_line(given.trim_start(), true)
}

/// Whether what follows a name cannot be a value: most names in prose are followed by a short word,
/// and nothing else needs to be checked.
pub(crate) fn is_prose(rest: &str) -> bool {
    let Some(text) = rest.strip_prefix(' ') else { return false };
    let word = text.bytes().take(8).take_while(u8::is_ascii_alphabetic).count();
    let is_short = text.as_bytes().get(word).is_none_or(|byte| b" ,.\n".contains(byte));
    (1..8).contains(&word) && is_short && !text.starts_with("is ")
}

pub(crate) fn strip_any<'t>(text: &'t str, starts: &[&str]) -> Option<&'t str> {
    starts.iter().find_map(|start| text.strip_prefix(start))
}

/// What follows `: str =`, or the same text if there is no type.
fn without_type(after: &str) -> &str {
    let trimmed = after.trim_start();
    let of_type = |c: char| c.is_ascii_alphabetic() || "&'<>[] ".contains(c);
    let end = trimmed.find(|c| !of_type(c)).unwrap_or(trimmed.len());
    let (written, rest) = trimmed.split_at(end.min(24));
    let is_type = written.trim().to_ascii_lowercase().contains("str");
    rest.strip_prefix('=').filter(|_| is_type).unwrap_or(after)
}

/// A string in quotes, or a word.
pub(crate) fn literal(text: &str) -> Option<Value<'_>> {
    quoted(text).unwrap_or_else(|| word(text))
}

fn near(text: &str) -> &str {
    let end = text.floor_char_boundary(text.len().min(VALUE_BYTES_MAX + 4));
    text.get(..end).unwrap_or_default()
}

/// A string in quotes: `None` if there are no quotes, `Some(None)` if they are not closed.
fn quoted(text: &str) -> Option<Option<Value<'_>>> {
    let (quote, inner) = ["\\\"", "\"", "'", "`"]
        .iter()
        .find_map(|quote| text.strip_prefix(quote).map(|inner| (*quote, inner)))?;
    let end = near(inner).find(quote);
    let text = end.and_then(|end| inner.get(..end));
    Some(text.map(|text| Value { text, written: Written::AsValue }))
}

/// A value without quotes among other text.
fn word(text: &str) -> Option<Value<'_>> {
    let text = near(text);
    let end = text.char_indices().find(|&(at, c)| ends_word(c, text.get(at + c.len_utf8()..)));
    let end = end.map_or(text.len(), |(at, _)| at);
    let word = text.get(..end)?;
    // A call, or a type with arguments: code.
    let is_code = text.get(end..)?.starts_with(['(', '<', '{']);
    (!is_code).then_some(Value { text: word, written: Written::Bare })
}

/// Whether a value ends before this character. A separator ends it only if another value follows:
/// half a password must not stay.
fn ends_word(c: char, rest: Option<&str>) -> bool {
    let rest = rest.unwrap_or_default();
    match c {
        '&' | ',' | ';' => {
            let name = Set::Dotted.run(rest);
            let behind = rest.get(name.len()..).unwrap_or_default();
            let is_pair = !name.is_empty() && behind.starts_with(['=', ':']);
            let is_end = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace());
            is_pair || is_end || rest.starts_with(['"', '\'', '`', '\\', '&', ')', ']', '}', '<'])
        }
        ')' | '}' => {
            let ends = |c: char| c.is_whitespace() || "\"'`,;)}]\\.<".contains(c);
            rest.is_empty() || rest.starts_with(ends)
        }
        _ => c.is_whitespace() || "\"'`<>({|\\".contains(c),
    }
}

/// A value without quotes that has the line to itself: every character belongs to it.
fn in_line(text: &str, is_variable: bool) -> Option<Value<'_>> {
    if let Some(quoted) = quoted(text) {
        return quoted;
    }
    let text = near(text);
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let escape = text.find("\\n").or_else(|| text.find("\\r")).or_else(|| text.find("\\\""));
    let end = end.min(escape.unwrap_or(end));
    let is_all = text.get(end..)?.trim().is_empty();
    let mut value = text.get(..end)?;
    // The part that was replaced was the secret. The rest must not be judged again.
    if value.contains(MARKER) {
        return None;
    }
    if !is_all {
        value = value.trim_end_matches(['&', ';', ',']);
    }
    if is_variable {
        return Some(Value { text: value, written: Written::AsValue });
    }
    value = value.strip_suffix([';', ',']).unwrap_or(value);
    let is_code = value.contains(|c: char| "(){}[]<>|&;,`\"'?".contains(c));
    match is_code && !placeholder::has_random_parts(value) {
        true => word(text),
        false => Some(Value { text: value, written: Written::Bare }),
    }
}
