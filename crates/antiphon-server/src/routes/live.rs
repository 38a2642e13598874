//! Server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::answer::stream;
use crate::app::App;
use crate::call::Call;
use crate::library::Located;
use crate::live::{Frame, Hub, ListPosition, Position, list_step, session_step};
use crate::problem::Problem;

/// So many frames may wait for a slow client.
const FRAMES_MAX: usize = 16;
/// A client that takes nothing for so long is gone; it comes back where it was.
const PATIENCE: Duration = Duration::from_secs(30);
/// A comment is sent so often where nothing happens.
const COMMENT: Duration = Duration::from_secs(14);
/// A session is looked at so often even if nothing was said to have changed.
const LOOK: Duration = Duration::from_secs(1);
/// The same for the list, which costs more.
const LOOK_AT_LIST: Duration = Duration::from_secs(5);

fn last_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|it| it.to_str().ok())
}

fn answer(receiver: Receiver<Bytes>) -> Response {
    let mut answer = Response::new(stream(receiver));
    let kind = HeaderValue::from_static("text/event-stream");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// The way to a listener.
struct Line {
    sender: Sender<Bytes>,
    changes: watch::Receiver<u64>,
    is_ending: watch::Receiver<bool>,
    spoken: Instant,
}

impl Line {
    async fn send(&mut self, text: String) -> Option<()> {
        self.spoken = Instant::now();
        let sent = tokio::time::timeout(PATIENCE, self.sender.send(Bytes::from(text))).await;
        sent.ok()?.ok()
    }

    async fn send_frames(&mut self, frames: &[Frame]) -> Option<()> {
        match frames {
            [] => Some(()),
            frames => self.send(frames.iter().map(Frame::text).collect()).await,
        }
    }

    /// Waits until there may be something to say; nothing, when nobody listens any more.
    async fn wait(&mut self, look: Duration) -> Option<()> {
        let until = Instant::now() + look;
        loop {
            let comment = self.spoken + COMMENT;
            tokio::select! {
                changed = self.changes.changed() => return changed.ok(),
                _ = self.is_ending.changed() => return None,
                () = self.sender.closed() => return None,
                () = tokio::time::sleep_until(comment.min(until)) => {
                    if Instant::now() >= comment {
                        self.send(": \n\n".to_owned()).await?;
                    }
                    if Instant::now() >= until {
                        return Some(());
                    }
                }
            }
        }
    }
}

/// A session while it goes on.
pub(crate) async fn session(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let (id, is_far) = (call.param("id").to_owned(), call.is_far());
    let at = {
        let id = id.clone();
        call.app.compute(move |app| app.library.find(&id)).await?
    };
    let position = last_id(&call.headers).and_then(Position::parse);
    let (sender, receiver) = channel(FRAMES_MAX);
    let (listener, changes) = Hub::listen(&call.app, Some(&at.folder));
    let (app, is_ending) = (Arc::clone(&call.app), call.app.is_ending.clone());
    tokio::spawn(async move {
        let _listener = listener;
        let line = Line { sender, changes, is_ending, spoken: Instant::now() };
        tell_session(&app, line, id, at, is_far, position).await;
    });
    Ok(answer(receiver))
}

#[derive(Serialize)]
struct Gone<'a> {
    id: &'a str,
}

async fn tell_session(
    app: &Arc<App>,
    mut line: Line,
    id: String,
    mut at: Located,
    is_far: bool,
    mut position: Option<Position>,
) -> Option<()> {
    let (mut is_new, mut session_id) = (true, id.clone());
    loop {
        let (word, known) = (id.clone(), at.clone());
        let step = app.compute(move |app| {
            // Its files may have moved, and it may be gone.
            let at = if known.path.exists() { known } else { app.library.find(&word)? };
            let step = session_step(app, &at, is_far, position, is_new)?;
            let own = app.sessions.with(&at, is_far, |folded| folded.id())?;
            Ok((at, step, own))
        });
        match step.await {
            Ok((found, step, own)) => {
                (at, session_id) = (found, own);
                position = Some(step.position);
                is_new = false;
                line.send_frames(&step.frames).await?;
                if step.has_more {
                    continue;
                }
            }
            Err(problem) if problem.status == 404 => {
                let data = serde_json::to_string(&Gone { id: &session_id }).unwrap_or_default();
                let id = position.map(|it| it.to_string()).unwrap_or_default();
                let gone = Frame { event: "gone", id, data: data.into() };
                return line.send_frames(&[gone]).await;
            }
            // It may be written at this moment.
            Err(_) => {}
        }
        line.wait(LOOK).await?;
    }
}

/// The list of sessions while it changes.
pub(crate) async fn list(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let is_far = call.is_far();
    let mut position = last_id(&call.headers).map_or(ListPosition::New, ListPosition::parse);
    let (sender, receiver) = channel(FRAMES_MAX);
    let app = Arc::clone(&call.app);
    let is_ending = app.is_ending.clone();
    tokio::spawn(async move {
        let watching = Arc::clone(&app);
        let listening = tokio::task::spawn_blocking(move || Hub::listen(&watching, None)).await;
        let Ok((listener, changes)) = listening else { return None };
        let _listener = listener;
        let mut line = Line { sender, changes, is_ending, spoken: Instant::now() };
        loop {
            if let Ok((frames, next)) =
                app.compute(move |app| list_step(app, is_far, position)).await
            {
                position = next;
                line.send_frames(&frames).await?;
            }
            line.wait(LOOK_AT_LIST).await?;
        }
        #[expect(unreachable_code, reason = "it says what the block gives")]
        Some(())
    });
    Ok(answer(receiver))
}
