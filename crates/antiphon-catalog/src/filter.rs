//! Which blocks of a file may hold a word: a set of the trigrams of each, as a Bloom filter.
//!
//! A block whose filter lacks one trigram of a word does not hold the word; one that has all of
//! them is looked into. Capital and small letters are the same. Only letters and digits count:
//! everything else a program may write in another way (`\n`, `\/`, `\u00e9`).
//!
//! The trigrams are dealt out to segments, each a small filter of its own. A word that has a rare
//! trigram is ruled out by the segment of that one, and the others are not read.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// So many bits for each trigram, two of which are set: a trigram that is not there seems to be,
/// one time in twelve.
const BITS_PER_TRIGRAM: usize = 6;
/// A letter or digit in six bits; 0 is none.
const LETTER_BITS: u32 = 6;
/// Every trigram there is.
const TRIGRAMS: usize = 1 << (3 * LETTER_BITS);
/// So much is looked at letter by letter.
const SHORT_BYTES: usize = 32 << 10;
const SEGMENT_BITS: u32 = 4;
/// So many small filters make up one.
pub(crate) const SEGMENTS: usize = 1 << SEGMENT_BITS;

/// The trigrams of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    bits: Vec<u8>,
    /// Where each segment stands.
    segments: [Range<usize>; SEGMENTS],
}

/// Makes filters, one after the other, without a new table for each.
#[derive(Debug)]
pub(crate) struct FilterMaker {
    /// Whether it is there, for every trigram. A byte each: that is faster than a bit. Between two
    /// filters none is.
    seen: Box<[u8; TRIGRAMS]>,
    letters: [u8; 256],
}

/// What a word asks of a filter: the trigrams, spread evenly over all numbers, by segment. The
/// segment that may rule out the most comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trigrams(Vec<(usize, Vec<u64>)>);

fn letter(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0' + 1,
        b'a'..=b'z' => byte - b'a' + 11,
        b'A'..=b'Z' => byte - b'A' + 11,
        _ => 0,
    }
}

/// A trigram as a number that has nothing to do with its neighbours'.
fn spread(trigram: u32) -> u64 {
    let mixed = u64::from(trigram).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The segment of a trigram.
fn segment(spread: u64) -> usize {
    usize::try_from(spread >> (u64::BITS - SEGMENT_BITS)).unwrap_or_default()
}

/// The places of a trigram in a segment of so many bits.
fn places(spread: u64, bits: usize) -> [usize; 2] {
    let place =
        |part: u64| usize::try_from(((part & 0xffff_ffff) * bits as u64) >> 32).unwrap_or_default();
    [place(spread >> (32 - SEGMENT_BITS)), place(spread)]
}

impl FilterMaker {
    pub(crate) fn new() -> Self {
        let mut letters = [0; 256];
        for (byte, letter) in (0..=u8::MAX).zip(&mut letters) {
            *letter = self::letter(byte);
        }
        Self { seen: Box::new([0; TRIGRAMS]), letters }
    }

    /// Of the texts of a block; no word stands half in one and half in another.
    pub(crate) fn make(&mut self, texts: &[&[u8]]) -> Filter {
        if texts.iter().map(|text| text.len()).sum::<usize>() <= SHORT_BYTES {
            return self.make_short(texts);
        }
        for text in texts {
            // Eight letters at once: what one adds does not have to wait for the one before it.
            let (eights, rest) = text.as_chunks::<8>();
            let mut before = 0;
            for eight in eights {
                before = self.see(before, eight);
            }
            for byte in rest {
                before = self.see(before, &[*byte]);
            }
        }
        let filter = Filter::of(&self.trigrams());
        self.seen.fill(0);
        filter
    }

    /// The same of a short text, for which the whole table would take longer than the text.
    fn make_short(&mut self, texts: &[&[u8]]) -> Filter {
        const LETTER: usize = (1 << LETTER_BITS) - 1;
        let mut found = Vec::new();
        for text in texts {
            let mut trigram = 0;
            for byte in *text {
                let letter = self.letters.get(usize::from(*byte)).copied().unwrap_or_default();
                trigram = ((trigram << LETTER_BITS) | usize::from(letter)) & (TRIGRAMS - 1);
                let is_letters = letter != 0
                    && trigram >> LETTER_BITS & LETTER != 0
                    && trigram >> (2 * LETTER_BITS) != 0;
                if is_letters
                    && let Some(seen) = self.seen.get_mut(trigram)
                    && *seen == 0
                {
                    *seen = 1;
                    found.push(trigram);
                }
            }
        }
        for &trigram in &found {
            self.seen.get_mut(trigram).into_iter().for_each(|seen| *seen = 0);
        }
        let spread = |trigram: usize| self::spread(u32::try_from(trigram).unwrap_or_default());
        Filter::of(&found.into_iter().map(spread).collect::<Vec<u64>>())
    }

    /// What was seen, spread.
    fn trigrams(&self) -> Vec<u64> {
        let mut trigrams = Vec::new();
        // The last letter runs through 64 trigrams, and most such rows are empty.
        let (rows, _) = self.seen.as_chunks::<{ 1 << LETTER_BITS }>();
        for (row, seen) in (0_u32..).zip(rows) {
            let is_letters = row & 63 != 0 && row >> LETTER_BITS != 0;
            if !is_letters || seen.iter().fold(0, |any, seen| any | seen) == 0 {
                continue;
            }
            let (eights, _) = seen.as_chunks::<8>();
            for (eight, seen) in (0..).zip(eights) {
                // A one for every byte that is set; the very first is no letter.
                let mut left = u64::from_le_bytes(*seen) & !u64::from(eight == 0);
                while left != 0 {
                    let nth = eight * 8 + left.trailing_zeros() / 8;
                    trigrams.push(spread((row << LETTER_BITS) | nth));
                    left &= left - 1;
                }
            }
        }
        trigrams
    }

    /// Takes up to eight more letters, after the two before them.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a trigram has eighteen bits")]
    fn see<const N: usize>(&mut self, before: u64, bytes: &[u8; N]) -> u64 {
        let mut letters = before;
        for byte in bytes {
            let letter = self.letters.get(usize::from(*byte)).copied().unwrap_or_default();
            letters = (letters << LETTER_BITS) | u64::from(letter);
        }
        for nth in 0..N {
            let trigram = (letters >> (nth * LETTER_BITS as usize)) as usize & (TRIGRAMS - 1);
            if let Some(seen) = self.seen.get_mut(trigram) {
                *seen = 1;
            }
        }
        letters & ((1 << (2 * LETTER_BITS)) - 1)
    }
}

impl Filter {
    fn of(trigrams: &[u64]) -> Self {
        let mut counts = [0; SEGMENTS];
        for &trigram in trigrams {
            counts.get_mut(segment(trigram)).into_iter().for_each(|count| *count += 1);
        }
        let mut segments = counts.map(|count| 0..usize::div_ceil(count * BITS_PER_TRIGRAM, 8));
        let mut end = 0;
        for segment in &mut segments {
            *segment = end..end + segment.end;
            end = segment.end;
        }
        let mut bits = vec![0; end];
        for &trigram in trigrams {
            let Some(segment) = segments.get(segment(trigram)) else { continue };
            for at in places(trigram, segment.len() * 8) {
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

/// Whether a block with this segment may hold these trigrams of it; `false` is certain.
pub(crate) fn may_hold(segment: &[u8], trigrams: &[u64]) -> bool {
    let is_set = |at: usize| segment.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    trigrams.iter().all(|&trigram| places(trigram, segment.len() * 8).into_iter().all(is_set))
}

impl Trigrams {
    /// Of a word or phrase; none, where all its runs are too short to tell anything.
    pub(crate) fn of(word: &str) -> Self {
        let letters: Vec<u8> = word.bytes().map(letter).collect();
        let runs = letters.split(|&letter| letter == 0).flat_map(|run| run.windows(3));
        let mut segments: BTreeMap<usize, (u32, Vec<u64>)> = BTreeMap::new();
        for run in runs {
            let trigram = run.iter().fold(0, |all, &it| (all << LETTER_BITS) | u32::from(it));
            let trigram = spread(trigram);
            let (rarity, trigrams) = segments.entry(segment(trigram)).or_default();
            *rarity += run.iter().map(|&letter| self::rarity(letter)).product::<u32>();
            trigrams.push(trigram);
        }
        let mut segments: Vec<_> = segments.into_iter().collect();
        segments.sort_by_key(|(_, (rarity, _))| Reverse(*rarity));
        Self(segments.into_iter().map(|(segment, (_, trigrams))| (segment, trigrams)).collect())
    }

    /// The trigrams of each segment that has some.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (usize, &[u64])> {
        self.0.iter().map(|(segment, trigrams)| (*segment, &**trigrams))
    }
}

/// How seldom a letter is met, roughly.
fn rarity(letter: u8) -> u32 {
    const COMMON: &[u8] = b"etaoinsrl";
    const RARE: &[u8] = b"qzxjkvwy";
    let is_one_of = |letters: &[u8]| letters.iter().any(|&it| self::letter(it) == letter);
    match letter {
        1..=10 => 4,
        _ if is_one_of(COMMON) => 1,
        _ if is_one_of(RARE) => 8,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seed: u64, len: usize) -> String {
        let mut state = seed;
        let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789 \n\"{}:,";
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            letters[(state >> 33) as usize % letters.len()] as char
        };
        (0..len).map(|_| next()).collect()
    }

    fn may_hold(filter: &Filter, word: &Trigrams) -> bool {
        word.segments().all(|(nth, trigrams)| super::may_hold(filter.segment(nth), trigrams))
    }

    #[test]
    fn no_block_that_holds_a_word_is_passed_over() {
        let mut maker = FilterMaker::new();
        for len in [0, 2, 3, 50, 5_000, 300_000] {
            let block = text(len as u64 + 7, len);
            let filter = maker.make(&[block.as_bytes()]);
            for start in (0..len.saturating_sub(12)).step_by(len / 40 + 1) {
                let word = &block[start..start + 12];
                assert!(may_hold(&filter, &Trigrams::of(word)), "{word:?} in {len}");
                assert!(may_hold(&filter, &Trigrams::of(&word.to_uppercase())));
            }
        }
    }

    #[test]
    fn a_word_that_is_nowhere_is_mostly_known_to_be_nowhere() {
        let mut maker = FilterMaker::new();
        let blocks: Vec<Filter> = (0..200)
            .map(|seed| maker.make(&[format!("{{\"text\":\"plain words {seed}\"}}").as_bytes()]))
            .collect();
        let word = Trigrams::of("zqneedle4110e914");
        let wrong = blocks.iter().filter(|filter| may_hold(filter, &word)).count();
        assert_eq!(wrong, 0);
    }

    #[test]
    fn a_short_text_has_the_filter_that_it_would_have_in_a_long_one() {
        let mut maker = FilterMaker::new();
        for len in [0, 1, 2, 3, 9, 1000, 20_000] {
            let text = text(11, len);
            let short = maker.make(&[text.as_bytes(), b"ab", b"cd"]);
            let spaces = " ".repeat(SHORT_BYTES);
            assert_eq!(short, maker.make(&[text.as_bytes(), b"ab", b"cd", spaces.as_bytes()]));
        }
    }

    #[test]
    fn a_small_block_has_a_small_filter() {
        let mut maker = FilterMaker::new();
        assert!(maker.make(&[b"few words"]).bits.len() <= 4);
        assert_eq!(maker.make(&[]).bits.len(), 0);
        assert!(maker.make(&[text(3, 1 << 20).as_bytes()]).bits.len() < 50_000);
    }

    #[test]
    fn what_is_rare_is_asked_first() {
        let (rare, trigrams) = (Trigrams::of("zqj"), Trigrams::of("the zqj"));
        assert_eq!(trigrams.segments().next(), rare.segments().next());
    }

    #[test]
    fn what_may_be_written_otherwise_is_not_asked_for() {
        let mut maker = FilterMaker::new();
        let filter = maker.make(&[br#"{"text":"caf\u00e9 au\nlait https:\/\/example.org"}"#]);
        for word in ["café au", "au\nlait", "https://example.org", "é"] {
            assert!(may_hold(&filter, &Trigrams::of(word)), "{word}");
        }
        assert_eq!(Trigrams::of("é\u{fc}"), Trigrams(Vec::new()));
    }
}
