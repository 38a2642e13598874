//! What a word asks of filters.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::maker::{five, letter, trigram};
use super::{Gram, is_of_fives};

/// What a word asks of a filter: its n-grams, by segment. The segment that may rule out the most
/// comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grams(Vec<(usize, Vec<Gram>)>);

/// A trigram of this rarity rules out more than a 5-gram of common letters, and its segment is
/// shorter.
const RARE: u32 = 32;

impl Grams {
    /// Of a word or phrase; none, where all its runs are too short to tell anything.
    pub(crate) fn of(word: &str) -> Self {
        let mut segments: BTreeMap<usize, (u32, Vec<Gram>)> = BTreeMap::new();
        let mut add = |gram: Gram, letters: &[u8]| {
            let (rarity, grams) = segments.entry(gram.segment()).or_default();
            let own: u32 = letters.iter().map(|&byte| self::rarity(byte)).product();
            *rarity = rarity.saturating_add(own);
            grams.push(gram);
        };
        for run in word.as_bytes().split(|&byte| letter(byte) == 0) {
            for three in run.array_windows::<3>() {
                add(Gram::three(trigram(three.map(letter))), three);
            }
        }
        for run in word.as_bytes().split(|byte| !byte.is_ascii_alphabetic()) {
            for &[a, b, c, d, e] in run.array_windows::<5>() {
                add(Gram::five(five([a, b, c, d, e, 0, 0, 0])), &[a, b, c, d, e]);
            }
        }
        let mut segments: Vec<_> = segments.into_iter().collect();
        segments.sort_by_key(|&(segment, (rarity, _))| {
            let is_first = !is_of_fives(segment) && rarity >= RARE;
            Reverse((is_first, is_of_fives(segment), rarity))
        });
        Self(segments.into_iter().map(|(segment, (_, grams))| (segment, grams)).collect())
    }

    /// The n-grams of each segment that has some.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (usize, &[Gram])> {
        self.0.iter().map(|(segment, grams)| (*segment, &**grams))
    }
}

/// How seldom a letter or digit is met, roughly.
fn rarity(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        b'0'..=b'9' => 4,
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b'l' => 1,
        b'q' | b'z' | b'x' | b'j' | b'k' | b'v' | b'w' | b'y' => 8,
        _ => 2,
    }
}
