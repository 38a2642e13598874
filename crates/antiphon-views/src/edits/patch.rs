//! Patches: Codex's own kind, as text, as a list, or by path, and unified diffs.

use antiphon_model::{Arguments, CallIx, json};

use super::{Before, Change, Edit, Hunk, HunkLine};

pub(super) fn edits(arguments: &Arguments, call: CallIx) -> Vec<Edit> {
    let all = arguments.as_str();
    match all.trim_start().as_bytes().first() {
        Some(b'{') => match arguments.any_text(&["input", "patch", "patchText"]) {
            Some(patch) => written(&patch, call),
            None => by_path(all, call),
        },
        // A list has only paths and kinds: nothing of it is known but what was deleted.
        Some(b'[') => listed(all, call),
        _ => written(all, call),
    }
}

/// Reads `*** Update File: a.rs`, with its hunks.
fn written(patch: &str, call: CallIx) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut content = Content::default();
    for line in patch.split_inclusive('\n') {
        let word = line.trim_end_matches(['\n', '\r']);
        let edit = |path: &str, before, change| Edit {
            call,
            path: path.trim().to_owned(),
            before,
            change,
        };
        let begun = if let Some(path) = word.strip_prefix("*** Add File: ") {
            Some(edit(path, Before::Absent, Change::Write(String::new())))
        } else if let Some(path) = word.strip_prefix("*** Update File: ") {
            Some(edit(path, Before::Unknown, Change::Patch(Vec::new())))
        } else {
            word.strip_prefix("*** Delete File: ")
                .map(|path| edit(path, Before::Unknown, Change::Delete))
        };
        if let Some(begun) = begun {
            content.give(&mut edits);
            edits.push(begun);
        } else if let Some(path) = word.strip_prefix("*** Move to: ") {
            if let Some(updated) = edits.last_mut() {
                let old = std::mem::replace(&mut updated.path, path.trim().to_owned());
                let renamed = Change::Rename(updated.path.clone());
                let at = edits.len() - 1;
                edits
                    .insert(at, Edit { call, path: old, before: Before::Unknown, change: renamed });
            }
        } else if !word.starts_with("*** ") {
            content.add(line);
        }
    }
    content.give(&mut edits);
    edits
}

/// The lines below the head of a file.
#[derive(Debug, Default)]
struct Content {
    hunks: Vec<Hunk>,
}

impl Content {
    fn add(&mut self, line: &str) {
        if let Some(heading) = line.strip_prefix("@@") {
            let heading = heading.trim();
            // `@@ -1,2 +3,4 @@ fn main`: the numbers say less than the lines.
            let heading = match heading.strip_prefix('-').and_then(|it| it.split_once("@@")) {
                Some((_, after)) => after.trim(),
                None => heading,
            };
            let heading = (!heading.is_empty()).then(|| heading.to_owned());
            self.hunks.push(Hunk { heading, lines: Vec::new() });
            return;
        }
        let kind = match line.as_bytes().first() {
            Some(b'+') => HunkLine::Added,
            Some(b'-') => HunkLine::Removed,
            Some(b' ') => HunkLine::Context,
            // An empty line of context may have lost its space.
            Some(b'\n' | b'\r') => HunkLine::Context,
            Some(b'\\') => return self.cut_line_end(),
            Some(_) | None => return,
        };
        let mut text = if line.starts_with(['+', '-', ' ']) { line.get(1..) } else { Some(line) }
            .unwrap_or_default()
            .to_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if self.hunks.is_empty() {
            self.hunks.push(Hunk::default());
        }
        if let Some(hunk) = self.hunks.last_mut() {
            hunk.lines.push((kind, text));
        }
    }

    /// `\ No newline at end of file`.
    fn cut_line_end(&mut self) {
        let last = self.hunks.last_mut().and_then(|hunk| hunk.lines.last_mut());
        if let Some((_, text)) = last {
            text.truncate(text.trim_end_matches('\n').len());
        }
    }

    /// Gives the lines to the last edit.
    fn give(&mut self, edits: &mut [Edit]) {
        let mut hunks = std::mem::take(&mut self.hunks);
        hunks.retain(|hunk| !hunk.lines.is_empty());
        match edits.last_mut().map(|edit| &mut edit.change) {
            Some(Change::Write(text)) => {
                hunks.iter().flat_map(Hunk::after).for_each(|line| text.push_str(line));
            }
            Some(Change::Patch(all)) => *all = hunks,
            Some(Change::Replace(_) | Change::Delete | Change::Rename(_)) | None => {}
        }
    }
}

/// The hunks of a unified diff of one file, each with the number of its first line in the new file.
pub(super) fn numbered_hunks(diff: &str) -> Vec<(usize, Hunk)> {
    let heads = diff.lines().filter(|line| line.starts_with("@@ -"));
    let start = |head: &str| {
        let (_, new) = head.split_once('+')?;
        new.split([',', ' ']).next()?.parse().ok()
    };
    heads.map(|head| start(head).unwrap_or(1)).zip(hunks_of(diff)).collect()
}

/// The hunks of a unified diff of one file.
fn hunks_of(diff: &str) -> Vec<Hunk> {
    let mut content = Content::default();
    let is_head = |line: &&str| !line.starts_with("@@");
    diff.split_inclusive('\n').skip_while(is_head).for_each(|line| content.add(line));
    content.hunks
}

/// Reads `[{"path": "a.rs", "kind": "delete"}]`.
fn listed(list: &str, call: CallIx) -> Vec<Edit> {
    let mut edits = Vec::new();
    let _ = json::elements(list, |change| {
        let text = |name| json::member(change, name).and_then(json::text);
        let Some(path) = text("path") else { return };
        let change = match text("kind").as_deref() {
            Some("delete") => Change::Delete,
            // That it changed is known, and nothing else.
            Some(_) | None => Change::Patch(Vec::new()),
        };
        edits.push(Edit { call, path: path.into(), before: Before::Unknown, change });
    });
    edits
}

/// Reads `{"a.rs": {"add": {"content": "…"}}}`, also `{"a.rs": {"type": "add", …}}`.
fn by_path(object: &str, call: CallIx) -> Vec<Edit> {
    let mut edits = Vec::new();
    let _ = json::members(object, |path, change| {
        let named = json::member(change, "type").and_then(json::text);
        let mut found = named.map(|kind| (kind.into_owned(), change));
        if found.is_none() {
            let _ = json::members(change, |kind, inner| {
                found = found.take().or(Some((kind.to_owned(), inner)));
            });
        }
        let Some((kind, inner)) = found else { return };
        let text = |name| json::member(inner, name).and_then(json::text);
        let mut path = path.to_owned();
        let mut add = |path: &str, before, change| {
            edits.push(Edit { call, path: path.to_owned(), before, change });
        };
        match kind.as_str() {
            "add" => {
                let content = text("content").unwrap_or_default().into_owned();
                add(&path, Before::Absent, Change::Write(content));
            }
            "delete" => {
                let before = text("content").map(|text| Before::Text(text.into_owned()));
                add(&path, before.unwrap_or(Before::Unknown), Change::Delete);
            }
            "update" => {
                if let Some(to) = text("move_path") {
                    add(&path, Before::Unknown, Change::Rename(to.clone().into_owned()));
                    path = to.into_owned();
                }
                let hunks = text("unified_diff").map(|diff| hunks_of(&diff)).unwrap_or_default();
                add(&path, Before::Unknown, Change::Patch(hunks));
            }
            _ => {}
        }
    });
    edits
}
