//! Hashes of the content of a copy: one per megabyte, so that a growing copy is not hashed again
//! from its beginning, and damage can be located.
//!
//! The hashes are of the bytes as the agent wrote them, whether the copy is compressed or not. So
//! they also show whether a source still begins with what its copy was before it was damaged.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

const CHUNK_BYTES: u64 = 1 << 20;
/// The number of hex digits of each hash: enough against accidental collisions.
const DIGITS: usize = 16;

/// The length and hashes of a copy when it was last written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) len: u64,
    /// The hashes, concatenated.
    hashes: String,
}

impl Sums {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut summing = Summing::default();
        summing.add(bytes);
        summing.finish()
    }

    /// The hashes of everything that can be read from `from`.
    pub(crate) fn of_all(mut from: impl Read) -> io::Result<Self> {
        let mut summing = Summing::default();
        let mut chunk = vec![0; 256 << 10];
        loop {
            match from.read(&mut chunk)? {
                0 => return Ok(summing.finish()),
                read => summing.add(chunk.get(..read).unwrap_or_default()),
            }
        }
    }

    /// The hashes of the decompressed content of a file.
    pub(super) fn of_zstd(packed: impl Read) -> io::Result<Self> {
        Self::of_all(zstd::stream::read::Decoder::new(packed)?)
    }

    /// Where the last, incomplete chunk begins.
    pub(super) fn tail_start(&self) -> u64 {
        self.len / CHUNK_BYTES * CHUNK_BYTES
    }

    /// Where the first chunk begins that differs in `other`.
    pub(crate) fn first_difference(&self, other: &Self) -> Option<u64> {
        if self == other {
            return None;
        }
        let chunks = |sums: &Self| -> Vec<Vec<u8>> {
            sums.hashes.as_bytes().chunks(DIGITS).map(<[u8]>::to_vec).collect()
        };
        let (own, others) = (chunks(self), chunks(other));
        let same = own.iter().zip(&others).take_while(|(own, other)| own == other).count();
        Some((same as u64 * CHUNK_BYTES).min(self.len))
    }
}

/// Computes hashes incrementally.
#[derive(Debug, Default)]
pub(super) struct Summing {
    sums: Sums,
    chunk: blake3::Hasher,
}

impl Summing {
    /// Continues after what was hashed, whose incomplete last chunk is `tail`; `None` if `tail`
    /// does not match.
    pub(super) fn go_on(mut sums: Sums, tail: &[u8]) -> Option<Self> {
        let own = sums.clone();
        sums.hashes.truncate(usize::try_from(sums.len / CHUNK_BYTES).ok()? * DIGITS);
        sums.len = own.tail_start();
        let mut summing = Self { sums, chunk: blake3::Hasher::new() };
        summing.add(tail);
        (summing.so_far() == own).then_some(summing)
    }

    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = CHUNK_BYTES - self.sums.len % CHUNK_BYTES;
            let most = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
            let (own, rest) = bytes.split_at(most);
            self.chunk.update(own);
            self.sums.len += own.len() as u64;
            if self.sums.len.is_multiple_of(CHUNK_BYTES) {
                let hash = self.digits();
                self.sums.hashes.push_str(&hash);
                self.chunk.reset();
            }
            bytes = rest;
        }
    }

    fn digits(&self) -> String {
        let hash = self.chunk.finalize().to_hex();
        hash.get(..DIGITS).unwrap_or_default().to_owned()
    }

    /// The hashes of the bytes so far.
    pub(super) fn so_far(&self) -> Sums {
        let mut sums = self.sums.clone();
        if !sums.len.is_multiple_of(CHUNK_BYTES) {
            sums.hashes.push_str(&self.digits());
        }
        sums
    }

    pub(super) fn finish(self) -> Sums {
        self.so_far()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_same_however_the_bytes_come_and_tell_where_they_differ() {
        let megabyte = usize::try_from(CHUNK_BYTES).unwrap();
        for len in [0, 1, 1000, megabyte - 1, megabyte, megabyte + 1, 2 * megabyte, 2_500_000] {
            let bytes: Vec<u8> = (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let whole = Sums::of(&bytes);
            assert_eq!(Sums::of_all(&*bytes).unwrap(), whole);
            assert_eq!(whole.first_difference(&whole.clone()), None);
            for cut in [0, len / 3, len / 2, len] {
                let before = Sums::of(&bytes[..cut]);
                let tail = usize::try_from(before.tail_start()).unwrap();
                let mut summing = Summing::go_on(before.clone(), &bytes[tail..cut]).unwrap();
                summing.add(&bytes[cut..]);
                assert_eq!(summing.finish(), whole, "{len} {cut}");
                if cut > tail {
                    let mut other = bytes[tail..cut].to_vec();
                    other[0] ^= 1;
                    assert!(Summing::go_on(before, &other).is_none());
                }
            }
            if len > 0 {
                let mut other = bytes.clone();
                other[len - 1] ^= 4;
                let at = (len - 1) / megabyte * megabyte;
                assert_eq!(whole.first_difference(&Sums::of(&other)), Some(at as u64));
            }
        }
    }
}
