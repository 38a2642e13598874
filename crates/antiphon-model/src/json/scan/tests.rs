use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;

fn accepts(text: &str) -> bool {
    object(text, Extent::Whole, |_, _| {}).is_ok() || array(text, |_| {}).is_ok()
}

fn serde_accepts(text: &str) -> bool {
    let is_container = text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with(['{', '[']);
    is_container && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[test]
fn members_and_elements_come_in_order_and_raw() {
    let mut found = Vec::new();
    let text = r#" { "a" : 1.50e-3 , "b\n":"\ud800\"" ,"c":{"d":[{}]},"a":null } "#;
    object(text, Extent::Whole, |key, value| found.push((key, value.raw))).unwrap();
    let wanted =
        [("a", "1.50e-3"), (r"b\n", r#""\ud800\"""#), ("c", r#"{"d":[{}]}"#), ("a", "null")];
    assert_eq!(found, wanted);
    let mut found = Vec::new();
    array("[ 1,[2],\"3\" ]", |value| found.push(value)).unwrap();
    assert_eq!(found, ["1", "[2]", "\"3\""]);
}

#[test]
fn odd_texts_are_taken_as_serde_takes_them() {
    let odd = [
        "{}",
        "[]",
        "{ }",
        "",
        "{",
        "[",
        "{}x",
        "{,}",
        "[,]",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\"}",
        "{a:1}",
        "[01]",
        "[-]",
        "[-0]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[1e+]",
        "[1E5]",
        "[+1]",
        "[tru]",
        "[true]",
        "[nul]",
        "[NaN]",
        "[\"\\q\"]",
        "[\"\\u12\"]",
        "[\"\\u12G4\"]",
        "[\"\u{1f}\"]",
        "[\"\n\"]",
        "[\"\u{7f}\"]",
        "[[...]]",
        "[...]",
        "[{\"a\":}]",
        "[\"",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1}}",
        "[1 2]",
        "\u{feff}{}",
        "[\"\\",
    ];
    for text in odd {
        assert_eq!(accepts(text), serde_accepts(text), "{text:?}");
    }
}

#[test]
fn any_depth_is_passed_over() {
    for depth in [1, 2, 62, 63, 64, 65, 66, 1000] {
        let arrays = format!("[{}{}]", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}1{}", "{\"a\":[".repeat(depth), "]}".repeat(depth));
        let unclosed = format!("[{}{}]", "[".repeat(depth), "]".repeat(depth - 1));
        let crossed = format!("[{}{}}}]", "[".repeat(depth), "]".repeat(depth - 1));
        for text in [arrays, objects, unclosed, crossed] {
            assert_eq!(accepts(&text), serde_accepts(&text), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn any_value_is_taken_as_serde_takes_it(text in "[\\[{]([\\[\\]{}:,\"\\\\u0-9a-f.eE+tnrul \\n-]|true|null|\"a\":){0,30}") {
        prop_assert_eq!(accepts(&text), serde_accepts(&text));
    }

    #[test]
    fn a_valid_object_with_one_byte_changed(at in 0_usize..80, byte in 0_u8..128) {
        let mut text = br#"{"message_id":"m\u0031","n":[1,{"x":-2.5e3}],"s":"a long enough text to fill a block","t":true}"#.to_vec();
        let at = at % text.len();
        text[at] = byte;
        let text = String::from_utf8(text).unwrap();
        prop_assert_eq!(accepts(&text), serde_accepts(&text), "{}", text);
    }
}
