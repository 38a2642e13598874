//! Making filters.

use super::{Filter, Gram};

/// A letter or digit in six bits; 0 is none.
const LETTER_BITS: u32 = 6;
/// Every trigram there is.
const TRIGRAMS: usize = 1 << (3 * LETTER_BITS);
/// Every number that a 5-gram may have.
const FIVES: usize = 1 << 16;
/// A text that has more of them, because it is not of words, would have a long filter that says
/// little, and has none.
const FIVES_MAX: usize = FIVES / 8;
/// So much is looked at letter by letter, and has no filter of 5-grams: it lacks some of the
/// trigrams of most words.
pub(super) const SHORT_BYTES: usize = 16 << 10;

/// Makes filters, one after the other, without new tables for each.
#[derive(Debug)]
pub(crate) struct FilterMaker {
    /// Whether it is there, for every trigram. A byte each: that is faster than a bit. Between two
    /// filters none is.
    seen: Box<[u8; TRIGRAMS]>,
    /// The same of 5-grams.
    fives: Box<[u8; FIVES]>,
    letters: [u8; 256],
}

pub(super) fn letter(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0' + 1,
        b'a'..=b'z' => byte - b'a' + 11,
        b'A'..=b'Z' => byte - b'A' + 11,
        _ => 0,
    }
}

/// A trigram of letters and digits, each by its six bits.
pub(super) fn trigram(letters: [u8; 3]) -> u32 {
    letters.iter().fold(0, |all, &it| (all << LETTER_BITS) | u32::from(it))
}

/// The number of the 5-gram that these bytes begin with. All five are letters: whatever has digits,
/// as hashes do, is different everywhere, and its 5-grams would be most of them.
#[inline]
pub(super) fn five(bytes: [u8; 8]) -> u16 {
    // These bits make capital letters small.
    const SMALL: u64 = 0x20_2020_2020;
    let letters = (u64::from_le_bytes(bytes) | SMALL) << (3 * u8::BITS);
    (letters.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - u16::BITS)) as u16
}

impl FilterMaker {
    pub(crate) fn new() -> Self {
        let mut letters = [0; 256];
        for (byte, letter) in (0..=u8::MAX).zip(&mut letters) {
            *letter = self::letter(byte);
        }
        Self { seen: Box::new([0; TRIGRAMS]), fives: Box::new([0; FIVES]), letters }
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
            self.see_fives(text);
        }
        let mut grams = self.trigrams();
        let trigrams = grams.len();
        each_set(&*self.fives, |at| {
            grams.push(Gram::five(u16::try_from(at).unwrap_or_default()));
        });
        if grams.len() - trigrams > FIVES_MAX {
            grams.truncate(trigrams);
        }
        self.seen.fill(0);
        self.fives.fill(0);
        Filter::of(&grams)
    }

    /// The trigrams of a short text, for which the whole table would take longer than the text.
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
        let gram = |trigram: usize| Gram::three(u32::try_from(trigram).unwrap_or_default());
        Filter::of(&found.into_iter().map(gram).collect::<Vec<Gram>>())
    }

    /// The trigrams that were seen.
    fn trigrams(&self) -> Vec<Gram> {
        let mut trigrams = Vec::new();
        // The last letter runs through 64 trigrams; the very first is no letter.
        let (rows, _) = self.seen.as_chunks::<{ 1 << LETTER_BITS }>();
        for (row, seen) in (0_u32..).zip(rows) {
            let is_letters = row & 63 != 0 && row >> LETTER_BITS != 0;
            if is_letters {
                each_set(seen, |last| {
                    if last != 0 {
                        trigrams.push(Gram::three((row << LETTER_BITS) | last));
                    }
                });
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

    /// Takes the 5-grams of a text.
    fn see_fives(&mut self, text: &[u8]) {
        /// So many bytes are looked at together, and eight can be read from each of them.
        const READ: usize = 64 + 7;
        /// A 5-gram that begins later is not all within the 64.
        const STEP: usize = 64 - 4;
        let mut rest = text;
        while rest.len() >= 5 {
            let mut end = [0; READ];
            let read = match rest.first_chunk::<READ>() {
                Some(read) => read,
                None => {
                    end.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                    &end
                }
            };
            let letters = letters_of(read);
            let two = letters & (letters >> 1);
            let mut begins = two & (two >> 2) & (letters >> 4);
            while begins != 0 {
                let from = begins.trailing_zeros() as usize;
                begins &= begins - 1;
                let Some(bytes) = read.get(from..).and_then(|it| it.first_chunk()) else { break };
                if let Some(seen) = self.fives.get_mut(usize::from(five(*bytes))) {
                    *seen = 1;
                }
            }
            rest = rest.get(STEP..).unwrap_or_default();
        }
    }
}

/// Which of the first 64 bytes are letters: a bit for each.
#[inline]
fn letters_of(bytes: &[u8]) -> u64 {
    // A one in the lowest bit of each of eight bytes becomes one in each of eight bits.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut are_letters = [0; 64];
    for (is_letter, &byte) in are_letters.iter_mut().zip(bytes) {
        *is_letter = u8::from(byte.is_ascii_alphabetic());
    }
    let (eights, _) = are_letters.as_chunks::<8>();
    let gathered = eights.iter().map(|it| u64::from_le_bytes(*it).wrapping_mul(GATHER) >> 56);
    gathered.rev().fold(0, |all, eight| (all << 8) | eight)
}

/// Calls with the place of every byte that is 1, where the others are 0.
fn each_set(bytes: &[u8], mut call: impl FnMut(u32)) {
    // Most are not set, and 64 are passed over at once.
    let (rows, _) = bytes.as_chunks::<64>();
    for (row, seen) in (0_u32..).zip(rows) {
        if seen.iter().fold(0, |any, seen| any | seen) == 0 {
            continue;
        }
        let (eights, _) = seen.as_chunks::<8>();
        for (eight, seen) in (0..).zip(eights) {
            let mut left = u64::from_le_bytes(*seen);
            while left != 0 {
                call(row * 64 + eight * 8 + left.trailing_zeros() / 8);
                left &= left - 1;
            }
        }
    }
}
