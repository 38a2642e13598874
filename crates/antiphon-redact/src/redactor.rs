//! The redactor: returns texts and JSON without secrets.

use std::borrow::Cow;
use std::ops::Range;

use crate::keywords::MARKER;
use crate::search::{Search, Span};
use crate::values::Secrets;
use crate::{Counts, document, json};

/// Finds secrets and replaces them by the names of their rules.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    pub(crate) secrets: Secrets,
}

/// A secret, by its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub range: Range<usize>,
    pub rule: &'static str,
}

impl Redactor {
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets }
    }

    /// The text without its secrets; borrowed, if it has none.
    pub fn redact<'t>(&self, text: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        replace(text, &self.find(text), counts)
    }

    /// A JSON text without the secrets in its strings. Everything else stays unchanged to the byte.
    /// A string is searched in its decoded form, and as JSON if it contains JSON.
    pub fn redact_json<'t>(&self, raw: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        replace(raw, &self.find_json(raw), counts)
    }

    /// A value of any kind without its secrets: as JSON if it is JSON, including a string in
    /// quotes, and otherwise as text.
    pub fn redact_value<'t>(&self, raw: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        match antiphon_model::json::check(raw).is_ok() {
            true => self.redact_json(raw, counts),
            false => self.redact(raw, counts),
        }
    }

    /// The secrets of a text, in order, without overlaps.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let (values, _) = self.secrets.find(text, true);
        let found = match values.is_empty() {
            true => Search::whole(text),
            false => with_values(text, values),
        };
        found.into_iter().map(Finding::from).collect()
    }

    /// The text of any file without its secrets: JSON in it is treated as JSON.
    pub fn redact_document<'t>(&self, text: &'t str, counts: &mut Counts) -> Cow<'t, str> {
        replace(text, &self.find_document(text), counts)
    }

    /// The marker that replaces a secret of this rule.
    pub fn marker(&self, rule: &str) -> String {
        let mut marker = String::new();
        push_marker(&mut marker, rule);
        marker
    }

    /// The secrets in the text of any file.
    pub fn find_document(&self, text: &str) -> Vec<Finding> {
        document::find(self, text)
    }

    /// The secrets of a JSON text, by their places in it.
    pub fn find_json(&self, raw: &str) -> Vec<Finding> {
        json::find(self, raw)
    }
}

impl From<Span> for Finding {
    fn from(span: Span) -> Self {
        Self { range: span.range, rule: span.rule }
    }
}

/// The rules search the text in which the values are replaced; their findings get the places in the
/// original text. No rule includes a marker, so each place is unique.
fn with_values(text: &str, values: Vec<Span>) -> Vec<Span> {
    let mut replaced = String::with_capacity(text.len());
    // Where each section of the text begins, in the replaced text and in the original.
    let mut stretches = vec![(0, 0)];
    let mut from = 0;
    for span in &values {
        replaced.push_str(text.get(from..span.range.start).unwrap_or_default());
        push_marker(&mut replaced, span.rule);
        from = span.range.end;
        stretches.push((replaced.len(), from));
    }
    replaced.push_str(text.get(from..).unwrap_or_default());
    let original = |place: usize| {
        let at = stretches.partition_point(|(here, _)| *here <= place);
        let (here, there) = stretches.get(at.saturating_sub(1)).copied().unwrap_or_default();
        there + (place - here)
    };
    let mut all = values;
    all.extend(Search::whole(&replaced).into_iter().map(|span| {
        let start = original(span.range.start);
        Span { range: start..start + span.range.len(), rule: span.rule }
    }));
    all.sort_by_key(|span| span.range.start);
    all
}

pub(crate) fn push_marker(out: &mut String, rule: &str) {
    out.push_str(MARKER);
    out.push_str(rule);
    out.push(']');
}

/// Replaces secrets by markers. A marker needs no escape in JSON, at any depth.
fn replace<'t>(text: &'t str, found: &[Finding], counts: &mut Counts) -> Cow<'t, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for finding in found {
        out.push_str(text.get(from..finding.range.start).unwrap_or_default());
        push_marker(&mut out, finding.rule);
        counts.add(finding.rule);
        from = finding.range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}
