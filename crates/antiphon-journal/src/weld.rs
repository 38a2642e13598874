//! Lines without a newline between them: a writer was killed within a line, and the next one began
//! on it.
//!
//! A sealed line is found by its hash, whatever comes before it. A line without a seal is searched
//! for only in logs without seals, by its first key, and must be decodable.

use std::ops::Range;

use crate::seal::{self, Sealed};

/// A part of such a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    pub(crate) whole: bool,
}

/// The first key of a line, as we write it and as others do.
const FIRST_KEY: &[u8] = b"{\"message_id\":";

/// How many beginnings are tried for one end, newest first.
const STARTS_MAX: usize = 32;

/// Splits by seals; if there are none, by beginnings that `is_event` accepts.
pub(crate) fn split(bytes: &[u8], is_event: &dyn Fn(Range<usize>) -> bool) -> Vec<Part> {
    let parts = split_sealed(bytes);
    if parts.iter().any(|part| part.whole) {
        return parts;
    }
    let mut borders = vec![0];
    borders.extend(memchr::memmem::find_iter(bytes, FIRST_KEY).filter(|&at| at > 0).take(1024));
    borders.push(bytes.len());
    let ranges = borders.windows(2).filter_map(|pair| match pair {
        &[start, end] if start < end => Some(start..end),
        _ => None,
    });
    ranges.map(|range| Part { whole: is_event(range.clone()), range }).collect()
}

/// Splits by seals whose hashes match.
pub(crate) fn split_sealed(bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut start = 0;
    // Hashing is bounded, so that a line made of false ends and beginnings costs no more than
    // reading it a few times.
    let mut budget = bytes.len().saturating_mul(8).saturating_add(1 << 20);
    for end in seal::ends(bytes) {
        let Some(found) = sealed_start(bytes, start..end, &mut budget) else {
            continue;
        };
        if found > start {
            parts.push(Part { range: start..found, whole: false });
        }
        parts.push(Part { range: found..end, whole: true });
        start = end;
    }
    if start < bytes.len() {
        parts.push(Part { range: start..bytes.len(), whole: false });
    }
    parts
}

/// Where the sealed line that ends at `range.end` begins.
fn sealed_start(bytes: &[u8], range: Range<usize>, budget: &mut usize) -> Option<usize> {
    let region = bytes.get(range.clone())?;
    let within = memchr::memmem::rfind_iter(region, FIRST_KEY).map(|at| range.start + at);
    std::iter::once(range.start).chain(within.take(STARTS_MAX)).find(|&start| {
        let Some(left) = budget.checked_sub(range.end - start) else {
            return false;
        };
        *budget = left;
        let line = bytes.get(start..range.end).unwrap_or_default();
        matches!(seal::check(line), Sealed::Good(_))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hash;

    fn line(id: &str) -> String {
        let mut line = format!("{{\"message_id\":\"{id}\",\"payload\":{{\"message_id\":1}}");
        seal::close(&mut line, 0, 1, &Hash::GENESIS);
        line.trim_end().to_owned()
    }

    #[test]
    fn whole_lines_are_found_between_stubs() {
        let (a, b) = (line("a"), line("b"));
        let welded = format!("{}{b}{a}{}", &a[..a.len() - 1], &b[..20]);
        let parts = split_sealed(welded.as_bytes());
        let shown: Vec<_> = parts.iter().map(|p| (&welded[p.range.clone()], p.whole)).collect();
        let wanted: Vec<(&str, bool)> =
            vec![(&a[..a.len() - 1], false), (&b, true), (&a, true), (&b[..20], false)];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn a_line_of_false_ends_is_given_up_in_bounded_time() {
        let end = format!("{{\"message_id\":,\"hash\":\"{}\"}}", "0".repeat(64));
        let hostile = end.repeat(20_000);
        assert!(split_sealed(hostile.as_bytes()).iter().all(|part| !part.whole));
    }
}
