//! What finds words in bytes as agents write them.

use aho_corasick::AhoCorasick;

use crate::search::Query;

/// A finder for each word of a query, and for the file that it names.
pub(super) struct Finders {
    /// Nothing, for a word that JSON may write otherwise than it is.
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

    /// That of a word, by its place; after the words comes the file.
    pub(super) fn get(&self, nth: usize) -> Option<&AhoCorasick> {
        match self.words.get(nth) {
            Some(finder) => finder.as_ref(),
            None => self.file.as_ref().filter(|_| nth == self.words.len()),
        }
    }
}

/// What finds a word in bytes; nothing, for one that JSON may write otherwise than it is.
pub(super) fn finder(word: &str) -> Option<AhoCorasick> {
    let is_plain = word.bytes().all(|byte| is_plain(char::from(byte)));
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build([word]);
    finder.ok().filter(|_| is_plain)
}

/// The same of a path: of its longest piece that is written in one way only.
fn file_finder(path: &str) -> Option<AhoCorasick> {
    let pieces = path.split(|it: char| !is_plain(it)).filter(|piece| !piece.is_empty());
    finder(pieces.max_by_key(|piece| piece.len())?)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_graphic() && !"\"\\/".contains(letter)
}
