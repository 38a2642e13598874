//! What a session's files were like when it was last copied.
//!
//! A stamp is a line with a hash over sizes and times, and a line for each other file that belongs
//! to the session but is not in its own folder. The first line ends with `open` if the copy was not
//! compressed because more may come. Lines that begin with a tab describe the copies: one that no
//! longer matches may be damaged.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use antiphon_sources::{COMPRESSED_SUFFIX, list};

use crate::archive::{Copies, Sizes, size, size_of};

#[derive(Debug, Clone, Default)]
pub(super) struct Stamp {
    hash: String,
    /// Files of the session that are elsewhere.
    elsewhere: Vec<PathBuf>,
    /// Whether the copy must still be compressed.
    pub(super) is_open: bool,
    /// The copies: each name in the session's folder, with size and time.
    copies: Vec<(String, (u64, u128))>,
}

/// Short, because a pack contains it twice for each session, and it cannot be compressed.
const HASH_DIGITS: usize = 24;
const OPEN: &str = " open";
/// The first character of a line that describes a copy.
const COPY: char = '\t';

/// Compares the sources only, not the copies.
impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        let Self { hash, elsewhere, is_open, copies: _ } = self;
        (hash, elsewhere, is_open) == (&other.hash, &other.elsewhere, &other.is_open)
    }
}

impl Stamp {
    /// The stamp of a session in a database, from the database's own stamp.
    pub(super) fn of_text(text: &str) -> Self {
        let hash = digits(&blake3::hash(text.as_bytes()).to_hex()).to_owned();
        Self { hash, ..Self::default() }
    }

    pub(super) fn read(copies: &Copies) -> Self {
        Self::parse(&copies.stamp().unwrap_or_default())
    }

    /// Parses the result of [`to_text`](Self::to_text).
    pub(super) fn parse(text: &[u8]) -> Self {
        let text = str::from_utf8(text).unwrap_or_default();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let hash = digits(first.strip_suffix(OPEN).unwrap_or(first)).to_owned();
        let (mut elsewhere, mut copies) = (Vec::new(), Vec::new());
        for line in lines {
            match line.strip_prefix(COPY) {
                Some(copy) => copies.extend(copy_of(copy)),
                None => elsewhere.push(PathBuf::from(line)),
            }
        }
        Self { hash, elsewhere, is_open: first.ends_with(OPEN), copies }
    }

    /// Adds the sizes and times of the copies in a session's folder.
    pub(super) fn with_copies(self, folder: &Path) -> Self {
        let copies = Copies::at(folder).names().into_iter();
        // A name with a line break could not be read back.
        let copies = copies.filter(|name| !name.contains(['\n', '\r']));
        let copies = copies.map(|name| (size(&folder.join(&name)), name));
        Self { copies: copies.map(|(size, name)| (name, size)).collect(), ..self }
    }

    /// Whether the copies in a session's folder have changed since they were written.
    pub(super) fn doubts(&self, copies: &Copies) -> bool {
        // Packs are checked separately.
        if copies.packed().is_some() {
            return false;
        }
        let folder = copies.folder();
        let is_same = |(name, known): &(String, _)| size(&folder.join(name)) == *known;
        self.copies.is_empty() || !self.copies.iter().all(is_same)
    }

    /// Whether it lists this file, which is elsewhere.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.elsewhere.iter().any(|known| known == path)
    }

    /// Sets whether the copy must still be compressed.
    pub(super) fn of_open(self, is_open: bool) -> Self {
        Self { is_open, ..self }
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = self.hash.clone() + if self.is_open { OPEN } else { "" };
        for path in &self.elsewhere {
            text.push('\n');
            text.push_str(&path.to_string_lossy());
        }
        for (name, (len, nanos)) in &self.copies {
            let _ = write!(text, "\n{COPY}{len} {nanos} {name}");
        }
        text
    }

    /// The current sizes and times of the files elsewhere.
    pub(super) fn others(&self) -> Sizes {
        self.elsewhere.iter().map(|path| (path.clone(), size(path))).collect()
    }

    /// The stamp of the same files as they are now.
    pub(super) fn now(&self, own: &Sizes, others: &Sizes) -> Self {
        let elsewhere = self.elsewhere.clone();
        let copies = self.copies.clone();
        Self { hash: hash(own, others), elsewhere, is_open: self.is_open, copies }
    }

    /// The stamp of a session's own files, and of those found to belong to it.
    pub(super) fn of(own: &Sizes, found: &Sizes) -> Self {
        // A path with a line break could not be read back.
        let is_plain = |path: &PathBuf| path.to_str().is_some_and(|it| !it.contains(['\n', '\r']));
        let elsewhere =
            found.keys().filter(|path| !own.contains_key(*path) && is_plain(path)).cloned();
        let elsewhere: Vec<PathBuf> = elsewhere.collect();
        let others = elsewhere.iter().filter_map(|path| Some((path.clone(), *found.get(path)?)));
        Self { hash: hash(own, &others.collect()), elsewhere, ..Self::default() }
    }
}

/// Parses the line of a copy.
fn copy_of(line: &str) -> Option<(String, (u64, u128))> {
    let mut words = line.splitn(3, ' ');
    let size = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((words.next()?.to_owned(), size))
}

/// The folder of its own that a session with this main file would have.
pub(super) fn own_folder(main: &Path) -> PathBuf {
    let stem = main.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&stem);
    main.with_file_name(stem.rsplit_once('.').map_or(stem, |(stem, _)| stem))
}

/// A session's main file, and everything in its own folder, if it has one.
pub(super) fn own(main: &Path, has_folder: bool) -> Sizes {
    let mut paths = vec![main.to_owned()];
    let mut folders: Vec<PathBuf> = has_folder.then(|| own_folder(main)).into_iter().collect();
    while let Some(folder) = folders.pop() {
        let (below, files): (Vec<_>, Vec<_>) =
            list(&folder).into_iter().partition(|it| it.is_dir());
        folders.extend(below.into_iter().filter(|it| !it.is_symlink()));
        paths.extend(files);
    }
    let there = paths.into_iter().filter_map(|path| Some((size_of(&path.metadata().ok()?), path)));
    there.map(|(size, path)| (path, size)).collect()
}

fn hash(own: &Sizes, others: &Sizes) -> String {
    let mut all: BTreeMap<&PathBuf, (u64, u128)> = BTreeMap::new();
    all.extend(own.iter().chain(others).map(|(path, size)| (path, *size)));
    let mut hash = blake3::Hasher::new();
    for (path, (len, time)) in all {
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update(&len.to_le_bytes());
        hash.update(&time.to_le_bytes());
    }
    digits(&hash.finalize().to_hex()).to_owned()
}

/// The part of a hash that is compared. Older versions wrote all of it.
fn digits(hash: &str) -> &str {
    hash.get(..HASH_DIGITS).unwrap_or(hash)
}
