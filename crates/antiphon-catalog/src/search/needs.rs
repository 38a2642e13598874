//! What a text must contain to match a query, as far as it can be looked for without decoding it.

use super::{Matching, Query};

/// Texts in lower case, one of which must be there: a word or a phrase alone, or what a pattern
/// requires.
pub(crate) type Need = Vec<String>;

impl Query {
    /// What each match needs. If one of the words is enough, the needs are the words: one of these
    /// must be met.
    pub(crate) fn needs(&self, words: &[String], matching: Matching) -> Vec<Need> {
        let mut needs: Vec<Need> = words.iter().map(|word| vec![word.clone()]).collect();
        if matching == Matching::All {
            needs.extend(self.patterns.iter().flat_map(|pattern| pattern.required().to_vec()));
        }
        needs
    }
}
