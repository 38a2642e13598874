//! Which blocks of a file may hold a word: a set of the three-letter pieces of each, as bits.
//!
//! A block whose filter lacks one piece of a word does not hold the word; one that has all of them
//! is looked into. Capital and small letters are the same. Only letters and digits count:
//! everything else a program may write in another way (`\n`, `\/`, `\u00e9`).

/// So many bits for each piece, two of which are set: a piece that is not there seems to be, one
/// time in twelve.
const BITS_A_PIECE: usize = 6;
/// A letter or digit in six bits; 0 is none.
const LETTER_BITS: u32 = 6;
/// Every piece there is.
const PIECES: usize = 1 << (3 * LETTER_BITS);

/// The pieces of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    bits: Vec<u8>,
}

/// Makes filters, one after the other, without a new table for each.
#[derive(Debug)]
pub(crate) struct FilterMaker {
    /// Whether it is there, for every piece. A byte each: that is faster than a bit.
    seen: Box<[u8; PIECES]>,
    letters: [u8; 256],
}

/// What a word asks of a filter: the pieces, spread evenly over all numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces(Vec<u64>);

fn letter(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0' + 1,
        b'a'..=b'z' => byte - b'a' + 11,
        b'A'..=b'Z' => byte - b'A' + 11,
        _ => 0,
    }
}

/// A piece as a number that has nothing to do with its neighbours'.
fn spread(piece: u32) -> u64 {
    let mixed = u64::from(piece).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The places of a piece in a filter of so many bits.
fn places(spread: u64, bits: usize) -> [usize; 2] {
    let place = |half: u64| usize::try_from((half * bits as u64) >> 32).unwrap_or_default();
    [place(spread >> 32), place(spread & 0xffff_ffff)]
}

impl FilterMaker {
    pub(crate) fn new() -> Self {
        let mut letters = [0; 256];
        for (byte, letter) in (0..=u8::MAX).zip(&mut letters) {
            *letter = self::letter(byte);
        }
        Self { seen: Box::new([0; PIECES]), letters }
    }

    pub(crate) fn make(&mut self, block: &[u8]) -> Filter {
        self.seen.fill(0);
        // Eight letters at once: what one adds does not have to wait for the one before it.
        let (eights, rest) = block.as_chunks::<8>();
        let mut before = 0;
        for eight in eights {
            before = self.see(before, eight);
        }
        for byte in rest {
            before = self.see(before, &[*byte]);
        }
        let (eights, _) = self.seen.as_chunks::<8>();
        let some = (0..).zip(eights).filter(|(_, eight)| **eight != [0; 8]);
        let seen = some.flat_map(|(at, eight): (u32, &[u8; 8])| {
            (0..).zip(eight).filter(|(_, seen)| **seen != 0).map(move |(nth, _)| at * 8 + nth)
        });
        let pieces: Vec<u32> = seen.filter(|piece| is_letters(*piece)).collect();
        let bytes = (pieces.len() * BITS_A_PIECE).div_ceil(8).max(1);
        let mut bits = vec![0; bytes];
        for at in pieces.into_iter().flat_map(|piece| places(spread(piece), bytes * 8)) {
            if let Some(byte) = bits.get_mut(at / 8) {
                *byte |= 1 << (at % 8);
            }
        }
        Filter { bits }
    }

    /// Takes up to eight more letters, after the two before them.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a piece has eighteen bits")]
    fn see<const N: usize>(&mut self, before: u64, bytes: &[u8; N]) -> u64 {
        let mut letters = before;
        for byte in bytes {
            let letter = self.letters.get(usize::from(*byte)).copied().unwrap_or_default();
            letters = (letters << LETTER_BITS) | u64::from(letter);
        }
        for nth in 0..N {
            let piece = (letters >> (nth * LETTER_BITS as usize)) as usize & (PIECES - 1);
            if let Some(seen) = self.seen.get_mut(piece) {
                *seen = 1;
            }
        }
        letters & ((1 << (2 * LETTER_BITS)) - 1)
    }
}

/// Whether all three are letters or digits.
fn is_letters(piece: u32) -> bool {
    (0..3).all(|nth| (piece >> (nth * LETTER_BITS)) & 63 != 0)
}

impl Filter {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bits
    }
}

/// Whether the block of this filter may hold the word; `false` is certain.
pub(crate) fn may_hold(filter: &[u8], word: &Pieces) -> bool {
    let is_set = |at: usize| filter.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    word.0.iter().all(|&spread| places(spread, filter.len() * 8).into_iter().all(is_set))
}

impl Pieces {
    /// Of a word or phrase; none, where all its runs are too short to tell anything.
    pub(crate) fn of(word: &str) -> Self {
        let letters: Vec<u8> = word.bytes().map(letter).collect();
        let runs = letters.split(|&letter| letter == 0).flat_map(|run| run.windows(3));
        let piece = |run: &[u8]| {
            run.iter().fold(0, |piece, &letter| (piece << LETTER_BITS) | u32::from(letter))
        };
        Self(runs.map(|run| spread(piece(run))).collect())
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

    #[test]
    fn no_block_that_holds_a_word_is_passed_over() {
        let mut maker = FilterMaker::new();
        for len in [0, 2, 3, 50, 5_000, 300_000] {
            let block = text(len as u64 + 7, len);
            let filter = maker.make(block.as_bytes());
            for start in (0..len.saturating_sub(12)).step_by(len / 40 + 1) {
                let word = &block[start..start + 12];
                assert!(may_hold(filter.as_bytes(), &Pieces::of(word)), "{word:?} in {len}");
                assert!(may_hold(filter.as_bytes(), &Pieces::of(&word.to_uppercase())));
            }
        }
    }

    #[test]
    fn a_word_that_is_nowhere_is_mostly_known_to_be_nowhere() {
        let mut maker = FilterMaker::new();
        let blocks: Vec<Filter> = (0..200)
            .map(|seed| maker.make(format!("{{\"text\":\"plain words {seed}\"}}").as_bytes()))
            .collect();
        let word = Pieces::of("zqneedle4110e914");
        let wrong = blocks.iter().filter(|filter| may_hold(filter.as_bytes(), &word)).count();
        assert_eq!(wrong, 0);
    }

    #[test]
    fn a_small_block_has_a_small_filter() {
        let mut maker = FilterMaker::new();
        assert_eq!(maker.make(b"few words").as_bytes().len(), 3);
        assert_eq!(maker.make(b"").as_bytes().len(), 1);
        assert!(maker.make(text(3, 1 << 20).as_bytes()).as_bytes().len() < 50_000);
    }

    #[test]
    fn what_may_be_written_otherwise_is_not_asked_for() {
        let mut maker = FilterMaker::new();
        let filter = maker.make(br#"{"text":"caf\u00e9 au\nlait https:\/\/example.org"}"#);
        for word in ["café au", "au\nlait", "https://example.org", "é"] {
            assert!(may_hold(filter.as_bytes(), &Pieces::of(word)), "{word}");
        }
        assert_eq!(Pieces::of("é\u{fc}"), Pieces(Vec::new()));
    }
}
