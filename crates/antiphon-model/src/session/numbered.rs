//! Numbered ids: `msg_001`, `msg_002` and so on, or `call_1`, `call_2`, found by their number.
//!
//! Most logs number their messages and their calls. A hash table of a million such ids misses the
//! cache at every line; here the next id is next to the last one.

use std::collections::BTreeMap;

/// A page is small, so that numbers scattered by a hostile log take little more room than its
/// lines.
const PAGE: usize = 64;
const EMPTY: u32 = u32::MAX;
/// Longer numbers do not count, they are drawn.
const DIGITS_MAX: usize = 15;
/// Ids that look like more series than this do not count either.
const SERIES_MAX: usize = 16;

/// A map from a numbered id to an index.
#[derive(Debug, Default, Clone)]
pub(super) struct Numbered {
    series: Vec<Series>,
    /// The series that was used last.
    last: usize,
}

/// Ids that begin with the same text and have the same number of digits: one id, one number.
#[derive(Debug, Clone)]
struct Series {
    prefix: Box<str>,
    digits: usize,
    pages: Vec<[u32; PAGE]>,
    places: BTreeMap<u64, usize>,
    /// The page that was used last.
    last: Option<(u64, usize)>,
}

/// An id that counts: the number of its series, and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    series: usize,
    number: u64,
}

impl Numbered {
    /// The number of an id that belongs to a series; all others are kept elsewhere.
    pub(super) fn known(&self, id: &str) -> Option<Number> {
        let (prefix, digits) = split_id(id)?;
        let is_same = |series: &Series| series.is_of(prefix, digits);
        let last = Some(self.last).filter(|&last| self.series.get(last).is_some_and(is_same));
        let series = last.or_else(|| self.series.iter().position(is_same))?;
        Some(Number { series, number: number(digits) })
    }

    /// The same, where an id that may count begins another series.
    pub(super) fn number(&mut self, id: &str) -> Option<Number> {
        let known = self.known(id).or_else(|| self.begin(id))?;
        self.last = known.series;
        Some(known)
    }

    fn begin(&mut self, id: &str) -> Option<Number> {
        let (prefix, digits) = split_id(id)?;
        let series = self.series.len();
        if series == SERIES_MAX {
            return None;
        }
        self.series.push(Series {
            prefix: prefix.into(),
            digits: digits.len(),
            pages: Vec::new(),
            places: BTreeMap::new(),
            last: None,
        });
        Some(Number { series, number: number(digits) })
    }

    pub(super) fn get(&self, Number { series, number }: Number) -> Option<u32> {
        self.series.get(series)?.get(number)
    }

    pub(super) fn insert(&mut self, Number { series, number }: Number, value: u32) {
        if let Some(series) = self.series.get_mut(series) {
            series.insert(number, value);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // A node of the tree is about two thirds full.
        let bytes = |series: &Series| {
            series.pages.capacity() * size_of::<[u32; PAGE]>() + series.places.len() * 24
        };
        self.series.iter().map(bytes).sum()
    }
}

impl Series {
    fn is_of(&self, prefix: &str, digits: &str) -> bool {
        self.digits == digits.len() && *self.prefix == *prefix
    }

    fn get(&self, number: u64) -> Option<u32> {
        let (page, at) = split(number);
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => *self.places.get(&page)?,
        };
        self.pages.get(place)?.get(at).copied().filter(|&value| value != EMPTY)
    }

    fn insert(&mut self, number: u64, value: u32) {
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
}

/// The prefix of an id that may count, and its digits. A digit behind a letter is part of a word.
fn split_id(id: &str) -> Option<(&str, &str)> {
    let digits = id.bytes().rev().take(DIGITS_MAX + 1).take_while(u8::is_ascii_digit).count();
    let (prefix, digits) = id.split_at_checked(id.len() - digits)?;
    let counts = matches!(prefix.as_bytes().last(), Some(b'_' | b'-' | b':' | b'#' | b'.'));
    (counts && (1..=DIGITS_MAX).contains(&digits.len())).then_some((prefix, digits))
}

fn number(digits: &str) -> u64 {
    digits.bytes().fold(0, |number, digit| number * 10 + u64::from(digit.wrapping_sub(b'0')))
}

fn split(number: u64) -> (u64, usize) {
    (number / PAGE as u64, usize::try_from(number % PAGE as u64).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_behind_a_mark_and_no_two_have_one_number() {
        let mut numbered = Numbered::default();
        let ids = ["msg_001", "msg_1", "msg_01", "msg_0001", "call_1", "line:7", "a.b-12"];
        let numbers: Vec<Number> = ids.iter().map(|id| numbered.number(id).unwrap()).collect();
        for (at, number) in numbers.iter().enumerate() {
            assert_eq!(numbers.iter().position(|it| it == number), Some(at), "{}", ids[at]);
            assert_eq!(numbered.known(ids[at]), Some(*number));
        }
        for other in ["msg_", "msg_1x0", "x1", "é1", "001", "", "msg_1234567890123456"] {
            assert_eq!(numbered.number(other), None, "{other}");
        }
    }

    #[test]
    fn ids_that_are_drawn_fill_the_series_and_no_more() {
        let mut numbered = Numbered::default();
        let begun = (0..1000).filter_map(|n| numbered.number(&format!("x{n}_1"))).count();
        assert_eq!(begun, SERIES_MAX);
        assert_eq!(numbered.known("x999_1"), None);
    }

    #[test]
    fn values_are_found_again_near_and_far() {
        let mut numbered = Numbered::default();
        let numbers = [1, 2, 3, 64, 65, 1_000_000_000_000, 4, 63, 0_u64];
        for (value, number) in (0..).zip(&numbers) {
            let number = numbered.number(&format!("m_{number:015}")).unwrap();
            assert_eq!(numbered.get(number), None);
            numbered.insert(number, value);
        }
        for (value, number) in (0..).zip(&numbers) {
            let number = numbered.known(&format!("m_{number:015}")).unwrap();
            assert_eq!(numbered.get(number), Some(value));
        }
        let unknown = numbered.known("m_000000000000005").unwrap();
        assert_eq!(numbered.get(unknown), None);
    }
}
