//! Names that say that what they name is secret.

use crate::bytes::Set;

/// What a name must hold, and how long its value must be at least: people choose passwords,
/// programs choose the rest.
const STEMS: &[(&str, usize)] = &[
    ("password", 8),
    ("passwd", 8),
    ("passphrase", 8),
    ("pwd", 8),
    ("secret", 12),
    ("token", 12),
    ("api_key", 12),
    ("api-key", 12),
    ("apikey", 12),
    ("access_key", 16),
    ("accesskey", 16),
    ("private_key", 16),
    ("privatekey", 16),
    ("auth_key", 16),
    ("auth-key", 16),
    ("authkey", 16),
    ("app_key", 16),
    ("application_key", 16),
    ("subscription-key", 16),
    ("subscription_key", 16),
    ("subscriptionkey", 16),
    ("signing_key", 16),
    ("signingkey", 16),
    ("encryption_key", 16),
    ("encryptionkey", 16),
    ("master_key", 16),
    ("masterkey", 16),
    ("credential", 12),
];

/// The same, where they are a whole word: `DB_PASS` and not `bypass`, `GITHUB_PAT` and not `PATH`.
const WORDS: &[(&str, usize)] = &[("pass", 8), ("pat", 20)];

/// What may follow in the name without making it another thing: `token_count` is no token.
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

/// Names of public things, as whole words: `max_token`, and not `MINIMAX_TOKEN`.
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

/// What the name of a secret says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Secret {
    pub(crate) least_length: usize,
    /// Some services give out UUIDs as keys; under most names they are ids.
    pub(crate) may_be_uuid: bool,
}

/// What a name says of its value, if it is a secret's name.
pub(crate) fn secret(name: &str) -> Option<Secret> {
    let lower = name.to_ascii_lowercase();
    let least_length = least_length(name, &lower)?;
    let sure = ["secret", "password", "access_token", "accesstoken", "auth_token", "authtoken"];
    let is_key = lower.contains("api_key") || lower.contains("apikey") || lower.contains("api-key");
    let is_variable = name.ends_with("_TOKEN");
    let is_sure = sure.iter().any(|stem| lower.contains(stem));
    Some(Secret { least_length, may_be_uuid: is_key || is_variable || is_sure })
}

fn least_length(name: &str, lower: &str) -> Option<usize> {
    let part = |stem: &str| {
        let (before, after) = lower.split_at(lower.rfind(stem)?);
        let after = after.get(stem.len()..).unwrap_or_default();
        let before = name.get(..before.len()).unwrap_or_default();
        (is_suffix(after) && !is_public(before)).then_some(before.len())
    };
    let begins_word = |at: usize| {
        let before = name.as_bytes().get(..at).and_then(<[u8]>::last);
        let first = name.as_bytes().get(at).copied().unwrap_or_default();
        // In `dbPass` a capital begins it, in `DBPASS` nothing says so.
        let is_camel = before.is_some_and(u8::is_ascii_lowercase) && first.is_ascii_uppercase();
        is_camel || before.is_none_or(|before| !before.is_ascii_alphanumeric())
    };
    let stem = STEMS.iter().find_map(|&(stem, length)| part(stem).map(|_| length));
    let word = || WORDS.iter().find(|(word, _)| part(word).is_some_and(begins_word));
    stem.or_else(|| word().map(|&(_, length)| length))
}

/// Whether a name may end like this. Asked first, because `tokens` is on every line of a log.
pub(crate) fn is_suffix(after: &str) -> bool {
    let after = after.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = || after.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
    SUFFIXES.iter().any(|suffix| plain().map(|byte| byte.to_ascii_lowercase()).eq(suffix.bytes()))
}

/// Whether the last word before a stem says that it is a public thing.
fn is_public(before: &str) -> bool {
    let before = before.trim_end_matches(['_', '-', '.']);
    let run = Set::Alnum.run_back(before);
    // The last word of `nextPage` is `Page`; all of `NEXTPAGE` is one.
    let is_boundary =
        |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let start = run.as_bytes().windows(2).rposition(is_boundary).map_or(0, |at| at + 1);
    let word = run.get(start..).unwrap_or_default();
    PUBLIC.iter().any(|public| word.eq_ignore_ascii_case(public))
}

/// Whether an environment variable of this name holds a secret.
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
