//! One call and the files that it names.

use antiphon_model::{BodyError, CallIx, Detail, json};

use super::patch;
use crate::Reading;
use crate::calls::has_failed;
use antiphon_model::Arguments;

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAction {
    Read,
    /// Its complete content was written; whether it existed before is not known.
    Write,
    Create,
    Update,
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) path: String,
    pub(crate) action: FileAction,
    pub(crate) lines_added: Option<u64>,
    pub(crate) lines_removed: Option<u64>,
}

impl Touch {
    pub(super) fn new(path: impl Into<String>, action: FileAction) -> Self {
        Self { path: path.into(), action, lines_added: None, lines_removed: None }
    }
}

/// The names of tools' arguments that are a path.
const PATH: &[&str] =
    &["file_path", "notebook_path", "filePath", "path", "absolute_path", "target_file"];

/// What a call did to which files. Empty if it failed or has not ended.
pub(crate) fn touches(reading: &Reading<'_>, ix: CallIx) -> Result<Vec<Touch>, BodyError> {
    if reading.session.call(ix).is_open() || has_failed(reading, ix) {
        return Ok(Vec::new());
    }
    let action = match reading.session.tool_name(ix) {
        "Read" | "read" | "read_file" | "NotebookRead" | "view" | "view_image" => FileAction::Read,
        "Write" | "write" | "write_file" | "write_to_file" | "create_file" | "create" => {
            FileAction::Write
        }
        "Edit" | "edit" | "MultiEdit" | "multiedit" | "NotebookEdit" | "replace" | "edit_file"
        | "replace_in_file" | "search_replace" => FileAction::Update,
        "delete_file" => FileAction::Delete,
        "apply_patch" | "patch" => {
            return Ok(patch::touches(&Arguments::of(reading, ix)?));
        }
        _ => return Ok(Vec::new()),
    };
    let arguments = Arguments::of(reading, ix)?;
    let Some(path) = arguments.any_text(PATH) else { return Ok(Vec::new()) };
    let mut touch = Touch::new(path, action);
    match action {
        FileAction::Write => {
            let content = arguments.any_text(&["content", "file_text", "contents"]);
            touch.lines_added = content.map(|content| count(&content));
        }
        FileAction::Update => edited(&mut touch, &arguments),
        FileAction::Read | FileAction::Create | FileAction::Delete => return Ok(vec![touch]),
    }
    add_from_result(reading, ix, &mut touch)?;
    Ok(vec![touch])
}

/// Counts the lines of an edit, from the texts that it replaces.
fn edited(touch: &mut Touch, arguments: &Arguments) {
    let mut edits = 0;
    let mut add = |edit: &str| {
        let text = |names: [&str; 2]| {
            let raw = names.iter().find_map(|name| json::member(edit, name));
            raw.and_then(json::text)
        };
        let old = text(["old_string", "oldString"]);
        let new = text(["new_string", "newString"]);
        if let (Some(old), Some(new)) = (old, new) {
            let (added, removed) = exchanged(&old, &new);
            *touch.lines_added.get_or_insert(0) += added;
            *touch.lines_removed.get_or_insert(0) += removed;
            // Replacing an empty text creates the file.
            if old.is_empty() && edits == 0 {
                touch.action = FileAction::Write;
            }
            edits += 1;
        }
    };
    match arguments.raw("edits") {
        Some(list) => drop(json::elements(list, &mut add)),
        None => add(arguments.as_str()),
    }
}

/// How many lines differ between two texts, after removing their common beginning and end.
fn exchanged(old: &str, new: &str) -> (u64, u64) {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    ((new.len() - begin - end) as u64, (old.len() - begin - end) as u64)
}

/// Adds what only the structured result knows: whether the file existed, and the difference.
fn add_from_result(reading: &Reading<'_>, ix: CallIx, touch: &mut Touch) -> Result<(), BodyError> {
    let session = reading.session;
    let last = session.call(ix).last_result().map(|event| session.entry(event));
    let Some(place) = last.and_then(|entry| entry.detail(Detail::Result)) else { return Ok(()) };
    let result = reading.bodies.read(place)?;
    let kind = json::member(&result, "type").and_then(json::text);
    match kind.as_deref() {
        Some("create") => touch.action = FileAction::Create,
        Some("update") => touch.action = FileAction::Update,
        _ => {}
    }
    let mut hunks = 0;
    let (mut added, mut removed) = (0, 0);
    if let Some(patch) = json::member(&result, "structuredPatch") {
        // An invalid patch counts up to its error, which is as much as is known.
        let _ = json::elements(patch, |hunk| {
            hunks += 1;
            let lines = json::member(hunk, "lines").unwrap_or("[]");
            let _ = json::elements(lines, |line| match line.as_bytes().get(1) {
                Some(b'+') => added += 1,
                Some(b'-') => removed += 1,
                _ => {}
            });
        });
    }
    // A file that was created has no difference, only content.
    if hunks > 0 {
        (touch.lines_added, touch.lines_removed) = (Some(added), Some(removed));
    }
    Ok(())
}

pub(super) fn count(text: &str) -> u64 {
    text.lines().count() as u64
}
