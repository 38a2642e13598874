//! Reading what the files of a session have gained since they were last read.

use std::path::Path;
use std::time::{Duration, Instant};

use antiphon_journal::LINE_BYTES_MAX;

use super::{Bundle, FolderListings, Siblings, companions, read};
use crate::file::{self, COMPRESSED_SUFFIX};
use crate::memory::Memory;
use crate::{regular, utf8};

/// This much of the end of what was read must still be there, as a check that the file is the same.
const OVERLAP_BYTES: usize = 256;

/// How the files of a session have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    None,
    More,
    /// They were replaced, or cannot be read from where reading stopped; the session must be opened
    /// again.
    Other,
}

/// How far the files of a bundle were read, by stream.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    streams: Vec<StreamProgress>,
    nearby: FolderListings,
}

#[derive(Debug)]
struct StreamProgress {
    /// The length of the file when it was last checked, and since when it has had that length.
    len: u64,
    since: Instant,
}

impl Progress {
    /// Whether a stream has not changed for this long.
    pub(crate) fn is_quiet(&self, stream: u32, for_long: Duration) -> bool {
        let stream = self.streams.get(stream as usize);
        stream.is_none_or(|stream| stream.since.elapsed() >= for_long)
    }
}

impl Bundle {
    /// Whether reading can continue where it stopped: the files must be uncompressed streams of
    /// lines.
    pub(crate) fn can_grow(&self) -> bool {
        let is_plain = |path: &Path| {
            path.extension().is_none_or(|it| it != COMPRESSED_SUFFIX.trim_start_matches('.'))
                && file::is_packed(path).is_ok_and(|is_packed| !is_packed)
        };
        self.is_stream() && self.database.is_none() && self.files().all(is_plain)
    }

    /// Reads what its files have gained, and files that have appeared. A last line without a line
    /// end counts once the file has not changed for `quiet`.
    pub(crate) fn grow(&mut self, progress: &mut Progress, quiet: Duration) -> Growth {
        let mut growth = Growth::None;
        for number in 0..self.files.len() {
            match self.grow_stream(number, progress, quiet) {
                Growth::None => {}
                Growth::More => growth = Growth::More,
                Growth::Other => return Growth::Other,
            }
        }
        match self.add_new_files(progress) {
            true => Growth::More,
            false => growth,
        }
    }

    fn grow_stream(&mut self, number: usize, progress: &mut Progress, quiet: Duration) -> Growth {
        let (Some(member), Some(text)) = (self.files.get(number), self.texts.get_mut(number))
        else {
            return Growth::None;
        };
        let Ok(len) = member.path.metadata().map(|it| it.len()) else { return Growth::Other };
        let known = text.len() as u64;
        while progress.streams.len() <= number {
            progress.streams.push(StreamProgress { len: known, since: Instant::now() });
        }
        let Some(stream) = progress.streams.get_mut(number) else { return Growth::None };
        if stream.len != len {
            *stream = StreamProgress { len, since: Instant::now() };
        }
        let is_quiet = stream.since.elapsed() >= quiet;
        if len == known {
            return Growth::None;
        }
        if len < known || len > Memory::allowed().plain() {
            return Growth::Other;
        }
        let overlap = text.len().min(OVERLAP_BYTES);
        let Ok(bytes) = regular::read_range(&member.path, known - overlap as u64..len) else {
            return Growth::Other;
        };
        let Some((before, new)) = bytes.split_at_checked(overlap) else { return Growth::Other };
        if !text.as_bytes().ends_with(before) {
            return Growth::Other;
        }
        let whole = memchr::memrchr(b'\n', new).map_or(0, |last| last + 1);
        let end = if is_quiet && std::str::from_utf8(new).is_ok() { new.len() } else { whole };
        let new = new.get(..end).unwrap_or_default();
        if new.is_empty() {
            return Growth::None;
        }
        let begun = text.len() - text.rfind('\n').map_or(0, |last| last + 1);
        let mut lines = new.split(|&byte| byte == b'\n').map(<[u8]>::len);
        if lines.next().is_some_and(|first| begun + first > LINE_BYTES_MAX)
            || lines.any(|len| len > LINE_BYTES_MAX)
        {
            return Growth::Other;
        }
        text.push_str(&utf8::text(new.to_vec()));
        Growth::More
    }

    /// Adds files of the session that have appeared.
    fn add_new_files(&mut self, progress: &Progress) -> bool {
        let Some(main) = self.files.first().map(|main| main.path.clone()) else { return false };
        let near = progress.nearby.of(&main);
        let before = self.files.len();
        for member in companions(&main, self.format, Siblings::Listed(&near)) {
            if self.files.iter().any(|known| known.path == member.path) {
                continue;
            }
            let Ok(text) = read(&member.path, self.format) else { continue };
            self.add(member, text, &mut |_, _| {});
        }
        self.add_from_later_days(&mut |_, _| {});
        self.hold_unfinished_lines(before);
        self.files.len() > before
    }

    /// Removes the unfinished last lines of the streams from `first` on.
    pub(crate) fn hold_unfinished_lines(&mut self, first: usize) {
        for text in self.texts.iter_mut().skip(first) {
            let end = text.rfind('\n').map_or(0, |last| last + 1);
            text.truncate(end);
        }
    }
}
