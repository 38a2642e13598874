//! What calls did to files, as far as the calls themselves show it.
//!
//! A call that failed, or that has no result, did nothing. The effects of shell commands are never
//! guessed. Paths are compared as they were recorded.

mod patch;
mod touch;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{AgentIx, BodyError};
use serde::Serialize;

use crate::Reading;
pub(crate) use touch::{FileAction, Touch, touches};

/// A file that was changed, and by how much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    pub path: String,
    /// Lines, summed over the calls; `None` if no call says how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_removed: Option<u64>,
}

/// What became of files in the end, each list in the order in which they were first changed.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct FileChanges {
    pub created: Vec<FileChange>,
    pub modified: Vec<FileChange>,
    pub deleted: Vec<FileChange>,
    /// Every file that was read, whatever else was done to it.
    pub read: Vec<String>,
}

/// What the calls of a session, or of one agent, did to files.
///
/// A write creates a file if no call of any agent touched its path before, unless the result says
/// that the file existed.
pub fn file_changes(
    reading: &Reading<'_>,
    agent: Option<AgentIx>,
) -> Result<FileChanges, BodyError> {
    let mut changes = file_changes_of_all(reading)?;
    Ok(match agent {
        None => changes.all,
        Some(agent) => changes.by_agent.remove(&agent).unwrap_or_default(),
    })
}

/// What the calls of all agents did to files, and those of each agent.
#[derive(Debug, Default, Clone)]
pub struct FileChangesOfAll {
    pub all: FileChanges,
    /// Only agents that touched a file.
    pub by_agent: BTreeMap<AgentIx, FileChanges>,
}

/// [`file_changes`] for the session and for each of its agents, in one pass over the calls.
pub fn file_changes_of_all(reading: &Reading<'_>) -> Result<FileChangesOfAll, BodyError> {
    // Every path that any call touched, and whether it was deleted.
    let mut paths: BTreeMap<String, bool> = BTreeMap::new();
    let mut all = Files::default();
    let mut by_agent: BTreeMap<AgentIx, Files> = BTreeMap::new();
    for (ix, call) in reading.session.calls() {
        for touch in touches(reading, ix)? {
            let is_new = paths.get(&touch.path).is_none_or(|is_gone| *is_gone);
            paths.insert(touch.path.clone(), touch.action == FileAction::Delete);
            by_agent.entry(call.agent).or_default().apply(touch.clone(), is_new);
            all.apply(touch, is_new);
        }
    }
    let by_agent = by_agent.into_iter().map(|(agent, files)| (agent, files.changes())).collect();
    Ok(FileChangesOfAll { all: all.changes(), by_agent })
}

/// The state of a file after the calls so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Untouched,
    Created,
    Modified,
    Deleted,
}

#[derive(Debug)]
struct File {
    fate: Fate,
    /// When it was first changed, among all changes.
    since: usize,
    lines_added: Option<u64>,
    lines_removed: Option<u64>,
}

#[derive(Debug, Default)]
struct Files {
    /// Every path that was changed.
    files: BTreeMap<String, File>,
    changes: usize,
    read: Vec<String>,
    was_read: BTreeSet<String>,
}

impl Files {
    /// Applies a change. `is_new`: no call touched the path before, or it was deleted since.
    fn apply(&mut self, touch: Touch, is_new: bool) {
        let creates = match touch.action {
            FileAction::Read => {
                if self.was_read.insert(touch.path.clone()) {
                    self.read.push(touch.path);
                }
                return;
            }
            FileAction::Create => true,
            FileAction::Write => is_new,
            FileAction::Update | FileAction::Delete => false,
        };
        let file = self.files.entry(touch.path).or_insert(File {
            fate: Fate::Untouched,
            since: 0,
            lines_added: None,
            lines_removed: None,
        });
        if file.fate == Fate::Untouched {
            self.changes += 1;
            file.since = self.changes;
        }
        file.fate = match (file.fate, touch.action) {
            // A file that was created and deleted again is no change.
            (Fate::Created, FileAction::Delete) => Fate::Untouched,
            (_, FileAction::Delete) => Fate::Deleted,
            (Fate::Created, _) => Fate::Created,
            (Fate::Untouched, _) if creates => Fate::Created,
            (Fate::Untouched | Fate::Modified | Fate::Deleted, _) => Fate::Modified,
        };
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or(0).saturating_add(more));
            }
        };
        add(&mut file.lines_added, touch.lines_added);
        add(&mut file.lines_removed, touch.lines_removed);
    }

    fn changes(self) -> FileChanges {
        let mut files: Vec<(String, File)> = self.files.into_iter().collect();
        files.sort_by_key(|(_, file)| file.since);
        let mut changes = FileChanges { read: self.read, ..FileChanges::default() };
        for (path, File { fate, lines_added, lines_removed, .. }) in files {
            let change = FileChange { path, lines_added, lines_removed };
            match fate {
                Fate::Untouched => {}
                Fate::Created => changes.created.push(change),
                Fate::Modified => changes.modified.push(change),
                Fate::Deleted => changes.deleted.push(change),
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests;
