//! Searching bytes for words in the form in which agents write them.

use aho_corasick::AhoCorasick;

use crate::search::Query;

/// A finder for each word of a query, and for the file that it names.
pub(super) struct Finders {
    /// `None` for a word that JSON may write in another form.
    pub(super) words: Vec<Option<AhoCorasick>>,
    file: Option<AhoCorasick>,
}

impl Finders {
    pub(super) fn of(query: &Query, words: &[String]) -> Self {
        Self {
            words: words.iter().map(|word| finder(word)).collect(),
            file: query.file.as_deref().and_then(file_finder),
        }
    }

    /// The finder with this index: first those of the words, then that of the file.
    pub(super) fn get(&self, nth: usize) -> Option<&AhoCorasick> {
        match self.words.get(nth) {
            Some(finder) => finder.as_ref(),
            None => self.file.as_ref().filter(|_| nth == self.words.len()),
        }
    }
}

/// A finder for a word; `None` if JSON may write the word in another form.
pub(super) fn finder(word: &str) -> Option<AhoCorasick> {
    let is_plain = word.bytes().all(|byte| is_plain(char::from(byte)));
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build([word]);
    finder.ok().filter(|_| is_plain)
}

/// A finder for the longest part of a path that JSON writes in only one form.
fn file_finder(path: &str) -> Option<AhoCorasick> {
    let pieces = path.split(|it: char| !is_plain(it)).filter(|piece| !piece.is_empty());
    finder(pieces.max_by_key(|piece| piece.len())?)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_graphic() && !"\"\\/".contains(letter)
}
