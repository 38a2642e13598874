//! Where copies lie: bytes, by their names.
//!
//! A name has `/` between its parts. Whoever copies a session has locked it, so that nobody else
//! writes meanwhile; but anybody may read.
//!
//! [`Bytes`] is what a place has to do; [`Folder`] does it in a folder, [`Memory`] in memory. Every
//! place passes the same tests (`bytes/conformance.rs`).

mod folder;
mod memory;

use std::io::{self, Read, Seek, Write};

pub(crate) use folder::{Folder, is_half_written, private, replace};
pub(crate) use memory::Memory;

/// A place for bytes.
pub(crate) trait Bytes {
    /// The names of all that lies below one, in order; of all that there is, below nothing.
    fn list(&self, below: &str) -> Vec<String>;

    /// How many bytes have that name; nothing, if none have.
    fn len(&self, name: &str) -> Option<u64>;

    /// The bytes of that name, any part of them. What is put in their place later, or removed, is
    /// still read as it was.
    fn open(&self, name: &str) -> io::Result<Box<dyn Stored>>;

    /// Begins to write what is to have that name. Until it is put there, it has none.
    fn create(&self, name: &str) -> io::Result<Box<dyn Draft>>;

    /// Adds to what has that name, or begins it.
    fn append(&self, name: &str) -> io::Result<Box<dyn Write>>;

    /// Removes what has that name, if something has.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// Bytes that lie somewhere.
pub(crate) trait Stored: Read + Seek {}

impl<T: Read + Seek> Stored for T {}

/// Bytes that are being written. If they are dropped before they are put, nothing has happened.
pub(crate) trait Draft: Write {
    /// Gives them their name, in the place of what had it.
    fn put(self: Box<Self>, settled: Settled) -> io::Result<()>;
}

/// When what is written must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Before it has its name.
    First,
    /// The same, and its name too, before anything else is done.
    Named,
    /// Whoever asked sees to it.
    Later,
}

/// All bytes of that name.
pub(crate) fn read(bytes: &dyn Bytes, name: &str) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    bytes.open(name)?.read_to_end(&mut all)?;
    Ok(all)
}

/// Writes bytes that are at hand.
pub(crate) fn write(bytes: &dyn Bytes, name: &str, settled: Settled, all: &[u8]) -> io::Result<()> {
    let mut draft = bytes.create(name)?;
    draft.write_all(all)?;
    draft.put(settled)
}

#[cfg(test)]
mod conformance;
