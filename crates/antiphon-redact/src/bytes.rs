//! Classes of bytes, and runs of them.

/// The characters that a token consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    Hex,
    Upper,
    Alnum,
    /// Letters, digits and underscore.
    Word,
    /// Letters, digits, underscore and hyphen.
    Dashed,
    /// Letters, digits, underscore, hyphen and dot.
    Dotted,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// Base64 for URLs: letters, digits, `-`, `_` and `=`.
    Url64,
    /// Base64 of both kinds, and parts of it joined.
    Any64,
    /// Like `Any64`, with the escapes of URLs: `%2B`.
    Escaped,
}

impl Set {
    pub(crate) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Url64 => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'='),
            Self::Any64 => Self::Base64.has(byte) || matches!(byte, b'-' | b'_'),
            Self::Escaped => Self::Any64.has(byte) || byte == b'%',
        }
    }

    /// Whether a run of these can only end where a word ends, so that a letter after it means that
    /// it is something else.
    pub(crate) fn is_of_words(self) -> bool {
        matches!(self, Self::Hex | Self::Upper | Self::Alnum)
    }

    /// The run of these at the beginning of a text.
    pub(crate) fn run(self, text: &str) -> &str {
        let end = text.bytes().position(|byte| !self.has(byte)).unwrap_or(text.len());
        text.get(..end).unwrap_or_default()
    }

    /// The run of these at the end of a text.
    pub(crate) fn run_back(self, text: &str) -> &str {
        let start = text.bytes().rposition(|byte| !self.has(byte)).map_or(0, |last| last + 1);
        text.get(start..).unwrap_or_default()
    }
}

/// The Shannon entropy per character, in bits: 0 for `aaaa`, some 3.6 for random hex.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = text.len() as f64;
    let shares = counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) / total);
    shares.map(|share| -share * share.log2()).sum()
}

/// The decoded text, if it is base64.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut filled) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            out.push(u8::try_from(bits >> filled & 0xFF).ok()?);
        }
    }
    Some(out)
}

/// Whether this is `user:password` in base64, as HTTP and Docker write it.
pub(crate) fn is_basic(text: &str) -> bool {
    let decoded = base64(text).unwrap_or_default();
    let printable = decoded.iter().all(|byte| (0x20..0x7F).contains(byte));
    let colon = memchr::memchr(b':', &decoded);
    printable && colon.is_some_and(|at| at + 3 < decoded.len())
}
