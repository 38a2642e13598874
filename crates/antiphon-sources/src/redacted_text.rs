//! Redacting a text file chunk by chunk, so that its length does not matter.

use std::io::{self, Write};
use std::path::Path;

use antiphon_redact::{Counts, Redactor};

use crate::file::{Chunk, each_chunk};

/// Writes the text of the file at `from` without secrets, and returns the number of bytes written;
/// `None` if it is not text.
pub fn redact_text(
    from: &Path,
    out: &mut dyn Write,
    redactor: &Redactor,
    counts: &mut Counts,
) -> io::Result<Option<u64>> {
    let mut copy = Copy { redactor, counts, out, written: None, covered: 0 };
    let mut written = Ok(());
    each_chunk(from, |chunk| {
        if written.is_ok() {
            written = copy.chunk(chunk);
        }
    })?;
    written.map(|()| copy.written)
}

struct Copy<'a> {
    redactor: &'a Redactor,
    counts: &'a mut Counts,
    out: &'a mut dyn Write,
    written: Option<u64>,
    /// How far a secret of the previous chunk reaches into this one.
    covered: usize,
}

impl Copy<'_> {
    fn chunk(&mut self, chunk: &Chunk<'_>) -> io::Result<()> {
        self.written.get_or_insert(0);
        let mut at = chunk.from + self.covered;
        for finding in self.redactor.find_document(chunk.text) {
            if !(at..chunk.to).contains(&finding.range.start) {
                continue;
            }
            self.write(chunk, at, finding.range.start)?;
            let marker = self.redactor.marker(finding.rule);
            self.add(marker.as_bytes())?;
            self.counts.add(finding.rule);
            at = finding.range.end;
        }
        self.covered = at.saturating_sub(chunk.to);
        self.write(chunk, at, chunk.to)
    }

    /// Writes a part of a chunk. Chunks may end within a character, so these are bytes.
    fn write(&mut self, chunk: &Chunk<'_>, from: usize, to: usize) -> io::Result<()> {
        self.add(chunk.text.as_bytes().get(from..to).unwrap_or_default())
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written = Some(self.written.unwrap_or_default() + bytes.len() as u64);
        self.out.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use antiphon_redact::Secrets;

    use super::*;

    fn redacted(text: &[u8]) -> (Option<u64>, Vec<u8>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, text).unwrap();
        let (mut out, mut counts) = (Vec::new(), Counts::default());
        let redactor = Redactor::new(Secrets::default());
        let written = redact_text(&path, &mut out, &redactor, &mut counts).unwrap();
        (written, out, counts.total())
    }

    #[test]
    fn a_secret_is_replaced_once_wherever_pieces_begin() {
        let secret = "AKIA2E0A8F3B244C9986";
        // Around the place at which the first chunk stops to count.
        let middle = (16 << 20) - (1 << 19);
        for before in [middle - 60, middle - 25, middle - 19, middle - 1, middle, middle + 30] {
            let text = format!("{} {secret} {}", "\u{e9}".repeat(before / 2), "nd".repeat(1 << 20));
            let (written, out, count) = redacted(text.as_bytes());
            let whole = text.replace(secret, "[redacted:aws-access-key-id]");
            assert_eq!((count, out == whole.as_bytes()), (1, true), "{before}");
            assert_eq!(written, Some(whole.len() as u64));
        }
    }

    #[test]
    fn what_is_no_text_is_not_written() {
        assert_eq!(redacted(b"\0\x01\x02"), (None, Vec::new(), 0));
        assert_eq!(redacted(b""), (Some(0), Vec::new(), 0));
    }
}
