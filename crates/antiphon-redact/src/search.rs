//! The search, from left to right: what it finds, and up to where that is certain.
//!
//! Three things make the result the same for a text in pieces, and for a text that was redacted
//! before. A rule sees at most [`BEFORE`] bytes before its keyword and [`AFTER`] after it, within
//! the line; it sees nothing of what was replaced; and a marker is skipped like a secret.

use std::ops::Range;

use crate::bytes::Set;
use crate::key::{KEY_BYTES_MAX, TAIL_BYTES_MAX};
use crate::keywords::{Called, KEYWORDS, MARKER, NAME_BYTES_MAX, marker_end};
use crate::rule::{Form, Rule, Verdict, Window};
use crate::{key, placeholder, rules};

/// How much a rule sees before its keyword: at least this, rounded up to a character.
const BEFORE: usize = 96;
/// How much of the text that was returned is kept: what a rule sees, and a line of a key.
const KEPT: usize = BEFORE + 4 + key::LINE_BYTES_MAX;
/// How much a rule sees from its keyword on.
const AFTER: usize = 8 << 10;
/// How much must follow a keyword to be certain: a secret may contain another one at its end.
const HORIZON: usize = 2 * AFTER + 8;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) rule: &'static str,
}

/// The state of a search.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// Where the next keyword may begin.
    from: usize,
    /// Everything before this was replaced or skipped.
    floor: usize,
    /// Whether a key that may continue was replaced up to here.
    in_key: bool,
}

impl Search {
    /// Finds all secrets of a text.
    pub(crate) fn whole(text: &str) -> Vec<Span> {
        let mut found = Vec::new();
        Self::default().go_on(text, true, &mut found);
        found
    }

    /// Continues the search, and returns up to where the text is certain: nothing before will be
    /// replaced that is not in `found`.
    pub(crate) fn go_on(&mut self, text: &str, is_whole: bool, found: &mut Vec<Span>) -> usize {
        loop {
            if self.in_key && !self.go_on_in_key(text, is_whole, found) {
                return self.floor;
            }
            let Some(hit) = KEYWORDS.next(text, self.from) else { break };
            if !is_whole && !is_certain(text, hit.at, hit.rules) {
                // A longer keyword may have begun before this one, and be incomplete.
                return self.wait_from(text, hit.at.saturating_sub(KEYWORDS.longest));
            }
            match self.judge(text, hit.at, hit.rules, found) {
                Verdict::Secret(Range { end, .. }) | Verdict::Passed(end) => {
                    self.floor = end;
                    self.from = end;
                }
                // Keywords are ASCII: the next character is one byte on.
                Verdict::No => self.from = hit.at + 1,
            }
        }
        if is_whole {
            return text.len();
        }
        // The next piece may complete a keyword that begins here.
        self.wait_from(text, text.len().saturating_sub(KEYWORDS.longest))
    }

    /// Continues from this place when there is more text; returns up to where it is certain until
    /// then.
    fn wait_from(&mut self, text: &str, place: usize) -> usize {
        self.from = self.from.max(text.floor_char_boundary(place));
        let certain = self.floor.max(text.floor_char_boundary(self.from.saturating_sub(BEFORE)));
        let lines = text.get(self.floor..certain).unwrap_or_default();
        self.floor + key::tail_start(lines)
    }

    /// Replaces the continuation of a key that is longer than what a rule sees. Returns whether the
    /// text was long enough to decide.
    fn go_on_in_key(&mut self, text: &str, is_whole: bool, found: &mut Vec<Span>) -> bool {
        while self.in_key {
            let rest = text.get(self.from..).unwrap_or_default();
            let (length, is_all) = key::continuation(rest);
            if !is_whole && !is_all && rest.len() < KEY_BYTES_MAX {
                return false;
            }
            self.in_key = !is_all && length > 0;
            if length > 0 {
                let range = self.from..self.from + length;
                (self.from, self.floor) = (range.end, range.end);
                found.push(Span { range, rule: rules::PRIVATE_KEY });
            }
        }
        true
    }

    /// Forgets the text before `certain`, of which the caller keeps only what a rule may look back
    /// to. Returns how many bytes can be dropped.
    pub(crate) fn forget(&mut self, text: &str, certain: usize) -> usize {
        let gone = text.floor_char_boundary(certain.saturating_sub(KEPT));
        self.from = self.from.saturating_sub(gone);
        self.floor = self.floor.saturating_sub(gone);
        gone
    }

    fn judge(&mut self, text: &str, at: usize, rules: &[Called], found: &mut Vec<Span>) -> Verdict {
        if let Some(end) = text.get(at..).and_then(marker_end) {
            return Verdict::Passed(at + end);
        }
        for &Called { rule, length } in rules {
            let verdict = apply(rule, &window(text, self.floor, at, length, rule));
            let range = match verdict {
                Verdict::No => continue,
                Verdict::Passed(_) => return verdict,
                Verdict::Secret(range) => range,
            };
            let is_context = rule.is_context();
            if range.start < self.floor || is_context && touches_marker(text, at, range.end) {
                continue;
            }
            let mut span = Span { range, rule: rule.name };
            if is_context {
                add_tokens(text, at + 1, &mut span, found);
            }
            let range = span.range.clone();
            // A rule sees a limited part of a key, which may be longer.
            self.in_key = span.rule == rules::PRIVATE_KEY && range.len() + 512 > KEY_BYTES_MAX;
            found.push(span);
            return Verdict::Secret(range);
        }
        Verdict::No
    }
}

/// Whether a part of a context's secret was replaced already: then that was the secret.
fn touches_marker(text: &str, at: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let part = bytes.get(at..(end + MARKER.len()).min(bytes.len())).unwrap_or_default();
    memchr::memmem::find(part, MARKER.as_bytes()).is_some()
}

/// Finds tokens between the keyword of a context and its secret. The secret may be a token itself,
/// whose rule then names it.
fn add_tokens(text: &str, mut from: usize, secret: &mut Span, found: &mut Vec<Span>) {
    let mut floor = from;
    while let Some(hit) = KEYWORDS.next(text, from).filter(|hit| hit.at < secret.range.end) {
        from = hit.at + 1;
        for &Called { rule, length } in hit.rules {
            if rule.is_context() {
                continue;
            }
            let Verdict::Secret(token) = apply(rule, &window(text, floor, hit.at, length, rule))
            else {
                continue;
            };
            if token.end > secret.range.start {
                let range = &mut secret.range;
                *range = range.start.min(token.start)..range.end.max(token.end);
                secret.rule = rule.name;
                return;
            }
            (from, floor) = (token.end, token.end);
            found.push(Span { range: token, rule: rule.name });
            break;
        }
    }
}

fn apply(rule: &Rule, window: &Window<'_>) -> Verdict {
    match rule.form {
        Form::Token { set, min, max } => token(window, set, min, max),
        Form::Shape(read) | Form::Context(read) | Form::Named(read) => read(window),
    }
}

/// A keyword, followed by a run of characters.
fn token(window: &Window<'_>, set: Set, min: usize, max: usize) -> Verdict {
    if !window.begins_word() {
        return Verdict::No;
    }
    let mut run = set.run(window.rest());
    if set == Set::Dotted {
        // A dot at the end is that of a sentence: no token ends with one.
        run = run.trim_end_matches('.');
    }
    let next = window.rest().as_bytes().get(run.len());
    let goes_on = set.is_of_words() && next.is_some_and(|&byte| Set::Word.has(byte));
    if run.len() < min || run.len() > max || goes_on {
        return Verdict::No;
    }
    let end = window.at + window.keyword.len() + run.len();
    match placeholder::is_token(run) {
        true => Verdict::Passed(end),
        false => Verdict::Secret(window.at..end),
    }
}

fn window<'t>(text: &'t str, floor: usize, at: usize, keyword: usize, rule: &Rule) -> Window<'t> {
    let spans_lines = rules::spans_lines(rule);
    let (back, reach) = if spans_lines { (TAIL_BYTES_MAX, KEY_BYTES_MAX) } else { (BEFORE, AFTER) };
    let start = floor.max(text.floor_char_boundary(at.saturating_sub(back)));
    let end = text.floor_char_boundary((at + reach).min(text.len()));
    let mut after = text.get(at..end).unwrap_or_default();
    if !spans_lines && let Some(line) = memchr::memchr(b'\n', after.as_bytes()) {
        after = after.get(..line).unwrap_or_default();
    }
    let keyword = after.get(..keyword).unwrap_or_default();
    Window { before: text.get(start..at).unwrap_or_default(), after, keyword, at }
}

/// Whether more text cannot change the verdict on this keyword.
fn is_certain(text: &str, at: usize, rules: &[Called]) -> bool {
    let after = text.get(at..).unwrap_or_default();
    if rules.is_empty() {
        return after.len() > MARKER.len() + NAME_BYTES_MAX || marker_end(after).is_some();
    }
    if rules.iter().any(|called| rules::spans_lines(called.rule)) {
        return key::is_certain(after);
    }
    let near = after.as_bytes().get(..AFTER).unwrap_or(after.as_bytes());
    let line = memchr::memchr(b'\n', near);
    let near = line.and_then(|end| near.get(..end)).unwrap_or(near);
    // A key may begin in the line, and continue after it.
    match key::may_begin_in(near) {
        true => after.len() >= AFTER + KEY_BYTES_MAX + 8,
        false => after.len() >= HORIZON || line.is_some(),
    }
}
