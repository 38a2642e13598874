//! How much memory the reading of a file may take, unless a person allows more.
//!
//! A few kilobytes can unpack to more than a machine has, and a document has to be held whole, in
//! more than one form. So both have a bound that follows from the memory that is allowed. A stream
//! of lines that is not packed takes as much memory as it is long, and nobody made it long by
//! packing it; it may have [`PLAIN_BYTES_MAX`]. What is made of a record takes [`RECORD_BYTES`],
//! however short the record is, so records are counted as well.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is allowed where nobody says otherwise.
const MEMORY_BYTES: u64 = 256 << 20;

/// No session that was ever seen comes near this.
pub const PLAIN_BYTES_MAX: u64 = 2 << 30;

/// What a reader and the session hold of a record, besides its text, while it is read.
const RECORD_BYTES: u64 = 1000;

/// A transcript packs to a tenth or so. What was packed much better was made to be.
const RATIO_MAX: u64 = 32;

static ALLOWED: AtomicU64 = AtomicU64::new(MEMORY_BYTES);

/// Allows so many bytes of memory for reading a file, in this process.
pub fn allow_memory(bytes: u64) {
    ALLOWED.store(bytes, Ordering::Relaxed);
}

/// The memory that reading may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory(pub(crate) u64);

impl Memory {
    /// What is allowed in this process.
    pub(crate) fn allowed() -> Self {
        Self(ALLOWED.load(Ordering::Relaxed))
    }

    /// How long a text may become that was packed into so many bytes. The rest of the memory is for
    /// what is made of it.
    pub(crate) fn unpacked(self, packed: u64) -> u64 {
        self.text().max(packed.saturating_mul(RATIO_MAX).min(PLAIN_BYTES_MAX))
    }

    /// How long a file may be that is a stream of lines.
    pub(crate) fn plain(self) -> u64 {
        self.text().max(PLAIN_BYTES_MAX)
    }

    /// How long a document may be. It is held as it is, and once more as the lines that it becomes.
    pub(crate) fn document(self) -> u64 {
        self.0 / 5 * 2
    }

    /// How many records a stream of lines may have, which was packed into so many bytes or not at
    /// all.
    pub(crate) fn records(self, packed: Option<u64>) -> u64 {
        let bytes = packed.map_or(self.plain(), |packed| 2 * self.unpacked(packed));
        bytes / RECORD_BYTES
    }

    /// Whether a document of that length may have so many records.
    pub(crate) fn allows_records(self, len: u64, records: u64) -> bool {
        Self::needed(len, records) <= self.0
    }

    /// A document is held as it is, as the lines that it becomes, and as the events in these.
    fn needed(len: u64, records: u64) -> u64 {
        len.saturating_mul(2).saturating_add(records.saturating_mul(RECORD_BYTES))
    }

    /// Why a document of that length is not read.
    pub(crate) fn refuse_document(self, len: u64, records: u64) -> String {
        const STEP: u64 = 100 << 20;
        let needed = Self::needed(len, records).max(len.saturating_mul(3));
        let needed = needed.div_ceil(STEP).saturating_mul(STEP) >> 20;
        format!(
            "reading this {} document needs more than {} of memory; allow it with \
             `--max-memory {needed}MB`",
            size(len),
            size(self.0)
        )
    }

    fn text(self) -> u64 {
        self.0 / 2
    }
}

/// A number of bytes, for a person.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..0x0010_0000 => format!("{} KB", bytes.div_ceil(1 << 10)),
        0x0010_0000..0x4000_0000 => format!("{} MB", bytes >> 20),
        _ => format!("{:.1} GB", (bytes >> 20) as f64 / 1024.0),
    }
}
