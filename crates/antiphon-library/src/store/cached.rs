//! What a list says of an archived session, written down beside its copy.
//!
//! It is derived: one that is older than the copy, or cannot be read, counts as not there.

#![expect(clippy::indexing_slicing, reason = "a `Value` gives null for a member that it has not")]

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_formats::FORMATS;
use antiphon_model::Timestamp;
use serde_json::{Value, json};

use super::{Origin, Place, StoredSession};
use crate::archive::{STATE_FILE, replace};

const CACHE_FILE: &str = "digest.json";

/// The folder of an archived session, from the path of its main file.
fn folder(place: &Place) -> Option<PathBuf> {
    let mut above = place.path.ancestors();
    above
        .find(|it| it.file_name().is_some_and(|name| name == place.key.as_str()))
        .map(Path::to_owned)
}

/// What was written down, if it still holds.
pub(super) fn read(place: &Place) -> Option<StoredSession> {
    let folder = folder(place).filter(|_| place.origin == Origin::Archived)?;
    let cache = folder.join(CACHE_FILE);
    let changed = |path: &Path| fs::metadata(path).ok()?.modified().ok();
    if changed(&cache)? < changed(&folder.join(STATE_FILE))? {
        return None;
    }
    let value: Value = serde_json::from_slice(&fs::read(&cache).ok()?).ok()?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let time = |name: &str| value[name].as_str().and_then(Timestamp::parse);
    if text("path")? != place.path.to_string_lossy() {
        return None;
    }
    Some(StoredSession {
        session_id: text("session_id")?,
        key: place.key.clone(),
        origin: place.origin,
        path: place.path.clone(),
        format: FORMATS.iter().find(|it| Some(it.name) == value["format"].as_str())?.name,
        agent: text("agent"),
        title: text("title"),
        prompt: text("prompt"),
        project: text("project"),
        role: text("role"),
        issue: text("issue"),
        run_id: text("run_id"),
        started_at: time("started_at"),
        last_event_at: time("last_event_at"),
        changed_at: place.changed_at,
        ended: value["ended"] == true,
        outcome: text("outcome"),
        events: value["events"].as_u64(),
    })
}

/// Writes it down. That it cannot be costs time later, and nothing else.
pub(super) fn write(place: &Place, session: &StoredSession) {
    let Some(folder) = folder(place).filter(|_| place.origin == Origin::Archived) else { return };
    let value = json!({
        "session_id": session.session_id,
        "path": place.path.to_string_lossy(),
        "format": session.format,
        "agent": session.agent,
        "title": session.title,
        "prompt": session.prompt,
        "project": session.project,
        "role": session.role,
        "issue": session.issue,
        "run_id": session.run_id,
        "started_at": session.started_at,
        "last_event_at": session.last_event_at,
        "ended": session.ended,
        "outcome": session.outcome,
        "events": session.events,
    });
    let _ = replace(&folder.join(CACHE_FILE), value.to_string().as_bytes());
}
