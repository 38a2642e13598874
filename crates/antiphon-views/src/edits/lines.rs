//! The difference of two texts, line by line.

use std::collections::BTreeMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A text as lines, each with its line end.
pub(crate) fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// What happens to a range of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// They stay.
    Equal { old: Range<usize>, new: Range<usize> },
    /// They are replaced by others; one of the ranges may be empty.
    Replace { old: Range<usize>, new: Range<usize> },
}

/// Beyond this many pairs of lines that differ, a comparison would take too long: all of them are
/// taken as replaced.
const PAIRS_MAX: usize = 400_000_000;

/// How one list of lines becomes another.
pub(crate) fn line_operations(old: &[&str], new: &[&str]) -> Vec<Operation> {
    let begin = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let middle = |lines: usize| begin..lines - end;
    let mut operations = Vec::new();
    if begin > 0 {
        operations.push(Operation::Equal { old: 0..begin, new: 0..begin });
    }
    operations.extend(between(old, new, middle(old.len()), middle(new.len())));
    if end > 0 {
        let tail = |lines: usize| lines - end..lines;
        operations.push(Operation::Equal { old: tail(old.len()), new: tail(new.len()) });
    }
    operations
}

fn between<'t>(
    old: &[&'t str],
    new: &[&'t str],
    old_range: Range<usize>,
    new_range: Range<usize>,
) -> Vec<Operation> {
    if old_range.is_empty() && new_range.is_empty() {
        return Vec::new();
    }
    let is_cheap = old_range.len().saturating_mul(new_range.len()) <= PAIRS_MAX;
    if old_range.is_empty() || new_range.is_empty() || !is_cheap {
        return vec![Operation::Replace { old: old_range, new: new_range }];
    }
    // Numbers are compared faster than lines.
    let mut known: BTreeMap<&'t str, u32> = BTreeMap::new();
    let old_numbers = numbers(old.get(old_range.clone()).unwrap_or_default(), &mut known);
    let new_numbers = numbers(new.get(new_range.clone()).unwrap_or_default(), &mut known);
    let at = |start: usize, from: usize, len: usize| start + from..start + from + len;
    capture_diff_slices(Algorithm::Patience, &old_numbers, &new_numbers)
        .into_iter()
        .map(|operation| {
            let (tag, a, b) = (operation.tag(), operation.old_range(), operation.new_range());
            let old = at(old_range.start, a.start, a.len());
            let new = at(new_range.start, b.start, b.len());
            match tag {
                similar::DiffTag::Equal => Operation::Equal { old, new },
                similar::DiffTag::Delete | similar::DiffTag::Insert | similar::DiffTag::Replace => {
                    Operation::Replace { old, new }
                }
            }
        })
        .collect()
}

/// A number for each line, the same for the same text.
fn numbers<'t>(lines: &[&'t str], known: &mut BTreeMap<&'t str, u32>) -> Vec<u32> {
    let number = |&line: &&'t str| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(line).or_insert(next)
    };
    lines.iter().map(number).collect()
}

impl From<&Operation> for DiffOp {
    fn from(operation: &Operation) -> Self {
        match operation {
            Operation::Equal { old, new } => {
                Self::Equal { old_index: old.start, new_index: new.start, len: old.len() }
            }
            Operation::Replace { old, new } => Self::Replace {
                old_index: old.start,
                old_len: old.len(),
                new_index: new.start,
                new_len: new.len(),
            },
        }
    }
}
