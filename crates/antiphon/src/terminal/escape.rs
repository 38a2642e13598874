//! Recorded text is hostile: control characters are shown instead of sent to the terminal.

use std::borrow::Cow;

use antiphon_model::is_dangerous;

/// Escapes text of several lines: newlines and tabs stay; everything else that could mislead a
/// terminal or the eye becomes visible, as `\u{1b}`.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if is_printable(text, b"\n\t") {
        return Cow::Borrowed(text);
    }
    escape_where(text, |c| c != '\n' && c != '\t' && is_dangerous(c))
}

/// Escapes text for one line: newlines and tabs become visible as well.
pub(crate) fn escape_line(text: &str) -> Cow<'_, str> {
    if is_printable(text, b"") {
        return Cow::Borrowed(text);
    }
    escape_where(text, is_dangerous)
}

/// Escapes the characters in JSON strings that JSON allows and a terminal does not.
pub(crate) fn escape_json(text: &str) -> Cow<'_, str> {
    if is_printable(text, b"") {
        return Cow::Borrowed(text);
    }
    let unsafe_in_json = |c: char| !c.is_ascii_control() && is_dangerous(c) || c == '\u{7f}';
    if !text.contains(unsafe_in_json) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if unsafe_in_json(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a text consists of printable ASCII and `besides`. Most does, and checking bytes is
/// faster than checking characters.
fn is_printable(text: &str, besides: &[u8]) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') || besides.contains(&byte))
}

fn escape_where(text: &str, goes: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    if !text.contains(goes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if goes(c) => out.push_str("\\n"),
            '\t' if goes(c) => out.push_str("\\t"),
            '\r' if goes(c) => out.push_str("\\r"),
            c if goes(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_becomes_visible() {
        for c in (0..0xA0).chain(0x2028..0x2030).chain(0x2066..0x206A).chain([0xE0041]) {
            let Some(c) = char::from_u32(c) else { continue };
            let is_printable = (' '..='~').contains(&c) || c == '\u{2f}' || c == '\u{202f}';
            let text = format!("a{c}b");
            assert_eq!(escape_line(&text) == text, is_printable, "{c:?}");
            let json = serde_json::to_string(&text).unwrap();
            let safe = escape_json(&json);
            assert!(safe.chars().all(|c| !is_dangerous(c)), "{c:?}: {safe}");
            assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }
    }

    #[test]
    fn sequences_are_shown_and_text_stays() {
        assert_eq!(escape("red \u{1b}[31m\n\tok"), "red \\u{1b}[31m\n\tok");
        assert_eq!(escape_line("a\r\nb"), "a\\r\\nb");
        assert_eq!(escape("héllo 👩‍👩‍👧 日本"), "héllo 👩‍👩‍👧 日本");
    }
}
