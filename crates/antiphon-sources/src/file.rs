//! The content of an agent's file, decompressed if necessary.
//!
//! Codex compresses old rollouts as `.jsonl.zst`, and Inspect's logs are zip files. A few kilobytes
//! can expand to more than the memory of a machine, so decompression is bounded ([`Memory`]). Of a
//! compressed file that is truncated or damaged, everything before the damage is returned.

mod chunks;
mod head;
mod records;
mod unpack;

use std::io::{self, Read};
use std::path::Path;

use antiphon_model::{Place, Problem, Severity};

use crate::memory::{Memory, size};
use crate::utf8::text;
use crate::{regular, zip};
pub use chunks::{Chunk, each_chunk};
pub use head::head;
pub(crate) use head::{first_lines, look_at};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The suffix of a compressed file. Its content is known by the name without the suffix.
pub const COMPRESSED_SUFFIX: &str = ".zst";

/// A compressed file that is longer than this is decompressed while it is read.
const PACKED_BYTES_MAX: u64 = 64 << 20;

/// The text of a file, and why it could not be read to its end.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) stopped: Option<Stopped>,
    /// Its compressed length, if it was compressed.
    packed: Option<u64>,
}

/// Why the end of a file is missing.
#[derive(Debug)]
pub(crate) enum Stopped {
    Packed(io::Error),
    /// It is longer than the limit.
    TooLong {
        most: u64,
    },
    /// It has more records than the limit.
    TooMany {
        most: u64,
    },
    Unreadable(io::Error),
}

impl Stopped {
    /// The problem to report, placed at the end of what was read.
    pub(crate) fn at(&self, stream: u32, text: &str, name: &str) -> Problem {
        let (code, message) = match self {
            Self::Packed(error) => {
                ("packed", format!("`{name}` cannot be unpacked beyond this point: {error}"))
            }
            Self::TooLong { most } => {
                ("too-long", format!("`{name}` {}; the rest was not read", too_long(*most)))
            }
            Self::TooMany { most } => {
                ("too-many", format!("`{name}` {}; the rest was not read", too_many(*most)))
            }
            Self::Unreadable(error) => ("unreadable", format!("cannot read `{name}`: {error}")),
        };
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let place = Place { offset: text.len() as u64, len: 0, stream };
        Problem { severity: Severity::Error, code, line: lines as u64 + 1, message, place }
    }
}

impl From<Stopped> for io::Error {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Packed(error) | Stopped::Unreadable(error) => error,
            Stopped::TooLong { most } => too_large(&format!("it {}", too_long(most))),
            Stopped::TooMany { most } => too_large(&format!("it {}", too_many(most))),
        }
    }
}

fn too_long(most: u64) -> String {
    format!("contains more than {} of data (raise the limit with `--max-memory`)", size(most))
}

fn too_many(most: u64) -> String {
    format!("contains more than {most} records (raise the limit with `--max-memory`)")
}

fn too_large(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what.to_owned())
}

/// The kind of compression, recognised by the first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Zstd,
    Zip,
}

/// An open file, and how it is compressed.
struct Opened<'a> {
    form: Form,
    len: u64,
    /// The content from its beginning.
    source: io::Chain<io::Cursor<Vec<u8>>, Box<dyn Read + 'a>>,
}

impl Opened<'static> {
    fn open(path: &Path) -> io::Result<Self> {
        let file = regular::open(path)?;
        let len = file.metadata()?.len();
        Self::of(Box::new(file), len)
    }
}

impl<'a> Opened<'a> {
    /// Opens any source of bytes, of this length.
    fn of(mut file: Box<dyn Read + 'a>, len: u64) -> io::Result<Self> {
        let mut magic = Vec::new();
        file.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut magic)?;
        let form = match magic.as_slice() {
            magic if magic == ZSTD_MAGIC => Form::Zstd,
            magic if magic == zip::MAGIC => Form::Zip,
            _ => Form::Plain,
        };
        Ok(Self { form, len, source: io::Cursor::new(magic).chain(file) })
    }

    /// All bytes without decompression, up to `most`.
    fn bytes(self, most: u64) -> io::Result<(Vec<u8>, Option<Stopped>)> {
        let capacity = usize::try_from(self.len.min(most)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(capacity + 1);
        self.source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= most {
            return Ok((bytes, None));
        }
        bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok((bytes, Some(Stopped::TooLong { most })))
    }

    /// The bytes, decompressed if they are compressed with zstd.
    fn unpacked(self, memory: Memory) -> io::Result<(Vec<u8>, Option<Stopped>)> {
        if self.form != Form::Zstd {
            return self.bytes(memory.plain());
        }
        let most = memory.unpacked(self.len);
        let mut unpacked = Vec::new();
        let stopped = match self.len <= PACKED_BYTES_MAX {
            true => {
                let (packed, _) = self.bytes(PACKED_BYTES_MAX)?;
                unpack::unpack(&packed, most, &mut unpacked)?
            }
            false => unpack::stream(self.source, most, &mut unpacked)?,
        };
        Ok((unpacked, stopped))
    }

    /// The members of a zip file, as lines. Like a document, the file is converted.
    fn members(self, memory: Memory) -> io::Result<Text> {
        let most = memory.document();
        let (bytes, stopped) = self.bytes(memory.document())?;
        if let Some(stopped) = stopped {
            return Err(stopped.into());
        }
        let unpacked = zip::unpack(&bytes, most);
        let stopped = unpacked.is_too_long.then_some(Stopped::TooLong { most });
        let stopped = stopped.or(unpacked.stopped.map(Stopped::Packed));
        Ok(Text { text: unpacked.text, stopped, packed: None })
    }
}

impl Text {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        Self::read_within(path, Memory::allowed())
    }

    fn read_within(path: &Path, memory: Memory) -> io::Result<Self> {
        let opened = Opened::open(path)?;
        if opened.form == Form::Zip {
            return opened.members(memory);
        }
        let packed = (opened.form == Form::Zstd).then_some(opened.len);
        let (mut bytes, stopped) = opened.unpacked(memory)?;
        if let Some(Stopped::TooLong { .. }) = stopped {
            // An incomplete last line would only be reported as another problem.
            let end = memchr::memrchr(b'\n', &bytes).map_or(bytes.len(), |last| last + 1);
            bytes.truncate(end);
        }
        Ok(Self { text: text(bytes), stopped, packed })
    }

    /// Reads a file that may be a single document. A document is held in more than one form, so its
    /// limit is lower than that of a stream of lines.
    pub(crate) fn read_document(path: &Path) -> io::Result<Self> {
        let memory = Memory::allowed();
        let refused = |len: u64| too_large(&memory.refuse_document(len, 0));
        // Most files are short enough for either limit, so their kind does not matter.
        let len = path.metadata()?.len();
        if len > memory.document() && head::is_document(path)? {
            return Err(refused(len));
        }
        let read = Self::read_within(path, memory)?;
        match read.text.len() as u64 {
            len if len > memory.document() && head::is_document(path)? => Err(refused(len)),
            _ => Ok(read),
        }
    }

    /// The result for a file that cannot be read.
    pub(crate) fn unreadable(error: io::Error) -> Self {
        let stopped = Some(Stopped::Unreadable(error));
        Self { stopped, ..Self::default() }
    }

    /// The result for a text that was read completely.
    pub(crate) fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Applies the limit on the number of records: a stream of lines is cut, a document is refused.
    pub(crate) fn bounded(self, is_document: bool) -> io::Result<Self> {
        self.bounded_within(is_document, Memory::allowed())
    }

    fn bounded_within(mut self, is_document: bool, memory: Memory) -> io::Result<Self> {
        if is_document {
            let (len, records) = (self.text.len() as u64, records::of_document(&self.text));
            return match memory.allows_records(len, records) {
                true => Ok(self),
                false => Err(too_large(&memory.refuse_document(len, records))),
            };
        }
        let most = memory.records(self.packed);
        if let Some(end) = records::end_of(&self.text, most) {
            self.text.truncate(end);
            self.stopped = Some(Stopped::TooMany { most });
        }
        Ok(self)
    }

    /// The text of bytes in memory; `None` if they are compressed.
    pub(crate) fn of(bytes: Vec<u8>) -> Option<Self> {
        let is_plain = !bytes.starts_with(&ZSTD_MAGIC);
        is_plain.then(|| Self::plain(text(bytes)))
    }
}

/// Whether a file is compressed in a supported way.
pub(crate) fn is_packed(path: &Path) -> io::Result<bool> {
    Ok(Opened::open(path)?.form != Form::Plain)
}

/// The bytes of a file, decompressed if necessary.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let (bytes, stopped) = Opened::open(path)?.unpacked(Memory::allowed())?;
    stopped.map_or(Ok(bytes), |stopped| Err(stopped.into()))
}

/// Like [`read_bytes`], from any source of bytes, of this length.
pub fn read_bytes_of(source: Box<dyn Read + '_>, len: u64) -> io::Result<Vec<u8>> {
    let (bytes, stopped) = Opened::of(source, len)?.unpacked(Memory::allowed())?;
    stopped.map_or(Ok(bytes), |stopped| Err(stopped.into()))
}

/// The text of any file, decompressed if necessary; `None` if it is not text.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    let Text { text, stopped, .. } = Text::read(path)?;
    if let Some(stopped) = stopped {
        return Err(stopped.into());
    }
    Ok((!is_binary(&text)).then_some(text))
}

/// Whether content that begins like this is binary.
fn is_binary(text: &str) -> bool {
    const HEAD_BYTES: usize = 8 << 10;
    text.bytes().take(HEAD_BYTES).any(|byte| byte == 0)
}

#[cfg(test)]
mod tests;
