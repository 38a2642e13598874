//! Long texts that are stored separately and referred to by their hash.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{Place, Problem, Severity, json};

/// How many bytes references may expand to, over the whole log: a text can be referred to from
/// anywhere, any number of times.
const MOST_BYTES: usize = 512 << 20;

/// How much may still be expanded.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: usize,
    is_spent: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: MOST_BYTES, is_spent: false }
    }
}

impl Budget {
    /// Takes this many bytes from the budget, or returns `false` if it has fewer left.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        match self.bytes.checked_sub(bytes) {
            Some(left) => self.bytes = left,
            None => self.is_spent = true,
        }
        !self.is_spent
    }

    /// A problem, if the budget was not enough.
    pub(super) fn problem(&self) -> Option<Problem> {
        let message = "too many references to attachments; some were not resolved".to_owned();
        let (severity, code) = (Severity::Warning, "too-long");
        let problem = Problem { severity, code, line: 1, message, place: Place::NONE };
        self.is_spent.then_some(problem)
    }
}

/// The attachments of a sample, by hash: JSON strings.
#[derive(Debug, Default)]
pub(super) struct Attachments<'t> {
    texts: BTreeMap<String, &'t str>,
}

impl<'t> Attachments<'t> {
    pub(super) fn new(raw: &'t str) -> Self {
        let mut texts = BTreeMap::new();
        let _ = json::members(raw, |hash, text| {
            texts.insert(hash.to_owned(), text);
        });
        Self { texts }
    }

    /// A value with its references resolved.
    pub(super) fn resolve<'r>(&self, raw: &'r str, budget: &mut Budget) -> Cow<'r, str> {
        let mut out = String::new();
        let mut rest = raw;
        while let Some((at, scheme)) = next(rest) {
            let (before, found) = rest.split_at(at);
            let inner = found.get(scheme.len()..).unwrap_or_default();
            let end = inner.find('"').unwrap_or(inner.len());
            let text = inner.get(..end).and_then(|hash| self.texts.get(hash));
            let after = found.get(scheme.len() + end + 1..).unwrap_or_default();
            out.push_str(before);
            match text.filter(|text| budget.spend(text.len())) {
                Some(text) => out.push_str(text),
                None => {
                    let kept = found.len() - after.len();
                    out.push_str(found.get(..kept).unwrap_or(found));
                }
            }
            rest = after;
        }
        if out.is_empty() {
            return Cow::Borrowed(raw);
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

/// Where the next string begins that is a reference, and with which prefix.
fn next(text: &str) -> Option<(usize, &'static str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find("://")?;
        from = at + 3;
        let before = text.get(..from)?;
        let scheme = ["\"attachment://", "\"tc://"].into_iter().find(|it| before.ends_with(it));
        if let Some(scheme) = scheme {
            return Some((from - scheme.len(), scheme));
        }
    }
}
