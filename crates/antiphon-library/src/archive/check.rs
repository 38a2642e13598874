//! Whether the copies of a session are what was written.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use antiphon_model::{Place, Problem, Severity};

use super::copy::replace;
use super::state::{FileCopy, Found, STATE_FILE, State};
use super::sums::Sums;
use super::{folder_of, generation, generations, main_file, pack};

/// A file of the store that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub path: PathBuf,
    pub what: String,
}

/// How much of a session is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What nothing else checks: copies that are not packed.
    Unpacked,
    /// Every byte.
    All,
}

/// What is damaged in a session's folder.
pub(crate) fn damages(folder: &Path, depth: Depth) -> Vec<Damage> {
    let found = damages_now(folder, depth);
    if found.is_empty() {
        return found;
    }
    // Another process may just be writing: it is looked at again while none can.
    let lock = File::open(folder).and_then(|folder| folder.lock_shared().map(|()| folder));
    let found = damages_now(folder, depth);
    drop(lock);
    found
}

fn damages_now(folder: &Path, depth: Depth) -> Vec<Damage> {
    let (state, mut damages) = match State::find(folder) {
        Found::Whole(state) => (state, Vec::new()),
        Found::MadeUp(state) => {
            let what = match folder.join(STATE_FILE).exists() {
                true => "damaged; its content was reconstructed from the copies",
                false => "missing; its content was reconstructed from the copies",
            };
            let path = folder.join(STATE_FILE);
            (state, vec![Damage { path, what: what.to_owned() }])
        }
        Found::Nothing => return Vec::new(),
    };
    for (name, copy) in &state.files {
        let path = folder.join(name);
        if depth == Depth::Unpacked && !path.is_file() {
            continue;
        }
        damages.extend(damage(&path, copy));
    }
    if depth == Depth::All {
        if damages.is_empty() && main_file(folder).is_none() {
            let what = "its main file was never copied whole".to_owned();
            damages.push(Damage { path: folder.to_owned(), what });
        }
        // Of older copies nothing is known but what the packed ones say themselves.
        for number in generations(folder) {
            let unknown = files(&generation(folder, number)).into_iter();
            let unknown = unknown.filter(|path| !state.files.contains_key(&name_in(folder, path)));
            for path in unknown.filter(|path| path.extension().is_some_and(|it| it == "zst")) {
                let what = Sums::of_zstd(&path).err().map(|error| error.to_string());
                let what = what.or_else(|| table_damage(&path, false));
                damages.extend(what.map(|what| Damage { path, what }));
            }
        }
    }
    damages
}

/// Writes a session's record again that is damaged or missing, if that is all that is wrong: its
/// agent may not have the session any more, and then nobody else does it. Whether it is right now.
pub(crate) fn restore_record(folder: &Path) -> io::Result<bool> {
    let _lock = File::open(folder).and_then(|folder| folder.lock().map(|()| folder))?;
    let Found::MadeUp(state) = State::find(folder) else { return Ok(false) };
    let copies = damages_now(folder, Depth::All).into_iter();
    if copies.filter(|it| it.path != folder.join(STATE_FILE)).count() > 0 {
        return Ok(false);
    }
    replace(&folder.join(STATE_FILE), state.to_text()?.as_bytes())?;
    Ok(true)
}

/// What is wrong with a copy, if anything is.
pub(super) fn damage(path: &Path, copy: &FileCopy) -> Option<Damage> {
    let packed = pack::packed(path);
    let (stored, is_packed) = if path.is_file() { (path, false) } else { (&*packed, true) };
    let damaged = |what: String| Some(Damage { path: stored.to_owned(), what });
    let file = match File::open(stored) {
        Ok(file) => file,
        Err(error) => return damaged(format!("missing or unreadable: {error}")),
    };
    let found = match is_packed && !copy.is_raw {
        true => Sums::of_zstd(stored),
        // What came behind it before it could be written down is for the next copy to compare.
        false => Sums::of_all(file.take(copy.sums.len)),
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => return damaged(format!("cannot be unpacked: {error}")),
    };
    match copy.sums.first_difference(&found) {
        Some(at) if found.len < copy.sums.len => damaged(format!(
            "{} bytes instead of {}, differing from byte {at} on",
            found.len, copy.sums.len
        )),
        Some(at) => damaged(format!("not the bytes that were written, from byte {at} on")),
        None if is_packed && !copy.is_packed_by_agent() => {
            table_damage(stored, true).and_then(damaged)
        }
        None => None,
    }
}

/// What is wrong with the table of a packed file.
fn table_damage(path: &Path, is_ours: bool) -> Option<String> {
    let right = fs::read(path).and_then(|bytes| pack::right_table(&bytes));
    match right {
        Ok(Some(true)) => None,
        Ok(None) if !is_ours => None,
        Ok(_) => Some("its table of blocks is damaged".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// What a reader is told of a session whose main file is at a path; nothing, where that is no copy.
pub(crate) fn problems_of(main: &Path) -> Vec<Problem> {
    let Some(folder) = folder_of(main) else { return Vec::new() };
    let problem = |damage: Damage| Problem {
        severity: Severity::Error,
        code: DAMAGED,
        line: 0,
        message: format!("`{}`: {}", name_in(folder, &damage.path), damage.what),
        place: Place::NONE,
    };
    damages(folder, Depth::Unpacked).into_iter().map(problem).collect()
}

/// Whether a problem with this code says that a copy is not what was written.
pub(crate) fn is_damage(code: &str) -> bool {
    matches!(code, DAMAGED | "packed" | "unreadable")
}

/// The code of the problem that a copy is not what was written.
const DAMAGED: &str = "damaged-copy";

/// A path below a session's folder, as the state has it.
pub(super) fn name_in(folder: &Path, path: &Path) -> String {
    antiphon_sources::relative(path, folder)
}

/// Every file below a folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    files.sort();
    files
}
