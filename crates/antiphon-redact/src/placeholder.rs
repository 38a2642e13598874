//! Texts in the form of a secret that are none: examples, placeholders, references to variables.

use crate::bytes::{Set, entropy};
use crate::randomness::surplus_bits;
use crate::value::Written;

/// Words of documentation, long enough to occur in a random token only once in millions.
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

/// Whether a run of a token's characters is not a token.
pub(crate) fn is_token(run: &str) -> bool {
    const BITS_MIN: f64 = 2.6;
    has_any(run, DOCUMENTED) || entropy(run) < BITS_MIN
}

/// How a reference to a value elsewhere begins.
const REFERENCES: &[&str] = &["\\", "env.", "process.", "os.", "self.", "this."];

/// What begins a path, a directive or a variable, and sometimes a password.
const SIGNS: &[&str] = &["$", "%", "@", "#", "/", "./", "~", "&", "*", "!"];

/// Words of documentation and of code. A random value contains one once in a million.
const NOT_VALUES: &[&str] = &[
    "example",
    "your_",
    "your-",
    "_your",
    "-your",
    "yourapi",
    "yourkey",
    "yourpass",
    "yoursecret",
    "yourtoken",
    "placeholder",
    "redacted",
    "changeme",
    "change_me",
    "change-me",
    "replace_",
    "replace-",
    "environ",
    "getenv",
    "secrets.",
];

/// Like `NOT_VALUES`, but short enough to occur in a value by chance.
const SHORT_NOT_VALUES: &[&str] = &[
    "xxx", "your", "...", "…", "***", "dummy", "sample", "insert", "replace", "${", "}}", "$(",
    "{}", "env[", "env(", "://", "todo",
];

/// Signs of code, which mean nothing within quotes.
const CODE: &[&str] = &["::", "->", "["];

/// How many surplus bits, compared with words, make it certain that a value is random, whatever
/// characters are in it.
const CERTAIN_BITS: i32 = 24;

/// The same, for values that are written as only paths are.
const PATH_BITS: i32 = 8;

/// What documentation writes instead of a password.
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

/// Whether documentation and code write this instead of a secret.
pub(crate) fn is_value(value: &str, written: Written) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| value.starts_with(start));
    if begins(REFERENCES)
        || is_variable(value)
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || has_any(value, NOT_VALUES)
        || is_file_name(value)
    {
        return true;
    }
    let is_sign = begins(SIGNS) && written == Written::Bare || has_any(value, SHORT_NOT_VALUES);
    let is_code = written == Written::Bare && has_any(value, CODE);
    let is_path = begins(&["/", "./", "~/"]) && written == Written::AsValue;
    // A path in quotes was named by a person; a random value has more surplus bits.
    is_path && surplus_bits(value) < PATH_BITS
        || (is_sign || is_code || is_template(value)) && surplus_bits(value) < CERTAIN_BITS
}

/// Whether this is `<name>`, `{name}`, or another text to be filled in.
fn is_template(value: &str) -> bool {
    let is_closed = |open, close| value.starts_with(open) && value.contains(close);
    is_closed('<', '>') || is_closed('{', '}') || value.contains("%s") && value.len() < 16
}

/// Whether the parts of a value look random, without the characters between them: the parts of code
/// are names.
pub(crate) fn has_random_parts(value: &str) -> bool {
    const BITS_MIN: i32 = 8;
    let parts = value.replace(|c: char| !c.is_ascii_alphanumeric(), " ");
    surplus_bits(parts.trim()) >= BITS_MIN
}

/// Whether a person may have chosen such a password: letters, a digit, and a character that no name
/// has. If it may be code, it must have letters of both cases, and a character that joins nothing.
pub(crate) fn is_chosen(value: &str, written: Written) -> bool {
    let has = |of: fn(u8) -> bool| value.bytes().any(of);
    let is_mixed = has(|byte| byte.is_ascii_lowercase())
        && has(|byte| byte.is_ascii_uppercase())
        && has(|byte| b"!@#$%^".contains(&byte));
    let of_password = |byte: u8| byte.is_ascii_alphanumeric() || b"!@#$%^&*?+=~-_.".contains(&byte);
    has(|byte| byte.is_ascii_alphabetic())
        && has(|byte| byte.is_ascii_digit())
        && has(|byte| b"!@#$%^&*?+=~".contains(&byte))
        && (written == Written::AsValue || is_mixed)
        && value.bytes().all(of_password)
        && entropy(value) >= 2.4
}

/// Whether this is `$NAME`, `${NAME}`, `$(command)`, `%NAME%` or `%(name)s`.
fn is_variable(value: &str) -> bool {
    let is_name = |name: &str| Set::Word.run(name).len() == name.len();
    if let Some(name) = value.strip_prefix('%') {
        let is_filled = name.starts_with('(') && name.ends_with(")s");
        return is_filled || name.strip_suffix('%').is_some_and(is_name);
    }
    value.strip_prefix('$').is_some_and(|name| name.starts_with(['{', '(']) || is_name(name))
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

/// Whether a value looks random, or at least not like a word or a name in a program. A text in
/// quotes is a value; any other may be code.
pub(crate) fn is_random(value: &str, written: Written) -> bool {
    let entropy_min = if value.len() < 16 { 2.4 } else { 2.9 };
    let bits_min = match written {
        Written::AsValue => 1,
        Written::Bare => 3,
    };
    let has_letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    // No name is that long and has so many digits.
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_long = value.len() >= 32 && digits >= 8 && Set::Alnum.run(value).len() == value.len();
    let is_hex_number = |hex: &str| hex.len() <= 16 && Set::Hex.run(hex).len() == hex.len();
    has_letters
        && !value.strip_prefix("0x").is_some_and(is_hex_number)
        && entropy(value) >= entropy_min
        && (surplus_bits(value) >= bits_min || is_long || is_uuid(value))
}
