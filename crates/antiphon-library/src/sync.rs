//! Finding the sessions of every agent on this machine, and keeping what is new of them.
//!
//! Where an agent keeps its sessions is the format's to say ([`antiphon_formats::Kept`]). A session
//! whose files have the sizes and times that they had when it was last copied is not opened.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use antiphon_formats::{FORMATS, Format, Kept};

use crate::archive::{self, Copied, Source};
use crate::bundle::{list, relative};
use crate::file::PACKED;
use crate::{Environment, Error, Key, Store};

/// What a round of keeping came to.
#[derive(Debug, Default)]
pub struct Synced {
    /// Sessions that were found.
    pub found: usize,
    /// Those of which something was new.
    pub copied: usize,
    /// Those that another process is copying just now.
    pub busy: usize,
    pub failed: Vec<(PathBuf, Error)>,
}

/// A folder in which an agent keeps sessions.
#[derive(Debug)]
pub struct SourceFolder {
    pub agent: &'static str,
    pub path: PathBuf,
    /// After how many days without a change the agent deletes a session, unless told otherwise.
    pub deletes_after_days: Option<u32>,
}

/// Where the agents keep their sessions, as far as those folders are there.
pub fn source_folders(environment: &Environment) -> Vec<SourceFolder> {
    let kept = FORMATS.iter().filter_map(|format| Some((format, format.kept.as_ref()?)));
    kept.flat_map(|(format, kept)| folders(format, kept, environment)).collect()
}

fn folders(format: &Format, kept: &Kept, environment: &Environment) -> Vec<SourceFolder> {
    let own = std::env::var_os(kept.variable).map(PathBuf::from);
    let own = own.filter(|path| !path.as_os_str().is_empty());
    let in_home = |home: &PathBuf| kept.folders.iter().map(|it| home.join(it)).collect();
    let homes = own.map(|own| vec![own]).or_else(|| environment.home.as_ref().map(in_home));
    let homes = homes.unwrap_or_default();
    let below = homes.iter().flat_map(|home| kept.below.iter().map(|below| home.join(below)));
    let there = below.filter(|path| path.is_dir());
    let deletes_after_days = kept.deletes_after_days;
    there.map(|path| SourceFolder { agent: format.name, path, deletes_after_days }).collect()
}

/// The main files of sessions below a folder.
fn sessions(folder: &SourceFolder) -> Vec<Source> {
    let Some(kept) =
        FORMATS.iter().find(|it| it.name == folder.agent).and_then(|it| it.kept.as_ref())
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut folders = vec![folder.path.clone()];
    while let Some(below) = folders.pop() {
        for path in list(&below) {
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
                continue;
            }
            let relative = relative(&path, &folder.path);
            let plain = relative.strip_suffix(PACKED).unwrap_or(&relative);
            if let Some(id) = (kept.session)(plain)
                && !crate::is_outdated(&path)
            {
                found.push(Source { agent: folder.agent, session_id: id.to_owned(), file: path });
            }
        }
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

/// The main files of the sessions in a folder.
pub fn main_files(folder: &SourceFolder) -> Vec<PathBuf> {
    sessions(folder).into_iter().map(|source| source.file).collect()
}

impl Store {
    /// Copies what is new of every session, on as many threads as there are processors. `each` is
    /// told after each session how many are done, of how many.
    pub fn sync(
        &self,
        environment: &Environment,
        agent: Option<&str>,
        each: &(dyn Fn(usize, usize) + Sync),
    ) -> Synced {
        let folders = source_folders(environment);
        let wanted = folders.iter().filter(|it| agent.is_none_or(|agent| agent == it.agent));
        let sources: Vec<Source> = wanted.flat_map(sessions).collect();
        let synced = Mutex::new(Synced { found: sources.len(), ..Synced::default() });
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(sources.len()) {
                scope.spawn(|| {
                    while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = self.keep(source);
                        let mut synced = synced.lock().unwrap_or_else(PoisonError::into_inner);
                        match outcome {
                            Ok(None) => {}
                            Ok(Some(Copied::All | Copied::Unfinished)) => synced.copied += 1,
                            Ok(Some(Copied::Busy)) => synced.busy += 1,
                            Err(error) => synced.failed.push((source.file.clone(), error)),
                        }
                        drop(synced);
                        each(done.fetch_add(1, Ordering::Relaxed) + 1, sources.len());
                    }
                });
            }
        });
        let mut synced = synced.into_inner().unwrap_or_else(PoisonError::into_inner);
        synced.failed.sort_by(|a, b| a.0.cmp(&b.0));
        synced
    }

    /// Copies a session, unless it is as it was.
    fn keep(&self, source: &Source) -> Result<Option<Copied>, Error> {
        let key = Key::of(source.agent, &source.session_id);
        if self.is_forgotten(&key) {
            return Ok(None);
        }
        let folder = self.archive_folder(source.agent, &key);
        let stamp = stamp(&source.file);
        let stamp_file = folder.join("stamp");
        if fs::read_to_string(&stamp_file).is_ok_and(|known| known == stamp) {
            return Ok(None);
        }
        let copied = self.archive_packed(source)?;
        if copied == Copied::All {
            // What has changed meanwhile has another stamp, and is looked at next time.
            archive::replace(&stamp_file, stamp.as_bytes())
                .map_err(|error| Error::Write { path: stamp_file, source: error })?;
        }
        Ok(Some(copied))
    }
}

/// Sizes and times of a session's files: of its main one, and of those in its own folder.
fn stamp(main: &Path) -> String {
    let stem = main.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix(PACKED).unwrap_or(&stem);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let mut hash = blake3::Hasher::new();
    let mut paths = vec![main.to_owned()];
    let mut folders = vec![main.with_file_name(stem)];
    while let Some(folder) = folders.pop() {
        let (below, files): (Vec<_>, Vec<_>) =
            list(&folder).into_iter().partition(|it| it.is_dir());
        folders.extend(below.into_iter().filter(|it| !it.is_symlink()));
        paths.extend(files);
    }
    paths.sort();
    for path in paths {
        let Ok(metadata) = path.metadata() else { continue };
        let time =
            metadata.modified().ok().and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update(&metadata.len().to_le_bytes());
        hash.update(&time.unwrap_or_default().as_nanos().to_le_bytes());
    }
    hash.finalize().to_hex().to_string()
}
