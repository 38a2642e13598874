//! Finding the agents' sessions.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use antiphon_formats::{FORMATS, Format, Kept};
use antiphon_journal::regular;
use antiphon_sources::{
    COMPRESSED_SUFFIX, Database, Error, FolderListing, head, is_outdated, name, relative,
};

use super::stamp::own_folder;
use crate::Environment;
use crate::archive::{Known, Source};

/// A folder, a database or a file in which an agent keeps sessions.
#[derive(Debug)]
pub struct SourceFolder {
    pub agent: &'static str,
    pub path: PathBuf,
    /// After how many days without a change the agent deletes a session, unless told otherwise.
    pub deletes_after_days: Option<u32>,
}

/// A session to be copied.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) source: Source,
    /// Its database, and a text that changes when the session does.
    pub(super) database: Option<(Arc<Mutex<Database>>, String)>,
    /// The session that created it, if it is stored with that one.
    parent: Option<String>,
    /// The files of the sessions that it created, if they are known.
    children: Option<Vec<PathBuf>>,
    /// Whether there may be a folder of its own beside its main file.
    pub(super) has_folder: bool,
}

impl Wanted {
    /// The main files of the sessions that it created, as far as they are known.
    pub(super) fn children(&self) -> &[PathBuf] {
        self.children.as_deref().unwrap_or_default()
    }

    pub(super) fn known<'a>(&'a self, nearby: &'a FolderListing) -> Known<'a> {
        match (&self.database, &self.children) {
            (Some((database, _)), _) => Known::Database(database),
            (None, Some(children)) => Known::Children(children),
            (None, None) => Known::FolderListing(nearby),
        }
    }
}

/// The folders in which agents keep their sessions, as far as they exist.
pub fn source_folders(environment: &Environment) -> Vec<SourceFolder> {
    let kept = FORMATS.iter().filter_map(|format| Some((format, format.layout.kept.as_ref()?)));
    let places = |(format, kept)| {
        let mut places = folders(format, kept, environment);
        places.extend(in_projects(format, environment));
        places
    };
    kept.flat_map(places).collect()
}

/// Files in the folders that an agent worked in. Not all of those are known: this looks in the
/// home, in the current folder and those above it, and wherever a file was found before.
fn in_projects(format: &'static Format, environment: &Environment) -> Vec<SourceFolder> {
    let Environment { home, current_folder, .. } = environment;
    let above = current_folder.iter().flat_map(|folder| folder.ancestors());
    let folders: BTreeSet<&Path> = above.chain(home.as_deref()).collect();
    let names = format.layout.in_projects.iter();
    let near = names.flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let is_one_of_them = !format.layout.in_projects.is_empty();
    let store = environment.store_folder().filter(|_| is_one_of_them);
    let before = store.map(|store| crate::archive::sources_of(&store, format.name));
    let files = near.chain(before.into_iter().flatten()).filter(|path| path.is_file());
    // However its folder was reached, it is one session.
    let real = |path: PathBuf| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let files: BTreeSet<PathBuf> = files.filter_map(real).collect();
    let files = files.into_iter();
    files.map(|path| SourceFolder { agent: format.name, path, deletes_after_days: None }).collect()
}

fn folders(format: &Format, kept: &Kept, environment: &Environment) -> Vec<SourceFolder> {
    let homes = environment.agent_folders(kept);
    let below = |names: &[&str]| -> Vec<PathBuf> {
        homes.iter().flat_map(|home| names.iter().map(|name| home.join(name))).collect()
    };
    let folders = below(kept.below).into_iter().filter(|path| path.is_dir());
    // An invalid database is reported when it is opened; an empty one may still be filled.
    let is_begun = |path: &PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.len() > 0);
    let databases = format.layout.database.as_ref().map(|it| below(it.files));
    let databases = databases.into_iter().flatten().filter(is_begun);
    let set = homes.iter().find_map(|home| days_set(home, format));
    let deletes_after_days = kept.deletes_after_days.map(|days| set.unwrap_or(days));
    let there = folders.chain(databases);
    there.map(|path| SourceFolder { agent: format.name, path, deletes_after_days }).collect()
}

/// The number of days that the agent's settings keep sessions.
fn days_set(home: &Path, format: &Format) -> Option<u32> {
    let (file, name) = format.layout.days_setting?;
    let settings = regular::read(&home.join(file)).ok()?;
    let settings: serde_json::Value = serde_json::from_slice(&settings).ok()?;
    settings.get(name)?.as_u64()?.try_into().ok()
}

/// The sessions below a folder or in a database, or the one in a file.
fn sessions(folder: &SourceFolder) -> Result<Vec<Wanted>, Error> {
    look(folder).map(|found| found.sessions)
}

/// The content of a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) sessions: Vec<Wanted>,
    /// Files that may belong to sub-agents of missing sessions.
    pub(super) others: Vec<PathBuf>,
    /// Links to folders elsewhere, which are not followed.
    pub(super) links: Vec<PathBuf>,
}

pub(super) fn look(folder: &SourceFolder) -> Result<Found, Error> {
    let format = antiphon_formats::find(folder.agent);
    if folder.path.is_file() {
        let sessions = match format.is_some_and(|format| !format.layout.in_projects.is_empty()) {
            true => vec![in_project(folder)],
            false => in_database(folder)?,
        };
        return Ok(Found { sessions, ..Found::default() });
    }
    let Some((format, kept)) = format.and_then(|it| Some((it, it.layout.kept.as_ref()?))) else {
        return Ok(Found::default());
    };
    let (mut found, mut others, mut links) = (Vec::new(), Vec::new(), Vec::new());
    let mut folders = vec![folder.path.clone()];
    let mut seen = HashSet::new();
    while let Some(below) = folders.pop() {
        for (path, kind) in entries(&below) {
            match kind {
                Kind::Folder => {
                    seen.insert(path.clone());
                    folders.push(path);
                    continue;
                }
                Kind::LinkToFolder => {
                    seen.insert(path.clone());
                    // A target inside the folder is found there anyway.
                    if !regular::is_within(&path, &folder.path) {
                        links.push(path);
                    }
                    continue;
                }
                Kind::Other => {}
            }
            let relative = relative(&path, &folder.path);
            let plain = relative.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&relative);
            if let Some(id) = (kept.session)(plain)
                && !is_outdated(&path)
            {
                let made_by = |by: fn(&str) -> Option<String>| {
                    by(&head(&path).ok()?).filter(|it| !is_called(id, it))
                };
                let parent = format.layout.made_by.and_then(made_by);
                let (session_id, within) = (id.to_owned(), folder.path.clone());
                let source = Source { agent: folder.agent, session_id, file: path, within };
                let (database, children, has_folder) = (None, None, false);
                found.push(Wanted { source, database, parent, children, has_folder });
            } else {
                others.push(path);
            }
        }
    }
    found.sort_by(|a, b| a.source.file.cmp(&b.source.file));
    for wanted in &mut found {
        wanted.has_folder = !seen.is_empty() && seen.contains(&own_folder(&wanted.source.file));
    }
    if let Some(fallback) = kept.fallback {
        leave_out_fallbacks(&mut found, fallback);
    }
    if format.layout.made_by.is_some() {
        name_parents(&mut found);
        break_circles(&mut found);
        add_children(&mut found);
    }
    // A file in a session's own folder belongs to that session.
    let own_folders: BTreeSet<PathBuf> =
        found.iter().map(|it| it.source.file.with_extension("")).collect();
    others.retain(|path| {
        let is_claimed = path.ancestors().skip(1).any(|above| own_folders.contains(above));
        !is_claimed && format.layout.owners.is_some() && !is_outdated(path)
    });
    others.sort();
    Ok(Found { sessions: found, others, links })
}

/// A kind of entry in a folder.
enum Kind {
    Folder,
    LinkToFolder,
    Other,
}

/// The entries of a folder. Only links have to be followed to know their kind.
fn entries(folder: &Path) -> impl Iterator<Item = (PathBuf, Kind)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| {
        let path = entry.path();
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_dir() => Kind::Folder,
            Ok(kind) if kind.is_symlink() && path.is_dir() => Kind::LinkToFolder,
            Ok(_) | Err(_) => Kind::Other,
        };
        (path, kind)
    })
}

/// Removes fallback files beside the usual main file, which belong to the same session.
fn leave_out_fallbacks(found: &mut Vec<Wanted>, fallback: &str) {
    let is_fallback = |file: &Path| {
        let name = relative(file, file.parent().unwrap_or(Path::new("")));
        name.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&name) == fallback
    };
    let folder = |wanted: &Wanted| wanted.source.file.parent().map(Path::to_owned);
    let usual = found.iter().filter(|wanted| !is_fallback(&wanted.source.file));
    let usual: BTreeSet<Option<PathBuf>> = usual.map(folder).collect();
    found.retain(|wanted| !is_fallback(&wanted.source.file) || !usual.contains(&folder(wanted)));
}

/// Whether a file belongs to a sub-agent.
pub(super) fn is_sub_agents(path: &Path, agent: &str) -> bool {
    let owners = antiphon_formats::find(agent).and_then(|format| format.layout.owners);
    owners.is_some_and(|owners| !owners(&head(path).unwrap_or_default()).is_empty())
}

/// Whether the session that is stored under this name has that id.
fn is_called(name: &str, id: &str) -> bool {
    let before = name.strip_suffix(id);
    before.is_some_and(|before| before.is_empty() || before.ends_with('-'))
}

/// Replaces the ids of parents by the names under which they are stored.
fn name_parents(found: &mut [Wanted]) {
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    // Reversed names, so that those with the same end are adjacent.
    let names: BTreeSet<String> =
        found.iter().map(|wanted| backwards(&wanted.source.session_id)).collect();
    for parent in found.iter_mut().filter_map(|wanted| wanted.parent.as_mut()) {
        let id = backwards(parent);
        let alike = names.range(id.clone()..).take_while(|name| name.starts_with(&id));
        let name = alike.map(|name| backwards(name)).find(|name| is_called(name, parent));
        *parent = name.unwrap_or_else(|| std::mem::take(parent));
    }
}

/// If sessions name each other as creators, one of them is treated as having no creator: otherwise
/// each would be stored with another, and none would be stored.
fn break_circles(found: &mut [Wanted]) {
    let numbered = || found.iter().enumerate();
    let by_id: BTreeMap<&str, usize> =
        numbered().map(|(at, it)| (&*it.source.session_id, at)).collect();
    let parents = found.iter().map(|it| by_id.get(it.parent.as_deref()?).copied());
    let parents: Vec<Option<usize>> = parents.collect();
    let mut broken = Vec::new();
    // The walk in which each session was visited.
    let mut walks: Vec<Option<usize>> = vec![None; found.len()];
    for first in 0..found.len() {
        let mut next = Some(first);
        while let Some((at, walk)) = next.and_then(|at| Some((at, walks.get_mut(at)?))) {
            if walk.is_some() {
                broken.extend((*walk == Some(first)).then_some(at));
                break;
            }
            *walk = Some(first);
            next = parents.get(at).copied().flatten();
        }
    }
    for at in broken {
        if let Some(wanted) = found.get_mut(at) {
            wanted.parent = None;
        }
    }
}

/// Adds to each session those that it created, directly or indirectly.
fn add_children(found: &mut [Wanted]) {
    let mut by_parent: BTreeMap<String, Vec<(String, PathBuf)>> = BTreeMap::new();
    for Wanted { source, parent, .. } in found.iter() {
        if let Some(parent) = parent {
            let child = (source.session_id.clone(), source.file.clone());
            by_parent.entry(parent.clone()).or_default().push(child);
        }
    }
    let ids: BTreeSet<String> = found.iter().map(|it| it.source.session_id.clone()).collect();
    // A created session is stored with its creator.
    let is_made = |it: &Wanted| it.parent.as_ref().is_some_and(|parent| ids.contains(parent));
    for wanted in found.iter_mut().filter(|it| !is_made(it)) {
        let mut seen = BTreeSet::from([wanted.source.session_id.clone()]);
        let mut left = vec![wanted.source.session_id.clone()];
        let mut children = Vec::new();
        while let Some(id) = left.pop() {
            for (child, file) in by_parent.get(&id).into_iter().flatten() {
                if seen.insert(child.clone()) {
                    children.push(file.clone());
                    left.push(child.clone());
                }
            }
        }
        wanted.children = Some(children);
    }
}

/// A session in a project folder, which has no name except its path.
fn in_project(folder: &SourceFolder) -> Wanted {
    let file = folder.path.clone();
    let session_id = name::text(file.as_os_str()).into_owned();
    let source = Source::new(folder.agent, session_id, file);
    Wanted { source, database: None, parent: None, children: None, has_folder: true }
}

fn in_database(folder: &SourceFolder) -> Result<Vec<Wanted>, Error> {
    let within = folder.path.parent().unwrap_or(Path::new(""));
    regular::open_within(&folder.path, within)
        .map_err(|source| Error::Read { path: folder.path.clone(), source })?;
    let database = Database::open(&folder.path)?;
    let sessions: Vec<(String, String)> =
        database.sessions().map(|row| (row.id.clone(), database.stamp(&row.id))).collect();
    let agent = database.agent();
    let database = Arc::new(Mutex::new(database));
    let wanted = |(session_id, stamp): (String, String)| {
        let file = folder.path.join(&session_id);
        let source = Source::new(agent, session_id, file);
        let database = Some((Arc::clone(&database), stamp));
        Wanted { source, database, parent: None, children: None, has_folder: true }
    };
    Ok(sessions.into_iter().map(wanted).collect())
}

/// One source for each session. An agent that has changed its way of storing sessions leaves the
/// old files in place. A database is preferred, then files of lines (the longest first), then the
/// file that changed last.
///
/// A session that is stored with its creator is not stored alone. Two files of lines are two
/// sessions, unless one is a prefix of the other.
pub(super) fn one_of_each(mut found: Vec<Wanted>) -> Vec<Wanted> {
    tell_apart(&mut found);
    let rank = |wanted: &Wanted| -> (bool, bool, Option<u64>, Option<SystemTime>) {
        let file = &wanted.source.file;
        let metadata = file.metadata().ok();
        let len = metadata.as_ref().filter(|_| is_plain(wanted)).map(fs::Metadata::len);
        let changed = metadata.and_then(|metadata| metadata.modified().ok());
        (wanted.database.is_some(), is_lines(file), len, changed)
    };
    let mut sources: Vec<Wanted> = Vec::new();
    let mut known: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
    for wanted in found {
        let id = (wanted.source.agent, wanted.source.session_id.clone());
        match known.get(&id).and_then(|&at| sources.get_mut(at)) {
            Some(other) if rank(&wanted) > rank(other) => *other = wanted,
            Some(_) => {}
            None => {
                known.insert(id, sources.len());
                sources.push(wanted);
            }
        }
    }
    let files = sources.iter().filter(|wanted| wanted.database.is_none());
    let files: BTreeSet<(&str, String)> =
        files.map(|it| (it.source.agent, it.source.session_id.clone())).collect();
    sources.retain(|wanted| {
        let parent = wanted.parent.clone().map(|parent| (wanted.source.agent, parent));
        parent.is_none_or(|parent| !files.contains(&parent))
    });
    sources
}

/// Gives a name of its own to each file that has the name of another but continues differently, as
/// when an agent continued a session in another folder.
fn tell_apart(found: &mut [Wanted]) {
    let mut known: BTreeMap<(&'static str, String), Vec<PathBuf>> = BTreeMap::new();
    for wanted in found.iter_mut().filter(|it| is_plain(it)) {
        let Source { agent, session_id, file, .. } = &mut wanted.source;
        let others = known.entry((*agent, session_id.clone())).or_default();
        if !others.is_empty() && others.iter().all(|other| !goes_on_alike(other, file)) {
            let folder = file.parent().unwrap_or(Path::new(""));
            let hash = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
            *session_id = format!("{session_id}@{}", hash.get(..12).unwrap_or_default());
        }
        others.push(file.clone());
    }
}

/// Whether it is an uncompressed file of lines.
fn is_plain(wanted: &Wanted) -> bool {
    wanted.database.is_none() && wanted.source.file.extension().is_some_and(|it| it == "jsonl")
}

/// Whether the longer of two files of lines begins with the shorter one. Its last bytes are
/// compared, since every line has a time and an id.
fn goes_on_alike(one: &Path, other: &Path) -> bool {
    const TAIL_BYTES: u64 = 64 << 10;
    let len = |path: &Path| path.metadata().map(|it| it.len());
    let (Ok(a), Ok(b)) = (len(one), len(other)) else { return true };
    let end = a.min(b);
    let tail = |path: &Path| regular::read_range(path, end.saturating_sub(TAIL_BYTES)..end);
    match (tail(one), tail(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => true,
    }
}

fn is_lines(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(COMPRESSED_SUFFIX).unwrap_or(&name).ends_with(".jsonl")
}

/// The main files of the sessions that are files.
pub(crate) fn files(folder: &SourceFolder) -> Result<Vec<PathBuf>, Error> {
    let found = sessions(folder)?.into_iter().filter(|wanted| wanted.database.is_none());
    Ok(found.map(|wanted| wanted.source.file).collect())
}

/// The main files of the sessions in a folder, and the paths that stand for them in a database.
pub(crate) fn main_files(folder: &SourceFolder) -> Vec<PathBuf> {
    let found = sessions(folder).unwrap_or_default();
    found.into_iter().map(|wanted| wanted.source.file).collect()
}
