//! Chunks become lines.

/// A line that grows beyond this is cut, and goes on as another.
const MOST_BYTES: usize = 8 << 20;

/// The beginning of a line whose end has not come yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes a chunk, and gives the lines that it ends, without their newlines.
    pub(crate) fn push(&mut self, chunk: &[u8], mut each: impl FnMut(&[u8])) {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, tail) = rest.split_at(end);
            if self.begun.is_empty() {
                each(line);
            } else {
                self.begun.extend_from_slice(line);
                each(&self.begun);
                self.begun.clear();
            }
            rest = tail.get(1..).unwrap_or_default();
        }
        self.begun.extend_from_slice(rest);
        if self.begun.len() > MOST_BYTES {
            self.finish(each);
        }
    }

    /// What was begun and never ended.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.begun.is_empty() {
            each(&self.begun);
            self.begun.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let text = b"one\n\ntwo\xff\nthree";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut found: Vec<Vec<u8>> = Vec::new();
            for chunk in text.chunks(size) {
                lines.push(chunk, |line| found.push(line.to_vec()));
            }
            lines.finish(|line| found.push(line.to_vec()));
            assert_eq!(found, [&b"one"[..], b"", b"two\xff", b"three"]);
        }
    }
}
