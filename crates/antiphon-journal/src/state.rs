//! The state of a writer, and how it writes a line to the file.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use antiphon_model::{Event, EventKind, Loss, Place, SessionStarted, json};

use crate::checkpoint::{Checkpoint, GROWN_BYTES_MIN, GROWN_PART, Header};
use crate::disk::{Creation, Disk, LogFile};
use crate::durability::Durability;
use crate::ids::Ids;
use crate::recovery::Recovery;
use crate::seal;
use crate::sync::write_whole;
use crate::{Draft, Error, Hash, Head, Log, LogSummary, Options};

/// The version of the log that this writer writes.
pub(crate) const FORMAT: u64 = 1;

/// The state of a writer; guarded by [`Shared`](crate::sync::Shared).
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) log: Log,
    /// The last segment, once something is to be written.
    pub(crate) file: Option<Arc<dyn LogFile>>,
    pub(crate) path: PathBuf,
    pub(crate) segment_bytes: u64,
    pub(crate) n: u64,
    pub(crate) hash: Hash,
    /// Whether the file ends within a line, so that a newline must be written first.
    pub(crate) tail_is_torn: bool,
    /// A `recovered` line that is still to be written.
    recovered: Option<Draft>,
    /// Events that could not be written since the last that could.
    lost: u64,
    lost_reason: String,
    pub(crate) ids: Ids,
    pub(crate) agents: BTreeSet<String>,
    pub(crate) session_id: Option<String>,
    /// The line under construction; its buffer is reused.
    line: String,
    pub(crate) durability: Durability,
    pub(crate) disk: Arc<dyn Disk>,
    /// What a checkpoint would record about the end of the log; `None` if none may be written.
    end: Option<End>,
    format: Option<u64>,
    options: Options,
}

/// The end of a log without damage.
#[derive(Debug, Clone, Copy)]
struct End {
    /// The number of lines in the segment, and the length of the last of them.
    lines: u64,
    last_len: u32,
    /// The length of the segment at its last checkpoint.
    checkpointed: u64,
}

impl End {
    fn of(found: &Recovery, summary: &LogSummary, options: &Options) -> Option<Self> {
        let is_clean = found.damage.is_empty() && summary.terminated && summary.unsealed == 0;
        let (lines, last_len) = match (&found.checkpoint, found.last_line) {
            (Some(header), (0, _)) => (header.lines, header.last_len),
            (_, last_line) => last_line,
        };
        let checkpointed = found.checkpoint.as_ref().map_or(0, |header| header.offset);
        (options.keeps_checkpoint && is_clean).then_some(Self { lines, last_len, checkpointed })
    }
}

impl State {
    /// The state of a writer that continues after the end of `log` and records there what it found.
    pub(crate) fn after(
        log: Log,
        found: Recovery,
        summary: &LogSummary,
        options: Options,
    ) -> Result<Self, Error> {
        let recovered = found.draft(&log)?;
        let end = End::of(&found, summary, &options);
        let head = summary.head.unwrap_or(Head { n: 0, hash: Hash::GENESIS });
        let mut state = Self {
            path: log.last_segment().unwrap_or_default(),
            segment_bytes: summary.last_segment_bytes,
            file: None,
            n: head.n,
            hash: head.hash,
            tail_is_torn: !summary.terminated,
            recovered,
            lost: 0,
            lost_reason: String::new(),
            ids: found.ids,
            agents: found.agents,
            session_id: found.session_id,
            line: String::new(),
            durability: Durability::after(
                options.level,
                head.n,
                (log.count().saturating_sub(1), summary.last_segment_bytes),
            ),
            disk: Arc::clone(&options.disk),
            end,
            format: found.format,
            log,
            options,
        };
        if state.n > 0 {
            // On a full disk it waits for the first event that can be written.
            let _ = state.begin();
        }
        Ok(state)
    }

    /// Writes an event; one that cannot be written is counted, and the count will be in the log.
    pub(crate) fn write(&mut self, draft: &Draft) -> Result<String, Error> {
        let written = self.try_write(draft);
        if let Err(error) = &written {
            self.count_lost(error);
        }
        written
    }

    pub(crate) fn count_lost(&mut self, error: &Error) {
        self.lost += 1;
        let cause = std::error::Error::source(error);
        self.lost_reason = cause.map_or_else(|| error.to_string(), ToString::to_string);
    }

    /// Writes an event, and before it what the log needs to begin or to go on.
    fn try_write(&mut self, draft: &Draft) -> Result<String, Error> {
        if let Some(id) = &draft.message_id {
            // Lines of the journal's own may come before it. They must not take its id, even if the
            // sender uses the journal's prefix.
            self.ids.reserve(id);
        }
        if self.n == 0 && draft.event_type.as_deref() == Some("session_started") {
            let id = draft.message_id.clone().unwrap_or_else(|| self.ids.take());
            self.write_started(&id, draft)?;
            // The event is in the log; whatever cannot be written after it now is written before
            // the next one.
            let _ = self.begin().and_then(|()| self.write_gap());
            return Ok(id);
        }
        self.begin()?;
        self.write_gap()?;
        if let Some(agent) = &draft.agent
            && !self.agents.contains(agent)
        {
            self.agents.insert(agent.clone());
        }
        let id = draft.message_id.clone().unwrap_or_else(|| self.ids.take());
        self.write_line(&id, &draft.members, draft.has_timestamp)?;
        Ok(id)
    }

    /// Writes the first line: what its author sent, completed with what it must contain.
    fn write_started(&mut self, id: &str, draft: &Draft) -> Result<(), Error> {
        let mut members = draft.members.clone();
        let whole = format!("{{{members}}}");
        let named = ["session_id", "id"].iter().find_map(|key| json::member(&whole, key));
        let session_id = match named.and_then(json::word) {
            Some(id) => id.into_owned(),
            None => {
                // Earlier lines without seals may have named the session.
                let named = self.session_id.clone().or_else(|| self.options.session_id.clone());
                let id = named.unwrap_or_else(|| self.new_session_id());
                members.push_str(",\"session_id\":");
                json::push_string(&mut members, &id);
                id
            }
        };
        if json::member(&whole, "format").is_none() {
            members.push_str(&format!(",\"format\":{FORMAT}"));
        }
        if json::member(&whole, "program").is_none() {
            members.push_str(",\"program\":");
            json::push_string(&mut members, &self.options.program);
        }
        self.write_line(id, &members, draft.has_timestamp)?;
        self.session_id = Some(session_id);
        Ok(())
    }

    /// Writes what comes before everything else: the first line, and the damage found on opening.
    fn begin(&mut self) -> Result<(), Error> {
        if self.n == 0 {
            let id = self.ids.take_own();
            let started = Event::new(SessionStarted::default());
            self.write_started(&id, &Draft::from_event(&started)?)?;
        }
        if let Some(recovered) = self.recovered.take() {
            let written = self.write_own(&recovered);
            self.recovered = written.is_err().then_some(recovered);
            written?;
        }
        Ok(())
    }

    /// Records what was lost since this was last recorded.
    pub(crate) fn write_gap(&mut self) -> Result<(), Error> {
        if self.lost > 0 {
            self.begin()?;
            let (count, reason) = (Some(self.lost), Some(self.lost_reason.as_str().into()));
            let gap = Event::new(EventKind::Gap(Loss { count, reason, ..Loss::default() }));
            self.write_own(&Draft::from_event(&gap)?)?;
            self.lost = 0;
        }
        Ok(())
    }

    /// Records in the log that a new segment took over. A failure here loses nothing.
    pub(crate) fn note_takeover(&mut self, rewritten: usize, failure: &str) {
        self.end = None;
        let reason = format!("the previous segment could not be synced: {failure}");
        let recovered = Event::new(EventKind::Recovered(Loss {
            count: Some(0),
            rewritten: Some(rewritten as u64),
            reason: Some(reason.into()),
            ..Loss::default()
        }));
        let _ = Draft::from_event(&recovered).map(|recovered| self.write_own(&recovered));
    }

    /// Writes a line of the journal's own.
    fn write_own(&mut self, draft: &Draft) -> Result<(), Error> {
        let id = self.ids.take_own();
        self.write_line(&id, &draft.members, draft.has_timestamp)
    }

    /// Builds, seals and writes one line.
    fn write_line(&mut self, id: &str, members: &str, has_timestamp: bool) -> Result<(), Error> {
        // Opened before the line is sealed, because a new segment may begin with lines of its own.
        let file = self.writable()?;
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        if self.tail_is_torn {
            line.push('\n');
        }
        let start = line.len();
        line.push_str("{\"message_id\":");
        json::push_string(&mut line, id);
        if !members.is_empty() {
            line.push(',');
            line.push_str(members);
        }
        if !has_timestamp {
            line.push_str(",\"timestamp\":\"");
            self.options.clock.now().push_to(&mut line);
            line.push('"');
        }
        let seal = seal::close(&mut line, start, self.n + 1, &self.hash);
        let offset = self.segment_bytes + start as u64;
        let written = self.put(&*file, line.as_bytes());
        if written.is_ok() {
            self.n = seal.n;
            self.hash = seal.hash;
            let line = line.get(start..).unwrap_or_default();
            let len = u32::try_from(line.len() - 1).unwrap_or(u32::MAX);
            if let Some(end) = &mut self.end {
                end.lines += 1;
                end.last_len = len;
            }
            let stream = self.log.count().saturating_sub(1);
            self.ids.add(id, Place { offset, len, stream });
            self.durability.written(seal.n, line.as_bytes());
            if let Some(echo) = &self.options.echo {
                // The receiver may be gone; the log is written anyway.
                let _ = echo.send(line.to_owned());
            }
        }
        self.line = line;
        written
    }

    /// Writes bytes to the file: in one write, unless it writes only a part.
    fn put(&mut self, file: &dyn LogFile, bytes: &[u8]) -> Result<(), Error> {
        let (done, failure) = match write_whole(file, bytes) {
            Ok(()) => (bytes.len(), None),
            Err((source, done)) => (done, Some(source)),
        };
        self.segment_bytes += done as u64;
        if let Some(&last) = done.checked_sub(1).and_then(|at| bytes.get(at)) {
            self.tail_is_torn = last != b'\n';
        }
        match failure {
            // A line that lacks only its newline is complete to every reader, and must count as
            // written. The next line begins with the newline.
            Some(source) if done + 1 < bytes.len() => {
                // The file ends within a line now.
                self.end = None;
                Err(Error::write(&self.path, source))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The last segment, opened or created; a new one if the last is full.
    fn writable(&mut self) -> Result<Arc<dyn LogFile>, Error> {
        // While a sync is in progress its file stays the last one: its result must be known before
        // anything follows.
        let mut is_full =
            self.segment_bytes >= self.options.segment_bytes_max && !self.durability.is_syncing();
        if is_full && self.file.is_some() && self.durability.is_wanted() {
            is_full = self.finish_segment();
        }
        if let Some(file) = self.file.as_ref().filter(|_| !is_full) {
            return Ok(Arc::clone(file));
        }
        let fresh = is_full || self.log.is_new();
        let mut log = self.log.clone();
        let creation = if fresh { Creation::New } else { Creation::IfMissing };
        let path = if fresh { log.add_segment() } else { self.path.clone() };
        let file: Arc<dyn LogFile> = match (self.disk.append(&path, creation), &self.file) {
            (Ok(file), _) => file.into(),
            // A segment may exceed its size rather than lose an event.
            (Err(_), Some(full)) => return Ok(Arc::clone(full)),
            (Err(source), None) => return Err(Error::open(&path, source)),
        };
        if fresh {
            self.end = self.end.map(|_| End { lines: 0, last_len: 0, checkpointed: 0 });
            self.log = log;
            self.segment_bytes = 0;
            self.tail_is_torn = false;
        }
        self.path = path;
        self.file = Some(Arc::clone(&file));
        // The name of an older file may not be durable either, because its writer may have been
        // killed.
        if self.durability.is_wanted()
            && let Err(error) = self.disk.sync_folder(self.log.folder())
        {
            self.durability.suspect(&error);
        }
        Ok(file)
    }

    /// Whether the line at `place` is this same event; an error if it is another one with the same
    /// id.
    pub(crate) fn is_same(&self, draft: &Draft, id: &str, place: Place) -> Result<bool, Error> {
        // A file that could not be synced may no longer contain what was written to it.
        let bytes = match self.durability.suspect_line(id) {
            Some(line) => line.to_vec(),
            None => {
                let path = self.log.segment(place.stream);
                let read = self.disk.read_at(&path, place.offset, place.len as usize);
                read.map_err(|source| Error::read(&path, source))?
            }
        };
        let Ok(stored) = Draft::verbatim(&bytes) else {
            return Err(Error::Conflict { id: id.to_owned() });
        };
        if stored.message_id.as_deref() != Some(id) {
            return Ok(false); // Two ids with one hash.
        }
        match stored.is_completed_from(draft) {
            true => Ok(true),
            false => Err(Error::Conflict { id: id.to_owned() }),
        }
    }

    /// Writes a checkpoint if the log has grown enough since the last one.
    pub(crate) fn write_checkpoint(&self) {
        let Some(End { lines, last_len, checkpointed }) = self.end else { return };
        let grown = self.segment_bytes.saturating_sub(checkpointed);
        let is_due = grown >= GROWN_BYTES_MIN && grown >= self.segment_bytes / GROWN_PART;
        if !is_due || self.tail_is_torn || self.durability.is_suspect() {
            return;
        }
        let (last, last_own, ids) = self.ids.table();
        let header = Header {
            stream: self.log.count().saturating_sub(1),
            offset: self.segment_bytes,
            lines,
            last_len,
            session_id: self.session_id.clone(),
            format: self.format.max(Some(FORMAT)),
            last,
            last_own,
            agents: self.agents.clone(),
            ..Header::default()
        };
        let head = Head { n: self.n, hash: self.hash };
        Checkpoint::new(header, head, ids).write(&self.log, &*self.disk);
    }

    fn new_session_id(&self) -> String {
        let now = self.options.clock.now();
        let unique = format!("{} {} {}", self.log.path().display(), std::process::id(), now);
        let digits: String = now.to_string().chars().filter(char::is_ascii_digit).collect();
        let (date, time) = digits.split_at_checked(8).unwrap_or_default();
        let time = time.get(..6).unwrap_or_default();
        let hash = Hash::of(unique.as_bytes());
        format!("{date}-{time}-{}", hash.as_str().get(..6).unwrap_or_default())
    }
}
