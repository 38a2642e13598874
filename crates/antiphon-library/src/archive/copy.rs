//! Copying one file that may be growing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Instant;

use antiphon_model::json;

use crate::bundle::Member;
use crate::memory::PLAIN_BYTES_MAX;

/// What came of copying a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The copy was made now, or is as it was, and these are its bytes.
    New(Vec<u8>),
    Done,
    OutOfTime,
    /// The copy is no beginning of the source any more.
    Rewritten,
}

/// How much before the end of a copy must be the same in the source.
const COMPARED_BYTES: usize = 4 << 10;
/// How much is copied between two looks at the clock.
const CHUNK_BYTES: usize = 256 << 10;
/// What is longer is not held in memory.
const NEW_BYTES_MAX: u64 = 64 << 20;

/// Brings a copy up to date.
pub(super) fn member(
    member: &Member,
    to: &Path,
    deadline: Option<Instant>,
    packs: bool,
) -> io::Result<Step> {
    match &member.document {
        Some(text) => document(text.clone().into_bytes(), to),
        None => file(&member.path, to, deadline, packs),
    }
}

/// Whether there is something to copy, or nothing at all.
pub(super) fn can_be_read(member: &Member) -> io::Result<()> {
    if member.document.is_some() {
        return Ok(());
    }
    match open(&member.path)? {
        Some(mut source) => source.read(&mut [0]).map(drop),
        None => Ok(()),
    }
}

fn file(from: &Path, to: &Path, deadline: Option<Instant>, packs: bool) -> io::Result<Step> {
    match from.extension().and_then(|ending| ending.to_str()) {
        Some("jsonl") => lines(from, to, deadline, packs),
        // What the agent has packed itself is kept as it is.
        Some("zst") => whole(from, to),
        _ => {
            let Some(source) = open(from)? else { return Ok(Step::Done) };
            let mut bytes = Vec::new();
            source.take(PLAIN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            match bytes.len() as u64 > PLAIN_BYTES_MAX {
                true => Err(io::ErrorKind::FileTooLarge.into()),
                false => document(bytes, to),
            }
        }
    }
}

/// Appends the whole lines that the copy lacks. One that is being written is taken next time.
fn lines(from: &Path, to: &Path, deadline: Option<Instant>, packs: bool) -> io::Result<Step> {
    let Some(mut source) = open(from)? else { return Ok(Step::Done) };
    // Unpacking takes as long as the file is; a hook leaves that to the background.
    if deadline.is_some() && super::pack::is_packed(to) {
        return Ok(Step::OutOfTime);
    }
    if super::pack::is_packed(to) && is_all_packed(&mut source, to).unwrap_or(false) {
        return Ok(Step::Done);
    }
    match super::pack::unpack(to) {
        // The machine went down before it was on the disk.
        Err(error) if is_damage(&error) => return Ok(Step::Rewritten),
        unpacked => unpacked?,
    }
    // Of a file without a whole line there is no copy, not an empty one.
    if !to.exists() {
        let length = source.metadata()?.len();
        if packs && length <= NEW_BYTES_MAX {
            return new_lines(source, length, to);
        }
        if end_of_lines(&mut source, 0, length)? == 0 {
            return Ok(Step::Done);
        }
    }
    let mut options = OpenOptions::new();
    let mut copy = private(options.read(true).append(true).create(true)).open(to)?;
    let copied = copy.metadata()?.len();
    let there = source.metadata()?.len();
    if there < copied || !ends_alike(&mut source, &mut copy, copied)? {
        return Ok(Step::Rewritten);
    }
    let end = end_of_lines(&mut source, copied, there)?;
    source.seek(SeekFrom::Start(copied))?;
    let mut left = source.take(end - copied);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match left.read(&mut chunk)? {
            0 => return Ok(Step::Done),
            read => copy.write_all(chunk.get(..read).unwrap_or_default())?,
        }
        // After a piece and not before: what one event adds is copied even when time is up.
        if left.limit() > 0 && deadline.is_some_and(is_over) {
            return Ok(Step::OutOfTime);
        }
    }
}

/// Whether a packed copy has every whole line of the source.
fn is_all_packed(source: &mut File, to: &Path) -> io::Result<bool> {
    let there = source.metadata()?.len();
    // Unpacked whole: a copy that is spoilt anywhere must not pass for one.
    let packed = File::open(super::pack::packed(to))?;
    let mut unpacked = zstd::stream::read::Decoder::new(packed)?;
    let (mut len, mut end, mut chunk) = (0, Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let read = unpacked.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        len += read as u64;
        end.extend_from_slice(chunk.get(..read).unwrap_or_default());
        end.drain(..end.len().saturating_sub(COMPARED_BYTES));
    }
    if there < len || end_of_lines(source, len, there)? > len {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    source.seek(SeekFrom::Start(len - end.len() as u64))?;
    source.take(end.len() as u64).read_to_end(&mut bytes)?;
    Ok(bytes == end)
}

/// Packs a copy at once, of which nothing was there.
fn new_lines(source: File, length: u64, to: &Path) -> io::Result<Step> {
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    source.take(length).read_to_end(&mut bytes)?;
    let Some(last) = memchr::memrchr(b'\n', &bytes) else { return Ok(Step::Done) };
    bytes.truncate(last + 1);
    if !super::pack::pack_new(&bytes, to)? {
        replace(to, &bytes)?;
    }
    Ok(Step::New(bytes))
}

/// Takes a file that the agent has packed. One that cannot be unpacked is left for the next time.
fn whole(from: &Path, to: &Path) -> io::Result<Step> {
    let Some(mut source) = open(from)? else { return Ok(Step::Done) };
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    let packed = super::pack::packed(to);
    if !to.exists() && fs::read(&packed).is_ok_and(|known| known == bytes) {
        return Ok(Step::Done);
    }
    let Ok(there) = crate::read_bytes(from) else { return Ok(Step::Done) };
    match crate::read_bytes(if to.exists() { to } else { &packed }) {
        Ok(known) if known.len() > there.len() => return Ok(Step::Rewritten),
        Err(error) if error.kind() != io::ErrorKind::NotFound && !is_damage(&error) => {
            return Err(error);
        }
        Ok(_) | Err(_) => replace(&packed, &bytes)?,
    }
    // Where both forms are there, the plain one would count.
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(Step::Done),
    }
}

/// Takes a document as it now is, unless that is shorter than it was: what is gone from it would be
/// gone from the copy. Half a document is left for the next time.
fn document(bytes: Vec<u8>, to: &Path) -> io::Result<Step> {
    let is_json = to.extension().is_some_and(|ending| ending == "json");
    let text = String::from_utf8_lossy(&bytes);
    if is_json && json::check(text.trim_start_matches('\u{feff}')).is_err() {
        return Ok(Step::Done);
    }
    let packed = super::pack::packed(to);
    let from = if super::pack::is_packed(to) { &packed } else { to };
    match crate::read_bytes(from) {
        Ok(known) if known == bytes => Ok(Step::New(bytes)),
        Ok(known) if known.len() > bytes.len() => Ok(Step::Rewritten),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => {
            replace(to, &bytes)?;
            match fs::remove_file(&packed) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(Step::New(bytes)),
            }
        }
    }
}

/// A file that has gone away is no error.
fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn ends_alike(source: &mut File, copy: &mut File, copied: u64) -> io::Result<bool> {
    let read = |file: &mut File| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(copied.saturating_sub(COMPARED_BYTES as u64)))?;
        file.take(copied.min(COMPARED_BYTES as u64)).read_to_end(&mut bytes)?;
        io::Result::Ok(bytes)
    };
    Ok(read(source)? == read(copy)?)
}

/// The end of the last line of `source` that is whole, between two places; the first, if none is.
fn end_of_lines(source: &mut File, from: u64, to: u64) -> io::Result<u64> {
    let mut end = to;
    while end > from {
        let start = end.saturating_sub(COMPARED_BYTES as u64).max(from);
        let mut block = Vec::new();
        source.seek(SeekFrom::Start(start))?;
        Read::by_ref(source).take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(from)
}

/// What a file is called until it is whole.
pub(super) fn half_written(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", process::id()));
    path.with_file_name(name)
}

/// Whether some process called a file so.
pub(super) fn is_half_written(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = name.strip_suffix(".new").and_then(|name| name.rsplit_once('.'));
    process.is_some_and(|(_, id)| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Writes a file so that it is there whole, or as it was before.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = half_written(path);
    let mut options = OpenOptions::new();
    let mut file = private(options.write(true).create(true).truncate(true)).open(&new)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// What is made is readable by its owner only.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Whether it is what was read that is wrong, and not the reading.
fn is_damage(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}
