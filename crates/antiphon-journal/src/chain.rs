//! The chain: each seal names the one before, so that lost, moved and repeated lines show.

use std::ops::Range;

use crate::damage::DamageKind;
use crate::{Hash, Seal};

/// How far the chain has been followed.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    n: u64,
    hash: Known,
    /// Lines since then that could not be read; each may have been one of the chain.
    unreadable: u64,
    /// Numbers that were passed over and have not turned up yet.
    missing: Vec<Range<u64>>,
}

/// What is known of the hash that the next line should name.
#[derive(Debug, Clone, Copy)]
enum Known {
    Exactly(Hash),
    /// The line before was changed: either the hash in it is the true one, or the hash of it.
    OneOf(Hash, Hash),
    Nothing,
}

/// Where a line stands in the chain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// It follows.
    Next,
    /// It follows, with something amiss.
    NextBut(DamageKind),
    /// It fills a hole further up.
    Late(DamageKind),
    /// It is there already.
    Again(DamageKind),
}

/// More holes than this are no longer told one from another.
const HOLES_MAX: usize = 1024;

impl Default for Chain {
    fn default() -> Self {
        let hash = Known::Exactly(Hash::GENESIS);
        Self { n: 0, hash, unreadable: 0, missing: Vec::new() }
    }
}

impl Chain {
    /// The head: the number of the last line, 0 if there is none.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// The hash of the last line, as far as it can be told.
    pub(crate) fn hash(&self) -> Hash {
        match self.hash {
            Known::Exactly(hash) | Known::OneOf(hash, _) => hash,
            Known::Nothing => Hash::GENESIS,
        }
    }

    /// Whether that number was passed over.
    pub(crate) fn lacks(&self, n: u64) -> bool {
        self.missing.iter().any(|hole| hole.contains(&n))
    }

    /// A line whose seal is good.
    pub(crate) fn follow(&mut self, seal: &Seal) -> Link {
        if seal.n <= self.n {
            return self.look_back(seal.n);
        }
        let skipped = seal.n - self.n - 1;
        let unreadable = std::mem::take(&mut self.unreadable);
        let first_missing = self.n + 1 + unreadable.min(skipped);
        let missing = seal.n - first_missing;
        let known = if skipped == 0 { self.hash } else { Known::Nothing };
        self.n = seal.n;
        self.hash = Known::Exactly(seal.hash);
        if missing > 0 {
            if self.missing.len() < HOLES_MAX {
                self.missing.push(first_missing..seal.n);
            }
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

    /// A line with a whole seal whose hash is another. Its number may be what was changed, so the
    /// line is taken for the next one.
    pub(crate) fn follow_changed(&mut self, stored: &Seal, actual: Hash) {
        let next = self.n + 1;
        let possible = next..=next + std::mem::take(&mut self.unreadable);
        self.n = if possible.contains(&stored.n) { stored.n } else { next };
        self.hash = Known::OneOf(stored.hash, actual);
    }

    /// A line that cannot be read at all.
    pub(crate) fn pass_unreadable(&mut self) {
        self.unreadable += 1;
    }

    fn look_back(&mut self, n: u64) -> Link {
        let Some(at) = self.missing.iter().position(|hole| hole.contains(&n)) else {
            return Link::Again(DamageKind::Repeated { n });
        };
        let hole = self.missing.swap_remove(at);
        let halves = [hole.start..n, n + 1..hole.end];
        self.missing.extend(halves.into_iter().filter(|half| !half.is_empty()));
        Link::Late(DamageKind::OutOfOrder { n })
    }
}
