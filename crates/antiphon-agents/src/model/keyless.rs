//! Words as they come, without the key of their service: a service may repeat it, and in pieces.

use super::{Delta, Tell};

/// What stands in a key's place.
pub(super) const MARK: &str = "[key]";
/// So much of the beginning of a key is no secret: every key of a service begins like that.
const HARMLESS_BYTES: usize = 7;

/// Passes words on, but for a key. The end of what has arrived waits as long as it may be the
/// beginning of the key.
pub(super) struct Keyless<'t> {
    key: &'t str,
    tell: Tell<'t>,
    waiting: String,
}

impl<'t> Keyless<'t> {
    pub(super) fn new(key: Option<&'t str>, tell: Tell<'t>) -> Self {
        Self { key: key.unwrap_or_default(), tell, waiting: String::new() }
    }

    pub(super) fn note(&mut self, note: &str) {
        (self.tell)(Delta::Note(note));
    }

    pub(super) fn words(&mut self, words: &str) {
        if self.key.is_empty() {
            return self.pass(words);
        }
        self.waiting.push_str(words);
        let clean = self.waiting.replace(self.key, MARK);
        let begins = |n: &usize| self.key.get(..*n).is_some_and(|start| clean.ends_with(start));
        let waits = (1..self.key.len()).rev().find(begins).unwrap_or_default();
        let (passed, waiting) = clean.split_at(clean.len() - waits);
        self.pass(passed);
        self.waiting = waiting.to_owned();
    }

    fn pass(&mut self, words: &str) {
        if !words.is_empty() {
            (self.tell)(Delta::Words(words));
        }
    }
}

impl Drop for Keyless<'_> {
    /// Nothing more comes, whether the answer is over or was stopped.
    fn drop(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let is_harmless = waiting.len() <= HARMLESS_BYTES;
        self.pass(if is_harmless { &waiting } else { MARK });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(key: &str, pieces: &[&str]) -> String {
        let mut told = String::new();
        let mut tell = |delta: Delta<'_>| match delta {
            Delta::Words(words) => told.push_str(words),
            Delta::Note(_) => {}
        };
        let mut keyless = Keyless::new(Some(key), &mut tell);
        pieces.iter().for_each(|piece| keyless.words(piece));
        drop(keyless);
        told
    }

    #[test]
    fn a_key_is_taken_out_however_it_is_cut_into_pieces() {
        let key = "sk-abc-sk-abd-0123";
        let text = format!("It is {key}, yes: sk-abc-{key}; sk");
        let wanted = "It is [key], yes: sk-abc-[key]; sk";
        for size in 1..=text.len() {
            let pieces: Vec<&str> =
                text.as_bytes().chunks(size).map(|it| std::str::from_utf8(it).unwrap()).collect();
            assert_eq!(told(key, &pieces), wanted, "in pieces of {size}");
        }
    }

    #[test]
    fn half_a_key_at_the_end_is_taken_out_and_a_word_that_begins_like_one_is_not() {
        assert_eq!(told("sk-0123456789", &["It is sk-01234567"]), "It is [key]");
        assert_eq!(told("sk-0123456789", &["It is a risk"]), "It is a risk");
        assert_eq!(told("", &["It is ", "none"]), "It is none");
    }
}
