//! Checksums. A catalogue is a file like any other: a flipped bit must not become a wrong answer.
//! Nobody gains by forging one, so it is the cheapest checksum that notices what happens to disks.

/// The checksum of some fields, in order.
#[derive(Debug, Default)]
pub(super) struct Sum {
    hasher: crc32fast::Hasher,
    /// Fields are short, and hashing them together is faster than one by one.
    fields: Vec<u8>,
}

/// How many bytes are hashed at once.
const AT_ONCE: usize = 1 << 10;

impl Sum {
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        // The length keeps two sequences of fields with the same concatenation apart.
        self.fields.extend((bytes.len() as u64).to_le_bytes());
        if self.fields.len() + bytes.len() < AT_ONCE {
            self.fields.extend(bytes);
        } else {
            self.hasher.update(&self.fields);
            self.hasher.update(bytes);
            self.fields.clear();
        }
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
                self.fields.extend(u64::MAX.to_le_bytes());
                self
            }
        }
    }

    pub(super) fn get(&self) -> i64 {
        let mut hasher = self.hasher.clone();
        hasher.update(&self.fields);
        hasher.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_same_sum_however_many_there_are_at_once() {
        let long = vec![b'x'; 3 * AT_ONCE];
        let fields: Vec<&[u8]> = vec![b"", b"one", &long, b"two", &long[..AT_ONCE], b"", b"three"];
        let mut sum = Sum::default();
        let mut all = Vec::new();
        for field in fields {
            sum.bytes(field).number(None).number(Some(-7));
            all.extend((field.len() as u64).to_le_bytes());
            all.extend(field);
            all.extend(u64::MAX.to_le_bytes());
            all.extend(8_u64.to_le_bytes());
            all.extend((-7_i64).to_le_bytes());
            assert_eq!(sum.get(), i64::from(crc32fast::hash(&all)));
        }
    }
}
