//! What a writer knew when it closed a long log, so that the next one need not read all of it.
//!
//! A checkpoint is derived: it can be deleted at any time, and one that does not fit the log is
//! passed over. It stands beside the log, as a header of one JSON line and a table of ids:
//!
//! ```text
//! {"checkpoint":1,"offset":…,"n":…,"hash":"…",…,"sum":"<BLAKE3 of all else>"}\n
//! tag (8) offset (8) length (4) stream (4), all little-endian, sorted by tag; for each id
//! ```
//!
//! It says nothing about the lines before it but where they end: what has been damaged since is
//! found by whoever reads or verifies the log.

use std::collections::BTreeSet;

use antiphon_model::Place;
use serde::{Deserialize, Serialize};

use crate::disk::{Creation, Disk};
use crate::ids::IdTable;
use crate::seal::{self, Sealed};
use crate::sync::write_whole;
use crate::{Hash, Head, Log};

const VERSION: u32 = 1;
/// A log that has grown by less is read again.
pub(crate) const GROWN_BYTES_MIN: u64 = 4 << 20;
/// A checkpoint is written again when the log has grown by this part of itself, so that writing
/// checkpoints never costs more than a part of writing the log.
pub(crate) const GROWN_PART: u64 = 8;

/// The state of a writer at the end of a line.
#[derive(Debug, Default)]
pub(crate) struct Checkpoint {
    pub(crate) header: Header,
    pub(crate) ids: IdTable,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) checkpoint: u32,
    /// The segment, from 0. It was the last one.
    pub(crate) stream: u32,
    /// Where the line ends in it, its newline included.
    pub(crate) offset: u64,
    /// The number of that line in the segment, and its length without the newline.
    pub(crate) lines: u64,
    pub(crate) last_len: u32,
    pub(crate) n: u64,
    pub(crate) hash: String,
    pub(crate) session_id: Option<String>,
    pub(crate) format: Option<u64>,
    /// The highest numbers among ids of events, and among those of the journal's own lines.
    pub(crate) last: u64,
    pub(crate) last_own: u64,
    pub(crate) agents: BTreeSet<String>,
    pub(crate) sum: String,
}

impl Checkpoint {
    pub(crate) fn new(header: Header, head: Head, ids: IdTable) -> Self {
        let hash = head.hash.as_str().to_owned();
        let header = Header { checkpoint: VERSION, n: head.n, hash, ..header };
        let mut checkpoint = Self { header, ids };
        checkpoint.header.sum = checkpoint.sum();
        checkpoint
    }

    pub(crate) fn head(&self) -> Option<Head> {
        Some(Head { n: self.header.n, hash: Hash::parse(self.header.hash.as_bytes())? })
    }

    /// The checkpoint of a log, if there is one that fits it.
    pub(crate) fn read(log: &Log, disk: &dyn Disk) -> Option<Self> {
        let mut bytes = Vec::new();
        disk.read(&log.checkpoint_path()).ok()?.read_to_end(&mut bytes).ok()?;
        let end = memchr::memchr(b'\n', &bytes)?;
        let header: Header = serde_json::from_slice(bytes.get(..end)?).ok()?;
        bytes.drain(..=end);
        let checkpoint = Self { header, ids: IdTable::of_bytes(bytes)? };
        (checkpoint.is_whole() && checkpoint.fits(log, disk)).then_some(checkpoint)
    }

    fn is_whole(&self) -> bool {
        self.header.checkpoint == VERSION && self.header.sum == self.sum()
    }

    /// Whether the log still has the line at which the checkpoint ends, and after it only lines of
    /// the same segment.
    fn fits(&self, log: &Log, disk: &dyn Disk) -> bool {
        let Header { stream, offset, last_len, .. } = self.header;
        let start = offset.checked_sub(u64::from(last_len) + 1);
        let (Some(start), Some(head)) = (start, self.head()) else { return false };
        let read = disk.read_at(&log.segment(stream), start, last_len as usize + 1);
        let line = read.as_deref().unwrap_or_default().strip_suffix(b"\n");
        let sealed = line.map(seal::check);
        let is_head = |seal: crate::Seal| (seal.n, seal.hash) == (head.n, head.hash);
        let is_same = matches!(sealed, Some(Sealed::Good(seal)) if is_head(seal));
        is_same && log.count() == stream + 1
    }

    fn sum(&self) -> String {
        let header = Header { sum: String::new(), ..self.header.clone() };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&serde_json::to_vec(&header).unwrap_or_default());
        hasher.update(self.ids.as_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// Replaces the previous checkpoint. If that fails, there is none, or the previous one stays.
    pub(crate) fn write(&self, log: &Log, disk: &dyn Disk) {
        let path = log.checkpoint_path();
        let mut draft = path.clone().into_os_string();
        draft.push(".new");
        let draft = std::path::PathBuf::from(draft);
        let _ = disk.remove(&draft);
        let Ok(mut bytes) = serde_json::to_vec(&self.header) else { return };
        bytes.push(b'\n');
        bytes.extend_from_slice(self.ids.as_bytes());
        // It is not synced: one that a power cut has damaged does not match its checksum.
        let written = disk.append(&draft, Creation::New).ok().filter(|file| {
            let file: &dyn crate::disk::LogFile = &**file;
            write_whole(file, &bytes).is_ok()
        });
        if written.is_none() || disk.rename(&draft, &path).is_err() {
            let _ = disk.remove(&draft);
        }
    }
}

/// An id's tag: enough of its hash that no two ids of a log share it, short of an attack on BLAKE3,
/// and even then the line that it leads to is compared.
pub(crate) fn tag(id: &str) -> u64 {
    let hash = blake3::hash(id.as_bytes());
    hash.as_bytes().first_chunk().copied().map_or(0, u64::from_le_bytes)
}

/// The length of an entry in the table.
pub(crate) const ENTRY_BYTES: usize = 24;

pub(crate) fn entry(tag: u64, place: Place) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    let parts: [&[u8]; 4] = [
        &tag.to_le_bytes(),
        &place.offset.to_le_bytes(),
        &place.len.to_le_bytes(),
        &place.stream.to_le_bytes(),
    ];
    for (slot, byte) in bytes.iter_mut().zip(parts.concat()) {
        *slot = byte;
    }
    bytes
}
