//! The bytes of an agent's file, unpacked where the agent has packed it.
//!
//! Codex packs rollouts that have gone cold as `.jsonl.zst`, and Inspect's logs are zips. A few
//! kilobytes can unpack to more than a machine has, so what is unpacked has an end ([`Memory`]);
//! and a packed file that is cut or damaged still gives what came before.

mod head;
mod pieces;
mod records;
mod unpack;

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

use antiphon_model::{Place, Problem, Severity};

use crate::memory::{Memory, size};
use crate::{regular, zip};
pub use head::head;
pub(crate) use head::{first_lines, look_at};
pub use pieces::{Piece, each_piece};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The ending of a packed file's name; what it holds is called by the name without it.
pub const PACKED: &str = ".zst";

/// What is packed in more is unpacked as it is read.
const PACKED_BYTES_MAX: u64 = 64 << 20;

/// A file's text, and what kept it from being read whole.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) stopped: Option<Stopped>,
    /// Into how many bytes it was packed, if it was.
    packed: Option<u64>,
}

/// Why the end of a file is missing.
#[derive(Debug)]
pub(crate) enum Stopped {
    Packed(io::Error),
    /// It has more than so many bytes.
    TooLong {
        most: u64,
    },
    /// It has more than so many records.
    TooMany {
        most: u64,
    },
    Unreadable(io::Error),
}

impl Stopped {
    /// At the end of what was read of a stream.
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

/// How a file is packed, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Zstd,
    Zip,
}

/// A file that was opened, and how it is packed.
struct Opened<'a> {
    form: Form,
    len: u64,
    /// The file from its beginning.
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
    /// Of bytes that lie anywhere, and how many they are.
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

    /// All bytes as they are, up to `most`.
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

    /// The bytes, unpacked if zstd packed them.
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

    /// The members of a zip, as lines. They become others, as those of a document do.
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
            // Half a line would be one more thing that is wrong.
            let end = memchr::memrchr(b'\n', &bytes).map_or(bytes.len(), |last| last + 1);
            bytes.truncate(end);
        }
        Ok(Self { text: text(bytes), stopped, packed })
    }

    /// Reads a file that may be one document: such a one is held in more than one form, and so may
    /// not be as long as a stream of lines.
    pub(crate) fn read_document(path: &Path) -> io::Result<Self> {
        let memory = Memory::allowed();
        let refused = |len: u64| too_large(&memory.refuse_document(len, 0));
        // Most are short, and then nobody has to know what they are.
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

    /// Of a file that cannot be read.
    pub(crate) fn unreadable(error: io::Error) -> Self {
        let stopped = Some(Stopped::Unreadable(error));
        Self { stopped, ..Self::default() }
    }

    /// Of a text that was read whole.
    pub(crate) fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// What may be read of it, if reading takes memory for each of its records: of a stream of
    /// lines the first ones, of a document all or nothing.
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

    /// Of bytes that are at hand; nothing, if they are packed.
    pub(crate) fn of(bytes: Vec<u8>) -> Option<Self> {
        let is_plain = !bytes.starts_with(&ZSTD_MAGIC);
        is_plain.then(|| Self::plain(text(bytes)))
    }
}

/// Whether a file is packed, in a way that can be unpacked.
pub(crate) fn is_packed(path: &Path) -> io::Result<bool> {
    Ok(Opened::open(path)?.form != Form::Plain)
}

/// The bytes of a file, unpacked where it was packed.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let (bytes, stopped) = Opened::open(path)?.unpacked(Memory::allowed())?;
    stopped.map_or(Ok(bytes), |stopped| Err(stopped.into()))
}

/// The same of bytes that lie anywhere, and how many they are.
pub fn read_bytes_of(source: Box<dyn Read + '_>, len: u64) -> io::Result<Vec<u8>> {
    let (bytes, stopped) = Opened::of(source, len)?.unpacked(Memory::allowed())?;
    stopped.map_or(Ok(bytes), |stopped| Err(stopped.into()))
}

/// The text of any file, unpacked; none of what is no text.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    let Text { text, stopped, .. } = Text::read(path)?;
    if let Some(stopped) = stopped {
        return Err(stopped.into());
    }
    Ok((!is_binary(&text)).then_some(text))
}

/// Whether what begins like this is no text.
fn is_binary(text: &str) -> bool {
    const HEAD_BYTES: usize = 8 << 10;
    text.bytes().take(HEAD_BYTES).any(|byte| byte == 0)
}

/// The text of a file; a byte that is not UTF-8 is read as `?`, one for one, so that places hold.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut at = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        // In place: what is long is not held twice.
        while let Err(error) = std::str::from_utf8(bytes.get(at..).unwrap_or_default()) {
            at += error.valid_up_to();
            let rest = bytes.get_mut(at..).unwrap_or_default();
            let len = error.error_len().unwrap_or(rest.len());
            rest.get_mut(..len).unwrap_or_default().fill(b'?');
            at += len;
        }
        String::from_utf8(bytes).unwrap_or_default()
    })
}

/// The same of bytes that stay.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(text(bytes.to_vec())),
    }
}

#[cfg(test)]
mod tests;
