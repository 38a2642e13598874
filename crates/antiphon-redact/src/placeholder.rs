//! What has the form of a secret and is none: examples, placeholders, references to variables.

use crate::bytes::{Set, entropy};

/// Words of documentation, long enough that a random token holds one of them once in millions.
const DOCUMENTED: &[&str] = &[
    "example",
    "xxxxxx",
    "your-",
    "your_",
    "-your",
    "_your",
    "yourkey",
    "yourtoken",
    "yourapi",
    "yoursecret",
    "placeholder",
    "redacted",
    "....",
    "****",
    "----",
];

/// A run of a token's characters that is no token.
pub(crate) fn is_token(run: &str) -> bool {
    const BITS_MIN: f64 = 2.6;
    has_any(run, DOCUMENTED) || entropy(run) < BITS_MIN
}

/// How a reference to a value begins that stands elsewhere.
const REFERENCES: &[&str] = &[
    "$", "%", "<", "{", "@", "#", "/", "./", "~", "\\", "env.", "process.", "os.", "self.", "this.",
];

const NOT_VALUES: &[&str] = &[
    "example",
    "xxx",
    "your",
    "placeholder",
    "redacted",
    "...",
    "…",
    "***",
    "changeme",
    "change_me",
    "change-me",
    "dummy",
    "sample",
    "insert",
    "replace",
    "${",
    "{{",
    "$(",
    "%s",
    "{}",
    "environ",
    "getenv",
    "env[",
    "env(",
    "secrets.",
    "://",
    "::",
    "->",
    "[",
    "todo",
];

/// What docs write where a password goes.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passw0rd",
    "pass",
    "pwd",
    "secret",
    "token",
    "user",
    "username",
    "key",
    "apikey",
    "null",
    "none",
    "undefined",
    "true",
    "false",
    "foo",
    "bar",
    "foobar",
    "hunter2",
];

/// A value that docs and code write where a secret would be.
pub(crate) fn is_value(value: &str) -> bool {
    REFERENCES.iter().any(|start| value.starts_with(start))
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || has_any(value, NOT_VALUES)
        || is_file_name(value)
        || is_uuid(value)
}

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    words.iter().any(|word| text.contains(word))
}

fn is_file_name(value: &str) -> bool {
    let Some((_, extension)) = value.rsplit_once('.') else { return false };
    let known = [
        "json", "jsonl", "yaml", "yml", "toml", "txt", "pem", "key", "crt", "env", "md", "rs",
        "py", "js", "ts", "go", "sh", "html", "com", "org", "io", "net", "dev",
    ];
    known.contains(&extension)
}

pub(crate) fn is_uuid(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    let lengths = parts.iter().map(|part| part.len());
    lengths.eq([8, 4, 4, 4, 12]) && parts.iter().all(|part| Set::Hex.run(part).len() == part.len())
}

/// Whether a value looks chosen at random, or at least not like a word or a name in a program.
pub(crate) fn is_random(value: &str, is_quoted: bool) -> bool {
    let bits_min = if value.len() < 16 { 2.5 } else { 3.0 };
    if entropy(value) < bits_min {
        return false;
    }
    let segments = value.split(|c: char| !c.is_ascii_alphanumeric());
    segments.into_iter().any(|segment| is_mixed(segment, is_quoted))
}

/// Letters and digits, or capitals and small letters, in an order that no name has.
fn is_mixed(segment: &str, is_quoted: bool) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let (mut with_digits, mut of_case, mut digits) = (0, 0, 0);
    for pair in segment.as_bytes().windows(2) {
        let &[one, two] = pair else { continue };
        match (class(one), class(two)) {
            (a, b) if a == b => {}
            (0, _) | (_, 0) => with_digits += 1,
            _ => of_case += 1,
        }
    }
    digits += segment.bytes().filter(u8::is_ascii_digit).count();
    let needed = if is_quoted { 1 } else { 3 };
    let has_digits = with_digits >= needed || (with_digits > 0 && digits >= 3 && segment.len() > 7);
    has_digits || (segment.len() >= 12 && of_case * 5 >= segment.len() * 2)
}
