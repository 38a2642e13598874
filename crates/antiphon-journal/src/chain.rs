//! The chain: each seal names the hash of the line before, so lost, moved and repeated lines are
//! noticed.

use std::collections::BTreeMap;

use crate::damage::DamageKind;
use crate::{Hash, Head, Seal};

/// How far the chain has been followed.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    n: u64,
    hash: Known,
    /// Lines since then that could not be read; each may have been one of the chain.
    unreadable: u64,
    seen: Seen,
}

/// What is known about the hash that the next line should name.
#[derive(Debug, Clone, Copy)]
enum Known {
    Exactly(Hash),
    /// The line before was changed: the correct hash is either the one stored in it or the one
    /// computed from it.
    OneOf(Hash, Hash),
    Nothing,
}

/// The position of a line in the chain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// It follows the line before.
    Next,
    /// It follows the line before, but something is wrong.
    NextBut(DamageKind),
    /// It belongs before lines that were already read.
    Late(DamageKind),
    /// It was read before.
    Again(DamageKind),
}

impl Default for Chain {
    fn default() -> Self {
        let hash = Known::Exactly(Hash::GENESIS);
        Self { n: 0, hash, unreadable: 0, seen: Seen::default() }
    }
}

impl Chain {
    /// A chain that continues after a line; nothing is known about the lines before it.
    pub(crate) fn after(head: Head) -> Self {
        let seen = Seen { unknown: head.n, ..Seen::default() };
        Self { n: head.n, hash: Known::Exactly(head.hash), unreadable: 0, seen }
    }

    /// The head: the number of the last line, 0 if there is none.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// The hash of the last line, as far as it is known.
    pub(crate) fn hash(&self) -> Hash {
        match self.hash {
            Known::Exactly(hash) | Known::OneOf(hash, _) => hash,
            Known::Nothing => Hash::GENESIS,
        }
    }

    /// Adds a line whose seal is valid.
    pub(crate) fn follow(&mut self, seal: &Seal) -> Link {
        let tag = seal.hash.tag();
        if seal.n <= self.n {
            return self.look_back(seal.n, tag);
        }
        let skipped = seal.n - self.n - 1;
        let unreadable = std::mem::take(&mut self.unreadable);
        let first_missing = self.n + 1 + unreadable.min(skipped);
        let missing = seal.n - first_missing;
        let known = if skipped == 0 { self.hash } else { Known::Nothing };
        self.n = seal.n;
        self.hash = Known::Exactly(seal.hash);
        self.seen.add(seal.n, tag);
        if missing > 0 {
            return Link::NextBut(DamageKind::Gap { missing, from: first_missing });
        }
        match known {
            Known::Exactly(wanted) if wanted != seal.prev => {
                Link::NextBut(DamageKind::BrokenChain { wanted, found: seal.prev })
            }
            Known::OneOf(stored, actual) if stored != seal.prev && actual != seal.prev => {
                Link::NextBut(DamageKind::BrokenChain { wanted: stored, found: seal.prev })
            }
            Known::Exactly(_) | Known::OneOf(..) | Known::Nothing => Link::Next,
        }
    }

    /// The number of a line whose seal is complete but whose hash is wrong. The number itself may
    /// have been changed, so it is trusted only if it fits.
    pub(crate) fn number_of_changed(&self, stored: &Seal) -> u64 {
        let next = self.n + 1;
        if (next..=next + self.unreadable).contains(&stored.n) { stored.n } else { next }
    }

    /// Adds a line whose seal is complete but whose hash is wrong.
    pub(crate) fn follow_changed(&mut self, stored: &Seal, actual: Hash) {
        self.n = self.number_of_changed(stored);
        self.unreadable = 0;
        self.hash = Known::OneOf(stored.hash, actual);
    }

    /// Adds a line that cannot be read at all.
    pub(crate) fn pass_unreadable(&mut self) {
        self.unreadable += 1;
    }

    fn look_back(&mut self, n: u64, tag: u64) -> Link {
        match self.seen.tag_of(n) {
            None => {
                self.seen.add(n, tag);
                Link::Late(DamageKind::OutOfOrder { n })
            }
            Some(seen) if seen == tag => Link::Again(DamageKind::Repeated { n }),
            Some(_) => Link::Late(DamageKind::Forked { n }),
        }
    }
}

/// The lines that were read, by number, with a few bytes of the hash of each.
///
/// Numbers are consecutive, so they are indexes into a list. A number far beyond its end is damage
/// or malice; such lines are kept in a map, so that a few of them do not take much memory.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// Nothing is known about lines up to this number.
    unknown: u64,
    near: Vec<u64>,
    far: BTreeMap<u64, u64>,
    count: usize,
}

/// The entry for a line that was not read. No tag is zero, because tags come from text.
const UNSEEN: u64 = 0;

impl Seen {
    fn add(&mut self, n: u64, tag: u64) {
        self.count += 1;
        let room = self.count * 2 + 1024;
        let place = self.place_of(n).filter(|&place| place < room);
        let Some(place) = place else {
            self.far.insert(n, tag);
            return;
        };
        if place >= self.near.len() {
            self.near.resize(place + 1, UNSEEN);
        }
        if let Some(slot) = self.near.get_mut(place) {
            *slot = tag;
        }
    }

    fn place_of(&self, n: u64) -> Option<usize> {
        usize::try_from(n.checked_sub(self.unknown + 1)?).ok()
    }

    fn tag_of(&self, n: u64) -> Option<u64> {
        let near = self.place_of(n).and_then(|place| self.near.get(place).copied());
        near.filter(|&tag| tag != UNSEEN).or_else(|| self.far.get(&n).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(n: u64, text: &str) -> Seal {
        Seal { n, prev: Hash::GENESIS, hash: Hash::of(text.as_bytes()) }
    }

    #[test]
    fn a_line_with_a_number_that_is_taken_is_a_repetition_only_if_it_is_the_same() {
        let mut chain = Chain::default();
        assert_eq!(chain.follow(&seal(1, "a")), Link::Next);
        assert_eq!(chain.follow(&seal(1, "a")), Link::Again(DamageKind::Repeated { n: 1 }));
        assert_eq!(chain.follow(&seal(1, "b")), Link::Late(DamageKind::Forked { n: 1 }));
    }

    #[test]
    fn any_number_of_holes_may_be_filled_later() {
        let mut chain = Chain::default();
        let (odd, even): (Vec<u64>, Vec<u64>) = (1..10_000).partition(|n| n % 2 == 1);
        for n in odd {
            chain.follow(&seal(n, "odd"));
        }
        for n in even {
            assert_eq!(chain.follow(&seal(n, "")), Link::Late(DamageKind::OutOfOrder { n }));
        }
    }

    #[test]
    fn numbers_from_nowhere_cost_little_memory() {
        let mut chain = Chain::default();
        for n in (1..Seal::N_MAX).step_by(1 << 52) {
            chain.follow(&seal(n, "far"));
            assert_eq!(chain.follow(&seal(n, "far")), Link::Again(DamageKind::Repeated { n }));
        }
        chain.follow(&seal(Seal::N_MAX, "last"));
        chain.follow_changed(&seal(7, "changed"), Hash::GENESIS);
        assert!(chain.seen.near.len() < 10_000);
    }
}
