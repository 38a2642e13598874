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
    ("signing_key", 16),
    ("encryption_key", 16),
    ("master_key", 16),
    ("credential", 12),
];

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

/// Names of public things.
const PUBLIC: &[&str] = &["public", "pub", "max", "min", "num", "next", "page", "csrf", "xsrf"];

/// The least length of a value under this name, if it is a secret's name.
pub(crate) fn least_length(name: &str) -> Option<usize> {
    let lower = name.to_ascii_lowercase();
    STEMS.iter().find_map(|&(stem, length)| {
        let (before, after) = lower.split_at(lower.rfind(stem)?);
        let after = after.get(stem.len()..).unwrap_or_default();
        (is_suffix(after) && !is_public(before)).then_some(length)
    })
}

/// Whether a name may end like this. Asked first, because `tokens` is on every line of a log.
pub(crate) fn is_suffix(after: &str) -> bool {
    let after = after.trim_end_matches(|c: char| c.is_ascii_digit());
    let plain = || after.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
    SUFFIXES.iter().any(|suffix| plain().map(|byte| byte.to_ascii_lowercase()).eq(suffix.bytes()))
}

fn is_public(before: &str) -> bool {
    let before = before.trim_end_matches(['_', '-', '.']);
    let word = Set::Alnum.run_back(before);
    PUBLIC.iter().any(|public| word.ends_with(public))
}

/// Whether an environment variable of this name holds a secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let last =
        Set::Alnum.run_back(upper.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_'));
    let says = |word: &&str| last.ends_with(*word);
    let secret = [
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
    let is_secret = secret.iter().any(says) || least_length(name).is_some();
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
        ] {
            assert!(least_length(name).is_some(), "{name}");
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
        ] {
            assert_eq!(least_length(name), None, "{name}");
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
