//! The files that belong to a session in a folder that it shares with others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use antiphon_formats::Format;

use super::{Member, file_name, is_outdated, list, relative, stem, tree};
use crate::file::{self, COMPRESSED_SUFFIX};
use crate::name;

/// Which of the files beside a main file are examined. There may be many, and most belong to other
/// sessions.
#[derive(Debug, Clone, Copy)]
pub enum Siblings<'a> {
    All,
    /// All of them, from a listing that serves many sessions in the folder.
    Listed(&'a FolderListing),
    ChangedSince(SystemTime),
    /// None, because these are known to be the ones that belong to it.
    Known(&'a [PathBuf]),
    None,
}

/// The entries of a folder, read once for all the sessions in it.
#[derive(Debug)]
pub struct FolderListing {
    /// When an entry was last added or removed.
    changed: Option<SystemTime>,
    /// By name. If a file exists both compressed and uncompressed, both are here.
    files: BTreeMap<String, PathBuf>,
    /// By name, with a `/` at the end.
    folders: Vec<(String, PathBuf)>,
    /// The files that name the session that they belong to, by format and session.
    owned: Mutex<BTreeMap<&'static str, Arc<Owned>>>,
}

/// The files that name the session that they belong to, by session.
type Owned = BTreeMap<String, Vec<PathBuf>>;

impl FolderListing {
    pub fn of(folder: &Path) -> Self {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // The time is read first, so that an entry that is added meanwhile makes the listing
        // outdated.
        let changed = changed(folder);
        let (mut files, mut folders) = (BTreeMap::new(), Vec::new());
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = name::text(&entry.file_name()).into_owned();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push((name + "/", entry.path())),
                Ok(_) => drop(files.insert(name, entry.path())),
                Err(_) => {}
            }
        }
        Self { changed, files, folders, owned: Mutex::default() }
    }

    /// Whether the folder has not changed since it was listed.
    pub(crate) fn is_current(&self, folder: &Path) -> bool {
        self.changed == changed(folder)
    }

    fn has_folder(&self, name: &str) -> bool {
        self.folders.iter().any(|(known, _)| known.strip_suffix('/') == Some(name))
    }

    /// The files that may belong to a session in the folder.
    pub(super) fn likely<'a>(
        &'a self,
        stem: &str,
        format: &Format,
    ) -> impl Iterator<Item = &'a PathBuf> {
        let beginnings = format.layout.beside.iter().map(|beginning| beginning.replace("{}", stem));
        let files = beginnings.flat_map(|beginning| {
            let after = self.files.range(beginning.clone()..);
            after.take_while(move |(name, _)| name.starts_with(&*beginning))
        });
        files.map(|(_, path)| path).filter(|path| path.is_file() && !is_outdated(path))
    }

    /// Like [`likely`](Self::likely), but of the files that name a session only those that name
    /// this one, or a file of this one. Each file is read once.
    fn likely_own(&self, stem: &str, format: &Format) -> Vec<PathBuf> {
        if format.layout.owners.is_none() && format.layout.made_by.is_none() {
            return self.likely(stem, format).cloned().collect();
        }
        let owned = self.owned(format);
        let mut found = BTreeSet::new();
        let mut stems = vec![stem.to_owned()];
        while let Some(stem) = stems.pop() {
            for path in ids(&stem, format).filter_map(|id| owned.get(id)).flatten() {
                if found.insert(path.clone()) {
                    stems.push(super::stem(path));
                }
            }
        }
        found.into_iter().collect()
    }

    fn owned(&self, format: &Format) -> Arc<Owned> {
        let mut all = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owned) = all.get(format.name) {
            return Arc::clone(owned);
        }
        let mut owned = Owned::new();
        for path in self.likely("", format) {
            let head = file::head(path).unwrap_or_default();
            let owners = match (format.layout.owners, format.layout.made_by) {
                (Some(owners), _) => owners(&head),
                (None, made_by) => made_by.and_then(|by| by(&head)).into_iter().collect(),
            };
            for owner in owners {
                owned.entry(owner).or_default().push(path.clone());
            }
        }
        let owned = Arc::new(owned);
        all.insert(format.name, Arc::clone(&owned));
        owned
    }
}

/// The ids by which other files may refer to the session whose main file has this name: the name
/// itself or, if its format records who created a session, the end of the name.
fn ids<'a>(stem: &'a str, format: &Format) -> impl Iterator<Item = &'a str> {
    let ends = stem.match_indices('-').filter_map(|(at, _)| stem.get(at + 1..));
    let has_ends = format.layout.owners.is_none();
    std::iter::once(stem).chain(ends.filter(move |_| has_ends))
}

fn changed(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()
}

/// The files that belong to the session according to their names: beside its main file, and in its
/// own folder.
pub(super) fn companions(main: &Path, format: &Format, which: Siblings<'_>) -> Vec<Member> {
    if let Some(root) = tree::root(main, format) {
        return tree::companions(main, &root, format, which);
    }
    let folder = main.parent().unwrap_or(Path::new(""));
    let stem = stem(main);
    let listed;
    let near = match which {
        Siblings::Listed(near) => near,
        Siblings::All | Siblings::ChangedSince(_) | Siblings::Known(_) | Siblings::None => {
            listed = FolderListing::of(folder);
            &listed
        }
    };
    let mut found = siblings(near, &stem, main, format, which);
    let mut folders = Vec::new();
    // A link to a folder is listed among the files.
    if near.files.contains_key(&stem) || near.has_folder(&stem) {
        folders.push(folder.join(&stem));
    }
    let others = near.folders.iter().filter(|(name, _)| name.strip_suffix('/') != Some(&stem));
    let others = others.filter(|(name, _)| (format.layout.belongs)(&stem, name, ""));
    folders.extend(others.map(|(_, path)| path.clone()));
    while let Some(below) = folders.pop() {
        for path in list(&below) {
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
                continue;
            }
            let name = relative(&path, folder);
            let name = name.strip_suffix(COMPRESSED_SUFFIX).map_or(name.clone(), str::to_owned);
            if is_outdated(&path) {
                continue;
            }
            if (format.layout.belongs)(&stem, &name, "") {
                found.push(Member::file(name, path));
            }
        }
    }
    found.sort();
    found
}

/// The files beside the main file that belong to it, directly or through another file.
pub(super) fn siblings(
    near: &FolderListing,
    stem: &str,
    main: &Path,
    format: &Format,
    which: Siblings<'_>,
) -> Vec<Member> {
    // Most files beside it belong to other sessions, so only likely ones are read.
    let likely: Vec<PathBuf> = match which {
        Siblings::All => near.likely(stem, format).cloned().collect(),
        Siblings::Listed(_) => near.likely_own(stem, format),
        Siblings::ChangedSince(time) => {
            let likely = near.likely(stem, format);
            let has_changed = |path: &Path| changed(path).is_some_and(|changed| changed >= time);
            likely.filter(|path| has_changed(path)).cloned().collect()
        }
        // They may be in any folder: a thread that was created after midnight is in the next day's
        // folder.
        Siblings::Known(paths) => paths.to_vec(),
        Siblings::None => Vec::new(),
    };
    let likely = likely.into_iter().filter(|path| path != main);
    let mut others: Vec<(Member, String)> = likely
        .filter_map(|path| Some((file::head(&path).ok()?, path)))
        .map(|(head, path)| (Member::file(file_name(&path), path), head))
        .collect();
    let mut found: Vec<Member> = Vec::new();
    let mut stems = vec![stem.to_owned()];
    while let Some(stem) = stems.pop() {
        let is_ours = |(member, head): &mut (Member, String)| {
            (format.layout.belongs)(&stem, &member.name, head)
        };
        for (member, _) in others.extract_if(.., is_ours) {
            stems.push(super::stem(&member.path));
            found.push(member);
        }
    }
    found
}
