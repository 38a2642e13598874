//! Closes a JSON text that stops anywhere.

/// What is open at a place in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// An object, before a key.
    Key,
    /// An object, after a key.
    Value,
    List,
}

/// Where a string ends.
enum End {
    Whole(usize),
    /// The text stops within the string, whose content so far ends here.
    Stopped(usize),
}

/// Closes a JSON text: its last string ends where the text does, and an incomplete key, number or
/// word is left out. `None` if the text is more than one value. Linear, and without recursion.
pub(super) fn close(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    // Up to here everything is complete, except for what is open.
    let mut whole = 0;
    let mut in_word = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if in_word && !is_of_word(byte) {
            in_word = false;
            whole = at;
        }
        at += 1;
        match byte {
            b'"' => {
                let is_key = open.last() == Some(&Open::Key);
                match end_of_string(bytes, at) {
                    End::Whole(end) => at = end,
                    End::Stopped(_) if is_key => break,
                    End::Stopped(end) => return Some(finish(text.get(..end)?, "\"", &open)),
                }
                if !is_key {
                    whole = at;
                }
            }
            b'{' | b'[' => {
                open.push(if byte == b'{' { Open::Key } else { Open::List });
                whole = at;
            }
            b'}' | b']' => {
                open.pop()?;
                whole = at;
            }
            b':' | b',' => {
                if let Some(object) = open.last_mut().filter(|it| **it != Open::List) {
                    *object = if byte == b':' { Open::Value } else { Open::Key };
                }
            }
            byte => in_word = is_of_word(byte),
        }
    }
    (!open.is_empty()).then(|| text.get(..whole).map(|whole| finish(whole, "", &open)))?
}

/// Whether a byte belongs to a number, or to `true`, `false` and `null`.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

/// The end of the string whose content begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> End {
    let mut at = start;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += next;
        if bytes.get(at) == Some(&b'"') {
            return End::Whole(at + 1);
        }
        let escape = if bytes.get(at + 1) == Some(&b'u') { 6 } else { 2 };
        if at + escape > bytes.len() {
            return End::Stopped(at);
        }
        at += escape;
    }
    End::Stopped(bytes.len())
}

fn finish(whole: &str, quote: &str, open: &[Open]) -> String {
    let mut out = String::with_capacity(whole.len() + open.len() + 1);
    out.push_str(whole);
    out.push_str(quote);
    out.extend(open.iter().rev().map(|it| if *it == Open::List { ']' } else { '}' }));
    out
}

#[cfg(test)]
mod tests {
    use antiphon_model::json;

    use super::close;

    const TEXT: &str = r#"{"a": [1, -2.5e3, {"b\"c": "d\u00e9\\", "e": null}], "f": {}, "g": "h"}"#;

    #[test]
    fn a_text_is_closed_wherever_it_stops() {
        for at in 1..TEXT.len() {
            let closed = close(&TEXT[..at]).unwrap();
            assert!(json::check(&closed).is_ok(), "{at} {closed}");
        }
        let closed = |at: &str| close(&TEXT[..TEXT.find(at).unwrap()]).unwrap();
        assert_eq!(closed("5e3"), r#"{"a": [1]}"#);
        assert_eq!(closed("c\": "), r#"{"a": [1, -2.5e3, {}]}"#);
        assert_eq!(closed("0e9"), r#"{"a": [1, -2.5e3, {"b\"c": "d"}]}"#);
        assert_eq!(closed("ull"), r#"{"a": [1, -2.5e3, {"b\"c": "d\u00e9\\"}]}"#);
        assert_eq!(closed("{}"), r#"{"a": [1, -2.5e3, {"b\"c": "d\u00e9\\", "e": null}]}"#);
    }

    #[test]
    fn what_is_open_nowhere_is_not_closed() {
        for text in ["", "x", "{}", "{}}", "\"a\""] {
            assert_eq!(close(text), None, "{text}");
        }
        assert_eq!(close("{\"a").as_deref(), Some("{}"));
        assert!(close(&"[".repeat(1 << 20)).is_some_and(|closed| closed.len() == 2 << 20));
    }
}
