//! Fields in a row of bytes: most numbers are small, and a column of its own would take more room
//! than what it says.
//!
//! A number has seven bits in each byte, the lowest first, and the highest bit says that more
//! follow. A text has its length before it.

/// Adds fields to some bytes.
#[derive(Debug, Default)]
pub(super) struct Coder(Vec<u8>);

impl Coder {
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.long(number.into())
    }

    pub(super) fn long(&mut self, mut number: u128) -> &mut Self {
        loop {
            let low = u8::try_from(number & 0x7f).unwrap_or_default();
            number >>= 7;
            if number == 0 {
                self.0.push(low);
                return self;
            }
            self.0.push(low | 0x80);
        }
    }

    /// A number that may be below nothing, near it.
    pub(super) fn signed(&mut self, number: i64) -> &mut Self {
        self.number((number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend(bytes);
        self
    }

    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len() as u64).bytes(text.as_bytes())
    }

    pub(super) fn optional_text(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.number(text.len() as u64 + 1).bytes(text.as_bytes()),
            None => self.number(0),
        }
    }

    /// A number that may be missing.
    pub(super) fn optional(&mut self, number: Option<i64>) -> &mut Self {
        match number {
            Some(number) => self.number(1).signed(number),
            None => self.number(0),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Takes fields from some bytes, in the order in which they were added. `None` is what cannot have
/// been written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoder<'a>(pub(super) &'a [u8]);

impl<'a> Decoder<'a> {
    pub(super) fn number(&mut self) -> Option<u64> {
        // Most have one byte.
        if let Some((&first, rest)) = self.0.split_first()
            && first < 0x80
        {
            self.0 = rest;
            return Some(first.into());
        }
        u64::try_from(self.long()?).ok()
    }

    pub(super) fn long(&mut self) -> Option<u128> {
        let mut number = 0_u128;
        let mut shift = 0;
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u128::from(byte & 0x7f);
            let shifted = bits.checked_shl(shift).filter(|it| it >> shift == bits)?;
            number |= shifted;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.first_chunk().copied()
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let len = usize::try_from(self.number()?).ok()?;
        str::from_utf8(self.bytes(len)?).ok()
    }

    pub(super) fn optional_text(&mut self) -> Option<Option<&'a str>> {
        match usize::try_from(self.number()?).ok()?.checked_sub(1) {
            Some(len) => str::from_utf8(self.bytes(len)?).ok().map(Some),
            None => Some(None),
        }
    }

    pub(super) fn optional(&mut self) -> Option<Option<i64>> {
        match self.number()? {
            0 => Some(None),
            1 => self.signed().map(Some),
            _ => None,
        }
    }

    /// Whether everything was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Names that most sessions have. Whoever changes them changes what stands in the tables.
const COMMON: [&str; 10] = [
    "main",
    "session_started",
    "agent_created",
    "system",
    "user",
    "assistant",
    "tool",
    "Bash",
    "Read",
    "Edit",
];

/// Texts of which some come again and again: each is written when it first comes, unless it is a
/// common one, and is a number after that.
#[derive(Debug)]
pub(super) struct Names<'a>(Vec<&'a str>);

impl Default for Names<'_> {
    fn default() -> Self {
        Self(COMMON.to_vec())
    }
}

impl<'a> Names<'a> {
    /// So many are told by their numbers: more would have to be searched for.
    const MOST: usize = 40;

    pub(super) fn write(&mut self, coder: &mut Coder, name: Option<&'a str>) {
        let Some(name) = name else {
            coder.number(0);
            return;
        };
        match self.0.iter().position(|known| *known == name) {
            Some(at) => {
                coder.number(at as u64 + 2);
            }
            None => {
                coder.number(1).text(name);
                self.add(name);
            }
        }
    }

    pub(super) fn read(&mut self, decoder: &mut Decoder<'a>) -> Option<Option<&'a str>> {
        match decoder.number()? {
            0 => Some(None),
            1 => {
                let name = decoder.text()?;
                self.add(name);
                Some(Some(name))
            }
            at => self.0.get(usize::try_from(at).ok()? - 2).copied().map(Some),
        }
    }

    fn add(&mut self, name: &'a str) {
        if self.0.len() < Self::MOST {
            self.0.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_breaks_off_is_not() {
        let numbers = [0, 1, 127, 128, 300, u64::MAX - 1, u64::MAX];
        let signed = [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN];
        let mut coder = Coder::default();
        for number in numbers {
            coder.number(number);
        }
        for number in signed {
            coder.signed(number).optional(Some(number));
        }
        coder.long(u128::MAX).text("née").optional_text(Some("")).optional_text(None);
        coder.optional(None).bytes(&[7; 16]);
        let bytes = coder.finish();
        let read = |bytes: &[u8]| -> Option<()> {
            let mut decoder = Decoder(bytes);
            for number in numbers {
                assert_eq!(decoder.number()?, number);
            }
            for number in signed {
                assert_eq!((decoder.signed()?, decoder.optional()?), (number, Some(number)));
            }
            assert_eq!((decoder.long()?, decoder.text()?), (u128::MAX, "née"));
            assert_eq!((decoder.optional_text()?, decoder.optional_text()?), (Some(""), None));
            assert_eq!((decoder.optional()?, decoder.chunk::<16>()?), (None, [7; 16]));
            decoder.is_empty().then_some(())
        };
        assert_eq!(read(&bytes), Some(()));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None);
        }
        assert_eq!(Decoder(&[0xff; 40]).long(), None, "no number is so long");
    }

    #[test]
    fn a_name_that_comes_again_takes_a_byte() {
        let many: Vec<String> = (0..100).map(|nth| format!("name {nth}")).collect();
        let names = many.iter().map(|it| Some(it.as_str())).chain([None, Some("name 3")]);
        let names: Vec<Option<&str>> = names.collect();
        let (mut coder, mut known) = (Coder::default(), Names::default());
        names.iter().for_each(|name| known.write(&mut coder, *name));
        let before = coder.0.len();
        known.write(&mut coder, Some("name 3"));
        assert_eq!(coder.0.len(), before + 1);
        let bytes = coder.finish();
        let (mut decoder, mut known) = (Decoder(&bytes), Names::default());
        for name in names {
            assert_eq!(known.read(&mut decoder), Some(name));
        }
    }
}
