//! What only the result of a call says: what the file was before, and whether there was one.

use antiphon_model::{BodyError, Detail, json};

use super::{Before, Change, Edit, Hunk, HunkLine, patch};
use crate::Reading;

pub(super) fn complete(reading: &Reading<'_>, edit: &mut Edit) -> Result<(), BodyError> {
    let session = reading.session;
    let Some(event) = session.call(edit.call).last_result() else { return Ok(()) };
    let entry = session.entry(event);
    if let Some(place) = entry.detail(Detail::Result) {
        structured(&reading.bodies.read(place)?, edit);
    }
    if edit.before == Before::Unknown
        && matches!(edit.change, Change::Write(_))
        && says_new(&reading.text(entry)?)
    {
        edit.before = Before::Absent;
    }
    Ok(())
}

/// Gemini and its relatives say it in words.
fn says_new(text: &str) -> bool {
    let head: String = text.chars().take(200).collect();
    let head = head.to_lowercase();
    ["created and wrote to new file", "successfully created", "file created successfully"]
        .iter()
        .any(|words| head.contains(words))
}

/// Claude Code's `toolUseResult`, and what others call the same.
fn structured(result: &str, edit: &mut Edit) {
    let text = |names: &[&str]| {
        let raw = names.iter().find_map(|name| json::member(result, name));
        raw.and_then(json::text).map(std::borrow::Cow::into_owned)
    };
    let is = |name, value| json::member(result, name) == Some(value);
    if let Some(before) = text(&["originalFile", "original_file", "originalContent"]) {
        edit.before = Before::Text(before);
    } else if text(&["type", "kind"]).as_deref() == Some("create") || is("exists", "false") {
        edit.before = Before::Absent;
    }
    if let Some(after) = text(&["updated_file", "updatedFile"]) {
        edit.change = Change::Write(after);
    }
    if edit.before != Before::Unknown {
        return;
    }
    let listed = json::member(result, "structuredPatch").map(hunks).unwrap_or_default();
    let hunks = match text(&["fileDiff", "diff"]) {
        Some(diff) if listed.is_empty() => patch::numbered_hunks(&diff),
        Some(_) | None => listed,
    };
    if hunks.is_empty() {
        return;
    }
    match &edit.change {
        // The content after and the difference say what it was before.
        Change::Write(after) => {
            if let Some(before) = undo(after, &hunks) {
                edit.before = Before::Text(before);
            }
        }
        // Whole lines with their context say more than the texts that were replaced.
        Change::Replace(_) => {
            let hunks = hunks.into_iter().map(|(_, hunk)| hunk).collect();
            edit.change = Change::Patch(hunks);
        }
        Change::Patch(_) | Change::Delete | Change::Rename(_) => {}
    }
}

/// The hunks of a structured patch, each with the number of its first line in the new file.
fn hunks(patch: &str) -> Vec<(usize, Hunk)> {
    let mut hunks = Vec::new();
    // An invalid patch is read up to its error.
    let _ = json::elements(patch, |object| {
        let start = json::member(object, "newStart").and_then(|it| it.parse().ok());
        let mut hunk = Hunk::default();
        let _ = json::elements(json::member(object, "lines").unwrap_or("[]"), |line| {
            let Some(line) = json::text(line) else { return };
            let kind = match line.chars().next() {
                Some('+') => HunkLine::Added,
                Some('-') => HunkLine::Removed,
                Some(' ') => HunkLine::Context,
                Some('\\') => {
                    if let Some((_, text)) = hunk.lines.last_mut() {
                        text.truncate(text.trim_end_matches('\n').len());
                    }
                    return;
                }
                Some(_) | None => return,
            };
            hunk.lines.push((kind, format!("{}\n", line.get(1..).unwrap_or_default())));
        });
        hunks.push((start.unwrap_or(1), hunk));
    });
    hunks
}

/// The text before these hunks were applied; nothing, if they do not fit.
fn undo(after: &str, hunks: &[(usize, Hunk)]) -> Option<String> {
    let lines: Vec<&str> = after.split_inclusive('\n').collect();
    let mut before = String::new();
    let mut next = 0;
    for (start, hunk) in hunks {
        let start = start.saturating_sub(1);
        lines.get(next..start)?.iter().for_each(|line| before.push_str(line));
        let bare = |line: &str| line.trim_end_matches('\n').to_owned();
        let new: Vec<String> = hunk.after().map(bare).collect();
        let end = start + new.len();
        let fits = lines.get(start..end)?.iter().zip(&new).all(|(a, b)| bare(a) == *b);
        if !fits {
            return None;
        }
        hunk.before().for_each(|line| before.push_str(line));
        next = end;
    }
    lines.get(next..)?.iter().for_each(|line| before.push_str(line));
    Some(before)
}
