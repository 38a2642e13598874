//! Checking whether the copies of a session are what was written.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use antiphon_model::{Place, Problem, Severity};
use antiphon_sources::COMPRESSED_SUFFIX;

use super::bytes::{self, Bytes, Settled};
use super::copies::Copies;
use super::generation::{generation_name, generations};
use super::state::{FileCopy, Found, STATE_FILE};
use super::sums::Sums;
use super::{pack, seekable};

/// A file in the store that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub path: PathBuf,
    pub what: String,
}

/// How much of a session is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only what nothing else checks: uncompressed copies.
    Unpacked,
    /// Every byte.
    All,
}

/// The damaged files in a session's folder.
pub(crate) fn damages(folder: &Path, depth: Depth) -> Vec<Damage> {
    let found = damages_now(&Copies::at(folder), depth);
    if found.is_empty() {
        return found;
    }
    // Another process may be writing at the moment, so it is checked again under a lock.
    let lock = File::open(folder).and_then(|folder| folder.lock_shared().map(|()| folder));
    let found = damages_now(&Copies::at(folder), depth);
    drop(lock);
    found
}

fn damages_now(copies: &Copies, depth: Depth) -> Vec<Damage> {
    let (folder, bytes) = (copies.folder(), copies.bytes());
    let (state, mut damages) = match copies.find_state() {
        Found::Whole(state) => (state, Vec::new()),
        Found::MadeUp(state) => {
            let what = match bytes.len(STATE_FILE).is_some() {
                true => "damaged; its content was reconstructed from the copies",
                false => "missing; its content was reconstructed from the copies",
            };
            let path = folder.join(STATE_FILE);
            (state, vec![Damage { path, what: what.to_owned() }])
        }
        Found::Nothing if copies.packed().is_some() => {
            let what = "cannot be read from the pack that it is in".to_owned();
            return vec![Damage { path: folder.to_owned(), what }];
        }
        Found::Nothing => return Vec::new(),
    };
    let at = |name: &str, what: String| Damage { path: folder.join(name), what };
    for (name, copy) in &state.files {
        if depth == Depth::Unpacked && bytes.len(name).is_none() {
            continue;
        }
        let found = damage(bytes, name, copy).map(|(name, what)| at(&name, what));
        let unhashed = || Some(at(name, unhashed(bytes, name, copy)?));
        damages.extend(found.or_else(|| unhashed().filter(|_| depth == Depth::All)));
    }
    if depth == Depth::All {
        if damages.is_empty() && copies.main().is_none() {
            let what = "its main file was never copied completely".to_owned();
            damages.push(Damage { path: folder.to_owned(), what });
        }
        // Nothing is recorded about older copies, except the checksums in compressed ones.
        for number in generations(bytes) {
            let unknown = bytes.list(&generation_name(number)).into_iter();
            let unknown = unknown.filter(|name| !state.files.contains_key(name));
            for name in unknown.filter(|name| name.ends_with(COMPRESSED_SUFFIX)) {
                let sums = bytes.open(&name).and_then(Sums::of_zstd);
                let what = sums.err().map(|error| error.to_string());
                let what = what.or_else(|| table_damage(bytes, &name, false));
                damages.extend(what.map(|what| at(&name, what)));
            }
        }
    }
    damages
}

/// Rewrites a damaged or missing record of a session, if nothing else is wrong. Its agent may have
/// deleted the session, so no later copy would do it. Returns whether the record is correct now.
pub(crate) fn restore_record(folder: &Path) -> io::Result<bool> {
    let _lock = File::open(folder).and_then(|folder| folder.lock().map(|()| folder))?;
    let copies = Copies::at(folder);
    let Found::MadeUp(state) = copies.find_state() else { return Ok(false) };
    let damages = damages_now(&copies, Depth::All).into_iter();
    if damages.filter(|it| it.path != folder.join(STATE_FILE)).count() > 0 {
        return Ok(false);
    }
    let text = state.to_text()?;
    bytes::write(copies.bytes(), STATE_FILE, Settled::Later, text.as_bytes())?;
    Ok(true)
}

/// The name of a copy in the form that exists, and what is wrong with it, if anything is.
pub(super) fn damage(bytes: &dyn Bytes, name: &str, copy: &FileCopy) -> Option<(String, String)> {
    let packed = pack::packed_name(name);
    let is_packed = bytes.len(name).is_none();
    let stored = if is_packed { &*packed } else { name };
    let damaged = |what: String| Some((stored.to_owned(), what));
    let file = match bytes.open(stored) {
        Ok(file) => file,
        Err(error) => return damaged(format!("missing or unreadable: {error}")),
    };
    let found = match is_packed && !copy.is_raw {
        true => Sums::of_zstd(file),
        // Bytes after what was recorded are for the next copy to compare.
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
        Some(at) => damaged(format!("differs from what was written, from byte {at} on")),
        None if is_packed && !copy.is_packed_by_agent() => {
            table_damage(bytes, stored, true).and_then(damaged)
        }
        None => None,
    }
}

/// Reports bytes after what was hashed: a copy was interrupted there. The next one compares them
/// with the source; until then they are unverified.
fn unhashed(bytes: &dyn Bytes, name: &str, copy: &FileCopy) -> Option<String> {
    let more = bytes.len(name)?.checked_sub(copy.sums.len).filter(|more| *more > 0)?;
    Some(format!("has {more} bytes at its end that were never recorded; run `antiphon sync`"))
}

/// What is wrong with the seek table of a compressed file.
fn table_damage(bytes: &dyn Bytes, name: &str, is_ours: bool) -> Option<String> {
    let right = bytes::read(bytes, name).and_then(|packed| seekable::right_table(&packed));
    match right {
        Ok(Some(true)) => None,
        Ok(None) if !is_ours => None,
        Ok(_) => Some("its block table is damaged".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// The problems to report for the session whose main file is at a path; none, if it is not a copy.
pub(crate) fn problems_of(main: &Path) -> Vec<Problem> {
    let Some(copies) = Copies::of_copy(main) else { return Vec::new() };
    let problem = |damage: Damage| Problem {
        severity: Severity::Error,
        code: DAMAGED,
        line: 0,
        message: format!("`{}`: {}", copies.name_of(&damage.path), damage.what),
        place: Place::NONE,
    };
    damages(copies.folder(), Depth::Unpacked).into_iter().map(problem).collect()
}

/// Whether a problem with this code says that a copy is not what was written.
pub(crate) fn is_damage(code: &str) -> bool {
    matches!(code, DAMAGED | "packed" | "unreadable")
}

/// The code of the problem that a copy is not what was written.
const DAMAGED: &str = "damaged-copy";
