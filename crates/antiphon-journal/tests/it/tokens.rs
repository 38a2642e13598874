//! What a JSON text says, to the last digit and surrogate, without what it merely looks like.

/// A token of JSON. Strings are code units, because not all that stand in logs are text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A bracket, a comma, a colon.
    Mark(u8),
    /// A number or a word, as it stands.
    Word(Vec<u8>),
    String(Vec<u16>),
}

/// The tokens of valid JSON. A byte that is not UTF-8 is the unit that `surrogateescape` gives it.
pub(crate) fn tokens(mut text: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some((&first, rest)) = text.split_first() {
        text = rest;
        match first {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'[' | b']' | b'{' | b'}' | b',' | b':' => tokens.push(Token::Mark(first)),
            b'"' => {
                let (units, after) = string(rest);
                tokens.push(Token::String(units));
                text = after;
            }
            _ => {
                let is_end = |byte: &u8| b" \t\n\r[]{},:\"".contains(byte);
                let len = rest.iter().position(is_end).unwrap_or(rest.len());
                tokens.push(Token::Word([&[first], &rest[..len]].concat()));
                text = &rest[len..];
            }
        }
    }
    tokens
}

/// The units of a string whose opening quote is gone, and what follows it.
fn string(text: &[u8]) -> (Vec<u16>, &[u8]) {
    let mut escaped = false;
    let is_end = |byte: &u8| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    };
    let len = text.iter().position(is_end).unwrap();
    let mut units = Vec::new();
    for chunk in text[..len].utf8_chunks() {
        units.extend(chunk.valid().encode_utf16());
        units.extend(chunk.invalid().iter().map(|byte| 0xDC00 + u16::from(*byte)));
    }
    (unescape(&units), &text[len + 1..])
}

fn unescape(units: &[u16]) -> Vec<u16> {
    let mut out = Vec::new();
    let mut rest = units;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != u16::from(b'\\') {
            out.push(first);
            continue;
        }
        let kind = u8::try_from(rest[0]).unwrap();
        rest = &rest[1..];
        out.push(match kind {
            b'n' => 0x0A,
            b'r' => 0x0D,
            b't' => 0x09,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'u' => {
                let hex = String::from_utf16(&rest[..4]).unwrap();
                rest = &rest[4..];
                u16::from_str_radix(&hex, 16).unwrap()
            }
            other => u16::from(other),
        });
    }
    out
}
