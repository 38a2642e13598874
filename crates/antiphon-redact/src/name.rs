//! Names of secrets.

use crate::bytes::Set;

/// What a name must contain, without word separators, and the minimum length of its value: people
/// choose passwords, programs choose the rest.
const STEMS: &[(&str, usize)] = &[
    ("password", 8),
    ("passwd", 8),
    ("passphrase", 8),
    ("pwd", 8),
    ("dbpass", 8),
    ("dbpw", 8),
    ("secret", 12),
    ("token", 12),
    ("apikey", 12),
    ("accesskey", 16),
    ("accountkey", 16),
    ("adminkey", 16),
    ("appkey", 16),
    ("applicationkey", 16),
    ("authkey", 16),
    ("consumerkey", 16),
    ("deploykey", 16),
    ("encryptionkey", 16),
    ("fernetkey", 16),
    ("hmackey", 16),
    ("licensekey", 16),
    ("masterkey", 16),
    ("privatekey", 16),
    ("sessionkey", 16),
    ("signingkey", 16),
    ("subscriptionkey", 16),
    ("writekey", 16),
    ("credential", 12),
    ("credentials", 12),
];

/// The stems as keywords of rules, word by word, in any spelling.
pub(crate) const KEYWORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "dbpass",
    "dbpw",
    "secret",
    "token",
    "api key",
    "access key",
    "account key",
    "admin key",
    "app key",
    "application key",
    "auth key",
    "consumer key",
    "deploy key",
    "encryption key",
    "fernet key",
    "hmac key",
    "license key",
    "master key",
    "private key",
    "session key",
    "signing key",
    "subscription key",
    "write key",
    "credential",
    "credentials",
];

/// Names that are keywords only as whole words, with what follows them, so that fewer words match
/// them.
pub(crate) const WORD_KEYWORDS: &[&str] = &[
    "_pass",
    "_PASS",
    "Pass=",
    "Pass:",
    "Pass\"",
    "pass=",
    "pass:",
    "pass\"",
    "_PAT=",
    "_PAT:",
    "_PAT\"",
    "pw=",
    "pw:",
    "pw\"",
    "PW=",
    "PW:",
    "PW\"",
    "AUTH=",
    "AUTH:",
    "AUTH\"",
    "AUTH ",
    "secret key",
    "Secret key",
    "Secret Key",
    "SECRET KEY",
];

/// Stems that must be a whole word: `DB_PASS` and not `bypass`, `GITHUB_PAT` and not `PATH`.
const WORDS: &[(&str, usize)] = &[("pass", 8), ("pw", 8), ("pat", 20), ("auth", 16)];

/// What may follow in a secret's name: `token_count` is not a token.
const SUFFIXES: &[&str] = &[
    "",
    "key",
    "value",
    "base",
    "keybase",
    "accesskey",
    "prod",
    "production",
    "dev",
    "staging",
    "test",
    "live",
    "main",
    "default",
    "new",
    "old",
    "primary",
    "secondary",
];

/// Words before a stem that make it public, as whole words: `max_token`, and not `MINIMAX_TOKEN`.
const PUBLIC: &[&str] = &[
    "public",
    "pub",
    "max",
    "min",
    "num",
    "next",
    "page",
    "csrf",
    "xsrf",
    "continuation",
    "pagination",
];

/// Tokens that are ids of requested things.
const NO_UUIDS: &[&str] = &[
    "request",
    "cancel",
    "cancellation",
    "idempotency",
    "correlation",
    "device",
    "client",
    "sync",
];

/// What the name of a secret says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Secret {
    pub(crate) least_length: usize,
    /// Some services use UUIDs as keys; under most names they are ids.
    pub(crate) may_be_uuid: bool,
    /// Whether people choose it, so that it may consist of words.
    pub(crate) is_password: bool,
}

/// What a name says about its value, if it is a secret's name.
pub(crate) fn secret(name: &str) -> Option<Secret> {
    let plain = Plain::of(name);
    let least_length = least_length(name, &plain)?;
    let lower = plain.lower.as_str();
    let sure = ["secret", "password", "accesstoken", "authtoken", "apikey"];
    let is_sure = sure.iter().any(|stem| lower.contains(stem));
    let is_password = ["pass", "pwd", "pw"].iter().any(|stem| lower.contains(stem));
    Some(Secret { least_length, may_be_uuid: is_sure || is_service_token(name), is_password })
}

/// Whether this is the token of a service: `SNYK_TOKEN`, and not `token` or `request_token`.
fn is_service_token(name: &str) -> bool {
    let Some(before) = name.len().checked_sub("_token".len()) else { return false };
    let (service, token) = name.split_at_checked(before).unwrap_or_default();
    let word = Set::Alnum.run_back(service);
    let is_id = NO_UUIDS.iter().any(|id| word.eq_ignore_ascii_case(id));
    matches!(token, "_TOKEN" | "_token") && !word.is_empty() && !is_id
}

/// A name without word separators.
struct Plain {
    lower: String,
    /// The place of each character in the name.
    places: Vec<usize>,
}

impl Plain {
    fn of(name: &str) -> Self {
        let kept = name.bytes().enumerate().filter(|(_, byte)| !is_joint(*byte));
        let (places, bytes): (Vec<usize>, Vec<u8>) = kept.unzip();
        let lower = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        Self { lower, places }
    }
}

fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b' ')
}

fn least_length(name: &str, plain: &Plain) -> Option<usize> {
    let lower = plain.lower.trim_end_matches(|c: char| c.is_ascii_digit());
    // Every name in every document comes here, and few end in more than one of these.
    let bases: Vec<&str> =
        SUFFIXES.iter().filter_map(|suffix| strip_suffix(lower, suffix)).collect();
    let part = |stem: &str| {
        let at = bases.iter().find_map(|base| strip_suffix(base, stem))?.len();
        let place = plain.places.get(at).copied()?;
        let before = name.get(..place).unwrap_or_default();
        (!is_public(before)).then_some(place)
    };
    let begins_word = |at: usize| {
        let before = name.as_bytes().get(..at).and_then(<[u8]>::last);
        let first = name.as_bytes().get(at).copied().unwrap_or_default();
        // In `dbPass` a capital begins the word, in `DBPASS` nothing does.
        let is_camel = before.is_some_and(u8::is_ascii_lowercase) && first.is_ascii_uppercase();
        is_camel || before.is_none_or(|before| !before.is_ascii_alphanumeric())
    };
    let stem = STEMS.iter().find_map(|&(stem, length)| part(stem).map(|_| length));
    let word = || WORDS.iter().find(|(word, _)| part(word).is_some_and(begins_word));
    stem.or_else(|| word().map(|&(_, length)| length))
}

/// As that of `str`; but it looks at the last letter first, which almost always differs.
fn strip_suffix<'n>(name: &'n str, suffix: &str) -> Option<&'n str> {
    let is_possible = suffix.is_empty() || name.as_bytes().last() == suffix.as_bytes().last();
    if is_possible { name.strip_suffix(suffix) } else { None }
}

/// Whether a name may end like this. Checked first, because `tokens` is on every line of a log.
pub(crate) fn is_suffix(after: &str) -> bool {
    let after = after.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = || after.bytes().filter(|byte| !is_joint(*byte));
    SUFFIXES.iter().any(|suffix| plain().map(|byte| byte.to_ascii_lowercase()).eq(suffix.bytes()))
}

/// Whether the last word before a stem says that it is public.
fn is_public(before: &str) -> bool {
    let before = before.trim_end_matches(['_', '-', '.']);
    let run = Set::Alnum.run_back(before);
    // The last word of `nextPage` is `Page`; `NEXTPAGE` is one word.
    let is_boundary =
        |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let start = run.as_bytes().windows(2).rposition(is_boundary).map_or(0, |at| at + 1);
    let word = run.get(start..).unwrap_or_default();
    PUBLIC.iter().any(|public| word.eq_ignore_ascii_case(public))
}

/// Whether an environment variable of this name contains a secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let last =
        Set::Alnum.run_back(upper.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_'));
    let says = |word: &&str| last.ends_with(*word);
    let words = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
        "PASS",
        "AUTH",
    ];
    let is_secret = words.iter().any(says) || secret(name).is_some();
    let is_folder = matches!(upper.as_str(), "PWD" | "OLDPWD");
    is_secret && !is_folder && !upper.contains("PUBLIC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_and_of_other_things() {
        for name in [
            "password",
            "DB_PASSWORD",
            "apiKey",
            "x-api-key",
            "secret_key_base",
            "TOKEN2",
            "aws_secret_access_key",
            "PGPASSWORD",
            "clientSecret",
            "token_prod",
            "APP_ADMIN_PASSWORD",
            "ADMIN_API_KEY",
            "MINIMAX_API_KEY",
            "ENUM_TOKEN",
            "climaxToken",
            "DB_PASS",
            "smtpPass",
            "GITHUB_PAT",
            "X-RapidAPI-Key",
            "API_Key",
            "FERNET_KEY",
            "SEGMENT_WRITE_KEY",
            "NEW_RELIC_LICENSE_KEY",
            "account_key",
            "dbpass",
            "DBPW",
            "AUTH",
            "API key",
        ] {
            assert!(secret(name).is_some(), "{name}");
        }
        for name in [
            "tokens",
            "token_count",
            "max_tokens",
            "secretary",
            "password_hash",
            "name",
            "public_token",
            "tokenizer",
            "next_page_token",
            "secret_name",
            "max_token",
            "minToken",
            "num_token",
            "nextPageToken",
            "bypass",
            "COMPASS",
            "PATH",
            "by_path",
            "oauth",
            "primary_key",
            "spw",
            "author",
        ] {
            assert_eq!(secret(name), None, "{name}");
        }
    }

    #[test]
    fn variables_that_hold_secrets_and_others() {
        for name in ["ANTHROPIC_API_KEY", "GH_TOKEN", "PGPASSWORD", "MY_CREDENTIALS", "NPM_AUTH"] {
            assert!(is_secret_variable(name), "{name}");
        }
        for name in [
            "PATH",
            "SSH_AUTH_SOCK",
            "PWD",
            "OLDPWD",
            "XAUTHORITY",
            "AWS_ACCESS_KEY_ID",
            "PUBLIC_KEY",
            "MAX_TOKENS",
            "KEYBOARD",
            "SECRET_PATH",
            "SSH_PUBLIC_KEY",
        ] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
