//! Numbered ids: `msg_001`, `msg_002` and so on, found by their number.
//!
//! Most logs number their messages. A hash table of a million such ids misses the cache at every
//! line; here the next id is next to the last one.

use std::collections::BTreeMap;

/// A page is small, so that numbers scattered by a hostile log take little more room than its
/// lines.
const PAGE: usize = 64;
const EMPTY: u32 = u32::MAX;

/// A map from the number of an id to an index.
#[derive(Debug, Default, Clone)]
pub(super) struct Numbered {
    pages: Vec<[u32; PAGE]>,
    places: BTreeMap<u64, usize>,
    /// The page that was used last.
    last: Option<(u64, usize)>,
}

impl Numbered {
    /// The number of an id in canonical form; all others are kept elsewhere.
    pub(super) fn number(id: &str) -> Option<u64> {
        let digits = id.strip_prefix("msg_")?.as_bytes();
        // At least three digits, without leading zeros beyond that: one id, one number.
        let is_canonical = digits.len() == 3 || (digits.len() > 3 && digits.first() != Some(&b'0'));
        if !is_canonical || digits.len() > 15 {
            return None;
        }
        digits.iter().try_fold(0_u64, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))
        })
    }

    pub(super) fn get(&self, number: u64) -> Option<u32> {
        let (page, at) = split(number);
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => *self.places.get(&page)?,
        };
        self.pages.get(place)?.get(at).copied().filter(|&value| value != EMPTY)
    }

    pub(super) fn insert(&mut self, number: u64, value: u32) {
        let (page, at) = split(number);
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => *self.places.entry(page).or_insert_with(|| {
                super::column::push_tight(&mut self.pages, [EMPTY; PAGE]);
                self.pages.len() - 1
            }),
        };
        self.last = Some((page, place));
        if let Some(slot) = self.pages.get_mut(place).and_then(|page| page.get_mut(at)) {
            *slot = value;
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // A node of the tree is about two thirds full.
        self.pages.capacity() * size_of::<[u32; PAGE]>() + self.places.len() * 24
    }
}

fn split(number: u64) -> (u64, usize) {
    (number / PAGE as u64, usize::try_from(number % PAGE as u64).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_id_has_one_number_and_others_have_none() {
        let number = Numbered::number;
        assert_eq!(number("msg_001"), Some(1));
        assert_eq!(number("msg_999"), Some(999));
        assert_eq!(number("msg_1000"), Some(1000));
        for other in ["msg_1", "msg_01", "msg_0001", "msg_", "msg_1x0", "m_001", "msg_+12", "001"] {
            assert_eq!(number(other), None, "{other}");
        }
        assert_eq!(number("msg_1234567890123456"), None);
    }

    #[test]
    fn values_are_found_again_near_and_far() {
        let mut numbered = Numbered::default();
        let numbers = [1, 2, 3, 64, 65, 1_000_000_000_000, 4, 63, 0];
        for (value, &number) in (0..).zip(&numbers) {
            assert_eq!(numbered.get(number), None);
            numbered.insert(number, value);
        }
        for (value, &number) in (0..).zip(&numbers) {
            assert_eq!(numbered.get(number), Some(value));
        }
        assert_eq!(numbered.get(5), None);
    }
}
