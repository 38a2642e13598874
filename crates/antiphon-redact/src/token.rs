//! Tokens whose form is more than a prefix and a run of characters.

use crate::bytes::{Set, entropy};
use crate::placeholder;
use crate::randomness::surplus_bits;
use crate::rule::{Verdict, Window};

/// How many surplus bits, compared with words, make it certain that a run contains no words.
const CERTAIN_BITS: i32 = 20;

/// `sk-`, and a long run that no name has: class names in style sheets begin in the same way.
pub(crate) fn openai(window: &Window<'_>) -> Verdict {
    let run = Set::Dashed.run(window.rest());
    if !window.begins_word() || run.len() < 20 {
        return Verdict::No;
    }
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let longest = run.split(['-', '_']).map(str::len).max().unwrap_or_default();
    // The services write this in the middle of their keys.
    let is_signed = run.contains("T3BlbkFJ");
    // A random key may have no digits, but does not read like words.
    let is_random = digits >= 2 || is_signed || surplus_bits(run) >= CERTAIN_BITS;
    if !is_random || longest < 16 || placeholder::is_token(run) {
        return Verdict::Passed(window.at + window.keyword.len() + run.len());
    }
    Verdict::Secret(window.at..window.at + window.keyword.len() + run.len())
}

/// Three parts; the first two are JSON objects.
pub(crate) fn jwt(window: &Window<'_>) -> Verdict {
    let mut parts = Set::Dotted.run(window.after).split('.');
    let (Some(head), Some(claims), Some(seal)) = (parts.next(), parts.next(), parts.next()) else {
        return Verdict::No;
    };
    let is_jwt = head.len() >= 10 && claims.starts_with("eyJ") && claims.len() >= 10;
    if !window.begins_word() || !is_jwt || seal.len() < 16 {
        return Verdict::No;
    }
    let end = window.at + head.len() + claims.len() + seal.len() + 2;
    match placeholder::is_token(seal) {
        true => Verdict::Passed(end),
        false => Verdict::Secret(window.at..end),
    }
}

/// Parts with dots between them, each of that many characters.
fn parts(window: &Window<'_>, text: &str, lengths: &[(usize, usize)]) -> Verdict {
    let mut end = 0;
    let mut parts = text.split('.');
    for &(min, max) in lengths {
        let part = Set::Dashed.run(parts.next().unwrap_or_default());
        if part.len() < min || part.len() > max {
            return Verdict::No;
        }
        end += part.len() + 1;
    }
    let whole = text.get(..end - 1).unwrap_or_default();
    let prefix = window.after.len() - text.len();
    match placeholder::is_token(whole) {
        true => Verdict::No,
        false => Verdict::Secret(window.at..window.at + prefix + whole.len()),
    }
}

/// `SG.`, 22 and 43 characters.
pub(crate) fn sendgrid(window: &Window<'_>) -> Verdict {
    if !window.begins_word() {
        return Verdict::No;
    }
    parts(window, window.rest(), &[(16, 32), (32, 64)])
}

/// The id of the bot in base64, a time, a signature. An id begins with a digit from 1 to 9, which
/// gives the keywords; its second digit gives the third character.
pub(crate) fn discord_bot(window: &Window<'_>) -> Verdict {
    let third = window.rest().bytes().next().unwrap_or_default();
    if !b"AEIMQUYcgk".contains(&third) || !window.begins_word() {
        return Verdict::No;
    }
    parts(window, window.after, &[(23, 28), (6, 7), (27, 45)])
}

/// The number of the bot, a colon, and 35 characters.
pub(crate) fn telegram_bot(window: &Window<'_>) -> Verdict {
    let digits = window.before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let before = window.before.get(..window.before.len() - digits).unwrap_or_default();
    let run = Set::Dashed.run(window.rest());
    // In the URL of the API `bot` precedes the number.
    let begins = Window { before, ..*window }.begins_word() || before.ends_with("/bot");
    if !(8..=10).contains(&digits) || !begins || !(32..=36).contains(&run.len()) {
        return Verdict::No;
    }
    if entropy(run) < 3.0 {
        return Verdict::No;
    }
    Verdict::Secret(window.at - digits..window.at + window.keyword.len() + run.len())
}

/// `key-` and 32 characters, unless more of a name comes before it.
pub(crate) fn mailgun(window: &Window<'_>) -> Verdict {
    let run = Set::Alnum.run(window.rest());
    let in_name = window.before.ends_with(['-', '_']) || !window.begins_word();
    if in_name || run.len() != 32 || placeholder::is_token(run) {
        return Verdict::No;
    }
    Verdict::Secret(window.at..window.at + window.keyword.len() + run.len())
}

/// 14 characters, the keyword, and 60 or more.
pub(crate) fn terraform(window: &Window<'_>) -> Verdict {
    let head = Set::Alnum.run_back(window.before);
    let run = Set::Dashed.run(window.rest());
    if head.len() < 14 || run.len() < 60 {
        return Verdict::No;
    }
    Verdict::Secret(window.at - head.len()..window.at + window.keyword.len() + run.len())
}

/// Three characters and a digit, `Q~`, and 31 to 34.
pub(crate) fn azure_client_secret(window: &Window<'_>) -> Verdict {
    let of_secret = |byte: &u8| Set::Dotted.has(*byte) || *byte == b'~';
    let head = window.before.bytes().rev().take_while(of_secret).count();
    let run = window.rest().bytes().take_while(of_secret).count();
    let digit = window.before.ends_with(|c: char| c.is_ascii_digit());
    if head != 4 || !digit || !(31..=34).contains(&run) {
        return Verdict::No;
    }
    Verdict::Secret(window.at - head..window.at + window.keyword.len() + run)
}

/// A prefix and a UUID.
pub(crate) fn with_uuid(window: &Window<'_>) -> Verdict {
    let uuid = window.rest().get(..36).unwrap_or_default();
    let begins = window.begins_word() && !window.before.ends_with(['-', '_', '/']);
    match begins && placeholder::is_uuid(uuid) && !placeholder::is_token(uuid) {
        true => Verdict::Secret(window.at..window.at + window.keyword.len() + uuid.len()),
        false => Verdict::No,
    }
}

/// 32 hex digits, `-us`, and the number of a data centre.
pub(crate) fn mailchimp(window: &Window<'_>) -> Verdict {
    let head = Set::Alnum.run_back(window.before);
    let more = Set::Alnum.run(window.rest());
    let is_hex = head.len() == 32 && Set::Hex.run(head).len() == 32 && !placeholder::is_token(head);
    let is_number = more.len() < 2 && more.bytes().all(|byte| byte.is_ascii_digit());
    match is_hex && is_number {
        true => Verdict::Secret(window.at - 32..window.at + window.keyword.len() + more.len()),
        false => Verdict::No,
    }
}

/// `EAA` and 100 letters and digits, but not in the middle of an image.
pub(crate) fn facebook(window: &Window<'_>) -> Verdict {
    let run = Set::Alnum.run(window.rest());
    let next = window.rest().as_bytes().get(run.len());
    let is_part =
        window.before.ends_with(['+', '/']) || next.is_some_and(|&byte| b"+/_-".contains(&byte));
    if !window.begins_word() || is_part || run.len() < 100 || placeholder::is_token(run) {
        return Verdict::No;
    }
    Verdict::Secret(window.at..window.at + window.keyword.len() + run.len())
}

/// A server key of Firebase: 11 characters, `:APA91b`, and 134.
pub(crate) fn firebase(window: &Window<'_>) -> Verdict {
    let head = Set::Dashed.run_back(window.before).len();
    let run = Set::Dashed.run(window.rest());
    match (8..=32).contains(&head) && run.len() >= 100 {
        true => Verdict::Secret(window.at - head..window.at + window.keyword.len() + run.len()),
        false => Verdict::No,
    }
}

/// A mark in the middle of a key by which Azure recognises its own: 84 characters in total.
pub(crate) fn azure_signed(window: &Window<'_>) -> Verdict {
    let head = Set::Alnum.run_back(window.before);
    let tail = Set::Alnum.run(window.rest());
    let all = head.len() + window.keyword.len() + tail.len();
    match (80..=88).contains(&all) && !placeholder::is_token(head) {
        true => Verdict::Secret(window.at - head.len()..window.at - head.len() + all),
        false => Verdict::No,
    }
}
