//! Checksums. A catalogue is a file like any other: a bit that has flipped in it must not become a
//! wrong answer.

/// The checksum of some fields, in order.
#[derive(Debug, Default)]
pub(super) struct Sum(blake3::Hasher);

impl Sum {
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        // The length keeps one pair of fields from reading as another.
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        self
    }

    pub(super) fn text(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.bytes(text.as_bytes()),
            None => self.number(None),
        }
    }

    pub(super) fn number(&mut self, number: Option<i64>) -> &mut Self {
        match number {
            Some(number) => self.bytes(&number.to_le_bytes()),
            None => {
                self.0.update(&u64::MAX.to_le_bytes());
                self
            }
        }
    }

    pub(super) fn get(&self) -> i64 {
        let hash = self.0.finalize();
        let (first, _) = hash.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
        i64::from_le_bytes(*first)
    }
}
