//! A session in a pack, as storage for its copies.

use std::cell::OnceCell;
use std::io::{self, Cursor, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::super::bytes::{Bytes, Draft, Folder, Stored};
use super::super::state::{STAMP_FILE, STATE_FILE};
use super::entry::{Entry, Note};
use super::pack::{Listed, Pack};
use super::{Packs, key_of};

/// A session in a pack. It can be read; to write, it is moved to a folder first.
#[derive(Debug)]
pub(crate) struct Packed {
    folder: PathBuf,
    pack: Arc<Pack>,
    listed: Listed,
    note: OnceCell<Option<Note>>,
    entry: OnceCell<Option<Entry>>,
}

impl Packed {
    pub(super) fn new(folder: PathBuf, pack: Arc<Pack>, listed: Listed) -> Self {
        Self { folder, pack, listed, note: OnceCell::new(), entry: OnceCell::new() }
    }

    /// Asks its pack; if that no longer exists, the one that has replaced it.
    fn ask<T>(
        &self,
        question: impl Fn(&Pack, &Folder, &Listed) -> io::Result<Option<T>>,
    ) -> Option<T> {
        let bytes = Folder::new(&self.folder);
        match question(&self.pack, &bytes, &self.listed) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let packs = Packs::of(self.folder.parent()?);
                let (pack, listed) = packs.place(&key_of(self.listed.key)?)?;
                question(pack, &bytes, listed).ok().flatten()
            }
            answer => answer.ok().flatten(),
        }
    }

    fn note(&self) -> Option<&Note> {
        self.note.get_or_init(|| self.ask(Pack::note_of)).as_ref()
    }

    /// The whole session, as far as it can be read.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.entry.get_or_init(|| self.ask(Pack::entry_of)).as_ref()
    }

    fn bytes(&self, name: &str) -> Option<&[u8]> {
        match name {
            STATE_FILE => Some(&self.note()?.record),
            STAMP_FILE => Some(&self.note()?.stamp),
            name => {
                let mut files = self.entry()?.files.iter();
                files.find(|(known, _)| known == name).map(|(_, bytes)| &**bytes)
            }
        }
    }
}

/// The error for writing to a session in a pack.
fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "a packed session is taken out first")
}

impl Bytes for Packed {
    fn list(&self, below: &str) -> Vec<String> {
        let Some(note) = self.note() else { return Vec::new() };
        let within = format!("{below}/");
        let is_below = |name: &&str| below.is_empty() || name.starts_with(&within);
        let files = note.files.iter().map(|(name, _)| &**name).chain([STATE_FILE, STAMP_FILE]);
        let mut names: Vec<String> = files.filter(is_below).map(str::to_owned).collect();
        names.sort();
        names
    }

    fn len(&self, name: &str) -> Option<u64> {
        match name {
            STATE_FILE | STAMP_FILE => self.bytes(name).map(|bytes| bytes.len() as u64),
            name => {
                let mut files = self.note()?.files.iter();
                files.find(|(known, _)| known == name).map(|(_, len)| *len as u64)
            }
        }
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Stored>> {
        let bytes = self.bytes(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(bytes.to_vec())))
    }

    fn create(&self, _: &str) -> io::Result<Box<dyn Draft>> {
        Err(refused())
    }

    fn append(&self, _: &str) -> io::Result<Box<dyn Write>> {
        Err(refused())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Err(refused())
    }
}
