//! The seal: the last three keys of a line, by which it can be checked alone and in the chain.
//!
//! ```text
//! {"message_id":"msg_007",…,"n":7,"prev":"<64 hex>","hash":"<64 hex>"}
//! └────────────── hashed with BLAKE3 ──────────────┘
//! ```
//!
//! The widths are fixed, so that a seal is found from the end of the line without parsing it.

/// A hash in lower-case hex, as it stands in the log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 64]);

impl Hash {
    /// What the first line names as the hash before it.
    pub const GENESIS: Self = Self([b'0'; 64]);

    pub fn of(bytes: &[u8]) -> Self {
        let hash = blake3::hash(bytes);
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(hash.as_bytes()) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xF)]);
        }
        Self(hex)
    }

    /// Reads 64 lower-case hex digits.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let hex: [u8; 64] = text.try_into().ok()?;
        // Without stopping early, so that all digits are looked at at once.
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        hex.iter().fold(true, |all, byte| all & is_digit(byte)).then_some(Self(hex))
    }

    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Its first digits, to tell lines apart that have the same number. Never zero.
    pub(crate) fn tag(&self) -> u64 {
        self.0.first_chunk().copied().map_or(1, u64::from_le_bytes)
    }
}

fn digit(nibble: u8) -> u8 {
    // Arithmetic, not a branch: the loop above is then done many digits at a time.
    nibble + b'0' + u8::from(nibble > 9) * (b'a' - b'9' - 1)
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A line's place in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// Gapless, from 1.
    pub n: u64,
    /// The hash of the line before.
    pub prev: Hash,
    pub hash: Hash,
}

impl Seal {
    /// The highest number that is taken for one: there is always another after it.
    pub(crate) const N_MAX: u64 = 1 << 62;
}

impl Seal {
    /// How many bytes of its line it takes.
    pub(crate) fn text_len(&self) -> usize {
        let digits = self.n.checked_ilog10().unwrap_or(0) as usize + 1;
        N.len() + digits + PREV_LEN + HASH_LEN
    }
}

/// What stands where a seal should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sealed {
    /// Whole, and the hash is that of the line.
    Good(Seal),
    /// Whole, and the line is another than the one that was hashed.
    Mismatch { stored: Seal, actual: Hash },
    /// Parts of a seal that make no whole one.
    Broken,
    /// None: a line of another writer.
    Absent,
}

const N: &[u8] = b",\"n\":";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b",\"hash\":\"";
const END: &[u8] = b"\"}";
/// `,"hash":"` and 64 digits and `"}`.
pub(crate) const HASH_LEN: usize = HASH.len() + 64 + END.len();
/// `,"prev":"` and 64 digits and `"`.
const PREV_LEN: usize = PREV.len() + 64 + 1;

/// Looks at the end of a line (without its newline) for a seal, and checks it.
pub(crate) fn check(line: &[u8]) -> Sealed {
    let Some((body, hash)) = line.split_at_checked(line.len().wrapping_sub(HASH_LEN)) else {
        return Sealed::Absent;
    };
    let prev = body.split_at_checked(body.len().wrapping_sub(PREV_LEN));
    let stored = hash
        .strip_prefix(HASH)
        .and_then(|rest| rest.strip_suffix(END))
        .and_then(Hash::parse)
        .zip(prev.and_then(|(front, prev)| parse_prev(front, prev)));
    match stored {
        Some((hash, (n, prev))) => {
            let (actual, stored) = (Hash::of(body), Seal { n, prev, hash });
            match actual == hash {
                true => Sealed::Good(stored),
                false => Sealed::Mismatch { stored, actual },
            }
        }
        None if hash.starts_with(HASH) => Sealed::Broken,
        None if prev.is_some_and(|(_, prev)| prev.starts_with(PREV)) => Sealed::Broken,
        None => Sealed::Absent,
    }
}

fn parse_prev(front: &[u8], prev: &[u8]) -> Option<(u64, Hash)> {
    let prev = prev.strip_prefix(PREV)?.strip_suffix(b"\"").and_then(Hash::parse)?;
    let digits = front.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (head, digits) = front.split_at_checked(front.len() - digits)?;
    head.ends_with(N).then_some(())?;
    let n: u64 = str::from_utf8(digits).ok()?.parse().ok()?;
    // One number, one way to write it: the seal's length follows from it.
    let is_plain = digits.first() != Some(&b'0');
    ((1..=Seal::N_MAX).contains(&n) && is_plain).then_some((n, prev))
}

/// Closes the line that begins at `start`, an object without its last brace, with a seal and a
/// newline.
pub(crate) fn close(line: &mut String, start: usize, n: u64, prev: &Hash) -> Seal {
    line.push_str(",\"n\":");
    line.push_str(itoa::Buffer::new().format(n));
    line.push_str(",\"prev\":\"");
    line.push_str(prev.as_str());
    line.push('"');
    let hash = Hash::of(line.as_bytes().get(start..).unwrap_or_default());
    line.push_str(",\"hash\":\"");
    line.push_str(hash.as_str());
    line.push_str("\"}\n");
    Seal { n, prev: *prev, hash }
}

/// The ends of what look like sealed lines inside `bytes`: where lines have grown together.
pub(crate) fn ends(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    memchr::memmem::find_iter(bytes, HASH).filter_map(|start| {
        let end = start + HASH_LEN;
        let seal = bytes.get(start..end)?;
        let hex = seal.strip_prefix(HASH)?.strip_suffix(END)?;
        Hash::parse(hex).map(|_| end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_line_checks_and_any_other_byte_does_not() {
        let mut line = String::from("{\"message_id\":\"msg_001\"");
        let seal = close(&mut line, 0, 4_294_967_296, &Hash::GENESIS);
        let line = line.trim_end().as_bytes();
        assert_eq!(check(line), Sealed::Good(seal));
        assert!(line.ends_with(format!("\"hash\":\"{}\"}}", seal.hash).as_bytes()));
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut other = line.to_vec();
                other[at] ^= 1 << bit;
                let found = check(&other);
                let noticed = matches!(found, Sealed::Mismatch { .. } | Sealed::Broken);
                assert!(noticed, "byte {at}, bit {bit}: {found:?}");
            }
        }
    }

    #[test]
    fn foreign_lines_have_no_seal() {
        assert_eq!(check(b"{}"), Sealed::Absent);
        assert_eq!(check("{\"content\":\"…\"}".repeat(20).as_bytes()), Sealed::Absent);
    }

    #[test]
    fn a_number_that_no_writer_reaches_is_no_seal() {
        for (n, is_good) in [(0, false), (1, true), (Seal::N_MAX, true), (u64::MAX, false)] {
            let mut line = String::from("{\"message_id\":\"msg_001\"");
            close(&mut line, 0, n, &Hash::GENESIS);
            let found = check(line.trim_end().as_bytes());
            assert_eq!(matches!(found, Sealed::Good(_)), is_good, "{found:?}");
            assert_eq!(matches!(found, Sealed::Broken), !is_good, "{found:?}");
        }
    }
}
