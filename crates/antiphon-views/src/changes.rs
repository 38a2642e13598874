//! What sessions changed: a difference for each file, from what edits say.

use std::collections::BTreeMap;

use antiphon_model::{BodyError, CallIx};
use serde::Serialize;

use crate::Reading;
use crate::edit_log::{EditLog, EditingCall, PossibleChange};
use crate::edits::{Change, Edit, FileHistory, edits, relative_path};
use crate::unified::{FileDiff, write_diff};

/// What changed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    /// The files, in the order in which they were first changed.
    pub files: Vec<ChangedFile>,
    /// A unified diff of all files, which `git apply` takes where the base is known.
    pub diff: String,
    /// Shell commands that may have changed files; what they changed is not in the diff.
    pub possible: Vec<PossibleChange>,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFile {
    /// Its path within the project.
    pub path: String,
    /// The path that it had before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// What became of it.
    pub status: FileStatus,
    /// The number of lines that are in the file and were not before.
    pub added: usize,
    /// The number of lines that were in the file and are not any more.
    pub removed: usize,
    /// Whether the content before the first change is known.
    pub base: Base,
    /// Whether something else changed the file between these edits: a person, or a shell command.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_by_others: bool,
    /// The ids of the sessions that changed it.
    pub sessions: Vec<String>,
    /// The ids of the calls that changed it.
    pub calls: Vec<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
}

impl FileStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
        }
    }
}

/// Whether the content of a file before its first change is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Base {
    Known,
    Unknown,
}

#[derive(Debug, Default)]
struct File {
    path: String,
    first_path: String,
    history: FileHistory,
    sessions: Vec<String>,
    calls: Vec<String>,
}

/// What the edits of a log changed; of one file only, if `file` names it by its path or the end of
/// its path.
pub fn changes(log: EditLog, file: Option<&str>) -> Changes {
    let (edits, possible) = log.in_order();
    let files = edited_files(edits.iter().map(|it| (&it.edit, Some(&*it.call))));
    let is_wanted = |path: &str| {
        file.is_none_or(|wanted| {
            let wanted = wanted.trim_start_matches("./");
            path == wanted || path.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('/'))
        })
    };
    let mut changes = Changes { files: Vec::new(), diff: String::new(), possible };
    for file in files.into_iter().filter(|it| is_wanted(&it.path) || is_wanted(&it.first_path)) {
        changes.files.extend(changed(file, &mut changes.diff));
    }
    changes
}

/// The files that the edits of a log changed, each with its part of the diff.
pub(crate) fn file_diffs(log: EditLog) -> Vec<(ChangedFile, String)> {
    let (edits, _) = log.in_order();
    let files = edited_files(edits.iter().map(|it| (&it.edit, Some(&*it.call))));
    let with_diff = |file| {
        let mut diff = String::new();
        changed(file, &mut diff).map(|file| (file, diff))
    };
    files.into_iter().filter_map(with_diff).collect()
}

/// What one call changed in a file, shown by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallEdit {
    /// The path of the file within the project.
    pub path: String,
    /// What became of it.
    pub status: FileStatus,
    /// The number of lines that were added.
    pub added: usize,
    /// The number of lines that were removed.
    pub removed: usize,
    /// Whether the whole file is known, so that the numbers of its lines are.
    pub base: Base,
    /// A unified diff of what changed.
    pub diff: String,
}

/// What one call changed, file by file; `root` is the folder of the project.
pub(crate) fn call_edits(
    reading: &Reading<'_>,
    ix: CallIx,
    root: Option<&str>,
) -> Result<Vec<CallEdit>, BodyError> {
    let cwd = reading.session.info().cwd.as_deref();
    let relative = |path: &str| relative_path(path, cwd, root.or(cwd));
    let edits: Vec<Edit> =
        edits(reading, ix)?.into_iter().map(|edit| edit.with_paths(relative)).collect();
    let shown =
        edited_files(edits.iter().map(|edit| (edit, None))).into_iter().filter_map(|file| {
            let mut diff = String::new();
            let ChangedFile { path, status, added, removed, base, .. } = changed(file, &mut diff)?;
            Some(CallEdit { path, status, added, removed, base, diff })
        });
    Ok(shown.collect())
}

/// The files that edits changed, in the order of the first change, each with all its edits.
fn edited_files<'a>(edits: impl Iterator<Item = (&'a Edit, Option<&'a EditingCall>)>) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let mut by_path: BTreeMap<String, usize> = BTreeMap::new();
    for (number, (edit, call)) in edits.enumerate() {
        let at = *by_path.entry(edit.path.clone()).or_insert(files.len());
        if at == files.len() {
            let (path, first_path) = (edit.path.clone(), edit.path.clone());
            files.push(File { path, first_path, ..File::default() });
        }
        let Some(file) = files.get_mut(at) else { continue };
        file.history.apply(number, &edit.before, &edit.change);
        if let Some(call) = call {
            add_once(&mut file.sessions, &call.session);
            add_once(&mut file.calls, &call.call_id);
        }
        if let Change::Rename(to) = &edit.change {
            by_path.remove(&edit.path);
            by_path.insert(to.clone(), at);
            file.path.clone_from(to);
        }
    }
    files
}

fn add_once(list: &mut Vec<String>, word: &str) {
    if list.last().is_none_or(|last| last != word) && !list.iter().any(|it| it == word) {
        list.push(word.to_owned());
    }
}

/// Writes the difference of a file, and says what it is. Nothing, if in the end nothing differs.
fn changed(file: File, diff: &mut String) -> Option<ChangedFile> {
    let File { path, first_path, history, sessions, calls } = file;
    let is_renamed = path != first_path;
    let status = match (history.was_there(), history.is_there()) {
        (false, false) => return None,
        (false, true) => FileStatus::Added,
        (true, false) => FileStatus::Deleted,
        (true, true) if is_renamed => FileStatus::Renamed,
        (true, true) => FileStatus::Modified,
    };
    let texts = history.texts();
    let is_same = texts.iter().all(|(before, after)| before == after);
    if is_same && history.has_known_base() && status == FileStatus::Modified {
        return None;
    }
    let sums = write_diff(diff, &FileDiff { old: &first_path, new: &path, status, texts: &texts });
    Some(ChangedFile {
        renamed_from: is_renamed.then_some(first_path),
        path,
        status,
        added: sums.added,
        removed: sums.removed,
        base: if history.has_known_base() { Base::Known } else { Base::Unknown },
        changed_by_others: history.has_other_changes,
        sessions,
        calls,
    })
}

#[cfg(test)]
mod tests;
