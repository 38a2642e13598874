//! A regular expression that is searched for.
//!
//! It is matched in time linear in the text, and compiled within a limit, whatever a person types.
//! The literals that every match must contain ([`required`]) rule out most of what is kept without
//! reading it.

mod required;

use std::ops::Range;

use regex::{Regex, RegexBuilder};

/// A compiled pattern takes at most this much memory.
const SIZE_MAX: usize = 4 << 20;

/// A regular expression. Case is ignored, as it is for words, unless it says `(?-i)`; `^` and `$`
/// are the beginning and the end of a line.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    regex: Regex,
    required: Vec<Vec<String>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// Compiles a pattern; the error says what is wrong with it.
    pub fn new(source: &str) -> Result<Self, String> {
        let mut builder = RegexBuilder::new(source);
        builder.case_insensitive(true).multi_line(true).size_limit(SIZE_MAX);
        let regex = builder.build().map_err(|error| {
            // The last line says what; those before show where.
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            let why = match matches!(error, regex::Error::CompiledTooBig(_)) {
                true => "it is too large",
                false => last.strip_prefix("error: ").unwrap_or(last),
            };
            format!("`{source}` is not a valid regular expression: {why}")
        })?;
        let required = required::required(source);
        Ok(Self { source: source.to_owned(), regex, required })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The first match in a text that is not empty.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.matches(text).next()
    }

    /// All matches in a text that are not empty.
    pub(crate) fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        self.regex.find_iter(text).map(|found| found.range()).filter(|range| !range.is_empty())
    }

    /// Groups of literals in lower case: a text that matches contains one of each group.
    pub(crate) fn required(&self) -> &[Vec<String>] {
        &self.required
    }
}
