//! What lies where in a session's folder.

use std::path::{Path, PathBuf};

use antiphon_sources::relative;

use super::bytes::{self, Bytes, Folder};
use super::generation::{generation, generation_name, generations, plain};
use super::pack;
use super::state::{Found, STATE_FILE, State};

/// The folder of the session of which a file is a copy.
pub(crate) fn folder_of(copy: &Path) -> Option<&Path> {
    let is_generation = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() == 6 && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    let generation = copy.ancestors().skip(1).find(|folder| is_generation(folder))?;
    generation.parent().filter(|folder| is_kept(folder))
}

/// Whether there is a copy in a session's folder, be its `session.json` there or not.
pub(crate) fn is_kept(folder: &Path) -> bool {
    folder.join(STATE_FILE).is_file() || !generations(folder).is_empty()
}

/// Whether there are copies in a session's folder, and nothing that says whose they are.
pub(crate) fn has_lost_its_record(folder: &Path) -> bool {
    matches!(State::find(folder), Found::MadeUp(_))
}

/// What the agent calls the session in this folder; its key, where the agent has no name for it
/// but a path.
pub(crate) fn name_of(folder: &Path) -> Option<String> {
    let name = State::read(folder)?.session_id;
    let is_name = !name.is_empty() && !name.contains(['/', '\\']);
    if is_name { Some(name) } else { folder.file_name()?.to_str().map(str::to_owned) }
}

/// The files of the copy whose main file this is, under the names that the agent gave them;
/// nothing, if it is no copy.
pub(crate) fn native_files_at(main: &Path) -> Option<Vec<(PathBuf, PathBuf)>> {
    folder_of(main).map(native_files)
}

/// The files of the newest copy under the names that the agent gave them, the main one first.
fn native_files(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let newest = newest_copy(folder);
    let state = State::read(folder).unwrap_or_default();
    let main = main_file(folder);
    let mut files: Vec<(PathBuf, PathBuf)> = Vec::new();
    let bytes = Folder::new(&newest);
    for stored in bytes.list("").into_iter().filter(|name| !bytes::is_half_written(name)) {
        let path = newest.join(&stored);
        let plain = plain(&path);
        // Where both forms are there, the plain one counts.
        if plain != path && plain.is_file() {
            continue;
        }
        let known = state.files.get(&relative(&plain, folder));
        let own = plain.strip_prefix(&newest).unwrap_or(&plain).to_owned();
        let name = known.and_then(|copy| Some(copy.was.clone()?.0)).unwrap_or(own);
        files.push((name, path));
    }
    files.sort_by_key(|(name, path)| (Some(path) != main.as_ref(), name.clone()));
    files
}

/// The names of the copies in a session's folder, and of what tells of them.
pub(crate) fn copies(folder: &Path) -> Vec<String> {
    let bytes = Folder::new(folder);
    let generations = generations(folder).into_iter();
    let names = generations.flat_map(|number| bytes.list(&generation_name(number)));
    names.chain([STATE_FILE.to_owned()]).collect()
}

/// The main file of the newest copy in a session's folder.
pub(crate) fn main_file(folder: &Path) -> Option<PathBuf> {
    let state = State::read(folder)?;
    let name = match &state.main {
        Some(name) => Path::new(name),
        None => Path::new(state.source.file_name()?),
    };
    let mut generations = generations(folder);
    generations.sort_unstable_by(|a, b| b.cmp(a));
    let files = generations.into_iter().map(|number| generation(folder, number).join(name));
    let files = files.map(|file| plain(&file));
    let mut forms = files.flat_map(|file| [pack::packed(&file), file].into_iter().rev());
    // A file that was cut to nothing says less than what was kept of it before.
    forms.find(|file| file.metadata().is_ok_and(|it| it.is_file() && it.len() > 0))
}

/// The folder of the newest copy: names of files are relative to it.
pub(crate) fn newest_copy(folder: &Path) -> PathBuf {
    let main = main_file(folder).unwrap_or_default();
    let newest = main.ancestors().find(|it| it.parent() == Some(folder));
    newest.unwrap_or(folder).to_owned()
}
