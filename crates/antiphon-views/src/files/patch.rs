//! The files in a Codex patch: as text, as a list, or by path.

use antiphon_model::json;

use super::touch::{FileAction, Touch, count};
use antiphon_model::Arguments;

pub(super) fn touches(arguments: &Arguments) -> Vec<Touch> {
    let all = arguments.as_str();
    match all.trim_start().as_bytes().first() {
        Some(b'[') => listed(all),
        Some(b'{') => match arguments.any_text(&["input", "patch", "patchText"]) {
            Some(patch) => written(&patch),
            None => by_path(all),
        },
        _ => written(all),
    }
}

/// Reads `*** Update File: a.rs`, with its removed and added lines.
fn written(patch: &str) -> Vec<Touch> {
    let mut touches: Vec<Touch> = Vec::new();
    for line in patch.lines() {
        let begun = [
            ("*** Add File: ", FileAction::Create),
            ("*** Update File: ", FileAction::Update),
            ("*** Delete File: ", FileAction::Delete),
        ]
        .into_iter()
        .find_map(|(head, action)| Some((line.strip_prefix(head)?, action)));
        if let Some((path, action)) = begun {
            let mut touch = Touch::new(path.trim(), action);
            if action != FileAction::Delete {
                (touch.lines_added, touch.lines_removed) = (Some(0), Some(0));
            }
            touches.push(touch);
            continue;
        }
        let Some(touch) = touches.last_mut() else { continue };
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            let moved = Touch::new(path.trim(), FileAction::Create);
            touch.action = FileAction::Delete;
            (touch.lines_added, touch.lines_removed) = (None, None);
            touches.push(moved);
        } else if line.starts_with('+') {
            touch.lines_added = touch.lines_added.map(|lines| lines + 1);
        } else if line.starts_with('-') {
            touch.lines_removed = touch.lines_removed.map(|lines| lines + 1);
        }
    }
    touches
}

/// Reads `[{"path": "a.rs", "kind": "update"}]`.
fn listed(list: &str) -> Vec<Touch> {
    let mut touches = Vec::new();
    let _ = json::elements(list, |change| {
        let text = |name| json::member(change, name).and_then(json::text);
        if let (Some(path), Some(action)) = (text("path"), text("kind").and_then(|it| action(&it)))
        {
            touches.push(Touch::new(path, action));
        }
    });
    touches
}

/// Reads `{"a.rs": {"add": {"content": "…"}}}`, also `{"a.rs": {"type": "add"}}`.
fn by_path(object: &str) -> Vec<Touch> {
    let mut touches = Vec::new();
    let _ = json::members(object, |path, change| {
        let named = json::member(change, "type").and_then(json::text);
        let mut found = named.and_then(|kind| Some((action(&kind)?, change)));
        if found.is_none() {
            let _ = json::members(change, |kind, inner| {
                found = found.or_else(|| Some((action(kind)?, inner)));
            });
        }
        let Some((action, inner)) = found else { return };
        let mut touch = Touch::new(path, action);
        let content = json::member(inner, "content").and_then(json::text);
        if action == FileAction::Create {
            touch.lines_added = content.map(|content| count(&content));
        }
        touches.push(touch);
    });
    touches
}

fn action(kind: &str) -> Option<FileAction> {
    Some(match kind {
        "add" => FileAction::Create,
        "update" => FileAction::Update,
        "delete" => FileAction::Delete,
        _ => return None,
    })
}
