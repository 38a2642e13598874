//! What happens while somebody listens: one watcher, one fold, many listeners.
//!
//! The watcher says only that something has changed. Every listener has a position of its own, and
//! asks the opened session for what is behind it; what many listeners want is worked out once. So a
//! listener that is slow, or comes back, is no special case.

mod list;
mod position;
mod watcher;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use antiphon_views::session_events;
use serde::Serialize;
use tokio::sync::watch;

pub(crate) use list::{ListPosition, list_step};
pub(crate) use position::Position;
use watcher::Watcher;

use crate::app::App;
use crate::library::Located;
use crate::lock;
use crate::opened::Folded;
use crate::problem::Problem;
use crate::redacted::Redacting;
use crate::routes::TEXT_BYTES;

/// So many events are sent at once.
const EVENTS_MAX: usize = 500;
/// What was worked out for so many sessions is kept for other listeners.
const RENDERED_MAX: usize = 64;

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) event: &'static str,
    pub(crate) id: String,
    pub(crate) data: Arc<str>,
}

impl Frame {
    /// As it is sent. JSON has no line breaks of its own.
    pub(crate) fn text(&self) -> String {
        format!("event: {}\nid: {}\ndata: {}\n\n", self.event, self.id, self.data)
    }
}

/// What the listeners share.
#[derive(Debug)]
pub(crate) struct Hub {
    changes: watch::Sender<u64>,
    watcher: Mutex<Option<Watcher>>,
    folders: Vec<PathBuf>,
    listeners: AtomicUsize,
    /// By session and by whether it is redacted: the latest events.
    rendered: Mutex<HashMap<(PathBuf, bool), Rendered>>,
    lists: [Mutex<list::Listing>; 2],
}

/// Events as they were last sent.
#[derive(Debug, Clone)]
struct Rendered {
    epoch: u64,
    from: usize,
    until: usize,
    /// The mark behind the last of them.
    chain: u64,
    data: Arc<str>,
}

/// Counts a listener for as long as it is there.
#[derive(Debug)]
pub(crate) struct Listener(Arc<App>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.hub.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Hub {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            changes: watch::Sender::new(0),
            watcher: Mutex::default(),
            folders,
            listeners: AtomicUsize::new(0),
            rendered: Mutex::default(),
            lists: Default::default(),
        }
    }

    pub(crate) fn listeners(&self) -> usize {
        self.listeners.load(Ordering::Relaxed)
    }

    /// Begins to listen, to the folder of a session or to all folders: watching ten thousand of
    /// them takes a while, and most servers are never asked to.
    pub(crate) fn listen(
        app: &Arc<App>,
        folder: Option<&Path>,
    ) -> (Listener, watch::Receiver<u64>) {
        let hub = &app.hub;
        hub.listeners.fetch_add(1, Ordering::Relaxed);
        let receiver = hub.changes.subscribe();
        let mut watcher = lock(&hub.watcher);
        let watcher = watcher.get_or_insert_with(|| Watcher::start(hub.changes.clone()));
        match folder {
            Some(folder) => watcher.add(folder),
            None => hub.folders.iter().for_each(|folder| watcher.add(folder)),
        }
        (Listener(Arc::clone(app)), receiver)
    }
}

/// How far a session is.
#[derive(Serialize)]
struct Snapshot<'a> {
    session_id: &'a str,
    /// After how many events the stream goes on.
    events: usize,
    epoch: u64,
}

/// What a listener of a session is told next.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) frames: Vec<Frame>,
    pub(crate) position: Position,
    /// Whether there is more at once.
    pub(crate) has_more: bool,
}

/// What is behind a position. Without one, or with one that is not of this session, the stream
/// begins with how far the session is.
pub(crate) fn session_step(
    app: &App,
    at: &Located,
    is_far: bool,
    position: Option<Position>,
    is_new: bool,
) -> Result<Step, Problem> {
    app.sessions.with(at, is_far, |folded| {
        let now = Position::of(folded, folded.session().len());
        let known = position.filter(|it| it.is_in(folded));
        let mut frames = Vec::new();
        let Some(known) = known else {
            frames.push(snapshot(folded, &now)?);
            return Ok(Step { frames, position: now, has_more: false });
        };
        // An id outlives its epoch as long as what was read is a beginning of what there is.
        let known = Position { epoch: folded.epoch(), ..known };
        if is_new {
            frames.push(snapshot(folded, &known)?);
        }
        frames.extend(changed(app, folded, is_far, &known)?);
        let (events, known) = behind(app, at, folded, is_far, known)?;
        frames.extend(events);
        Ok(Step { frames, has_more: known.events < now.events, position: known })
    })?
}

fn snapshot(folded: &Folded, position: &Position) -> Result<Frame, Problem> {
    let session_id = &folded.id();
    let data = Snapshot { session_id, events: position.events, epoch: folded.epoch() };
    let data = serde_json::to_string(&data).map_err(|error| unwritten(&error))?;
    Ok(Frame { event: "snapshot", id: position.to_string(), data: data.into() })
}

fn unwritten(error: &serde_json::Error) -> Problem {
    Problem::failed("the stream cannot be written", error)
}

/// Events that were sent and are not what they were, each once.
fn changed(
    app: &App,
    folded: &Folded,
    is_far: bool,
    known: &Position,
) -> Result<Option<Frame>, Problem> {
    let places = folded.changed().iter().copied().filter(|&place| place < known.events);
    let mut rows = Vec::new();
    for place in places.take(EVENTS_MAX) {
        if known.changes_seen == folded.changes() {
            break;
        }
        rows.push(events(app, folded, is_far, place, 1)?);
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let rows: Vec<&str> = rows.iter().map(|row| row.trim_matches(['[', ']'])).collect();
    let data: Arc<str> = format!("[{}]", rows.join(",")).into();
    Ok(Some(Frame { event: "changed", id: known.to_string(), data }))
}

/// The next events behind a position, and the position behind them.
fn behind(
    app: &App,
    at: &Located,
    folded: &Folded,
    is_far: bool,
    known: Position,
) -> Result<(Option<Frame>, Position), Problem> {
    let until = folded.session().len().min(known.events + EVENTS_MAX);
    let position = Position::of(folded, until);
    if until <= known.events {
        return Ok((None, position));
    }
    let key = (at.path.clone(), is_far);
    let is_it = |it: &&Rendered| {
        (it.epoch, it.from, it.until, it.chain)
            == (folded.epoch(), known.events, until, position.chain)
    };
    let ready = lock(&app.hub.rendered).get(&key).filter(is_it).map(|it| Arc::clone(&it.data));
    let data = match ready {
        Some(data) => data,
        None => {
            let text = events(app, folded, is_far, known.events, until - known.events)?;
            let data: Arc<str> = text.into();
            let mut rendered = lock(&app.hub.rendered);
            if rendered.len() >= RENDERED_MAX {
                rendered.clear();
            }
            let (epoch, from, chain) = (folded.epoch(), known.events, position.chain);
            let now = Rendered { epoch, from, until, chain, data: Arc::clone(&data) };
            rendered.insert(key, now);
            data
        }
    };
    let frame = Frame { event: "events", id: position.to_string(), data };
    Ok((Some(frame), position))
}

fn events(
    app: &App,
    folded: &Folded,
    is_far: bool,
    from: usize,
    count: usize,
) -> Result<String, Problem> {
    let rows = session_events(folded.reading(), from, count, TEXT_BYTES);
    let rows = rows.map_err(crate::routes::unread)?;
    let mut out = Vec::new();
    let written = crate::answer::json_rows(&mut out, &Redacting::new(app, is_far), rows);
    match written {
        Ok(()) => Ok(String::from_utf8_lossy(&out).into_owned()),
        Err(crate::answer::Stopped::Problem(problem)) => Err(problem),
        Err(crate::answer::Stopped::Gone) => Err(Problem::busy("the stream cannot be written")),
    }
}

#[cfg(test)]
mod tests;
