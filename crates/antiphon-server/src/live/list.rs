//! The list of sessions while it changes.
//!
//! All listeners share one list, which is made again when something has changed. What differs from
//! the list before is numbered, and a listener is told what has a higher number than the last it
//! was told.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_catalog::{SessionQuery, SessionSort};
use antiphon_library::Listed;
use antiphon_redact::Counts;
use serde::Serialize;

use super::Frame;
use crate::app::App;
use crate::library::{Library, file_row, redact_row};
use crate::lock;
use crate::problem::Problem;

/// A list is not made again within this time.
const REST: Duration = Duration::from_millis(100);
/// So many changes are remembered for listeners that are slow.
const CHANGES_MAX: usize = 10_000;

/// The list, and what changed in it.
#[derive(Debug, Default)]
pub(super) struct Listing {
    made: Option<Instant>,
    rows: BTreeMap<String, Row>,
    changes: VecDeque<(u64, Frame)>,
    /// The number of the last change.
    last: u64,
    /// When a session last changed, in milliseconds since 1970.
    changed_ms: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    id: String,
    data: Arc<str>,
    changed_ms: i64,
}

/// Where a listener of the list is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ListPosition {
    /// It was told all changes up to this number.
    Told(u64),
    /// It was told by another server, or long ago, what changed up to then.
    Since(i64),
    /// It is new.
    New,
}

impl ListPosition {
    /// From the id of an event.
    pub(crate) fn parse(text: &str) -> Self {
        let millis = text.strip_prefix("list.").and_then(|it| it.parse().ok());
        millis.map_or(Self::New, Self::Since)
    }
}

#[derive(Serialize)]
struct Snapshot {
    sessions: usize,
}

#[derive(Serialize)]
struct Gone<'a> {
    id: &'a str,
}

/// What a listener of the list is told next.
pub(crate) fn list_step(
    app: &App,
    is_far: bool,
    position: ListPosition,
) -> Result<(Vec<Frame>, ListPosition), Problem> {
    let [near, far] = &app.hub.lists;
    let mut listing = lock(if is_far { far } else { near });
    listing.refresh(app, is_far)?;
    let oldest = listing.changes.front().map_or(listing.last, |(number, _)| number - 1);
    let position = match position {
        ListPosition::Told(number) if number < oldest => ListPosition::New,
        known @ (ListPosition::Told(_) | ListPosition::Since(_) | ListPosition::New) => known,
    };
    let id = format!("list.{}", listing.changed_ms);
    let mut frames = Vec::new();
    match position {
        ListPosition::Told(told) => {
            let new = listing.changes.iter().filter(|(number, _)| *number > told);
            frames.extend(new.map(|(_, frame)| frame.clone()));
        }
        ListPosition::New | ListPosition::Since(_) => {
            let data = json(&Snapshot { sessions: listing.rows.len() });
            frames.push(Frame { event: "snapshot", id, data });
        }
    }
    if let ListPosition::Since(since) = position {
        let mut rows: Vec<&Row> =
            listing.rows.values().filter(|row| row.changed_ms > since).collect();
        rows.sort_by_key(|row| row.changed_ms);
        frames.extend(rows.into_iter().map(|row| {
            let id = format!("list.{}", row.changed_ms);
            Frame { event: "session", id, data: Arc::clone(&row.data) }
        }));
    }
    Ok((frames, ListPosition::Told(listing.last)))
}

impl Listing {
    fn refresh(&mut self, app: &App, is_far: bool) -> Result<(), Problem> {
        if let Some(rest) = self.made.and_then(|made| REST.checked_sub(made.elapsed())) {
            std::thread::sleep(rest);
        }
        let rows = rows(app, is_far)?;
        let is_first = self.made.is_none();
        self.made = Some(Instant::now());
        self.changed_ms = rows.values().map(|row| row.changed_ms).max().unwrap_or_default();
        let before = std::mem::replace(&mut self.rows, rows);
        if is_first {
            return Ok(());
        }
        let id = format!("list.{}", self.changed_ms);
        let mut frames = Vec::new();
        for (key, row) in &self.rows {
            if before.get(key) != Some(row) {
                let data = Arc::clone(&row.data);
                frames.push(Frame { event: "session", id: id.clone(), data });
            }
        }
        for (key, row) in &before {
            if !self.rows.contains_key(key) {
                frames.push(Frame {
                    event: "gone",
                    id: id.clone(),
                    data: json(&Gone { id: &row.id }),
                });
            }
        }
        for frame in frames {
            self.last += 1;
            self.changes.push_back((self.last, frame));
        }
        while self.changes.len() > CHANGES_MAX {
            self.changes.pop_front();
        }
        Ok(())
    }
}

fn rows(app: &App, is_far: bool) -> Result<BTreeMap<String, Row>, Problem> {
    let mut sessions: Vec<Listed> = match &app.library {
        Library::File(path) => vec![file_row(path, &app.prices)?],
        Library::Kept(kept) => {
            let query = SessionQuery::default();
            let list = kept.store.list(&query, None, SessionSort::Changed, usize::MAX, &|_, _| {});
            list.map_err(|error| Problem::failed("the catalogue cannot be read", &error))?.sessions
        }
    };
    if is_far {
        sessions.iter_mut().for_each(|row| redact_row(row, &app.redactor));
    }
    let row = |listed: &Listed| {
        let mut data = json(&listed.shown());
        if is_far {
            data = app.redactor.redact_json(&data, &mut Counts::default()).into();
        }
        let id = listed.session.session_id.clone();
        let changed_ms = listed.session.changed_at.as_millis();
        (listed.session.key.to_string(), Row { id, data, changed_ms })
    };
    Ok(sessions.iter().map(row).collect())
}

/// Types of ours have no way to fail.
fn json(value: &impl Serialize) -> Arc<str> {
    serde_json::to_string(value).unwrap_or_default().into()
}
