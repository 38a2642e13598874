//! Finding the end of a string, several bytes at a time.

/// How many bytes come before a quote or a backslash, if there are no control characters.
pub(super) fn clean(bytes: &[u8]) -> usize {
    // Most strings are short, and end before a faster search would have begun.
    const SHORT: usize = 16;
    let Some((front, back)) = bytes.split_at_checked(SHORT) else { return plain(bytes) };
    match plain(front) {
        SHORT => SHORT + memchr::memchr2(b'"', b'\\', back).unwrap_or(back.len()),
        found => found,
    }
}

/// How many bytes come before a quote, a backslash or a control character.
pub(super) fn plain(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<8>();
    for (at, block) in blocks.iter().enumerate() {
        let found = specials(u64::from_le_bytes(*block));
        if found != 0 {
            return at * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    blocks.len() * 8 + rest.iter().position(special).unwrap_or(rest.len())
}

/// Sets the top bit of each of eight bytes that is special. Above the first one, a borrow may set
/// bits that are not: only the lowest counts.
fn specials(block: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zero_bytes(block ^ (ONES * 0x22));
    let backslashes = zero_bytes(block ^ (ONES * 0x5C));
    let controls = block.wrapping_sub(ONES * 0x20) & !block;
    (quotes | backslashes | controls) & TOPS
}
