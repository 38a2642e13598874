//! Numbers and bytes one after the other, in as few bytes as they need.

/// Seven bits in each byte, the lowest first; the last byte is the one without the highest bit.
pub(super) fn add_number(packed: &mut Vec<u8>, mut number: usize) {
    while number >= 1 << 7 {
        packed.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    packed.push(u8::try_from(number).unwrap_or_default());
}

pub(super) fn add_bytes(packed: &mut Vec<u8>, bytes: &[u8]) {
    add_number(packed, bytes.len());
    packed.extend(bytes);
}

/// What stands before the end of a packed value.
pub(super) struct Unpack<'a>(pub(super) &'a [u8]);

impl<'a> Unpack<'a> {
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0_usize, 0);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            shift += 7;
        }
    }
}
