//! The parts of a message: texts, and pictures.

use std::borrow::Cow;

use antiphon_model::{BodyError, Entry, json, plain_text};

use crate::Page;
use crate::text::Clean;

/// A part of what was said, or of a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(Clean),
    /// A picture as a `data:` address, if pictures are wanted and it is one that pages show.
    Picture(Option<String>),
}

/// The kinds of pictures that every browser shows and that contain no script, and how each begins
/// in base64.
const KINDS: [(&str, &str); 4] = [
    ("image/png", "iVBORw0KGgo"),
    ("image/jpeg", "/9j/"),
    ("image/gif", "R0lGOD"),
    ("image/webp", "UklGR"),
];

impl Page<'_> {
    /// The parts of what some entries say, whose text is known. If something in the text stands
    /// for a picture, the entries are looked at again.
    pub(crate) fn parts_of<'s>(
        &self,
        text: &str,
        entries: impl Iterator<Item = Entry<'s>>,
    ) -> Result<Vec<Part>, BodyError> {
        let is_sign = |line: &str| line.len() < 40 && line.starts_with('[') && line.ends_with(']');
        if !text.lines().any(is_sign) {
            let text = self.clean(text);
            return Ok(if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] });
        }
        let mut parts = Vec::new();
        for entry in entries {
            parts.extend(self.parts(entry)?);
        }
        Ok(parts)
    }

    /// The parts of what an entry says; texts without words are left out.
    fn parts(&self, entry: Entry<'_>) -> Result<Vec<Part>, BodyError> {
        let mut parts = Vec::new();
        for place in entry.contents() {
            let raw = self.reading.bodies.read(place)?;
            let mut add = |raw: &str| parts.push(self.part(raw));
            if raw.starts_with('[') && json::elements(&raw, &mut add).is_ok() {
                continue;
            }
            add(&raw);
        }
        if parts.is_empty() {
            parts.push(Part::Text(self.clean(&self.reading.text(entry)?)));
        }
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Ok(parts)
    }

    fn part(&self, raw: &str) -> Part {
        let has_text = json::member(raw, "text").and_then(json::text).is_some();
        match picture(raw).filter(|_| !has_text) {
            Some(picture) => Part::Picture(picture.filter(|_| self.with_images)),
            None => Part::Text(self.clean(&plain_text(raw))),
        }
    }
}

/// The first of these members that is a text.
fn text<'a>(object: &'a str, names: &[&str]) -> Option<Cow<'a, str>> {
    names.iter().find_map(|name| json::member(object, name).and_then(json::text))
}

/// A picture in one of the forms that programs write; `Some(None)` if it cannot be shown.
fn picture(part: &str) -> Option<Option<String>> {
    if !part.starts_with('{') {
        return None;
    }
    let within = ["source", "image_url", "inlineData", "inline_data", "image"];
    let inner = within.iter().find_map(|name| json::member(part, name)).unwrap_or(part);
    let kind = text(part, &["type"]).unwrap_or_default();
    let media = text(inner, &["media_type", "mimeType", "mime_type", "mime"]).unwrap_or_default();
    if !kind.contains("image") && !media.starts_with("image/") {
        return None;
    }
    let address = json::text(inner).or_else(|| text(inner, &["url"]));
    let written =
        address.as_deref().and_then(|it| it.strip_prefix("data:")?.split_once(";base64,"));
    let data = text(inner, &["data"]);
    let (media, data) = written.unwrap_or((&*media, data.as_deref().unwrap_or_default()));
    let (media, begin) =
        KINDS.iter().find(|(known, _)| *known == media).copied().unwrap_or_default();
    let is_base64 = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'=');
    let is_shown = !media.is_empty() && data.starts_with(begin) && data.bytes().all(is_base64);
    Some(is_shown.then(|| format!("data:{media};base64,{data}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_in_every_form_and_nothing_that_only_looks_like_one() {
        let png = "iVBORw0KGgoAAAA=";
        let shown = Some(Some(format!("data:image/png;base64,{png}")));
        for part in [
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"DATA"}}"#,
            r#"{"type":"image","data":"DATA","mimeType":"image/png"}"#,
            r#"{"type":"input_image","image_url":"data:image/png;base64,DATA"}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,DATA"}}"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"DATA"}}"#,
        ] {
            assert_eq!(picture(&part.replace("DATA", png)), shown, "{part}");
        }
        for part in [
            r#"{"type":"image","source":{"type":"url","url":"https://example.org/pixel.png"}}"#,
            r#"{"type":"image","data":"PHN2Zz4=","mimeType":"image/svg+xml"}"#,
            r#"{"type":"image","data":"PHN2Zz4=","mimeType":"image/png"}"#,
            r#"{"type":"image","data":"iVBORw0KGgo\" onerror=\"x","mimeType":"image/png"}"#,
        ] {
            assert_eq!(picture(part), Some(None), "{part}");
        }
        assert_eq!(picture(r#"{"type":"text","text":"image"}"#), None);
        assert_eq!(picture("\"image\""), None);
    }
}
