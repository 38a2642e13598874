//! Columns of numbers, one after another, that a program can use without decoding them.

use serde::Serialize;

/// The first bytes of a skeleton.
const MAGIC: &[u8; 4] = b"ANSK";
/// Every column begins at a multiple of this, so that it can be used as an array of any type.
const ALIGNMENT: usize = 8;

/// Where a column is.
#[derive(Debug, Serialize)]
pub(super) struct Column {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    /// From the first byte of the skeleton.
    offset: usize,
    /// How many numbers it has.
    len: usize,
}

/// The numbers of columns, as they will be written.
#[derive(Debug, Default)]
pub(super) struct Columns {
    columns: Vec<Column>,
    bytes: Vec<u8>,
}

impl Columns {
    pub(super) fn u8(&mut self, name: &'static str, numbers: &[u8]) {
        self.add(name, "u8", numbers.iter().map(|number| [*number]));
    }

    pub(super) fn u16(&mut self, name: &'static str, numbers: &[u16]) {
        self.add(name, "u16", numbers.iter().map(|number| number.to_le_bytes()));
    }

    pub(super) fn u32(&mut self, name: &'static str, numbers: &[u32]) {
        self.add(name, "u32", numbers.iter().map(|number| number.to_le_bytes()));
    }

    pub(super) fn f32(&mut self, name: &'static str, numbers: &[f32]) {
        self.add(name, "f32", numbers.iter().map(|number| number.to_le_bytes()));
    }

    pub(super) fn f64(&mut self, name: &'static str, numbers: &[f64]) {
        self.add(name, "f64", numbers.iter().map(|number| number.to_le_bytes()));
    }

    /// Offsets count from the first column until the length of the header is known.
    fn add<const N: usize>(
        &mut self,
        name: &'static str,
        kind: &'static str,
        numbers: impl ExactSizeIterator<Item = [u8; N]>,
    ) {
        let (offset, len) = (self.bytes.len(), numbers.len());
        self.columns.push(Column { name, kind, offset, len });
        self.bytes.reserve(len * N + ALIGNMENT);
        numbers.for_each(|number| self.bytes.extend_from_slice(&number));
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// The whole skeleton. `header` is given the columns and makes the header's text of them.
    ///
    /// The offsets stand in the header, whose length moves the columns: it is written once to be
    /// measured, with spaces behind it for what its final numbers may need, and once for good.
    pub(super) fn finish(mut self, header: impl Fn(&[Column]) -> String) -> Vec<u8> {
        let digits = 24 * self.columns.len();
        let start = MAGIC.len() + size_of::<u32>();
        let room = header(&self.columns).len() + digits;
        let first = (start + room).next_multiple_of(ALIGNMENT);
        self.columns.iter_mut().for_each(|column| column.offset += first);
        let mut text = header(&self.columns);
        text.extend(std::iter::repeat_n(' ', (first - start).saturating_sub(text.len())));
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut all = Vec::with_capacity(first + self.bytes.len());
        all.extend_from_slice(MAGIC);
        all.extend_from_slice(&len.to_le_bytes());
        all.extend_from_slice(text.as_bytes());
        all.append(&mut self.bytes);
        all
    }
}
