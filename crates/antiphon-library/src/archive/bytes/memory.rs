//! Bytes in memory, for a session that has no folder yet.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::rc::Rc;

use super::{Bytes, Draft, Settled, Stored};

/// Storage in memory.
#[derive(Debug, Default, Clone)]
pub(crate) struct Memory(Rc<RefCell<BTreeMap<String, Vec<u8>>>>);

impl Memory {
    /// Takes everything that was stored, by name.
    pub(crate) fn take(&self) -> BTreeMap<String, Vec<u8>> {
        self.0.take()
    }
}

struct Added(Memory, String);
struct New(Memory, String, Vec<u8>);

impl Write for Added {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.borrow_mut().entry(self.1.clone()).or_default().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for New {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.2.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Draft for New {
    fn put(self: Box<Self>, _: Settled) -> io::Result<()> {
        let Self(memory, name, bytes) = *self;
        memory.0.borrow_mut().insert(name, bytes);
        Ok(())
    }
}

impl Bytes for Memory {
    fn list(&self, below: &str) -> Vec<String> {
        let within = format!("{below}/");
        let is_below = |name: &&String| below.is_empty() || name.starts_with(&within);
        self.0.borrow().keys().filter(is_below).cloned().collect()
    }

    fn len(&self, name: &str) -> Option<u64> {
        self.0.borrow().get(name).map(|bytes| bytes.len() as u64)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Stored>> {
        let bytes = self.0.borrow().get(name).cloned();
        Ok(Box::new(Cursor::new(bytes.ok_or(io::ErrorKind::NotFound)?)))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Draft>> {
        Ok(Box::new(New(self.clone(), name.to_owned(), Vec::new())))
    }

    fn append(&self, name: &str) -> io::Result<Box<dyn Write>> {
        Ok(Box::new(Added(self.clone(), name.to_owned())))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.borrow_mut().remove(name);
        Ok(())
    }
}
