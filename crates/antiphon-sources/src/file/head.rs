//! The beginning of a file: as much as is needed to recognise its format.
//!
//! The first kilobytes are usually enough. But a line can be longer than any fixed number of bytes
//! (a pasted screenshot), and half a line says little. So more is read as long as it may help: up
//! to the number of lines that formats look at, or up to a limit.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

use super::ZSTD_MAGIC;
use crate::utf8::lossy;
use crate::{regular, zip};

/// How much is read first.
const FIRST_BYTES: u64 = 64 << 10;
/// The capacity of the buffer at first.
const ROOM_BYTES: usize = 16 << 10;
/// The most that is read. A format that is not recognised by then stays unknown.
const BYTES_MAX: u64 = 8 << 20;
/// The factor by which each further read is longer.
const GROWTH: u64 = 8;
/// No format looks at more lines of a stream than this.
const LINES: usize = 64;
/// This many complete lines are enough to see which session a file belongs to.
const FIRST_LINES: usize = 4;

/// The beginning of a file, decompressed, as far as it was read.
struct Head {
    source: Box<dyn Read>,
    bytes: Vec<u8>,
    /// Whether there is nothing more to read.
    is_all: bool,
}

/// The beginning of a file. Its first lines are complete, unless they exceed the limit. Invalid
/// UTF-8 is replaced.
pub fn head(path: &Path) -> io::Result<String> {
    let mut head = Head::open(path)?;
    while head.whole_lines() < FIRST_LINES && head.looks_like_json() && head.grow()? {}
    Ok(head.text().into_owned())
}

/// What `look` finds in the beginning of a file. It is called with more and more of the file until
/// it finds something or more would not help.
pub(crate) fn look_at<T>(path: &Path, look: impl Fn(&str) -> Option<T>) -> io::Result<Option<T>> {
    let mut head = Head::open(path)?;
    loop {
        if let Some(found) = look(&head.text()) {
            return Ok(Some(found));
        }
        if !head.could_tell_more() || !head.grow()? {
            return Ok(None);
        }
    }
}

/// Whether a file is a single JSON document rather than a stream of lines.
pub(crate) fn is_document(path: &Path) -> io::Result<bool> {
    let mut head = Head::open(path)?;
    while head.whole_lines() == 0 && head.looks_like_json() && head.grow()? {}
    Ok(head.looks_like_json() && !head.is_stream())
}

/// The lines that decide the format of a text, if it is a stream.
pub(crate) fn first_lines(text: &str) -> &str {
    let end: usize = text.split_inclusive('\n').take(LINES).map(str::len).sum();
    text.get(..end.min(usize::try_from(BYTES_MAX).unwrap_or(usize::MAX))).unwrap_or(text)
}

impl Head {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = regular::open(path)?;
        // Enough for most sessions, so that they are read at once.
        let mut bytes = Vec::with_capacity(ROOM_BYTES);
        file.by_ref().take(FIRST_BYTES).read_to_end(&mut bytes)?;
        if bytes.starts_with(&zip::MAGIC) {
            // The members are found from the front, and the first one identifies the log.
            let text = zip::unpack(&bytes, FIRST_BYTES).text;
            return Ok(Self { source: Box::new(io::empty()), bytes: text.into(), is_all: true });
        }
        if bytes.starts_with(&ZSTD_MAGIC) {
            let packed = io::Cursor::new(bytes).chain(file);
            let source = Box::new(zstd::stream::read::Decoder::new(packed)?);
            let mut head = Self { source, bytes: Vec::new(), is_all: false };
            head.read_upto(FIRST_BYTES)?;
            return Ok(head);
        }
        let is_all = (bytes.len() as u64) < FIRST_BYTES;
        Ok(Self { source: Box::new(file), bytes, is_all })
    }

    /// Reads more; `false` at the end of the file or at the limit.
    fn grow(&mut self) -> io::Result<bool> {
        let len = self.bytes.len() as u64;
        if self.is_all || len >= BYTES_MAX {
            return Ok(false);
        }
        self.read_upto((len * GROWTH).clamp(FIRST_BYTES, BYTES_MAX))?;
        Ok(self.bytes.len() as u64 > len)
    }

    fn read_upto(&mut self, len: u64) -> io::Result<()> {
        let room = len.saturating_sub(self.bytes.len() as u64);
        match self.source.by_ref().take(room).read_to_end(&mut self.bytes) {
            Ok(read) => self.is_all = (read as u64) < room,
            // Compressed data may be damaged or truncated; what came before is still the beginning.
            Err(error) if error.raw_os_error().is_none() => self.is_all = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn text(&self) -> Cow<'_, str> {
        lossy(&self.bytes)
    }

    fn whole_lines(&self) -> usize {
        memchr::memchr_iter(b'\n', &self.bytes).take(LINES).count()
    }

    /// Other kinds of text are recognised by their first words.
    fn looks_like_json(&self) -> bool {
        let begin = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        matches!(begin.trim_ascii_start().first(), Some(b'{' | b'['))
    }

    /// Whether its first line is a complete JSON object.
    fn is_stream(&self) -> bool {
        let begin = self.bytes.trim_ascii_start();
        let first = memchr::memchr(b'\n', begin).and_then(|end| begin.get(..end));
        first.is_some_and(|first| first.len() > 1 && first.trim_ascii_end().ends_with(b"}"))
    }

    /// Whether more of the file could help: a stream is recognised by its first lines, but a
    /// document may extend over any number of them.
    fn could_tell_more(&self) -> bool {
        self.looks_like_json() && (!self.is_stream() || self.whole_lines() < LINES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    /// How much of a file was looked at until the word was found, or to the last.
    fn seen_until(bytes: &[u8], word: &str) -> (bool, usize) {
        let (_folder, path) = file(bytes);
        let seen = std::cell::Cell::new(0);
        let found = look_at(&path, |head| {
            seen.set(head.len());
            head.contains(word).then_some(())
        });
        (found.unwrap().is_some(), seen.get())
    }

    fn line(len: usize) -> String {
        format!("{{\"a\":\"{}\"}}\n", "x".repeat(len))
    }

    #[test]
    fn more_is_read_only_as_long_as_it_could_tell_more() {
        let first = usize::try_from(FIRST_BYTES).unwrap();
        let most = usize::try_from(BYTES_MAX).unwrap();
        let long = line(100_000);
        let needle = "{\"needle\":1}\n";
        let table = [
            ("a short file", format!("{}{needle}", line(10)), true, 32),
            ("behind a long line", format!("{long}{needle}{}", line(most)), true, first * 8),
            ("behind a very long line", format!("{}{needle}", line(5 << 20)), true, 0),
            ("too far", format!("{}{needle}", line(most)), false, most),
            ("many lines", line(2000).repeat(2000), false, first * 8),
            ("a document", format!("{{\n{}\"needle\"}}", " \n".repeat(most / 4)), true, 0),
            ("prose", "word ".repeat(most), false, first),
        ];
        for (what, text, wanted, len) in table {
            let (found, seen) = seen_until(text.as_bytes(), "needle");
            assert_eq!(found, wanted, "{what}");
            assert!(len == 0 || seen == len, "{what}: {seen} for {len}");
            assert!(seen <= most, "{what}");
        }
    }

    #[test]
    fn the_first_lines_of_a_head_are_whole() {
        let text = [line(10), line(300_000), line(10), line(10), line(900_000)].concat();
        let (_folder, path) = file(text.as_bytes());
        let head = head(&path).unwrap();
        assert!(head.len() < text.len() && text.starts_with(&head), "{}", head.len());
        assert_eq!(head.lines().nth(1), text.lines().nth(1));
    }

    #[test]
    fn a_packed_file_is_unpacked_as_far_as_it_takes() {
        // What does not repeat: its first block does not end within the first kilobytes.
        let mut state = 1_u64;
        let letters = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'A' + u8::try_from(state >> 59).unwrap())
        });
        let noise: String = letters.take(400_000).collect();
        let text = format!("{{\"first\":1}}\n{{\"noise\":\"{noise}\"}}\n{{\"last\":1}}\n");
        let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
        assert!(packed.len() > 200_000);
        let (_folder, path) = file(&packed);
        assert_eq!(head(&path).unwrap(), text);
        for cut in [packed.len() - 10, packed.len() / 2, 100] {
            let (_folder, path) = file(&packed[..cut]);
            assert!(text.starts_with(&head(&path).unwrap()), "cut at {cut}");
        }
    }
}
