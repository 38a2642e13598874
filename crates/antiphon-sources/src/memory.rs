//! The memory that reading a file may take, unless the user allows more.
//!
//! A few kilobytes can expand to more than the memory of a machine, and a document must be held
//! whole in more than one form. So both have limits that follow from the memory allowed. An
//! uncompressed stream of lines takes as much memory as it is long, and its length is visible
//! beforehand; its limit is [`PLAIN_BYTES_MAX`]. Each record takes [`RECORD_BYTES`], however short
//! it is, so records are counted as well.

use std::sync::atomic::{AtomicU64, Ordering};

/// The default limit.
const MEMORY_BYTES: u64 = 256 << 20;

/// Far more than any session seen so far.
pub const PLAIN_BYTES_MAX: u64 = 2 << 30;

/// The memory that a reader and the session take for a record, besides its text.
const RECORD_BYTES: u64 = 1000;

/// Transcripts compress to about a tenth. A file with a much higher ratio was made on purpose.
const RATIO_MAX: u64 = 32;

static ALLOWED: AtomicU64 = AtomicU64::new(MEMORY_BYTES);

/// Sets the memory allowed for reading a file, in this process.
pub fn allow_memory(bytes: u64) {
    ALLOWED.store(bytes, Ordering::Relaxed);
}

/// The memory that reading a file may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory(pub(crate) u64);

impl Memory {
    /// The limit of this process.
    pub(crate) fn allowed() -> Self {
        Self(ALLOWED.load(Ordering::Relaxed))
    }

    /// The largest decompressed size of a file with this compressed size. The rest of the memory is
    /// for the events read from it.
    pub(crate) fn unpacked(self, packed: u64) -> u64 {
        self.text().max(packed.saturating_mul(RATIO_MAX).min(PLAIN_BYTES_MAX))
    }

    /// The largest size of a file that is a stream of lines.
    pub(crate) fn plain(self) -> u64 {
        self.text().max(PLAIN_BYTES_MAX)
    }

    /// The largest size of a document, which is held as it is and as the lines that it is converted
    /// to.
    pub(crate) fn document(self) -> u64 {
        self.0 / 5 * 2
    }

    /// The largest number of records of a stream of lines; `packed` is its compressed size, if it
    /// is compressed.
    pub(crate) fn records(self, packed: Option<u64>) -> u64 {
        let bytes = packed.map_or(self.plain(), |packed| 2 * self.unpacked(packed));
        bytes / RECORD_BYTES
    }

    /// Whether a document of this length may have this many records.
    pub(crate) fn allows_records(self, len: u64, records: u64) -> bool {
        Self::needed(len, records) <= self.0
    }

    /// The memory for a document: as it is, as the lines that it is converted to, and as events.
    fn needed(len: u64, records: u64) -> u64 {
        len.saturating_mul(2).saturating_add(records.saturating_mul(RECORD_BYTES))
    }

    /// The message that says why a document of this length is refused.
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

/// A number of bytes, formatted for people.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..0x0010_0000 => format!("{} KB", bytes.div_ceil(1 << 10)),
        0x0010_0000..0x4000_0000 => format!("{} MB", bytes >> 20),
        _ => format!("{:.1} GB", (bytes >> 20) as f64 / 1024.0),
    }
}
