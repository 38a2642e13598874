//! Splits chunks into lines.

/// A longer line is cut, and continues as another one.
const MOST_BYTES: usize = 8 << 20;
/// A line that may be a message is only cut here, because half a message is useless. The log's own
/// limit is slightly higher.
const MESSAGE_BYTES_MAX: usize = 60 << 20;
/// How far from its end a line may be cut to cut it between words. Pieces are redacted separately,
/// and half a secret is not recognised.
const WORD_BYTES_MAX: usize = 64 << 10;

/// The beginning of a line that is not complete yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Adds a chunk, and passes on the lines that it completes, without their newlines.
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
        let may_be_message = self.begun.trim_ascii_start().starts_with(b"{");
        let most = if may_be_message { MESSAGE_BYTES_MAX } else { MOST_BYTES };
        if self.begun.len() > most {
            let end = self.last_word_end();
            each(self.begun.get(..end).unwrap_or_default());
            self.begun.drain(..end);
        }
    }

    /// Where the last word ends, if that is near the end of the line.
    fn last_word_end(&self) -> usize {
        let from = self.begun.len().saturating_sub(WORD_BYTES_MAX);
        let near = self.begun.get(from..).unwrap_or_default();
        let space = near.iter().rposition(u8::is_ascii_whitespace);
        space.map_or(self.begun.len(), |at| from + at + 1)
    }

    /// Passes on the last line, which has no newline.
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
    fn a_line_without_an_end_is_cut_between_words() {
        let mut lines = Lines::default();
        let mut found: Vec<Vec<u8>> = Vec::new();
        let text = b"many words ".repeat(MOST_BYTES / 11 + 2);
        lines.push(&[&text[..], b"half-of-a"].concat(), |line| found.push(line.to_vec()));
        lines.push(b"-secret\n", |line| found.push(line.to_vec()));
        assert_eq!(found, [&text[..], b"half-of-a-secret"]);
    }

    #[test]
    fn what_may_be_a_message_is_not_cut_as_soon() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let message =
            [b"{\"words\": \"", &b"many words ".repeat(MOST_BYTES / 11 + 2)[..], b"\"}\n"];
        for chunk in message.concat().chunks(64 << 10) {
            lines.push(chunk, |line| found.push(line.len()));
        }
        assert_eq!(found, [message.concat().len() - 1]);
    }

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
