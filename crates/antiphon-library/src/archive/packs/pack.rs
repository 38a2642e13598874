//! One pack: a file in zstd's seekable format, which is never changed.
//!
//! ```text
//! notes    of the sessions of the first group            a frame
//! data     the same notes, then the files of these       a frame
//! …        the other groups
//! list     every session's key, agent, time and hash     a frame
//! ```
//!
//! The list is all that has to be read to know which sessions there are, and notes are all that
//! `sync` compares. Whatever is damaged can be told from the rest: the list from the notes, notes
//! from the frame behind them, and where frames begin from the frames themselves.

use std::io::{self, Read, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::super::bytes::{self, Bytes, Folder, Settled};
use super::super::seekable::{self, Frame, Frames, ZSTD_MAGIC};
use super::entry::{
    Entry, Note, Reading, key_number, number, read_notes, record_hash, text, write_notes,
};

const MAGIC: [u8; 4] = *b"list";
/// The version of the format of packs.
const VERSION: usize = 1;
/// About this many bytes of files are compressed together, as in a block of a copy in a folder.
/// What several sessions have in common is stored once; but reading one session costs little more,
/// and a flipped bit affects few others.
const GROUP_BYTES: usize = 1 << 20;
/// No frame that we write is larger.
const FRAME_BYTES_MAX: u64 = 64 << 20;
/// The suffix of packs.
const ENDING: &str = ".zst";

/// The list entry of a session in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) key: u128,
    /// The index of the agent's name in the list.
    pub(super) agent: usize,
    pub(super) time: u64,
    pub(super) hash: u64,
    pub(super) group: usize,
    /// Its index in its group.
    pub(super) nth: usize,
}

#[derive(Debug)]
pub(super) struct Pack {
    pub(super) name: String,
    pub(super) agents: Vec<String>,
    pub(super) sessions: Vec<Listed>,
    /// What is wrong with it, according to its list and its seek table.
    pub(super) damage: Option<String>,
    /// Whether it could not be read at all, so that its sessions are unknown.
    pub(super) is_unreadable: bool,
    frames: Vec<Frame>,
    /// The notes of each group, once they are needed.
    notes: Vec<OnceLock<Option<Arc<Vec<Note>>>>>,
    /// A unique number for each pack that was opened.
    id: u64,
}

/// A group of a pack.
type Group = (u64, usize);

/// The groups that were read last, because a session is often read together with its neighbours.
static LAST: Mutex<Vec<(Group, Arc<Content>)>> = Mutex::new(Vec::new());
const LAST_MAX: usize = 8;

/// The content of a frame, up to where it is damaged.
#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// Whether it is complete and correct.
    is_whole: bool,
}

/// The name of the pack with a number.
pub(super) fn name(number: u32) -> String {
    format!("{number:06}{ENDING}")
}

/// The number in the name of a pack.
pub(super) fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(ENDING)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Writes a pack of these sessions; it is on the disk with its name when this returns.
pub(super) fn write(bytes: &dyn Bytes, name: &str, entries: &[Entry]) -> io::Result<()> {
    let mut draft = bytes.create(name)?;
    let mut out = io::BufWriter::with_capacity(1 << 20, &mut draft);
    let mut frames = Frames::new(&mut out)?;
    let mut groups = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        let (group, others) = rest.split_at(group_len(rest));
        let mut frame = write_notes(group)?;
        frames.add(&frame)?;
        let files = group.iter().flat_map(|entry| &entry.files);
        files.for_each(|(_, bytes)| frame.extend(bytes));
        frames.add(&frame)?;
        groups.push(group);
        rest = others;
    }
    frames.add(&write_list(&groups)?)?;
    frames.finish()?;
    out.flush()?;
    drop(out);
    draft.put(Settled::Named)
}

/// The number of sessions in the next group.
fn group_len(entries: &[Entry]) -> usize {
    let mut len = 0;
    let fits = |entry: &&Entry| {
        let is_first = len == 0;
        len += entry.len();
        is_first || len <= GROUP_BYTES
    };
    entries.iter().take_while(fits).count()
}

fn write_list(groups: &[&[Entry]]) -> io::Result<Vec<u8>> {
    let mut agents: Vec<&str> = Vec::new();
    let mut sessions = Vec::new();
    for (group, entries) in groups.iter().enumerate() {
        for entry in *entries {
            let known = agents.iter().position(|agent| *agent == entry.agent);
            let agent = known.unwrap_or_else(|| {
                agents.push(&entry.agent);
                agents.len() - 1
            });
            sessions.extend(key_number(&entry.key).to_le_bytes());
            number(&mut sessions, agent)?;
            number(&mut sessions, group)?;
            sessions.extend(entry.time.to_le_bytes());
            sessions.extend(entry.hash().to_le_bytes());
        }
    }
    let mut out = MAGIC.to_vec();
    number(&mut out, VERSION)?;
    number(&mut out, agents.len())?;
    agents.iter().try_for_each(|agent| text(&mut out, agent.as_bytes()))?;
    number(&mut out, groups.iter().map(|group| group.len()).sum())?;
    out.append(&mut sessions);
    Ok(out)
}

fn read_list(frame: &[u8]) -> Option<(Vec<String>, Vec<Listed>)> {
    let mut reading = Reading(frame);
    if reading.take(MAGIC.len())? != MAGIC || reading.number()? != VERSION {
        return None;
    }
    let (mut agents, mut sessions) = (Vec::new(), Vec::new());
    for _ in 0..reading.number()? {
        agents.push(reading.text()?);
    }
    let (mut last, mut nth) = (0, 0);
    for _ in 0..reading.number()? {
        let key = reading.key()?;
        let (agent, group) = (reading.number()?, reading.number()?);
        let (time, hash) = (reading.long()?, reading.long()?);
        agents.get(agent)?;
        nth = if group == last { nth } else { 0 };
        sessions.push(Listed { key, agent, time, hash, group, nth });
        (last, nth) = (group, nth + 1);
    }
    reading.0.is_empty().then_some((agents, sessions))
}

impl Pack {
    /// Opens a pack by its list, or else by its notes.
    pub(super) fn open(bytes: &dyn Bytes, name: &str) -> io::Result<Self> {
        let mut file = bytes.open(name)?;
        let frames = seekable::frames(&mut *file)?.unwrap_or_default();
        let list = frames.last().and_then(|last| {
            let list = seekable::read(&mut *file, last, FRAME_BYTES_MAX).ok()?;
            read_list(&list)
        });
        match list {
            Some((agents, sessions)) => Ok(Self::new(name, agents, sessions, frames)),
            None => Self::search(name, &bytes::read(bytes, name)?),
        }
    }

    fn new(name: &str, agents: Vec<String>, sessions: Vec<Listed>, frames: Vec<Frame>) -> Self {
        let notes = (0..frames.len() / 2).map(|_| OnceLock::new()).collect();
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let (name, id) = (name.to_owned(), OPENED.fetch_add(1, Ordering::Relaxed));
        let (damage, is_unreadable) = (None, false);
        Self { name, agents, sessions, damage, is_unreadable, frames, notes, id }
    }

    /// A pack that cannot be read.
    pub(super) fn unreadable(name: &str, error: &io::Error) -> Self {
        let damage = Some(format!("cannot be read: {error}"));
        let pack = Self::new(name, Vec::new(), Vec::new(), Vec::new());
        Self { damage, is_unreadable: true, ..pack }
    }

    /// Opens a damaged pack with whatever groups can still be found.
    fn search(name: &str, bytes: &[u8]) -> io::Result<Self> {
        let (mut frames, mut agents, mut sessions) = (Vec::new(), Vec::<String>::new(), Vec::new());
        let found = found_frames(bytes);
        let mut left = found.iter();
        while let Some(frame) = left.next() {
            let content = Content::of(part(bytes, frame));
            let Some((notes, end)) = read_notes(&content.bytes) else { continue };
            // A frame that has only notes is followed by a frame with the same notes and the files.
            let is_alone = end == content.bytes.len();
            if is_alone && !content.is_whole {
                continue;
            }
            let data = match is_alone {
                true => left.next().copied().unwrap_or(Frame { len: 0, ..*frame }),
                false => *frame,
            };
            for (nth, note) in notes.into_iter().enumerate() {
                let known = agents.iter().position(|agent| *agent == note.agent);
                let agent = known.unwrap_or_else(|| {
                    agents.push(note.agent.clone());
                    agents.len() - 1
                });
                let (key, hash) = (key_number(&note.key), record_hash(&note.record));
                let group = frames.len() / 2;
                sessions.push(Listed { key, agent, time: note.time, hash, group, nth });
            }
            frames.extend([*frame, data]);
        }
        let damage = Some("its list or its table is damaged".to_owned());
        Ok(Self { damage, ..Self::new(name, agents, sessions, frames) })
    }

    /// The note of a session.
    pub(super) fn note_of(&self, bytes: &Folder, listed: &Listed) -> io::Result<Option<Note>> {
        self.note(bytes, listed, Note::clone)
    }

    /// The result of `read` on the note of a session.
    pub(super) fn note<T>(
        &self,
        bytes: &Folder,
        listed: &Listed,
        read: impl Fn(&Note) -> T,
    ) -> io::Result<Option<T>> {
        let is_its = |note: &&Note| key_number(&note.key) == listed.key;
        let find = |notes: &[Note]| {
            let own = notes.get(listed.nth).filter(is_its);
            own.or_else(|| notes.iter().find(is_its)).map(&read)
        };
        let Some(slot) = self.notes.get(listed.group) else { return Ok(None) };
        if let Some(known) = slot.get() {
            return Ok(known.as_deref().and_then(|notes| find(notes)));
        }
        let own = self.frame(bytes, listed.group * 2)?;
        let notes = match read_notes(&own.bytes).filter(|_| own.is_whole) {
            Some((notes, _)) => Some(notes),
            None => {
                let other = self.group(bytes, listed.group)?;
                let notes = read_notes(&other.bytes).or_else(|| read_notes(&own.bytes));
                notes.map(|(notes, _)| notes)
            }
        };
        let notes = slot.get_or_init(|| notes.map(Arc::new));
        Ok(notes.as_deref().and_then(|notes| find(notes)))
    }

    /// A session with its files, as far as they can be read.
    pub(super) fn entry_of(&self, bytes: &Folder, listed: &Listed) -> io::Result<Option<Entry>> {
        let Some(note) = self.note_of(bytes, listed)? else { return Ok(None) };
        Ok(Some(note.entry(&self.group(bytes, listed.group)?.bytes)))
    }

    /// The notes and files of a group.
    fn group(&self, bytes: &dyn Bytes, group: usize) -> io::Result<Arc<Content>> {
        let own = (self.id, group);
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, frame)) = last.iter().find(|(known, _)| *known == own) {
            return Ok(Arc::clone(frame));
        }
        drop(last);
        let frame = Arc::new(self.frame(bytes, group * 2 + 1)?);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= LAST_MAX {
            last.remove(0);
        }
        last.push((own, Arc::clone(&frame)));
        Ok(frame)
    }

    /// The content of a frame, or as much of it as can be decompressed.
    fn frame(&self, bytes: &dyn Bytes, at: usize) -> io::Result<Content> {
        let Some(frame) = self.frames.get(at) else { return Ok(Content::default()) };
        let mut file = bytes.open(&self.name)?;
        file.seek(io::SeekFrom::Start(frame.start))?;
        let mut compressed = Vec::new();
        file.take(frame.len).read_to_end(&mut compressed)?;
        Ok(Content::of(&compressed))
    }

    /// What is wrong with it, apart from the files of its sessions.
    pub(super) fn check(&self, bytes: &dyn Bytes) -> Option<String> {
        if let Some(damage) = &self.damage {
            return Some(damage.clone());
        }
        let all = match bytes::read(bytes, &self.name) {
            Ok(all) => all,
            Err(error) => return Some(format!("cannot be read: {error}")),
        };
        if seekable::right_table(&all).unwrap_or_default() != Some(true) {
            return Some("its table of frames is damaged".to_owned());
        }
        for group in 0..self.notes.len() {
            let (Some(notes), Some(data)) =
                (self.frames.get(group * 2), self.frames.get(group * 2 + 1))
            else {
                continue;
            };
            let (notes, data) = (Content::of(part(&all, notes)), Content::of(part(&all, data)));
            let is_whole = notes.is_whole && data.is_whole;
            if !is_whole || !data.bytes.starts_with(&notes.bytes) {
                return Some(format!("its group {group} is damaged"));
            }
        }
        None
    }
}

fn part<'a>(bytes: &'a [u8], frame: &Frame) -> &'a [u8] {
    let start = usize::try_from(frame.start).unwrap_or(usize::MAX);
    let len = usize::try_from(frame.len).unwrap_or(usize::MAX);
    bytes.get(start..start.saturating_add(len).min(bytes.len())).unwrap_or_default()
}

impl Content {
    fn of(frame: &[u8]) -> Self {
        let mut bytes = Vec::new();
        let decoder = zstd::stream::read::Decoder::new(frame).map(|it| it.single_frame());
        // What came before an error is kept; hashes decide which of it is correct.
        let read = decoder.and_then(|it| it.take(FRAME_BYTES_MAX).read_to_end(&mut bytes));
        Self { bytes, is_whole: read.is_ok() }
    }
}

/// The frames in some bytes, found by their first bytes; each ends where the next one begins.
fn found_frames(bytes: &[u8]) -> Vec<Frame> {
    let starts: Vec<usize> = memchr::memmem::find_iter(bytes, &ZSTD_MAGIC).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let frame = |(&start, end): (&usize, usize)| Frame {
        start: start as u64,
        len: (end - start) as u64,
        content: 0,
    };
    starts.iter().zip(ends).map(frame).collect()
}
