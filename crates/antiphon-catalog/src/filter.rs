//! Which blocks of a file may hold a word: a set of the n-grams of each, as a Bloom filter.
//!
//! A block whose filter lacks one n-gram of a word does not hold the word; one that has all of
//! them is looked into. Capital and small letters are the same. Only letters and digits count:
//! everything else a program may write in another way (`\n`, `\/`, `\u00e9`).
//!
//! Trigrams rule out most blocks, but a long text has every common one. So a long text has a filter
//! of its 5-grams of letters, too: of a word that is nowhere, one at least is hardly ever there.
//!
//! The n-grams are dealt out to segments, each a small filter of its own. A word that has a rare
//! n-gram is ruled out by the segment of that one, and the others are not read.

mod grams;
mod maker;

use std::ops::Range;

pub(crate) use grams::Grams;
pub(crate) use maker::FilterMaker;

const TRIGRAM_SEGMENT_BITS: u32 = 4;
const TRIGRAM_SEGMENTS: usize = 1 << TRIGRAM_SEGMENT_BITS;
const FIVE_SEGMENT_BITS: u32 = 3;
/// So many small filters make up one: those of trigrams, and then those of 5-grams.
pub(crate) const SEGMENTS: usize = TRIGRAM_SEGMENTS + (1 << FIVE_SEGMENT_BITS);

/// An n-gram, as a number that has nothing to do with those of its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gram {
    Three(u64),
    Five(u64),
}

/// The n-grams of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    bits: Vec<u8>,
    /// Where each segment stands.
    segments: [Range<usize>; SEGMENTS],
}

impl Gram {
    fn three(trigram: u32) -> Self {
        Self::Three(spread(trigram))
    }

    fn five(five: u16) -> Self {
        Self::Five(spread(u32::from(five)))
    }

    fn segment(self) -> usize {
        let first = |spread: u64, bits: u32| {
            usize::try_from(spread >> (u64::BITS - bits)).unwrap_or_default()
        };
        match self {
            Self::Three(spread) => first(spread, TRIGRAM_SEGMENT_BITS),
            Self::Five(spread) => TRIGRAM_SEGMENTS + first(spread, FIVE_SEGMENT_BITS),
        }
    }

    /// The places of an n-gram in a segment of so many bits.
    fn places(self, bits: usize) -> [usize; 2] {
        let (Self::Three(spread) | Self::Five(spread)) = self;
        let place = |part: u64| {
            usize::try_from(((part & 0xffff_ffff) * bits as u64) >> 32).unwrap_or_default()
        };
        [place(spread >> (32 - TRIGRAM_SEGMENT_BITS)), place(spread)]
    }
}

fn spread(gram: u32) -> u64 {
    let mixed = u64::from(gram).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// How many bits there are for each n-gram of a segment; two of them are set. A trigram that is not
/// there seems to be, one time in twelve; a 5-gram, one time in twenty.
fn bits_per_gram(segment: usize) -> usize {
    if is_of_fives(segment) { 8 } else { 6 }
}

fn is_of_fives(segment: usize) -> bool {
    segment >= TRIGRAM_SEGMENTS
}

impl Filter {
    fn of(grams: &[Gram]) -> Self {
        let mut counts = [0; SEGMENTS];
        for gram in grams {
            counts.get_mut(gram.segment()).into_iter().for_each(|count| *count += 1);
        }
        let mut segments = [const { 0..0 }; SEGMENTS];
        let mut end = 0;
        for (nth, (segment, count)) in segments.iter_mut().zip(counts).enumerate() {
            *segment = end..end + usize::div_ceil(count * bits_per_gram(nth), 8);
            end = segment.end;
        }
        let mut bits = vec![0; end];
        for gram in grams {
            let Some(segment) = segments.get(gram.segment()) else { continue };
            for at in gram.places(segment.len() * 8) {
                if let Some(byte) = bits.get_mut(segment.start + at / 8) {
                    *byte |= 1 << (at % 8);
                }
            }
        }
        Self { bits, segments }
    }

    pub(crate) fn segment(&self, segment: usize) -> &[u8] {
        let range = self.segments.get(segment).cloned().unwrap_or_default();
        self.bits.get(range).unwrap_or_default()
    }
}

/// Whether a block may hold these n-grams, which are of the segment with that number; `false` is
/// certain.
pub(crate) fn may_hold(nth: usize, segment: &[u8], grams: &[Gram]) -> bool {
    // There is no filter of the 5-grams of a short text.
    if segment.is_empty() && is_of_fives(nth) {
        return true;
    }
    let is_set = |at: usize| segment.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    grams.iter().all(|gram| gram.places(segment.len() * 8).into_iter().all(is_set))
}

#[cfg(test)]
mod tests;
