//! Storage for copies: bytes by name.
//!
//! A name has `/` between its parts. The process that copies a session has locked it, so nobody
//! else writes at the same time; but anybody may read.
//!
//! [`Bytes`] is the interface; [`Folder`] stores bytes in a folder, and [`Memory`] in memory. All
//! implementations pass the same tests (`bytes/conformance.rs`).

mod folder;
mod memory;

use std::io::{self, Read, Seek, Write};

pub(crate) use folder::{Folder, is_half_written, private, replace};
pub(crate) use memory::Memory;

/// Storage for bytes by name.
pub(crate) trait Bytes {
    /// All names below a prefix, in order; for an empty prefix, all names.
    fn list(&self, below: &str) -> Vec<String>;

    /// The number of bytes under a name; `None` if it does not exist.
    fn len(&self, name: &str) -> Option<u64>;

    /// Opens the bytes under a name for reading. If they are replaced or removed later, the old
    /// bytes are still read.
    fn open(&self, name: &str) -> io::Result<Box<dyn Stored>>;

    /// Begins to write the bytes of a name. They have no name until they are put in place.
    fn create(&self, name: &str) -> io::Result<Box<dyn Draft>>;

    /// Appends to the bytes of a name, or creates it.
    fn append(&self, name: &str) -> io::Result<Box<dyn Write>>;

    /// Removes a name, if it exists.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// Stored bytes, open for reading.
pub(crate) trait Stored: Read + Seek {}

impl<T: Read + Seek> Stored for T {}

/// Bytes that are being written. If they are dropped before they are put in place, nothing has
/// changed.
pub(crate) trait Draft: Write {
    /// Gives them their name, replacing what had it.
    fn put(self: Box<Self>, settled: Settled) -> io::Result<()>;
}

/// When written bytes must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Before they get their name.
    First,
    /// Before they get their name, and the name too before anything else is done.
    Named,
    /// Later: the caller takes care of it.
    Later,
}

/// All bytes under a name.
pub(crate) fn read(bytes: &dyn Bytes, name: &str) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    bytes.open(name)?.read_to_end(&mut all)?;
    Ok(all)
}

/// Writes bytes from memory.
pub(crate) fn write(bytes: &dyn Bytes, name: &str, settled: Settled, all: &[u8]) -> io::Result<()> {
    let mut draft = bytes.create(name)?;
    draft.write_all(all)?;
    draft.put(settled)
}

#[cfg(test)]
mod conformance;
