//! The files in a patch of Codex: as text, as a list, or by path.

use antiphon_model::json;

use super::touch::{Deed, Touch, count};
use crate::arguments::Arguments;

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

/// `*** Update File: a.rs`, and the lines that go and come.
fn written(patch: &str) -> Vec<Touch> {
    let mut touches: Vec<Touch> = Vec::new();
    for line in patch.lines() {
        let begun = [
            ("*** Add File: ", Deed::Create),
            ("*** Update File: ", Deed::Update),
            ("*** Delete File: ", Deed::Delete),
        ]
        .into_iter()
        .find_map(|(head, deed)| Some((line.strip_prefix(head)?, deed)));
        if let Some((path, deed)) = begun {
            let mut touch = Touch::new(path.trim(), deed);
            if deed != Deed::Delete {
                (touch.lines_added, touch.lines_removed) = (Some(0), Some(0));
            }
            touches.push(touch);
            continue;
        }
        let Some(touch) = touches.last_mut() else { continue };
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            let moved = Touch::new(path.trim(), Deed::Create);
            touch.deed = Deed::Delete;
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

/// `[{"path": "a.rs", "kind": "update"}]`.
fn listed(list: &str) -> Vec<Touch> {
    let mut touches = Vec::new();
    let _ = json::elements(list, |change| {
        let text = |name| json::member(change, name).and_then(json::text);
        if let (Some(path), Some(deed)) = (text("path"), text("kind").and_then(|it| deed(&it))) {
            touches.push(Touch::new(path, deed));
        }
    });
    touches
}

/// `{"a.rs": {"add": {"content": "…"}}}`, also `{"a.rs": {"type": "add"}}`.
fn by_path(object: &str) -> Vec<Touch> {
    let mut touches = Vec::new();
    let _ = json::members(object, |path, change| {
        let named = json::member(change, "type").and_then(json::text);
        let mut found = named.and_then(|kind| Some((deed(&kind)?, change)));
        if found.is_none() {
            let _ = json::members(change, |kind, inner| {
                found = found.or_else(|| Some((deed(kind)?, inner)));
            });
        }
        let Some((deed, inner)) = found else { return };
        let mut touch = Touch::new(path, deed);
        let content = json::member(inner, "content").and_then(json::text);
        if deed == Deed::Create {
            touch.lines_added = content.map(|content| count(&content));
        }
        touches.push(touch);
    });
    touches
}

fn deed(kind: &str) -> Option<Deed> {
    Some(match kind {
        "add" => Deed::Create,
        "update" => Deed::Update,
        "delete" => Deed::Delete,
        _ => return None,
    })
}
