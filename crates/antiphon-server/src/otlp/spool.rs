//! Where spans arrive: a file for each session, to which requests are appended, one a line.
//!
//! What is in the file, on the disk, is acknowledged. From there the archive keeps it like an
//! agent's own file: a trace that arrives in pieces is one session, and what comes twice is there
//! twice and counts once, because the reader knows a span by its ids.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use antiphon_catalog::Key;
use antiphon_journal::regular;
use antiphon_library::{Copied, Source, Store};
use serde::{Deserialize, Serialize};

use super::{Request, Signal};
use crate::access::tokens::{make_private_folder, private, to_disk};
use crate::lock;

/// The folder in the store.
pub(crate) const FOLDER: &str = "spans";
/// Which trace belongs to which session.
const INDEX: &str = "index.jsonl";
const FORMAT: &str = "otlp";
/// A session that is larger is copied when there is time, not while its sender waits.
const AT_ONCE_BYTES: u64 = 1 << 20;

/// The files of a store.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    known: Mutex<Option<BTreeMap<String, String>>>,
    /// Sessions that have grown since they were copied.
    waiting: Mutex<BTreeSet<String>>,
}

/// A line of the index.
#[derive(Serialize, Deserialize)]
struct Belongs {
    trace: String,
    session: String,
}

impl Spool {
    pub(crate) fn at(store: &Path) -> Self {
        let (known, waiting) = (Mutex::default(), Mutex::default());
        Self { folder: store.join(FOLDER), known, waiting }
    }

    /// Keeps a request, and then whatever of it can be copied at once. When this is done, it is on
    /// the disk.
    pub(crate) fn keep(&self, store: &Store, request: &Request) -> io::Result<()> {
        if request.len() == 0 {
            return Ok(());
        }
        make_private_folder(&self.folder)?;
        let mut known = lock(&self.known);
        let known = known.get_or_insert_with(|| self.read_index());
        let mut sessions: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let mut new = Vec::new();
        for (trace, conversation) in request.traces() {
            // A trace stays where its first record went.
            let session = known.entry(trace.to_owned()).or_insert_with(|| {
                let session = conversation.unwrap_or(trace).to_owned();
                new.push(Belongs { trace: trace.to_owned(), session: session.clone() });
                session
            });
            sessions.entry(session.clone()).or_default().insert(trace);
        }
        self.write_index(&new)?;
        for (session, traces) in sessions {
            let path = self.file(&session);
            let len = append(&path, &request.line(|trace| traces.contains(trace)))?;
            match len <= AT_ONCE_BYTES {
                true => self.copy(store, &session),
                false => drop(lock(&self.waiting).insert(session)),
            }
        }
        Ok(())
    }

    /// Copies what has waited.
    pub(crate) fn settle(&self, store: &Store) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for session in waiting {
            self.copy(store, &session);
        }
    }

    /// Marks everything as waiting: the server before this one may have been killed.
    pub(crate) fn look_again(&self) {
        let sessions = self.read_index().into_values();
        lock(&self.waiting).extend(sessions);
    }

    fn copy(&self, store: &Store, session: &str) {
        let source = Source::new(FORMAT, session.to_owned(), self.file(session));
        match store.archive(&source, None) {
            Ok(Copied::All | Copied::Unread) => {}
            Ok(Copied::Unfinished | Copied::Busy) | Err(_) => {
                lock(&self.waiting).insert(session.to_owned());
            }
        }
    }

    /// No string from a request is a path: the name is a hash.
    fn file(&self, session: &str) -> PathBuf {
        self.folder.join(format!("{}.jsonl", Key::of(FORMAT, session)))
    }

    fn read_index(&self) -> BTreeMap<String, String> {
        let text = regular::read_text(&self.folder.join(INDEX)).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Belongs>(line).ok());
        let mut known = BTreeMap::new();
        for Belongs { trace, session } in lines {
            known.entry(trace).or_insert(session);
        }
        known
    }

    fn write_index(&self, new: &[Belongs]) -> io::Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        for belongs in new {
            serde_json::to_writer(&mut text, belongs)?;
            text.push(b'\n');
        }
        let mut file = private().append(true).create(true).open(self.folder.join(INDEX))?;
        file.write_all(&text)?;
        to_disk(&file)
    }
}

/// Appends a line, on the disk; how long the file is then.
fn append(path: &Path, line: &str) -> io::Result<u64> {
    let mut file = private().append(true).create(true).open(path)?;
    let is_new = file.metadata()?.len() == 0;
    // A file is known as spans by its beginning, and log records may come first.
    let begin = if is_new { "{\"resourceSpans\":[]}\n" } else { "" };
    file.write_all(format!("{begin}{line}\n").as_bytes())?;
    to_disk(&file)?;
    Ok(file.metadata()?.len())
}

impl Signal {
    pub(crate) fn of_path(path: &str) -> Self {
        if path.ends_with("/logs") { Self::Logs } else { Self::Traces }
    }
}
