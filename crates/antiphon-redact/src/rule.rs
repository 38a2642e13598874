//! What a rule is, and its verdict on a place.

use std::ops::Range;

use crate::bytes::Set;
use crate::spelling;

/// A kind of secret.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// The name in its marker.
    pub(crate) name: &'static str,
    /// The rule is applied only where one of these occurs.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) form: Form,
}

/// How the text around a keyword is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// A keyword, followed by that many characters of a set.
    Token { set: Set, min: usize, max: usize },
    /// A token with a form of its own.
    Shape(Reader),
    /// The keyword says that a value near it is secret; if that is a token, the token's rule names
    /// it.
    Context(Reader),
    /// A context whose keywords are names, in all spellings.
    Named(Reader),
}

pub(crate) type Reader = fn(&Window<'_>) -> Verdict;

impl Rule {
    pub(crate) const fn token(
        name: &'static str,
        keywords: &'static [&'static str],
        set: Set,
        min: usize,
    ) -> Self {
        Self { name, keywords, form: Form::Token { set, min, max: usize::MAX } }
    }

    /// A token of exactly this length, or of a few lengths.
    pub(crate) const fn fixed(
        name: &'static str,
        keywords: &'static [&'static str],
        set: Set,
        length: (usize, usize),
    ) -> Self {
        let form = Form::Token { set, min: length.0, max: length.1 };
        Self { name, keywords, form }
    }

    pub(crate) const fn shape(
        name: &'static str,
        keywords: &'static [&'static str],
        read: Reader,
    ) -> Self {
        Self { name, keywords, form: Form::Shape(read) }
    }

    pub(crate) const fn context(
        name: &'static str,
        keywords: &'static [&'static str],
        read: Reader,
    ) -> Self {
        Self { name, keywords, form: Form::Context(read) }
    }

    pub(crate) const fn named(
        name: &'static str,
        keywords: &'static [&'static str],
        read: Reader,
    ) -> Self {
        Self { name, keywords, form: Form::Named(read) }
    }

    pub(crate) fn is_context(&self) -> bool {
        matches!(self.form, Form::Context(_) | Form::Named(_))
    }

    /// The keywords in all their spellings.
    pub(crate) fn spellings(&self) -> Vec<String> {
        match self.form {
            Form::Named(_) => self.keywords.iter().flat_map(|name| spelling::all(name)).collect(),
            Form::Token { .. } | Form::Shape(_) | Form::Context(_) => {
                self.keywords.iter().map(|&keyword| keyword.to_owned()).collect()
            }
        }
    }
}

/// The verdict of a rule on a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    No,
    /// It has the form, and is a placeholder: skipped as a whole, up to here. A second pass must
    /// find it unchanged.
    Passed(usize),
    Secret(Range<usize>),
}

/// The part of a text that a rule sees: some of what precedes the keyword, and the line after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'t> {
    /// Does not include what was replaced.
    pub(crate) before: &'t str,
    /// The keyword, and what follows.
    pub(crate) after: &'t str,
    pub(crate) keyword: &'t str,
    /// The place of the keyword in the text.
    pub(crate) at: usize,
}

impl<'t> Window<'t> {
    /// What follows the keyword.
    pub(crate) fn rest(&self) -> &'t str {
        self.after.get(self.keyword.len()..).unwrap_or_default()
    }

    /// The verdict that a part of `after` is secret, by its place in the text.
    pub(crate) fn secret(&self, part: &str) -> Verdict {
        let start = self.at + (part.as_ptr().addr() - self.after.as_ptr().addr());
        Verdict::Secret(start..start + part.len())
    }

    /// Whether a word may begin here. The letter of an escape (`\n`) and the end of a colour
    /// (`ESC[0m`) are not part of a word.
    pub(crate) fn begins_word(&self) -> bool {
        let before = self.before.as_bytes();
        let Some((&last, before)) = before.split_last() else { return true };
        if !last.is_ascii_alphanumeric() {
            return true;
        }
        let is_escape = matches!(last, b'n' | b't' | b'r') && before.last() == Some(&b'\\');
        is_escape || (last == b'm' && ends_colour(before)) || ends_unicode_escape(self.before)
    }
}

fn ends_colour(before: &[u8]) -> bool {
    let digits = before.iter().rev().take_while(|byte| matches!(byte, b'0'..=b'9' | b';'));
    let rest = before.len() - digits.count();
    before.get(..rest).is_some_and(|rest| rest.ends_with(b"[") && rest.len() > 1)
}

fn ends_unicode_escape(before: &str) -> bool {
    let Some(start) = before.len().checked_sub(6) else { return false };
    let escape = before.get(start..).unwrap_or_default();
    escape.strip_prefix("\\u").is_some_and(|hex| Set::Hex.run(hex).len() == 4)
}
