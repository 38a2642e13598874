//! Properties of any text.

use std::borrow::Cow;

use antiphon_redact::{Counts, Redactor, Secrets, StreamRedactor};
use proptest::prelude::*;

fn redactor() -> Redactor {
    let variables = [("A_TOKEN", "hunter22"), ("B_SECRET", "22hunter\"q")];
    let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Redactor::new(Secrets::from_env(owned.into_iter()))
}

const WORDS: &[&str] = &[
    "ghp_0A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r",
    "AKIA",
    "QWERTYUIOP234567",
    "hunter22",
    "22hunter\"q",
    "22hunter\\\"q",
    "sk-",
    "sk-ant-api03-",
    "0a1b2c3d4e5f60718293a4b5",
    "password",
    "token",
    "api_key",
    "=",
    ": ",
    "\"",
    "'",
    " ",
    "\n",
    "\\n",
    "\\",
    "://",
    "joe:",
    "@host/",
    "Authorization: ",
    "Bearer ",
    "eyJhbGciOiJIUzI1NiJ9",
    ".",
    "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AH",
    "-----END",
    "-----END RSA PRIVATE KEY-----",
    "[redacted:",
    "[redacted:jwt]",
    "]",
    "987654321",
    ":AA",
    "-",
    "é",
    "日本",
    "x",
    "xxxx",
    "EXAMPLE",
    "heroku",
    "550e8400-e29b-41d4-a716-446655440000",
    "MTE",
    "4OTk1NTYxNjE0NjU3NTM2",
    "GhYkLm",
    "curl -u ",
    "_",
    "/",
    "login ",
    "AccountKey=",
    "Q~",
    "[",
    "{",
    "}",
    ",",
    ">",
    "<",
    "(",
    "--",
    "\u{1b}[0m",
    "SK",
    "key-",
    "\"auth\"",
    "YWRtaW46aHVudGVyMmZvb2Jhcg==",
];

/// Texts in which secrets, halves of secrets and what surrounds them are side by side.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => proptest::sample::select(WORDS.to_vec()).prop_map(str::to_owned),
        1 => "[a-zA-Z0-9+/=_.-]{1,40}",
        1 => any::<String>(),
    ];
    proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

fn redacted(text: &str) -> String {
    redactor().redact(text, &mut Counts::default()).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in texts()) {
        let once = redacted(&text);
        prop_assert_eq!(redacted(&once), once);
    }

    #[test]
    fn a_text_in_pieces_gives_what_the_whole_gives(
        text in texts(),
        cuts in proptest::collection::vec(0_usize..400, 0..12),
    ) {
        let redactor = redactor();
        let mut counts = Counts::default();
        let whole = redactor.redact(&text, &mut counts);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(*cut)).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        let mut stream = StreamRedactor::new(&redactor);
        let (mut out, mut from) = (String::new(), 0);
        for cut in cuts {
            out.push_str(&stream.push(&text[from..cut]));
            from = cut;
        }
        out.push_str(&stream.finish());
        prop_assert_eq!(out, whole);
        prop_assert_eq!(stream.counts(), &counts);
    }

    #[test]
    fn json_stays_json_and_its_strings_lose_what_texts_lose(
        texts in proptest::collection::vec(texts(), 1..4),
    ) {
        let arguments = serde_json::json!({"a": texts[0]}).to_string();
        let value =
            serde_json::json!({"content": texts[0], "list": texts, "arguments": arguments});
        for raw in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let clean = redactor().redact_json(&raw, &mut Counts::default()).into_owned();
            let read: serde_json::Value = serde_json::from_str(&clean).unwrap();
            let is_json = serde_json::from_str::<serde_json::Value>(texts[0].trim_start()).is_ok();
            if !is_json {
                prop_assert_eq!(read["content"].as_str().unwrap(), redacted(&texts[0]));
            }
            prop_assert_eq!(redactor().redact_json(&clean, &mut Counts::default()), clean.as_str());
        }
    }

    #[test]
    fn a_text_without_keywords_is_the_very_same(text in "[ a-m0-4\n]{0,300}") {
        prop_assert!(matches!(redactor().redact(&text, &mut Counts::default()), Cow::Borrowed(_)));
    }

    #[test]
    fn any_text_at_all_is_taken_as_json(text in texts()) {
        redactor().redact_json(&text, &mut Counts::default());
    }
}

#[test]
fn what_is_held_back_has_an_end() {
    let redactor = Redactor::default();
    for start in ["token ", "-----BEGIN RSA PRIVATE KEY-----\n", "eyJ", "x", "[redacted:"] {
        let mut stream = StreamRedactor::new(&redactor);
        stream.push(start);
        for _ in 0..400 {
            stream.push(&"A1b2C3d4 ".repeat(100));
            assert!(stream.held() <= 80 << 10, "{start}: {}", stream.held());
        }
    }
}
