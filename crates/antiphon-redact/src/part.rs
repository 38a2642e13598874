//! Tokens that consist of parts, and short prefixes that other words have too: the parts must
//! match.

use crate::bytes::Set;
use crate::placeholder;
use crate::randomness::surplus_bits;
use crate::rule::{Verdict, Window};

/// The surplus of random texts of 20 characters and more.
const CERTAIN_BITS: i32 = 16;

/// The keyword and that many bytes after it, if they look random.
fn behind(window: &Window<'_>, length: usize, is_it: bool) -> Verdict {
    let run = window.rest().get(..length).unwrap_or_default();
    let in_name = window.before.ends_with(['-', '_', '.', '/', '+']) || !window.begins_word();
    match is_it && !in_name && !placeholder::is_token(run) {
        true => Verdict::Secret(window.at..window.at + window.keyword.len() + length),
        false => Verdict::No,
    }
}

/// Whether a run of letters and digits is of exactly this length.
fn is_alnum(text: &str, length: usize) -> bool {
    text.len() == length && Set::Alnum.run(text).len() == length
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && Set::Hex.run(text).len() == length
}

fn is_random(run: &str) -> bool {
    surplus_bits(run) >= CERTAIN_BITS
}

/// Airtable: `pat`, 14 characters, a dot, 64 hex digits.
pub(crate) fn airtable_token(window: &Window<'_>) -> Verdict {
    // Most words that begin like this end soon.
    if window.rest().as_bytes().get(14) != Some(&b'.') {
        return Verdict::No;
    }
    let run = Set::Dotted.run(window.rest()).trim_end_matches('.');
    let (id, secret) = run.split_once('.').unwrap_or_default();
    behind(window, run.len(), is_alnum(id, 14) && is_hex(secret, 64))
}

/// Harness: `pat.`, and three parts with dots between them.
pub(crate) fn harness(window: &Window<'_>) -> Verdict {
    let run = Set::Dotted.run(window.rest()).trim_end_matches('.');
    let mut parts = run.split('.');
    let lengths = [22, 24, 20].map(|length| parts.next().is_some_and(|part| part.len() == length));
    behind(window, run.len(), lengths == [true; 3] && parts.next().is_none() && is_random(run))
}

/// Resend: `re_`, eight characters, and 24 more.
pub(crate) fn resend(window: &Window<'_>) -> Verdict {
    let run = Set::Word.run(window.rest());
    let (id, secret) = run.split_once('_').unwrap_or_default();
    let is_length = is_alnum(id, 8) && (20..=32).contains(&secret.len());
    behind(window, run.len(), is_length && is_alnum(secret, secret.len()) && is_random(run))
}

/// Voyage: `pa-` and 43 characters, of which many are capitals or digits.
pub(crate) fn voyage(window: &Window<'_>) -> Verdict {
    let run = Set::Dashed.run(window.rest());
    behind(window, run.len(), (40..=48).contains(&run.len()) && is_random(run))
}

/// ElevenLabs and others: `sk_` and 48 hex digits, or a run without words.
pub(crate) fn underscored_key(window: &Window<'_>) -> Verdict {
    let run = Set::Alnum.run(window.rest());
    let goes_on = window.rest().as_bytes().get(run.len()).is_some_and(|&byte| Set::Word.has(byte));
    let is_long = run.len() >= 28 && is_random(run);
    behind(window, run.len(), !goes_on && (is_hex(run, 48) || is_long))
}

/// Octopus Deploy: `API-`, and capitals among digits.
pub(crate) fn octopus(window: &Window<'_>) -> Verdict {
    let run = Set::Dashed.run(window.rest());
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let is_it = (25..=32).contains(&run.len()) && Set::Upper.run(run).len() == run.len();
    behind(window, run.len(), is_it && digits >= 2)
}

/// The key of an account of 1Password: `A3-`, and five parts of capitals and digits.
pub(crate) fn onepassword(window: &Window<'_>) -> Verdict {
    let run = Set::Dashed.run(window.rest());
    let is_part = |part: &str| Set::Upper.run(part).len() == part.len();
    let lengths = run.split('-').map(str::len);
    let is_it = lengths.eq([6, 6, 5, 5, 5]) && run.split('-').all(is_part);
    behind(window, run.len(), is_it)
}

/// Square: `EAAA` and 60 characters, but not in the middle of base64.
pub(crate) fn square(window: &Window<'_>) -> Verdict {
    let run = Set::Dashed.run(window.rest());
    let goes_on = window.rest().as_bytes().get(run.len()).is_some_and(|byte| b"+/=".contains(byte));
    behind(window, run.len(), run.len() == 60 && !goes_on && is_random(run))
}

/// MaxMind: six characters, 29 more, and `_mmk`.
pub(crate) fn maxmind(window: &Window<'_>) -> Verdict {
    let run = Set::Word.run_back(window.before);
    let (id, secret) = run.split_once('_').unwrap_or_default();
    match is_alnum(id, 6) && is_alnum(secret, 29) && Set::Word.run(window.rest()).is_empty() {
        true => Verdict::Secret(window.at - run.len()..window.at + window.keyword.len()),
        false => Verdict::No,
    }
}
