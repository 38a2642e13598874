//! One-time codes and the cookies that they are exchanged for.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::tokens::{Token, TokenError, random_word};
use crate::lock;

/// A code is good for so long.
const CODE_LIFE: Duration = Duration::from_secs(60);
/// More codes or cookies than this are not kept: the oldest go.
const KEPT_MAX: usize = 1000;

/// What was given out; only hashes of it.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    codes: Mutex<HashMap<blake3::Hash, Instant>>,
    cookies: Mutex<HashMap<blake3::Hash, Cookie>>,
}

/// Whose a cookie is.
#[derive(Debug, Clone)]
struct Cookie {
    made: Instant,
    /// The id of the token that it was given for; nothing, for the user's own.
    token: Option<String>,
}

/// Whom a cookie stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holder {
    User,
    /// Whoever has the token with this id.
    Token(String),
}

impl Codes {
    pub(crate) fn new_code(&self) -> Result<String, TokenError> {
        let code = random_word()?;
        let mut codes = lock(&self.codes);
        codes.retain(|_, made| made.elapsed() < CODE_LIFE);
        forget_oldest(&mut codes, |made| *made);
        codes.insert(blake3::hash(code.as_bytes()), Instant::now());
        Ok(code)
    }

    /// Uses a code up: true once, for a code that was given out in the last minute.
    pub(crate) fn take(&self, code: &str) -> bool {
        let made = lock(&self.codes).remove(&blake3::hash(code.as_bytes()));
        made.is_some_and(|made| made.elapsed() < CODE_LIFE)
    }

    pub(crate) fn new_cookie(&self, token: Option<&Token>) -> Result<String, TokenError> {
        let word = random_word()?;
        let cookie = Cookie { made: Instant::now(), token: token.map(|it| it.id().to_owned()) };
        let mut cookies = lock(&self.cookies);
        forget_oldest(&mut cookies, |cookie| cookie.made);
        cookies.insert(blake3::hash(word.as_bytes()), cookie);
        Ok(word)
    }

    pub(crate) fn holder(&self, cookie: &str) -> Option<Holder> {
        let cookies = lock(&self.cookies);
        let cookie = cookies.get(&blake3::hash(cookie.as_bytes()))?;
        Some(match &cookie.token {
            Some(id) => Holder::Token(id.clone()),
            None => Holder::User,
        })
    }
}

fn forget_oldest<T>(kept: &mut HashMap<blake3::Hash, T>, made: impl Fn(&T) -> Instant) {
    if kept.len() >= KEPT_MAX {
        let oldest = kept.iter().min_by_key(|(_, it)| made(it)).map(|(hash, _)| *hash);
        oldest.map(|hash| kept.remove(&hash));
    }
}

#[cfg(test)]
mod tests {
    use super::{Codes, Holder};

    #[test]
    fn a_code_is_good_once_and_a_cookie_until_the_server_ends() {
        let codes = Codes::default();
        let code = codes.new_code().unwrap();
        assert!(!codes.take("another"));
        assert!(codes.take(&code));
        assert!(!codes.take(&code));
        let cookie = codes.new_cookie(None).unwrap();
        assert_eq!(codes.holder(&cookie), Some(Holder::User));
        assert_eq!(codes.holder(&code), None);
    }
}
