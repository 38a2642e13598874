//! One pass over a JSON object or array: members and elements as slices, checked and not built.
//!
//! With a general parser, three quarters of reading a log was spent here: a line has a dozen
//! members, and each took longer than hashing the whole line. Values are checked in place and
//! without recursion. Exactly what `serde_json` accepts is accepted; the tests compare the two.

mod strings;

use serde_json::value::RawValue;

use strings::{clean, plain};

/// The text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// How much of an object a text contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// It stops after a member; the rest was checked before.
    Cut,
}

/// Calls `each` with the members of an object: the key as it is between its quotes, and the raw
/// value.
pub(crate) fn object<'a>(
    text: &'a str,
    extent: Extent,
    each: impl FnMut(&'a str, Value<'a>),
) -> Result<(), Malformed> {
    members(&mut Scan::new(text), extent, each)
}

pub(super) fn members<'a>(
    scan: &mut Scan<'a, '_>,
    extent: Extent,
    mut each: impl FnMut(&'a str, Value<'a>),
) -> Result<(), Malformed> {
    scan.space();
    scan.expect(b'{')?;
    scan.space();
    if scan.peek() == Some(b'}') {
        scan.at += 1;
        return scan.end();
    }
    loop {
        scan.space();
        let key = scan.string()?;
        scan.space();
        scan.expect(b':')?;
        scan.space();
        scan.has_escape = false;
        let raw = scan.value()?;
        let inner = key.get(1..key.len() - 1).ok_or(Malformed)?;
        each(inner, Value { raw, has_escape: scan.has_escape });
        scan.space();
        match scan.next() {
            Some(b',') => {}
            Some(b'}') if extent == Extent::Whole => return scan.end(),
            None if extent == Extent::Cut => return Ok(()),
            _ => return Err(Malformed),
        }
    }
}

/// The value that a text begins with. What follows it is not checked.
pub(super) fn first(text: &str) -> Option<&str> {
    Scan::with(text, false, &[]).value().ok()
}

/// Calls `each` with the raw elements of an array.
pub(crate) fn array<'a>(text: &'a str, each: impl FnMut(&'a str)) -> Result<(), Malformed> {
    elements(&mut Scan::new(text), each)
}

pub(super) fn elements<'a>(
    scan: &mut Scan<'a, '_>,
    mut each: impl FnMut(&'a str),
) -> Result<(), Malformed> {
    scan.space();
    scan.expect(b'[')?;
    scan.space();
    if scan.peek() == Some(b']') {
        scan.at += 1;
        return scan.end();
    }
    loop {
        scan.space();
        each(scan.value()?);
        scan.space();
        match scan.next() {
            Some(b',') => {}
            Some(b']') => return scan.end(),
            _ => return Err(Malformed),
        }
    }
}

/// A member's value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) raw: &'a str,
    /// Whether a string in it has an escape.
    pub(crate) has_escape: bool,
}

/// A string that takes longer to scan than to remember.
#[derive(Debug, Clone, Copy)]
pub(super) struct LongString {
    /// Its address in memory, which is the same for every slice of the text.
    pub(super) start: usize,
    len: usize,
    has_escape: bool,
}

const LONG: usize = 128;

pub(super) struct Scan<'a, 'k> {
    text: &'a str,
    at: usize,
    has_escape: bool,
    /// Whether it has no control characters, so that its strings need not be checked for them.
    pub(super) is_clean: bool,
    /// Long strings that are ahead, in order.
    known: &'k [LongString],
    /// The long strings that were found, if they are wanted.
    pub(super) noted: Option<Vec<LongString>>,
}

impl<'a, 'k> Scan<'a, 'k> {
    /// A scan of a text about which something is known.
    pub(super) fn with(text: &'a str, is_clean: bool, known: &'k [LongString]) -> Self {
        Self { text, at: 0, has_escape: false, is_clean, known, noted: None }
    }

    pub(super) fn new(text: &'a str) -> Self {
        // Checking is worth it only if there may be long strings.
        let is_clean = text.len() >= 256 && text.bytes().fold(u8::MAX, u8::min) >= 0x20;
        Self::with(text, is_clean, &[])
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Malformed> {
        if self.next() == Some(wanted) { Ok(()) } else { Err(Malformed) }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn end(&mut self) -> Result<(), Malformed> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { Err(Malformed) }
    }

    fn since(&self, start: usize) -> Result<&'a str, Malformed> {
        self.text.get(start..self.at).ok_or(Malformed)
    }

    fn value(&mut self) -> Result<&'a str, Malformed> {
        match self.peek().ok_or(Malformed)? {
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'{' | b'[' => self.nested(),
            _ => Err(Malformed),
        }
    }

    fn word(&mut self, word: &str) -> Result<&'a str, Malformed> {
        let start = self.at;
        self.at += word.len();
        self.since(start).ok().filter(|&found| found == word).ok_or(Malformed)
    }

    /// Scans a string with its quotes.
    fn string(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        self.expect(b'"')?;
        if let Some(string) = self.known_at(start) {
            self.at = start + string.len;
            self.has_escape |= string.has_escape;
            return self.since(start);
        }
        let before = self.has_escape;
        self.has_escape = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..).ok_or(Malformed)?;
            self.at += if self.is_clean { clean(rest) } else { plain(rest) };
            match self.next().ok_or(Malformed)? {
                b'"' => break,
                b'\\' => self.escape()?,
                _ => return Err(Malformed),
            }
        }
        if self.at - start >= LONG {
            self.note(start);
        }
        self.has_escape |= before;
        self.since(start)
    }

    fn known_at(&mut self, at: usize) -> Option<LongString> {
        let address = self.text.as_ptr() as usize + at;
        while let Some((first, rest)) = self.known.split_first().filter(|it| it.0.start <= address)
        {
            self.known = rest;
            if first.start == address {
                return Some(*first);
            }
        }
        None
    }

    #[cold]
    fn note(&mut self, start: usize) {
        let address = self.text.as_ptr() as usize + start;
        let (len, has_escape) = (self.at - start, self.has_escape);
        if let Some(noted) = &mut self.noted {
            noted.push(LongString { start: address, len, has_escape });
        }
    }

    fn escape(&mut self) -> Result<(), Malformed> {
        self.has_escape = true;
        match self.next().ok_or(Malformed)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or(Malformed)?;
                self.at += 4;
                let hex = digits.iter().all(u8::is_ascii_hexdigit);
                if hex { Ok(()) } else { Err(Malformed) }
            }
            _ => Err(Malformed),
        }
    }

    fn number(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.next() {
            Some(b'0') => {}
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(Malformed),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        self.since(start)
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        self.digits();
        if self.at > start { Ok(()) } else { Err(Malformed) }
    }

    /// Scans an object or array in one loop: a bit says which of the two each level is, and what is
    /// nested deeper than there are bits is left to `serde_json`.
    fn nested(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        let (mut depth, mut objects) = (0, 0_u64);
        loop {
            match self.peek().ok_or(Malformed)? {
                open @ (b'{' | b'[') => {
                    if depth == u64::BITS {
                        self.at = start;
                        return self.deep();
                    }
                    self.at += 1;
                    self.space();
                    // In ASCII, the closing bracket comes two after the opening one.
                    if self.peek() != Some(open + 2) {
                        depth += 1;
                        objects = objects << 1 | u64::from(open == b'{');
                        if open == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                    self.at += 1;
                }
                _ => {
                    self.value()?;
                }
            }
            // A value has ended, and so may have what contains it.
            loop {
                if depth == 0 {
                    return self.since(start);
                }
                self.space();
                match (self.next().ok_or(Malformed)?, objects & 1) {
                    (b',', 1) => {
                        self.space();
                        self.key()?;
                        break;
                    }
                    (b',', _) => {
                        self.space();
                        break;
                    }
                    (b'}', 1) | (b']', 0) => {
                        depth -= 1;
                        objects >>= 1;
                    }
                    _ => return Err(Malformed),
                }
            }
        }
    }

    /// Scans a key and its colon.
    fn key(&mut self) -> Result<(), Malformed> {
        self.string()?;
        self.space();
        self.expect(b':')?;
        self.space();
        Ok(())
    }

    fn deep(&mut self) -> Result<&'a str, Malformed> {
        let rest = self.text.get(self.at..).ok_or(Malformed)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&'a RawValue>();
        let value = values.next().and_then(Result::ok).ok_or(Malformed)?.get();
        self.at += value.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests;
