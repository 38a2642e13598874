//! What is kept of a session, wherever it lies: in a folder of its own, or in a pack with others.
//!
//! A session is called by its folder in the archive, and its files by paths in there, even if it is
//! in a pack and there is no such folder. Only here it is decided where it is.

use std::path::{Path, PathBuf};

use antiphon_catalog::Key;
use antiphon_sources::{COMPRESSED_SUFFIX, name, relative};

use super::bytes::{self, Bytes, Folder};
use super::generation::{generation_name, generations, plain_name};
use super::pack;
use super::packs::{Entry, Packed, Packs};
use super::state::{Found, STAMP_FILE, STATE_FILE, State};

/// Stands in a folder while a session is being taken out of its pack: until then the pack counts.
pub(super) const UNPACKING_FILE: &str = "unpacking";

/// What is kept of a session.
#[derive(Debug)]
pub(crate) struct Copies {
    folder: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Own(Folder),
    Packed(Box<Packed>),
}

/// Whether a session is kept in a folder of its own.
pub(super) fn is_own_place(folder: &Path) -> bool {
    if !folder.is_dir() || folder.join(UNPACKING_FILE).exists() {
        return false;
    }
    folder.join(STATE_FILE).is_file() || !generations(&Folder::new(folder)).is_empty()
}

/// The store's root and the key of the session that has this folder in the archive.
fn named(folder: &Path) -> Option<(&Path, Key)> {
    let key = Key::of_folder(folder)?;
    let archive = folder.parent()?.parent()?;
    (archive.file_name()? == "archive").then_some((archive.parent()?, key))
}

/// What a session is called where it says nothing itself: as its agent calls it, or by its key,
/// where the agent has no name for it but a path.
pub(crate) fn called(session_id: &str, key: &Key) -> String {
    let is_name = !session_id.is_empty() && !session_id.contains(['/', '\\']);
    if is_name { session_id.to_owned() } else { key.to_string() }
}

impl Copies {
    /// Of the session that has this folder, or would have it.
    pub(crate) fn at(folder: &Path) -> Self {
        let packed = named(folder).and_then(|(root, key)| Packs::of(root).find(&key));
        let place = match packed.filter(|_| !is_own_place(folder)) {
            Some(packed) => Place::Packed(Box::new(packed)),
            None => Place::Own(Folder::new(folder)),
        };
        Self { folder: folder.to_owned(), place }
    }

    /// Of the session of which a file is a copy.
    pub(crate) fn of_copy(copy: &Path) -> Option<Self> {
        let is_generation = |folder: &Path| {
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.len() == 6 && name.bytes().all(|byte| byte.is_ascii_digit())
        };
        let generation = copy.ancestors().skip(1).find(|folder| is_generation(folder))?;
        let copies = Self::at(generation.parent()?);
        copies.are_kept().then_some(copies)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn bytes(&self) -> &dyn Bytes {
        match &self.place {
            Place::Own(folder) => folder,
            Place::Packed(packed) => &**packed,
        }
    }

    /// The session as it is in its pack, if it is in one.
    pub(crate) fn packed(&self) -> Option<&Packed> {
        match &self.place {
            Place::Own(_) => None,
            Place::Packed(packed) => Some(packed),
        }
    }

    /// Whether there is a copy, be its record there or not.
    pub(crate) fn are_kept(&self) -> bool {
        match &self.place {
            Place::Own(folder) => {
                folder.len(STATE_FILE).is_some() || !generations(folder).is_empty()
            }
            Place::Packed(_) => true,
        }
    }

    /// Whether there are copies, and nothing that says whose they are.
    pub(crate) fn have_lost_their_record(&self) -> bool {
        matches!(self.find_state(), Found::MadeUp(_))
    }

    pub(super) fn find_state(&self) -> Found {
        State::find(self.bytes(), &self.folder)
    }

    pub(super) fn state(&self) -> Option<State> {
        self.find_state().state()
    }

    /// What the session is called where it says nothing itself.
    pub(crate) fn name(&self) -> Option<String> {
        Some(called(&self.state()?.session_id, &Key::of_folder(&self.folder)?))
    }

    /// Where the agent had the main file.
    pub(crate) fn source(&self) -> Option<PathBuf> {
        Some(self.state()?.source).filter(|source| source.is_absolute())
    }

    /// What the sources were like when `sync` last copied them.
    pub(crate) fn stamp(&self) -> Option<Vec<u8>> {
        bytes::read(self.bytes(), STAMP_FILE).ok()
    }

    /// The names of the copies, and of what tells of them.
    pub(crate) fn names(&self) -> Vec<String> {
        let bytes = self.bytes();
        let generations = generations(bytes).into_iter();
        let names = generations.flat_map(|number| bytes.list(&generation_name(number)));
        names.chain([STATE_FILE.to_owned()]).collect()
    }

    /// The name of the main file of the newest copy, in whatever form it is there.
    pub(crate) fn main(&self) -> Option<String> {
        let state = self.state()?;
        let name = match &state.main {
            Some(name) => name.clone(),
            None => name::text(state.source.file_name()?).into_owned(),
        };
        let name = plain_name(&name);
        let mut generations = generations(self.bytes());
        generations.sort_unstable_by(|a, b| b.cmp(a));
        let names = generations.iter().map(|number| format!("{}/{name}", generation_name(*number)));
        let mut forms = names.flat_map(|name| [name.clone(), pack::packed_name(&name)]);
        // A file that was cut to nothing says less than what was kept of it before.
        forms.find(|name| self.bytes().len(name).is_some_and(|len| len > 0))
    }

    /// How many bytes the agent wrote of the main file of the newest copy.
    pub(crate) fn main_len(&self) -> Option<u64> {
        let main = self.main()?;
        let plain = main.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&main);
        Some(self.state()?.files.get(plain)?.sums.len)
    }

    /// The path of the main file of the newest copy.
    pub(crate) fn main_file(&self) -> Option<PathBuf> {
        self.main().map(|main| self.folder.join(main))
    }

    /// The newest generation: names of files are relative to it.
    pub(crate) fn newest(&self) -> Option<String> {
        self.main()?.split_once('/').map(|(generation, _)| generation.to_owned())
    }

    /// The names of the files of the newest copy and the names that the agent gave them, the main
    /// one first.
    pub(crate) fn native_names(&self) -> Vec<(PathBuf, String)> {
        let Some(main) = self.main() else { return Vec::new() };
        let newest = self.newest().unwrap_or_default();
        let state = self.state().unwrap_or_default();
        let bytes = self.bytes();
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        for stored in bytes.list(&newest).into_iter().filter(|it| !bytes::is_half_written(it)) {
            let plain = stored.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&stored);
            // Where both forms are there, the plain one counts.
            if plain != stored && bytes.len(plain).is_some() {
                continue;
            }
            let known = state.files.get(plain);
            let own = plain.split_once('/').map_or(plain, |(_, own)| own);
            let name = known.and_then(|copy| Some(copy.was.clone()?.0)).unwrap_or(own.into());
            files.push((name, stored));
        }
        files.sort_by_key(|(name, stored)| (*stored != main, name.clone()));
        files
    }

    /// The files of the newest copy, the main one first, by their names within it: what a session
    /// in a pack is read from.
    pub(crate) fn files(&self) -> Option<Vec<(String, Vec<u8>)>> {
        let Entry { files, .. } = self.packed()?.entry()?;
        let (main, newest) = (self.main()?, self.newest()?);
        let mut found: Vec<(String, Vec<u8>)> = Vec::new();
        for (name, bytes) in files {
            let own = name.strip_prefix(&newest).and_then(|name| name.strip_prefix('/'));
            found.extend(own.map(|own| (own.to_owned(), bytes.clone())));
        }
        // The others stay in the order in which they were copied.
        let main = main.split_once('/').map(|(_, main)| main.to_owned());
        found.sort_by_key(|(name, _)| Some(name) != main.as_ref());
        Some(found)
    }

    /// A path below the session's folder, as its record has it.
    pub(super) fn name_of(&self, path: &Path) -> String {
        relative(path, &self.folder)
    }
}
