//! Building filters.

use super::{Filter, Gram};

/// The bits of a letter or digit; 0 stands for any other byte.
const LETTER_BITS: u32 = 6;
/// The number of possible trigrams.
const TRIGRAMS: usize = 1 << (3 * LETTER_BITS);
/// The bits of a trigram.
const TRIGRAM: u32 = (1 << (3 * LETTER_BITS)) - 1;
/// The number of possible hashes of a 5-gram.
const FIVES: usize = 1 << 16;
/// A text with more 5-grams is not prose: its filter would be long and rule out little, so it has
/// none.
const FIVES_MAX: usize = FIVES / 8;
/// A shorter text is read byte by byte and has no filter of 5-grams: it lacks some trigrams of most
/// words.
pub(super) const SHORT_BYTES: usize = 16 << 10;

/// Builds filters, one after the other, reusing its tables.
#[derive(Debug)]
pub(crate) struct FilterMaker {
    /// Whether each trigram was seen. A byte each is faster than a bit. All are zero between two
    /// filters.
    seen: Box<[u8; TRIGRAMS]>,
    /// The same for 5-grams.
    fives: Box<[u8; FIVES]>,
    /// Room for the trigrams of a short text.
    short: Box<[u32; SHORT_BYTES]>,
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

/// The hash of the 5-gram at the beginning of these bytes. All five are letters: strings with
/// digits, such as hashes, differ everywhere, and their 5-grams would be most of all.
#[inline]
pub(super) fn five(bytes: [u8; 8]) -> u16 {
    // Setting these bits makes letters lower case.
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
        let (seen, fives) = (Box::new([0; TRIGRAMS]), Box::new([0; FIVES]));
        Self { seen, fives, short: Box::new([0; SHORT_BYTES]), letters }
    }

    /// The filter of the texts of a block. No word is split between two texts.
    pub(crate) fn make(&mut self, texts: &[&[u8]]) -> Filter {
        if texts.iter().map(|text| text.len()).sum::<usize>() <= SHORT_BYTES {
            return self.make_short(texts);
        }
        for text in texts {
            // Eight letters at once, so that they do not wait for one another.
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

    /// The filter of a short text, for which clearing the whole table would take longer than the
    /// text.
    fn make_short(&mut self, texts: &[&[u8]]) -> Filter {
        // Whether a trigram is new cannot be predicted, and a wrong prediction costs more than the
        // whole step. So there is no branch on it: every trigram is written down, and the next one
        // overwrites it unless it was new.
        let mut found = 0;
        for text in texts {
            let (mut before, mut trigram) = ([0, 0], 0);
            for byte in *text {
                let letter = self.letters.get(usize::from(*byte)).copied().unwrap_or_default();
                trigram = ((trigram << LETTER_BITS) | u32::from(letter)) & TRIGRAM;
                let is_letter = u8::from(letter != 0);
                let are_letters = is_letter & before[0] & before[1];
                before = [before[1], is_letter];
                // There are no more trigrams than bytes.
                if let (Some(seen), Some(next)) =
                    (self.seen.get_mut(trigram as usize), self.short.get_mut(found))
                {
                    *next = trigram;
                    found += usize::from(are_letters & (*seen ^ 1));
                    *seen |= are_letters;
                }
            }
        }
        let found = self.short.get(..found).unwrap_or_default();
        for &trigram in found {
            self.seen.get_mut(trigram as usize).into_iter().for_each(|seen| *seen = 0);
        }
        Filter::of(&found.iter().map(|&trigram| Gram::three(trigram)).collect::<Vec<Gram>>())
    }

    /// The trigrams that were seen; clears them.
    fn trigrams(&self) -> Vec<Gram> {
        let mut trigrams = Vec::new();
        // Each row of 64 trigrams differs only in the last letter, whose first value is no letter.
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

    /// Adds up to eight more letters, given the two before them.
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

    /// Adds the 5-grams of a text.
    fn see_fives(&mut self, text: &[u8]) {
        /// The bytes read per step: eight can be read from each of the first 64.
        const READ: usize = 64 + 7;
        /// The bytes advanced per step: a 5-gram that begins later is not within the 64.
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

/// A bit for each of the first 64 bytes: whether it is a letter.
#[inline]
fn letters_of(bytes: &[u8]) -> u64 {
    // Multiplying by this gathers the lowest bits of eight bytes into one byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut are_letters = [0; 64];
    for (is_letter, &byte) in are_letters.iter_mut().zip(bytes) {
        *is_letter = u8::from(byte.is_ascii_alphabetic());
    }
    let (eights, _) = are_letters.as_chunks::<8>();
    let gathered = eights.iter().map(|it| u64::from_le_bytes(*it).wrapping_mul(GATHER) >> 56);
    gathered.rev().fold(0, |all, eight| (all << 8) | eight)
}

/// Calls with the index of every byte that is 1; the others are 0.
fn each_set(bytes: &[u8], mut call: impl FnMut(u32)) {
    // Most are 0, so 64 are skipped at once.
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
