//! Compact notes about the items of a long list: one number per item, because the same members are
//! derived in most items.

use std::collections::BTreeMap;

use super::origin::Origin;

/// The combinations of derived members, each stored once.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    numbers: BTreeMap<Vec<String>, u32>,
    pointers: Vec<Vec<String>>,
}

/// The number of an item's combination, and a bit for whether an original value is kept.
#[derive(Debug, Clone, Copy)]
struct Noted(u32);

const HAS_ORIGINAL: u32 = 1 << 31;

/// The notes about the items of a list, by position.
#[derive(Debug, Default)]
pub(super) struct Items {
    noted: Vec<Noted>,
}

impl Items {
    pub(super) fn note(&mut self, origin: Origin, patterns: &mut Patterns) {
        let (derived, original) = origin.into_parts();
        let pattern = patterns.number(derived);
        let original = if original.is_empty() { 0 } else { HAS_ORIGINAL };
        self.noted.push(Noted(pattern | original));
    }

    /// The items in the order of their pointers, with the pointers of their derived members.
    pub(super) fn derived<'i>(
        &'i self,
        patterns: &'i Patterns,
    ) -> impl Iterator<Item = (usize, &'i [String])> + 'i {
        self.in_order().map(|(at, Noted(noted))| {
            let pattern = patterns.pointers.get((noted & !HAS_ORIGINAL) as usize);
            (at, pattern.map_or(&[][..], Vec::as_slice))
        })
    }

    /// The items with values in `x_antiphon.original`, in the order of their pointers.
    pub(super) fn with_original(&self) -> impl Iterator<Item = usize> + '_ {
        self.in_order().filter(|(_, noted)| noted.0 & HAS_ORIGINAL != 0).map(|(at, _)| at)
    }

    fn in_order(&self) -> impl Iterator<Item = (usize, Noted)> + '_ {
        by_digits(self.noted.len()).filter_map(|at| Some((at, *self.noted.get(at)?)))
    }
}

impl Patterns {
    fn number(&mut self, derived: Vec<String>) -> u32 {
        if let Some(&number) = self.numbers.get(&derived) {
            return number;
        }
        // There are fewer combinations than items, whose number fits.
        let number = u32::try_from(self.pointers.len()).unwrap_or(u32::MAX) & !HAS_ORIGINAL;
        self.pointers.push(derived.clone());
        self.numbers.insert(derived, number);
        number
    }
}

/// The numbers below `len`, sorted as strings: 0, 1, 10, 11, 2.
pub(super) fn by_digits(len: usize) -> impl Iterator<Item = usize> {
    let next = move |&at: &usize| {
        let mut at = at;
        if at == 0 {
            return (len > 1).then_some(1);
        }
        if at.saturating_mul(10) < len {
            return Some(at * 10);
        }
        while at > 0 {
            if at + 1 < len && at % 10 != 9 {
                return Some(at + 1);
            }
            at /= 10;
        }
        None
    };
    std::iter::successors((len > 0).then_some(0), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_the_order_of_their_digits() {
        for len in [0, 1, 2, 9, 10, 11, 12, 99, 100, 101, 110, 1234] {
            let mut texts: Vec<String> = (0..len).map(|at| at.to_string()).collect();
            texts.sort();
            let found: Vec<String> = by_digits(len).map(|at| at.to_string()).collect();
            assert_eq!(found, texts, "{len}");
        }
    }
}
