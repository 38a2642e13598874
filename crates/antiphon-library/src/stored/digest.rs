//! What a list says of a session, from its beginning and its end alone.
//!
//! A log of a gigabyte is told from 128 KiB: facts stand in the first lines, how it ended and how
//! many lines there are (the last seal counts them) in the last.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use antiphon_catalog::{Origin, Row, Summary};
use antiphon_formats::{FORMATS, Stream};
use antiphon_journal::{Log, read_bytes, regular};
use antiphon_model::{Activity, Info, Session, Standing, StatusFacts, Timestamp};
use antiphon_sources::{Fold, LOG_FORMAT, Opened, activity, format_of, tree};

use super::Place;
use crate::archive::{Copies, pack};

/// How much of each end is read; more only where not a line fits.
const END_BYTES: u64 = 64 << 10;
const END_BYTES_MAX: u64 = 4 << 20;

/// A session of the store. What a list says of it reads as its own.
#[derive(Debug, Clone)]
pub struct StoredSession {
    pub summary: Summary,
    /// Where it is kept.
    pub folder: PathBuf,
    /// The format's name in the registry.
    pub format: &'static str,
}

impl Deref for StoredSession {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.summary
    }
}

impl StoredSession {
    /// `None` for what cannot be read, and for a log in which nothing was said yet.
    pub(super) fn read(place: &Place) -> Option<Self> {
        let Digest { session, format, events } = match place.origin {
            Origin::Recorded => of_log(&place.folder)?,
            Origin::Archived => of_file(&place.main_file())?,
        };
        let row = Row::of(&place.subject(&place.name(), format), &session);
        let known = Self::of_row(place, row)?;
        // Of what lies between the ends nothing is known.
        let summary = Summary { events, agents: None, calls: None, ..known.summary };
        Some(Self { summary, ..known })
    }

    /// The same, as the catalogue has it.
    pub(crate) fn of_row(place: &Place, row: Row) -> Option<Self> {
        let format = FORMATS.iter().map(|format| format.name).find(|name| *name == row.format);
        Some(Self {
            summary: Summary::of_row(row)?,
            folder: place.folder.clone(),
            format: format.unwrap_or(LOG_FORMAT),
        })
    }

    /// How it stands now: the same as when it is opened.
    pub fn standing(&self) -> Standing {
        let activity = match self.origin {
            _ if self.ended => Activity::Unknown,
            Origin::Archived => activity::since(Some(self.at())),
            Origin::Recorded => activity_of_log(&self.folder, Some(self.at())),
        };
        StatusFacts { end: self.end, is_answered: self.is_answered, activity }.standing()
    }

    /// What to open.
    pub fn path(&self) -> PathBuf {
        super::main_file(self.origin, &self.folder)
    }
}

impl StoredSession {
    /// Takes in what another row of the same session knows.
    pub(super) fn merge(&mut self, other: Self) {
        let (mut copied, recorded) = match self.origin {
            Origin::Archived => (self.clone(), other),
            Origin::Recorded => (other, self.clone()),
        };
        copied.summary.add_recording(recorded.summary);
        *self = copied;
    }
}

/// What can be said of a session at a glance.
pub(crate) struct Glance {
    /// What it is called, or how it began.
    pub(crate) title: Option<String>,
    /// The folder in which it worked.
    pub(crate) project: Option<String>,
    pub(crate) standing: Standing,
}

impl Glance {
    fn of(session: &Session, activity: Activity) -> Self {
        let (info, facts) = (session.info(), session.status_facts());
        Self {
            title: title(info),
            project: info.cwd.as_deref().map(str::to_owned),
            standing: StatusFacts { activity, ..facts }.standing(),
        }
    }
}

pub(crate) fn glance_at_file(path: &Path, changed_at: Timestamp) -> Option<Glance> {
    let session = of_file(path)?.session;
    let last = session.time_span().map_or(changed_at, |(_, last)| last);
    Some(Glance::of(&session, activity::since(Some(last))))
}

pub(crate) fn glance_at_log(folder: &Path) -> Option<Glance> {
    let session = of_log(folder)?.session;
    let last = session.time_span().map(|(_, last)| last);
    Some(Glance::of(&session, activity_of_log(folder, last)))
}

/// Whether somebody writes a log whose last event was then.
fn activity_of_log(folder: &Path, last: Option<Timestamp>) -> Activity {
    match Log::find(folder).map(|log| log.activity()) {
        Ok(known @ (Activity::Writing | Activity::Gone)) => known,
        Ok(Activity::Unknown | Activity::Quiet) | Err(_) => activity::since(last),
    }
}

/// What a session calls itself.
pub(super) fn id_of_file(path: &Path) -> Option<String> {
    of_file(path)?.session.info().session_id.as_deref().map(str::to_owned)
}

fn title(info: &Info) -> Option<String> {
    info.title.as_deref().or(info.prompt.as_deref()).map(str::to_owned)
}

struct Digest {
    session: Session,
    format: &'static str,
    events: Option<u64>,
}

fn of_log(path: &Path) -> Option<Digest> {
    let log = Log::find(path).ok()?;
    let mut segments = log.segments();
    let first = segments.next()?;
    let last = segments.last().unwrap_or_else(|| first.clone());
    let mut fold = antiphon_journal::Fold::default();
    let summary = read_bytes(&ends(&first, &last).ok()?, &mut fold);
    let session = fold.session;
    let events = summary.head.map(|head| head.n);
    (!session.is_empty()).then_some(Digest { session, format: LOG_FORMAT, events })
}

fn of_file(path: &Path) -> Option<Digest> {
    if let Some(copies) = Copies::of_copy(path).filter(|copies| copies.packed().is_some()) {
        let Opened { session, format, .. } = crate::open(path).ok()?;
        drop(copies);
        let events = Some(session.len() as u64);
        return (!session.is_empty()).then_some(Digest { session, format, events });
    }
    let format = format_of(path).ok()??;
    // The ends of a document are no document, and what lies in many files begins in one of them.
    if format.lines.is_some() || tree::root(path, format).is_some() {
        let session = crate::open(path).ok()?.session;
        let events = Some(session.len() as u64);
        return (!session.is_empty()).then_some(Digest { session, format: format.name, events });
    }
    let is_packed = path.extension().is_some_and(|ending| ending == "zst");
    let text = if is_packed { packed_ends(path).ok()? } else { ends(path, path).ok()? };
    let text = String::from_utf8_lossy(&text);
    let name = path.file_name()?.to_str()?;
    let mut fold = Fold::default();
    (format.read)(&[Stream { name, text: &text }], &mut fold);
    let session = fold.session;
    (!session.is_empty()).then_some(Digest { session, format: format.name, events: None })
}

/// The same of a packed file, of which only two frames are unpacked.
fn packed_ends(path: &Path) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    zstd::stream::read::Decoder::new(regular::open(path)?)?
        .take(END_BYTES)
        .read_to_end(&mut first)?;
    let whole = first.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut last = pack::end(regular::open(path)?)?;
    // A short file is its own end.
    if last.starts_with(&first) {
        return Ok(last);
    }
    first.truncate(whole);
    let start = last.len().saturating_sub(usize::try_from(END_BYTES).unwrap_or(usize::MAX));
    let start =
        last.iter().skip(start).position(|&byte| byte == b'\n').map_or(start, |at| start + at + 1);
    first.extend(last.drain(start..));
    Ok(first)
}

/// The whole lines at the beginning of one file and at the end of another, which may be the same.
fn ends(first: &Path, last: &Path) -> io::Result<Vec<u8>> {
    let mut file = regular::open(first)?;
    let len = file.metadata()?.len();
    let is_one = first == last;
    if is_one && len <= 2 * END_BYTES {
        let mut all = Vec::new();
        file.take(2 * END_BYTES).read_to_end(&mut all)?;
        return Ok(all);
    }
    let mut bytes = head(&mut file, END_BYTES)?;
    if bytes.is_empty() {
        bytes = head(&mut file, END_BYTES_MAX)?;
    }
    let begun = if is_one { bytes.len() as u64 } else { 0 };
    let mut file = if is_one { file } else { regular::open(last)? };
    let mut end = tail(&mut file, begun, END_BYTES)?;
    if end.is_empty() {
        end = tail(&mut file, begun, END_BYTES_MAX)?;
    }
    bytes.append(&mut end);
    Ok(bytes)
}

fn head(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.by_ref().take(most).read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(whole);
    Ok(bytes)
}

/// The last lines, none of which begins before `begun`.
fn tail(file: &mut File, begun: u64, most: u64) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    // One byte more, so that a line is whole where the newline before it is seen.
    let start = len.saturating_sub(most + 1).max(begun.saturating_sub(1));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.by_ref().take(most + 1).read_to_end(&mut bytes)?;
    if start > 0 {
        let after = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.drain(..after);
    }
    Ok(bytes)
}
