//! A text that is written in pieces, without its secrets.

use std::io::{self, Write};

use antiphon_redact::{Counts, Redactor, StreamRedactor};

/// Writes pieces of a text; what may still turn out to be part of a secret is held back.
pub(crate) struct TextWriter<'r, W> {
    /// Nothing, if everything is wanted.
    redactor: Option<StreamRedactor<'r>>,
    out: W,
    /// The line that was not written to its end yet, where a marker may be incomplete.
    line: String,
    counts: Counts,
}

impl<'r, W: Write> TextWriter<'r, W> {
    pub(super) fn new(redactor: Option<&'r Redactor>, out: W) -> Self {
        let redactor = redactor.map(StreamRedactor::new);
        Self { redactor, out, line: String::new(), counts: Counts::default() }
    }

    pub(crate) fn push(&mut self, piece: &str) -> io::Result<()> {
        match &mut self.redactor {
            None => self.out.write_all(piece.as_bytes()),
            Some(redactor) => {
                let clean = redactor.push(piece);
                self.put(&clean)
            }
        }
    }

    /// Writes the rest; returns what the text has markers of, whoever replaced it.
    pub(crate) fn finish(mut self) -> io::Result<Counts> {
        if let Some(redactor) = &mut self.redactor {
            let rest = redactor.finish();
            self.put(&rest)?;
        }
        self.counts.merge(&Counts::of_markers(&self.line));
        self.out.write_all(self.line.as_bytes())?;
        self.out.flush()?;
        Ok(self.counts)
    }

    fn put(&mut self, clean: &str) -> io::Result<()> {
        self.line.push_str(clean);
        let Some(end) = self.line.rfind('\n') else { return Ok(()) };
        let whole: String = self.line.drain(..=end).collect();
        self.counts.merge(&Counts::of_markers(&whole));
        self.out.write_all(whole.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use antiphon_redact::Secrets;

    use super::*;

    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    /// What is written of a text that comes in pieces of so many bytes, and what is counted.
    fn written(redactor: Option<&Redactor>, text: &str, piece: usize) -> (String, Counts) {
        let mut out = Vec::new();
        let mut writer = TextWriter::new(redactor, &mut out);
        for piece in text.as_bytes().chunks(piece) {
            writer.push(std::str::from_utf8(piece).unwrap()).unwrap();
        }
        let counts = writer.finish().unwrap();
        (String::from_utf8(out).unwrap(), counts)
    }

    #[test]
    fn pieces_of_any_length_are_written_and_counted_as_the_whole() {
        let redactor = Redactor::new(Secrets::default());
        let old = "[redacted:github-token]";
        let text = format!("first {TOKEN} line\n{old} and {old}\n\nno newline {TOKEN}");
        let whole = redactor.redact(&text, &mut Counts::default()).into_owned();
        assert!(!whole.contains(TOKEN));
        for piece in [1, 3, 7, 20, 1000] {
            let (clean, counts) = written(Some(&redactor), &text, piece);
            assert_eq!(clean, whole, "{piece}");
            assert_eq!(counts.total(), 4, "{piece}");
        }
        assert_eq!(written(None, &text, 5), (text, Counts::default()), "as it is");
    }
}
