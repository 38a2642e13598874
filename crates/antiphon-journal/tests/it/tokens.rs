//! Any JSON text, and what it says, to the last digit and surrogate, without what it merely looks
//! like.

use proptest::prelude::*;

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

/// The text of any JSON value, with everything that parsers disagree on.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "null",
            "true",
            "-0",
            "0.0",
            "1e999",
            "-1E-999",
            "9007199254740993",
            "123456789012345678901234567890123456789012345678901234567890",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        any_string(),
    ];
    leaf.prop_recursive(4, 20, 5, |inner| {
        let space = prop::sample::select(vec!["", " ", "\n", "\r\n", "\t"]);
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..5), space.clone())
                .prop_map(|(values, space)| list(b'[', &values, space, b']')),
            (prop::collection::vec((any_string(), inner), 0..5), space).prop_map(
                |(members, space)| {
                    let members: Vec<_> = members
                        .iter()
                        .map(|(key, value)| [&key[..], b" :", value].concat())
                        .collect();
                    list(b'{', &members, space, b'}')
                }
            ),
        ]
    })
}

fn list(open: u8, parts: &[Vec<u8>], space: &str, close: u8) -> Vec<u8> {
    let comma = format!("{space},{space}").into_bytes();
    [&[open][..], space.as_bytes(), &parts.join(&comma[..]), space.as_bytes(), &[close]].concat()
}

/// A string literal: any text, escapes, surrogates without their half, bytes that are not UTF-8.
fn any_string() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<char>().prop_filter_map("must be escaped", |c| {
            (c >= ' ' && c != '"' && c != '\\').then(|| c.to_string().into_bytes())
        }),
        prop::sample::select(vec![
            "\\ud800",
            "\\udc00",
            "\\ud83d\\ude00",
            "\\u0000",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\u{2028}",
            "\u{2029}",
            "\u{85}",
            "{\\\"message_id\\\":",
            ",\\\"hash\\\":",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        (0x80_u8..).prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..8)
        .prop_map(|pieces| [b"\"", &pieces.concat()[..], b"\""].concat())
}

/// Any member of a message.
pub(crate) fn member() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "content",
        "source",
        "tool_calls",
        "tool_call_id",
        "name",
        "usage",
        "cost_usd",
        "cause",
        "is_error",
        "started_at",
        "duration_ms",
        "result",
        "payload",
        "reply_to",
        "format",
        "count",
    ]);
    let key = prop_oneof![
        known.prop_map(|key| format!("\"{key}\"").into_bytes()),
        // Behind an x it is none of the keys that the writer itself takes care of.
        any_string().prop_map(|key| [b"\"x", &key[1..]].concat()),
    ];
    (key, value()).prop_map(|(key, value)| [&key[..], b": ", &value].concat())
}
