//! What looks random and is no secret stays unchanged, and so does everything around a secret.

use std::borrow::Cow;

use antiphon_redact::{Counts, Redactor};

fn json(raw: &str) -> Cow<'_, str> {
    Redactor::default().redact_json(raw, &mut Counts::default())
}

#[test]
fn ids_hashes_signatures_and_images_stay() {
    let long = "Et0BCkYIBxgCKkDnSK2MhbQ3AKIAZZZZZZZZZZZZZZZZ+sk-abcdefgh1234567890ABCDEFGH/hf_abc";
    let image = format!("iVBORw0KGgoAAAANSUhEUgAA{}", "AKIA+ABCD".repeat(40));
    let texts = [
        r#"{"message_id":"msg_01XFDUDYJgAACzvnptvVoYEL","hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","prev":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"}"#.to_owned(),
        r#"{"uuid":"550e8400-e29b-41d4-a716-446655440000","requestId":"req_011CQ1a2b3c4d5e6f7g8h9","id":"toolu_01A09q90qw90lq917835lq9","call_id":"call_YTZ0NmQ4ZjctNWQ"}"#.to_owned(),
        format!(r#"{{"type":"thinking","thinking":"","signature":"{long}"}}"#),
        format!(r#"{{"type":"reasoning","encrypted_content":"{long}"}}"#),
        format!(r#"{{"source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}}"#),
        r#"{"sha":"da39a3ee5e6b4b0d3255bfef95601890afd80709","path":"src/token/password.rs","max_tokens":64000,"usage":{"input_tokens":12}}"#.to_owned(),
    ];
    for text in &texts {
        assert!(matches!(json(text), Cow::Borrowed(_)), "{text}\n{}", json(text));
    }
}

#[test]
fn the_name_of_a_member_says_what_its_value_is() {
    let raw = r#"{"config" : {"dbPassword":"Xk29fjQ0zz", "user":"Xk29fjQ0zz"},"api_key":"0a1b2c3d4e5f60718293"}"#;
    let clean = r#"{"config" : {"dbPassword":"[redacted:assigned-secret]", "user":"Xk29fjQ0zz"},"api_key":"[redacted:assigned-secret]"}"#;
    assert_eq!(json(raw), clean);
}

#[test]
fn only_the_secret_changes_in_a_string_with_escapes() {
    let raw =
        r#"{"a":"\ud800\u00e9\n\u0067hp_0A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r\tz\/","b":[1, 2]}"#;
    let clean = r#"{"a":"\ud800\u00e9\n[redacted:github-token]\tz\/","b":[1, 2]}"#;
    assert_eq!(json(raw), clean);
}

#[test]
fn json_in_a_string_is_read_as_json() {
    let inner = r#"{"cmd":"x","password":"Xk29\"fjQ0zz"}"#;
    let raw = serde_json::json!({"arguments": inner}).to_string();
    let clean = json(&raw).into_owned();
    let outer: serde_json::Value = serde_json::from_str(&clean).unwrap();
    let inner: serde_json::Value =
        serde_json::from_str(outer["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(inner["password"], "[redacted:assigned-secret]");
}

#[test]
fn any_depth_is_walked() {
    let deep = format!("{}\"password\"{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(json(&deep), deep);
}
