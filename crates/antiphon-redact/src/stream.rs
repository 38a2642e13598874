//! Redacts a text that comes in pieces, with the same result as for the whole.
//!
//! What may still turn out to be part of a secret is held back: usually a few dozen bytes, up to
//! some 16 KiB after a keyword on a line without an end, and 64 KiB within a private key.

use crate::redactor::push_marker;
use crate::search::{Search, Span};
use crate::{Counts, Redactor};

/// A text on its way. Dropping it without [`StreamRedactor::finish`] loses what it still holds.
#[derive(Debug)]
pub struct StreamRedactor<'r> {
    redactor: &'r Redactor,
    /// Text that may be part of a value of the environment.
    values: String,
    rules: Rules,
    counts: Counts,
}

/// The second stage.
#[derive(Debug, Default)]
struct Rules {
    /// Text that was emitted and may still be looked back to, and text that is held.
    text: String,
    emitted: usize,
    search: Search,
}

impl<'r> StreamRedactor<'r> {
    pub fn new(redactor: &'r Redactor) -> Self {
        let (rules, counts) = (Rules::default(), Counts::default());
        Self { redactor, values: String::new(), rules, counts }
    }

    /// Adds the next piece, and returns what is certain by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.take(piece, false)
    }

    /// Returns the rest, because no more will come.
    pub fn finish(&mut self) -> String {
        let rest = self.take("", true);
        self.rules = Rules::default();
        rest
    }

    /// What was replaced so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.values.len() + self.rules.text.len() - self.rules.emitted
    }

    fn take(&mut self, piece: &str, is_whole: bool) -> String {
        if self.redactor.secrets.is_empty() {
            return self.rules.take(piece, is_whole, &mut self.counts);
        }
        self.values.push_str(piece);
        let (spans, certain) = self.redactor.secrets.find(&self.values, is_whole);
        let passed = copy(&self.values, 0, certain, &spans, &mut self.counts);
        self.values.drain(..certain);
        self.rules.take(&passed, is_whole, &mut self.counts)
    }
}

impl Rules {
    fn take(&mut self, piece: &str, is_whole: bool, counts: &mut Counts) -> String {
        self.text.push_str(piece);
        let mut spans = Vec::new();
        let certain = self.search.go_on(&self.text, is_whole, &mut spans).max(self.emitted);
        let out = copy(&self.text, self.emitted, certain, &spans, counts);
        let gone = self.search.forget(&self.text, certain);
        self.text.drain(..gone);
        self.emitted = certain - gone;
        out
    }
}

/// A part of a text, with markers instead of its secrets.
fn copy(text: &str, from: usize, to: usize, spans: &[Span], counts: &mut Counts) -> String {
    let mut out = String::with_capacity(to - from);
    let mut from = from;
    for span in spans {
        out.push_str(text.get(from..span.range.start).unwrap_or_default());
        push_marker(&mut out, span.rule);
        counts.add(span.rule);
        from = span.range.end;
    }
    out.push_str(text.get(from..to).unwrap_or_default());
    out
}
