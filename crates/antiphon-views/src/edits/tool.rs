//! From the arguments of a call to edits, for the tools of every agent.

use antiphon_model::{Arguments, BodyError, CallIx, json};

use super::{Before, Change, Edit, Replacement, blocks, patch};
use crate::Reading;

/// The names of arguments that are a path.
const PATH: &[&str] =
    &["file_path", "notebook_path", "filePath", "path", "absolute_path", "target_file"];
const CONTENT: &[&str] = &["content", "file_text", "contents", "fileText"];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "old_text", "oldText", "old"];
const NEW: &[&str] = &["new_string", "newString", "new_str", "new_text", "newText", "new"];

/// How a tool says what it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Write,
    Replace,
    /// The argument `command` says which of the others.
    Editor,
    Patch,
    Delete,
}

fn kind(tool: &str) -> Option<Kind> {
    Some(match tool {
        "Write" | "write" | "write_file" | "write_to_file" | "create_file" | "create"
        | "Create" | "WriteFile" => Kind::Write,
        "Edit"
        | "edit"
        | "MultiEdit"
        | "multiedit"
        | "NotebookEdit"
        | "replace"
        | "edit_file"
        | "replace_in_file"
        | "search_replace"
        | "replace_string_in_file"
        | "multi_replace_string_in_file"
        | "StrReplaceFile" => Kind::Replace,
        "str_replace_editor"
        | "str_replace_based_edit_tool"
        | "text_editor"
        | "developer__text_editor" => Kind::Editor,
        "apply_patch" | "patch" | "ApplyPatch" => Kind::Patch,
        "delete_file" => Kind::Delete,
        _ => return None,
    })
}

/// What a call says that it changes.
pub(super) fn edits(reading: &Reading<'_>, ix: CallIx) -> Result<Vec<Edit>, BodyError> {
    let Some(kind) = kind(reading.session.tool_name(ix)) else { return Ok(Vec::new()) };
    let arguments = Arguments::of(reading, ix)?;
    if kind == Kind::Patch {
        return Ok(patch::edits(&arguments, ix));
    }
    let Some(path) = arguments.any_text(PATH) else { return Ok(Vec::new()) };
    let mut before = Before::Unknown;
    let change = match kind {
        Kind::Write => arguments.any_text(CONTENT).map(Change::Write),
        Kind::Replace => replace(&arguments, &mut before),
        Kind::Editor => match arguments.text("command").as_deref() {
            Some("create" | "write") => arguments.any_text(CONTENT).map(Change::Write),
            Some("str_replace") => replace(&arguments, &mut before),
            Some("undo_edit" | "insert" | "view") | Some(_) | None => None,
        },
        Kind::Delete => Some(Change::Delete),
        Kind::Patch => None,
    };
    Ok(change.map(|change| Edit { call: ix, path, before, change }).into_iter().collect())
}

/// The paths of the files that a call names, whether it changed them or not.
pub(crate) fn named_paths(reading: &Reading<'_>, ix: CallIx) -> Result<Vec<String>, BodyError> {
    let arguments = Arguments::of(reading, ix)?;
    if kind(reading.session.tool_name(ix)) != Some(Kind::Patch) {
        return Ok(arguments.any_text(PATH).into_iter().collect());
    }
    let mut paths: Vec<String> =
        patch::edits(&arguments, ix).into_iter().map(|edit| edit.path).collect();
    paths.dedup();
    Ok(paths)
}

/// The texts that an edit replaces. An edit that replaces nothing by something makes a file.
fn replace(arguments: &Arguments, before: &mut Before) -> Option<Change> {
    if let Some(diff) = arguments.text("diff") {
        return blocks::replacements(&diff).map(Change::Replace);
    }
    let mut replacements = Vec::new();
    let mut add = |edit: &str| replacements.extend(replacement(edit));
    let list = arguments.raw("edits").or(arguments.raw("replacements")).or(arguments.raw("edit"));
    match list {
        Some(one) if one.starts_with('{') => add(one),
        Some(list) => drop(json::elements(list, &mut add)),
        None => add(arguments.as_str()),
    }
    match replacements.as_slice() {
        [] => None,
        [Replacement { old, new, .. }] if old.is_empty() => {
            *before = Before::Absent;
            Some(Change::Write(new.clone()))
        }
        [..] => Some(Change::Replace(replacements)),
    }
}

fn replacement(edit: &str) -> Option<Replacement> {
    let text = |names: &[&str]| {
        let raw = names.iter().find_map(|name| json::member(edit, name))?;
        json::text(raw).map(std::borrow::Cow::into_owned)
    };
    let flag = |name| json::member(edit, name) == Some("true");
    Some(Replacement {
        old: text(OLD)?,
        new: text(NEW)?,
        is_everywhere: flag("replace_all") || flag("replaceAll"),
    })
}
