//! How many tokens a text has, roughly.
//!
//! No agent records what each text took, only what a whole request did. English and code have about
//! four bytes to a token in the tokenizers of all large models; everything that is derived from
//! this says that it is estimated.

use antiphon_model::{BodyError, Place, json};

use crate::Reading;

const BYTES_PER_TOKEN: u64 = 4;

/// What a picture takes. Services scale it down to about this, whatever its size.
const IMAGE_TOKENS: u64 = 1_500;

/// The tokens of so many bytes of text.
pub(crate) fn of_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// The tokens of a text or a JSON value of the session.
pub(crate) fn of_place(reading: &Reading<'_>, place: Place) -> Result<u64, BodyError> {
    if place.is_none() {
        return Ok(0);
    }
    // Most of a session is the output of tools: if it is in memory, it is not copied.
    let in_memory = || {
        let start = usize::try_from(place.offset).ok()?;
        let bytes = reading.bodies.stream(place.stream)?;
        bytes.get(start..start.checked_add(place.len as usize)?)
    };
    match in_memory() {
        Some(bytes @ [b'"', ..]) => Ok(of_bytes(string_bytes(bytes))),
        Some(bytes) => Ok(of_json(&String::from_utf8_lossy(bytes))),
        None => Ok(of_json(&reading.bodies.read(place)?)),
    }
}

/// The tokens of a raw content: a string, or a list of parts.
pub(crate) fn of_json(raw: &str) -> u64 {
    match raw.as_bytes() {
        [b'"', ..] => of_bytes(string_bytes(raw.as_bytes())),
        [b'[', ..] => {
            let mut tokens = 0;
            match json::elements(raw, |part| tokens += of_part(part)) {
                Ok(()) => tokens,
                Err(_) => of_bytes(raw.len()),
            }
        }
        b"null" => 0,
        _ => of_part(raw),
    }
}

fn of_part(part: &str) -> u64 {
    if let Some(text) = json::member(part, "text") {
        return of_bytes(string_bytes(text.as_bytes()));
    }
    let kind = json::member(part, "type").and_then(json::text);
    match kind.as_deref() {
        Some("image" | "input_image" | "image_url") => IMAGE_TOKENS,
        _ if part.starts_with('"') => of_bytes(string_bytes(part.as_bytes())),
        _ => of_bytes(part.len()),
    }
}

/// The length of the text of a JSON string, without its quotes and escapes.
fn string_bytes(raw: &[u8]) -> usize {
    let mut rest = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    let mut len = 0;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        // `\u00e9` is a character of two or three bytes, any other escape one of one byte.
        let (escape, bytes) = if rest.get(at + 1) == Some(&b'u') { (6, 2) } else { (2, 1) };
        len += at + bytes;
        rest = rest.get(at + escape..).unwrap_or_default();
    }
    len + rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_token_for_four_bytes_and_a_picture_a_fixed_number() {
        let cases = [
            (r#""""#, 0),
            (r#""four""#, 1),
            (r#""a\nb\"c""#, 2),
            (r#""\u00e9\u00e9""#, 1),
            (r#""cut off\"#, 2),
            ("null", 0),
            (r#"[{"type":"text","text":"four"},{"type":"image","source":{"data":"AAAA"}}]"#, 1501),
            (r#"["four","five"]"#, 2),
            (r#"{"a":1}"#, 2),
            ("[1", 1),
        ];
        for (raw, tokens) in cases {
            assert_eq!(of_json(raw), tokens, "{raw}");
        }
    }
}
