//! Searching bytes for words in the form in which agents write them.

use aho_corasick::AhoCorasick;

use crate::search::{Need, Query};

/// A finder for each need of a query, and for the file that it names.
pub(super) struct Finders {
    /// `None` for what JSON may write in another form.
    pub(super) needs: Vec<Option<AhoCorasick>>,
    file: Option<AhoCorasick>,
}

impl Finders {
    pub(super) fn of(query: &Query, needs: &[Need]) -> Self {
        let file = query.file.as_ref();
        Self {
            needs: needs.iter().map(|need| finder(need)).collect(),
            file: file.and_then(|file| finder(std::slice::from_ref(file))),
        }
    }

    /// The finder with this index: first those of the needs, then that of the file.
    pub(super) fn get(&self, nth: usize) -> Option<&AhoCorasick> {
        match self.needs.get(nth) {
            Some(finder) => finder.as_ref(),
            None => self.file.as_ref().filter(|_| nth == self.needs.len()),
        }
    }
}

/// A finder for any of some texts: for the longest part of each that JSON writes in only one form.
/// `None` if one has no such part.
pub(super) fn finder(texts: &[String]) -> Option<AhoCorasick> {
    let part = |text: &String| -> Option<String> {
        let parts = text.split(|it: char| !is_plain(it)).filter(|part| !part.is_empty());
        parts.max_by_key(|part| part.len()).map(str::to_owned)
    };
    let parts: Option<Vec<String>> = texts.iter().map(part).collect();
    AhoCorasick::builder().ascii_case_insensitive(true).build(parts?).ok()
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_graphic() && !"\"\\/".contains(letter)
}
