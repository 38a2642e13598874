//! A message's content: text, null, or a list of parts.

use std::borrow::Cow;

use crate::json;

/// Whether a raw content has nothing to read: absent, null, an empty string or list.
pub fn is_blank(raw: &str) -> bool {
    matches!(raw, "" | "null" | "\"\"" | "[]" | "{}")
}

/// The text of a raw content, for a person.
///
/// A string is its text. For a list of parts the texts are joined by newlines, and every other part
/// is named by its type in brackets; so is a single part. Anything else is shown as the JSON it is.
pub fn plain_text(raw: &str) -> Cow<'_, str> {
    match raw.as_bytes().first() {
        Some(b'"') => json::text(raw).unwrap_or(Cow::Borrowed(raw)),
        Some(b'[') => parts_text(raw).map_or(Cow::Borrowed(raw), Cow::Owned),
        Some(b'{') => part_text(raw),
        _ if raw == "null" => Cow::Borrowed(""),
        _ => Cow::Borrowed(raw),
    }
}

fn parts_text(raw: &str) -> Option<String> {
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    json::elements(raw, |part| {
        lines.push(match part.as_bytes().first() {
            Some(b'{') => part_text(part),
            Some(b'"') => json::text(part).unwrap_or_default(),
            // A list within a list is not a part; it is shown as it is, however deep it is.
            _ => Cow::Borrowed(part),
        });
    })
    .ok()?;
    Some(lines.join("\n"))
}

fn part_text(part: &str) -> Cow<'_, str> {
    if let Some(text) = json::member(part, "text").and_then(json::text) {
        return text;
    }
    match json::member(part, "type").and_then(json::text) {
        Some(kind) => Cow::Owned(format!("[{kind}]")),
        // Some APIs give a thought a subject and a description.
        None => json::member(part, "description")
            .and_then(json::text)
            .filter(|_| json::member(part, "subject").is_some())
            .unwrap_or(Cow::Borrowed(part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_null_parts_and_anything_else() {
        assert_eq!(plain_text(r#""a\nb""#), "a\nb");
        assert_eq!(plain_text("null"), "");
        let parts = r#"[{"type":"text","text":"see"},{"type":"image","data":"…"},"and",{"x":1}]"#;
        assert_eq!(plain_text(parts), "see\n[image]\nand\n{\"x\":1}");
        assert_eq!(plain_text("12"), "12");
        assert_eq!(plain_text(r#"{"type":"image"}"#), "[image]");
        assert_eq!(plain_text(r#"[{"subject":"Plan","description":"look"}]"#), "look");
        assert_eq!(plain_text(r#"{"odd":1}"#), r#"{"odd":1}"#);
    }
}
