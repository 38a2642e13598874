//! A disk that fails when it is told to, and knows what a power cut would leave.
//!
//! Bytes go to real files, so that the log can be read from there as ever. Beside them stands what
//! is durable: a file's bytes when a sync of it succeeded, a name when a sync of its folder did.
//! After a failed sync the bytes that it was about are gone for good, whatever a later one says.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use antiphon_journal::{Creation, Disk, LogFile, OsDisk};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    Open,
    Write,
    Sync,
    Rename,
    SyncFolder,
    /// Any of them.
    Any,
}

/// What happens instead of what was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Error(io::ErrorKind),
    /// This many bytes are taken (from the end, if negative), and the rest may follow.
    Short(isize),
    /// The same, and then the disk is full.
    ShortThenFull(isize),
    /// Nothing happens any more, and all that is not durable is lost.
    PowerCut,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) op: Op,
    /// Which call, from 1.
    pub(crate) nth: usize,
    /// This call only, or all from there on.
    pub(crate) is_once: bool,
    pub(crate) outcome: Outcome,
}

/// What a power cut leaves of bytes that were written and not synced.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tail {
    Gone,
    Half,
    /// The file has grown, and its content never arrived.
    Zeros,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct FaultyDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    faults: Vec<Fault>,
    counts: BTreeMap<Op, usize>,
    triggered: usize,
    is_full: bool,
    is_dead: bool,
    /// Whether what a failed sync dropped can no longer be read either.
    forgets: bool,
    /// How long a sync takes. It is about what was written before it began.
    sync_takes: Duration,
    files: HashMap<usize, Image>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Syncs of an open file whose sync had failed.
    syncs_retried: usize,
}

#[derive(Debug, Default)]
struct Image {
    /// Where the real file is now.
    path: PathBuf,
    durable: Vec<u8>,
    /// What failed syncs have dropped: it reads as written, until it does not.
    dropped: Vec<Range<usize>>,
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    id: usize,
    file: Box<dyn LogFile>,
    sync_failed: AtomicBool,
}

impl FaultyDisk {
    pub(crate) fn new(faults: &[Fault], forgets: bool) -> Self {
        let state = State { faults: faults.to_vec(), forgets, ..State::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    pub(crate) fn slow(sync_takes: Duration) -> Self {
        Self(Arc::new(Mutex::new(State { sync_takes, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// From now on everything works.
    pub(crate) fn heal(&self) {
        let mut state = self.state();
        state.faults.clear();
        state.is_full = false;
    }

    pub(crate) fn triggered(&self) -> usize {
        self.state().triggered
    }

    pub(crate) fn count(&self, op: Op) -> usize {
        self.state().counts.get(&op).copied().unwrap_or_default()
    }

    pub(crate) fn forgets(&self) -> bool {
        self.state().forgets
    }

    pub(crate) fn syncs_retried(&self) -> usize {
        self.state().syncs_retried
    }

    /// Lets nothing happen any more, and leaves in `folder` what is durable.
    pub(crate) fn cut_power(&self, folder: &Path, tail: Tail) {
        let mut state = self.state();
        state.is_dead = true;
        let durable: Vec<_> = state
            .durable_names
            .iter()
            .map(|(name, id)| {
                let image = &state.files[id];
                let seen = std::fs::read(&image.path).unwrap_or_default();
                let lost = seen.get(image.durable.len()..).unwrap_or_default();
                let left = match tail {
                    Tail::Gone => vec![],
                    Tail::Half => lost[..lost.len() / 2].to_vec(),
                    Tail::Zeros => vec![0; lost.len()],
                };
                (name.clone(), [image.durable.clone(), left].concat())
            })
            .collect();
        for name in state.names.keys() {
            std::fs::remove_file(name).unwrap();
        }
        for (name, bytes) in durable {
            assert!(name.starts_with(folder));
            std::fs::write(name, bytes).unwrap();
        }
    }

    /// A disk without faults on which all that is in the files now is durable.
    pub(crate) fn after_power_cut(&self) -> Self {
        let disk = Self::default();
        let mut state = disk.state();
        for (name, id) in &self.state().durable_names {
            let durable = std::fs::read(name).unwrap();
            state.files.insert(*id, Image { path: name.clone(), durable, dropped: vec![] });
            state.names.insert(name.clone(), *id);
            state.durable_names.insert(name.clone(), *id);
        }
        drop(state);
        disk
    }

    /// Counts a call, and tells what is to happen instead of it.
    fn before(&self, op: Op) -> Option<Outcome> {
        let mut state = self.state();
        if state.is_dead {
            return Some(Outcome::PowerCut);
        }
        let mut outcome = None;
        for op in [op, Op::Any] {
            let count = state.counts.entry(op).or_default();
            *count += 1;
            let count = *count;
            let is_due = |fault: &&Fault| {
                fault.op == op && (fault.nth == count || fault.nth < count && !fault.is_once)
            };
            outcome = outcome.or(state.faults.iter().find(is_due).map(|fault| fault.outcome));
        }
        if state.is_full && op == Op::Write {
            // Once: the rest of a write that was short.
            state.is_full = false;
            outcome = Some(Outcome::Error(io::ErrorKind::StorageFull));
        }
        state.triggered += usize::from(outcome.is_some());
        match outcome {
            Some(Outcome::PowerCut) => state.is_dead = true,
            Some(Outcome::ShortThenFull(_)) => state.is_full = true,
            _ => {}
        }
        outcome
    }

    fn check(&self, op: Op) -> io::Result<()> {
        match self.before(op) {
            None => Ok(()),
            Some(Outcome::Error(kind)) => Err(kind.into()),
            Some(_) => Err(io::Error::other("no power")),
        }
    }
}

impl Image {
    fn without_dropped(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for range in &self.dropped {
            bytes[range.clone()].fill(0);
        }
        bytes
    }
}

impl Disk for FaultyDisk {
    fn append(&self, path: &Path, creation: Creation) -> io::Result<Box<dyn LogFile>> {
        self.check(Op::Open)?;
        let file = OsDisk.append(path, creation)?;
        let mut state = self.state();
        let next = state.files.keys().max().map_or(1, |last| last + 1);
        let id = *state.names.entry(path.to_owned()).or_insert(next);
        state
            .files
            .entry(id)
            .or_insert_with(|| Image { path: path.to_owned(), ..Image::default() });
        drop(state);
        let sync_failed = AtomicBool::new(false);
        Ok(Box::new(FaultyFile { disk: self.clone(), id, file, sync_failed }))
    }

    fn read_from(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        OsDisk.read_from(path, offset)
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        OsDisk.read(path)
    }

    fn read_at(&self, path: &Path, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        OsDisk.read_at(path, offset, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check(Op::Rename)?;
        OsDisk.rename(from, to)?;
        let mut state = self.state();
        let id = state.names.remove(from).unwrap();
        state.names.insert(to.to_owned(), id);
        state.files.get_mut(&id).unwrap().path = to.to_owned();
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if self.state().is_dead {
            return Err(io::Error::other("no power"));
        }
        OsDisk.remove(path)?;
        self.state().names.remove(path);
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.check(Op::SyncFolder)?;
        let mut state = self.state();
        state.durable_names = state.names.clone();
        Ok(())
    }
}

impl LogFile for FaultyFile {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.disk.before(Op::Write) {
            None => self.file.write(bytes),
            Some(Outcome::Short(len) | Outcome::ShortThenFull(len)) => {
                let len = if len < 0 { bytes.len() as isize + len } else { len };
                let len = usize::try_from(len).unwrap_or_default().clamp(1, bytes.len());
                self.file.write(&bytes[..len])
            }
            Some(Outcome::Error(kind)) => Err(kind.into()),
            Some(Outcome::PowerCut) => Err(io::Error::other("no power")),
        }
    }

    fn sync(&self) -> io::Result<()> {
        let outcome = self.disk.check(Op::Sync);
        let state = self.disk.state();
        let (forgets, sync_takes) = (state.forgets, state.sync_takes);
        let seen = std::fs::read(&state.files[&self.id].path).unwrap_or_default();
        drop(state);
        std::thread::sleep(sync_takes);
        let mut state = self.disk.state();
        if state.is_dead {
            return Err(io::Error::other("no power"));
        }
        let image = state.files.get_mut(&self.id).unwrap();
        match outcome.is_ok() {
            true => image.durable = image.without_dropped(seen),
            false => {
                image.dropped.push(image.durable.len()..seen.len());
                if forgets {
                    std::fs::write(&image.path, image.without_dropped(seen)).unwrap();
                }
            }
        }
        let is_retry = self.sync_failed.fetch_or(outcome.is_err(), Ordering::SeqCst);
        state.syncs_retried += usize::from(is_retry);
        outcome
    }
}
