//! Secrets in the strings of a JSON text.
//!
//! Strings are found by their quotes; nothing else of the text is looked at, so nesting does not
//! matter. A string is searched in its decoded form, and findings have their place in the raw text,
//! so everything else stays unchanged to the byte, including escapes and lone surrogates.

use std::borrow::Cow;
use std::ops::Range;

use crate::bytes::{Set, is_basic};
use crate::keywords::KEYWORDS;
use crate::redactor::{Finding, Redactor};
use crate::value::Written;
use crate::{context, cookie, name, pair};

/// Signatures and ciphertexts that an agent needs unchanged to continue.
const LEFT_ALONE: &[&str] =
    &["signature", "encrypted_content", "thoughtSignature", "thought_signature"];

/// How deeply JSON in strings is decoded; below that it is searched as text.
const DEPTH_MAX: usize = 4;

pub(crate) fn find(redactor: &Redactor, raw: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    find_at_depth(redactor, raw, 0, &mut found);
    found
}

fn find_at_depth(redactor: &Redactor, raw: &str, depth: usize, found: &mut Vec<Finding>) {
    if !may_hold_secrets(redactor, raw) {
        return;
    }
    let mut quick = Quick::new(redactor, raw);
    // The member's name, and whether it contains a keyword.
    let mut key: Option<(Cow<'_, str>, bool)> = None;
    // The name that the member before gave to this member's value.
    let mut given: Option<String> = None;
    let mut at = 0;
    while let Some(open) = find_from(raw, at, b'"') {
        let end = end_of_string(raw, open + 1);
        let inner = open + 1..end;
        at = end + 1;
        let is_plain = !quick.may_hold(&inner);
        let between = raw.get(at..).unwrap_or_default();
        if between.trim_start_matches(SPACE).starts_with(':') {
            // A name without a keyword says nothing, unless it is left alone.
            let text = Decoded::of(raw, inner);
            if !is_plain {
                find_in_text(redactor, &text, None, depth, found);
            }
            key = Some((text.text, !is_plain));
            continue;
        }
        let before = raw.get(..open).unwrap_or_default();
        let is_member = before.trim_end_matches(SPACE).ends_with(':');
        let name = key.take().filter(|_| is_member);
        let is_named = name.as_ref().is_some_and(|(name, may)| may_name_secret(name, *may));
        let name = name.as_ref().map(|(name, _)| &**name);
        let given_before = given.take();
        if !is_plain && name.is_some_and(pair::is_name) {
            given = Some(Decoded::of(raw, inner.clone()).text.into_owned());
        }
        let paired = given_before.as_deref().filter(|_| name.is_some_and(pair::is_value));
        let (name, is_named) = (paired.or(name), is_named || paired.is_some());
        if is_plain && !is_named || name.is_some_and(|name| is_left_alone(name, raw, &inner)) {
            continue;
        }
        let text = Decoded::of(raw, inner);
        find_in_text(redactor, &text, name, depth, found);
    }
}

const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Which strings of a text are worth decoding: those with a keyword, or with an escape that may
/// hide one.
struct Quick<'t> {
    raw: &'t str,
    next: Option<usize>,
    must_read_all: bool,
}

impl<'t> Quick<'t> {
    fn new(redactor: &Redactor, raw: &'t str) -> Self {
        let must_read_all = redactor.secrets.may_be_in(raw);
        Self { raw, next: KEYWORDS.next_of_rule(raw, 0), must_read_all }
    }

    fn may_hold(&mut self, inner: &Range<usize>) -> bool {
        if self.next.is_some_and(|next| next < inner.start) {
            self.next = KEYWORDS.next_of_rule(self.raw, inner.start);
        }
        let text = self.raw.get(inner.clone()).unwrap_or_default();
        self.must_read_all || self.next.is_some_and(|next| next < inner.end) || may_hide(text)
    }
}

/// Whether a text may contain secrets. Most contain no keyword, and none that an escape could hide.
pub(crate) fn may_hold_secrets(redactor: &Redactor, raw: &str) -> bool {
    redactor.secrets.may_be_in(raw) || KEYWORDS.next_of_rule(raw, 0).is_some() || may_hide(raw)
}

/// Whether an escape could represent a character of a keyword.
fn may_hide(raw: &str) -> bool {
    let mut escapes = memchr::memchr_iter(b'\\', raw.as_bytes());
    escapes.any(|at| {
        let escape = raw.as_bytes().get(at + 1..).unwrap_or_default();
        escape.starts_with(b"u00") || escape.starts_with(b"/")
    })
}

/// Whether a member's name may say what its value is. A name without a keyword does not, except for
/// those that are keywords only together with what surrounds them.
fn may_name_secret(name: &str, has_keyword: bool) -> bool {
    matches!(name, "auth" | "_auth")
        || has_keyword && name::secret(name).is_some()
        || is_cookie(name)
}

fn is_cookie(name: &str) -> bool {
    name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("set-cookie")
}

fn is_left_alone(name: &str, raw: &str, inner: &Range<usize>) -> bool {
    const SHORT: usize = 64;
    if LEFT_ALONE.contains(&name) {
        return true;
    }
    // An image, or reasoning that the provider has encrypted.
    let text = raw.get(inner.clone()).unwrap_or_default();
    name == "data" && text.len() > SHORT && Set::Base64.run(text).len() == text.len()
}

fn find_in_text(
    redactor: &Redactor,
    text: &Decoded<'_>,
    name: Option<&str>,
    depth: usize,
    found: &mut Vec<Finding>,
) {
    let mut inside = Vec::new();
    let is_json = text.text.trim_start().starts_with(['{', '[']) && depth < DEPTH_MAX;
    if is_json && antiphon_model::json::check(&text.text).is_ok() {
        find_at_depth(redactor, &text.text, depth + 1, &mut inside);
    } else {
        inside = redactor.find(&text.text);
    }
    if inside.is_empty()
        && let Some((rule, range)) = name.and_then(|name| by_name(name, &text.text))
    {
        inside.push(Finding { range, rule });
    }
    found.extend(inside.into_iter().map(|finding| Finding {
        range: text.raw(finding.range.start)..text.raw(finding.range.end),
        rule: finding.rule,
    }));
}

/// What a member's name says about its value.
fn by_name(name: &str, value: &str) -> Option<(&'static str, Range<usize>)> {
    if matches!(name, "auth" | "_auth") && value.len() >= 12 && is_basic(value) {
        return Some(("docker-auth", 0..value.len()));
    }
    if is_cookie(name) {
        return cookie::secret_part(value).map(|range| ("cookie", range));
    }
    let secret = name::secret(name)?;
    context::is_secret(value, secret, Written::AsValue)
        .then_some(("assigned-secret", 0..value.len()))
}

fn find_from(text: &str, from: usize, byte: u8) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    memchr::memchr(byte, rest).map(|at| from + at)
}

/// The place of a string's closing quote, or the end of the text.
fn end_of_string(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        match bytes.get(at + next) {
            Some(b'"') => return at + next,
            _ => at += next + 2,
        }
    }
    text.len()
}

/// A decoded string, and the mapping to its raw text.
struct Decoded<'t> {
    text: Cow<'t, str>,
    /// The ends of escapes: in the decoded text, and in the raw text.
    steps: Vec<(usize, usize)>,
    start: usize,
}

impl<'t> Decoded<'t> {
    fn of(raw: &'t str, inner: Range<usize>) -> Self {
        let start = inner.start;
        let inner = raw.get(inner).unwrap_or_default();
        if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
            return Self { text: Cow::Borrowed(inner), steps: Vec::new(), start };
        }
        let mut text = String::with_capacity(inner.len());
        let mut steps = Vec::new();
        let mut at = 0;
        while let Some(escape) = find_from(inner, at, b'\\') {
            text.push_str(inner.get(at..escape).unwrap_or_default());
            let (character, len) = unescape(inner.get(escape..).unwrap_or_default());
            text.push(character);
            at = inner.floor_char_boundary((escape + len).min(inner.len()));
            steps.push((text.len(), at));
        }
        text.push_str(inner.get(at..).unwrap_or_default());
        Self { text: Cow::Owned(text), steps, start }
    }

    /// The place in the raw text for a place in the decoded text.
    fn raw(&self, place: usize) -> usize {
        let before = self.steps.partition_point(|(here, _)| *here <= place);
        let step = before.checked_sub(1).and_then(|last| self.steps.get(last));
        let (here, there) = step.copied().unwrap_or_default();
        self.start + there + (place - here)
    }
}

/// The character of the escape that a text begins with, and the escape's length.
fn unescape(text: &str) -> (char, usize) {
    let unit = |from: usize| {
        let digits = text.get(from..from + 4)?;
        text.get(from - 2..from).filter(|&start| start == "\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let lost = char::REPLACEMENT_CHARACTER;
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => match (unit(2), unit(8)) {
            (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => {
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(code).unwrap_or(lost), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or(lost), 6),
            (None, _) => (lost, 2),
        },
        Some(_) => text
            .get(1..)
            .and_then(|rest| rest.chars().next())
            .map_or((lost, 1), |c| (c, 1 + c.len_utf8())),
        None => (lost, 1),
    }
}
