//! Generations of copies: the numbers with which names begin.

use antiphon_sources::COMPRESSED_SUFFIX;

use super::bytes::Bytes;

/// The number of digits of a generation.
const DIGITS: usize = 6;

/// The name of a copy without the suffix of a compressed source.
pub(super) fn plain_name(name: &str) -> &str {
    name.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(name)
}

pub(super) fn generation_name(number: u32) -> String {
    format!("{number:0DIGITS$}")
}

/// The generations that have files, in order.
pub(super) fn generations(bytes: &dyn Bytes) -> Vec<u32> {
    let number = |name: &String| {
        let (first, _) = name.split_once('/')?;
        let is_number = first.len() == DIGITS && first.bytes().all(|it| it.is_ascii_digit());
        is_number.then(|| first.parse().ok())?
    };
    let mut numbers: Vec<u32> = bytes.list("").iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
