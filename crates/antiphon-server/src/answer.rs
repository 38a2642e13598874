//! Answers that are written on another thread while they are sent.
//!
//! Whatever computes runs on a blocking thread and writes into a channel that holds a few pieces. A
//! client that reads slowly slows the writer down, and one that goes away, or does not read for a
//! while, ends it.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use hyper::body::Frame;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::app::App;
use crate::call::Call;
use crate::problem::Problem;
use crate::redacted::Redacting;

/// So much is sent at once.
const PIECE_BYTES: usize = 64 << 10;
/// So many pieces may wait to be sent.
const PIECES_MAX: usize = 4;
/// A client that takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(30);

type Piece = Result<Bytes, Problem>;

/// Where an answer is written.
pub(crate) struct Out {
    sender: Sender<Piece>,
    runtime: Handle,
    buffer: Vec<u8>,
}

impl Out {
    fn send(&mut self, piece: Piece) -> io::Result<()> {
        let sending = tokio::time::timeout(PATIENCE, self.sender.send(piece));
        match self.runtime.block_on(sending) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.buffer));
        self.send(Ok(piece))
    }
}

/// Why an answer was not written to its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    Problem(Problem),
    /// Nobody listens any more.
    Gone,
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<io::Error> for Stopped {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl From<serde_json::Error> for Stopped {
    fn from(error: serde_json::Error) -> Self {
        match error.is_io() {
            true => Self::Gone,
            false => Self::Problem(Problem::failed("the answer cannot be written", &error)),
        }
    }
}

/// The codings in which an answer may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Identity,
    Gzip,
    Zstd,
}

/// The best coding that a client takes.
fn coding(headers: &HeaderMap) -> Coding {
    let takes = |name: &str| {
        let values = headers.get_all(header::ACCEPT_ENCODING).iter();
        values.filter_map(|it| it.to_str().ok()).flat_map(|value| value.split(',')).any(|part| {
            let mut words = part.split(';').map(str::trim);
            let is_it = words.next().is_some_and(|word| word.eq_ignore_ascii_case(name));
            is_it && !words.any(|word| matches!(word, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
    };
    match (takes("zstd"), takes("gzip")) {
        (true, _) => Coding::Zstd,
        (false, true) => Coding::Gzip,
        (false, false) => Coding::Identity,
    }
}

/// Answers with what `write` writes on another thread. A problem before the first piece is the
/// answer; after it, the answer breaks off.
pub(crate) async fn written(
    app: &Arc<App>,
    headers: &HeaderMap,
    kind: &'static str,
    write: impl FnOnce(&App, &mut dyn Write) -> Result<(), Stopped> + Send + 'static,
) -> Result<Response, Problem> {
    let coding = coding(headers);
    let permit = app.permit().await?;
    let (sender, mut receiver) = channel(PIECES_MAX);
    let (app, runtime) = (Arc::clone(app), Handle::current());
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut out = Out { sender, runtime, buffer: Vec::new() };
        let done = match coding {
            Coding::Identity => write(&app, &mut out),
            Coding::Gzip => {
                let mut packer =
                    flate2::write::GzEncoder::new(&mut out, flate2::Compression::fast());
                let done = write(&app, &mut packer);
                done.and_then(|()| Ok(packer.finish().map(drop)?))
            }
            Coding::Zstd => zstd::stream::write::Encoder::new(&mut out, 3)
                .map_err(Stopped::from)
                .and_then(|mut packer| {
                    write(&app, &mut packer)?;
                    Ok(packer.finish().map(drop)?)
                }),
        };
        match done {
            Ok(()) => drop(out.flush()),
            Err(Stopped::Problem(problem)) => drop(out.send(Err(problem))),
            Err(Stopped::Gone) => {}
        }
    });
    let first = receiver.recv().await.transpose()?;
    let body = Pieces { first, receiver };
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let coding = match coding {
        Coding::Identity => None,
        Coding::Gzip => Some("gzip"),
        Coding::Zstd => Some("zstd"),
    };
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    Ok(response)
}

/// Answers with a JSON document that is worked out on another thread.
pub(crate) async fn json<T: Serialize>(
    call: &Call,
    work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let is_far = call.is_far();
    written(&call.app, &call.headers, "application/json", move |app, out| {
        let document = work(app)?;
        Redacting::new(app, is_far).write(out, &document)
    })
    .await
}

/// Writes a JSON list row by row.
pub(crate) fn json_rows<T: Serialize, E: std::error::Error + 'static>(
    out: &mut dyn Write,
    redacting: &Redacting<'_>,
    rows: impl Iterator<Item = Result<T, E>>,
) -> Result<(), Stopped> {
    out.write_all(b"[")?;
    for (number, row) in rows.enumerate() {
        if number > 0 {
            out.write_all(b",")?;
        }
        let row = row.map_err(|error| Problem::failed("the session cannot be read", &error))?;
        redacting.write(out, &row)?;
    }
    Ok(out.write_all(b"]")?)
}

/// A short answer that is ready.
pub(crate) fn document<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_default();
    crate::problem::response(status, "application/json", body)
}

/// The body of an answer that is still being written.
struct Pieces {
    first: Option<Bytes>,
    receiver: Receiver<Piece>,
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let piece = std::task::ready!(self.receiver.poll_recv(context));
        Poll::Ready(piece.map(|piece| {
            piece.map(Frame::data).map_err(|_| io::Error::other("the answer broke off"))
        }))
    }
}

/// A body that goes on as long as somebody writes it.
pub(crate) fn stream(receiver: Receiver<Bytes>) -> Body {
    Body::new(Endless { receiver })
}

struct Endless {
    receiver: Receiver<Bytes>,
}

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.receiver.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
