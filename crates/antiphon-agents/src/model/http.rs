//! One request to a service, and its answer as it comes: a thread asks, the session listens.

use std::io::Read;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::sse::{SseEvent, SseParser};
use super::{ModelError, Retry};

/// Until the answer begins. A model may think long before its first word.
const FIRST_BYTE: Duration = Duration::from_secs(600);
/// Until the whole answer is there: a thread that waits for a service that says no more ends then.
const WHOLE_ANSWER: Duration = Duration::from_secs(3600);
/// Between two pieces of an answer that has begun.
const BETWEEN_PIECES: Duration = Duration::from_secs(180);
const CONNECT: Duration = Duration::from_secs(30);
/// What an answer may hold: a line of the log has to hold it.
const ANSWER_BYTES_MAX: usize = 32 << 20;
const ERROR_BYTES_MAX: usize = 64 << 10;
/// What a person is shown of an error.
const MESSAGE_CHARS_MAX: usize = 320;
const PIECE_BYTES: usize = 16 << 10;
/// So many pieces may wait to be read.
const PIECES_MAX: usize = 16;
/// Nobody is waited for longer, whatever a service asks for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(600);

/// What the thread tells.
enum Piece {
    Head(Head),
    Body(Vec<u8>),
    Failed(ModelError),
}

/// How an answer begins.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) request_id: Option<String>,
    pub(super) is_stream: bool,
    retry_after: Option<Duration>,
}

/// Takes the events of a stream, or the whole answer where it came in one piece.
pub(super) trait Receive {
    /// `Err` says why this is no answer.
    fn event(&mut self, event: &SseEvent) -> Result<(), ModelError>;
    fn whole(&mut self, body: &str) -> Result<(), ModelError>;
    fn progress(&self) -> Progress;
}

/// How much of an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Coming,
    /// All of it, but for what the service adds: how many tokens it took.
    Complete,
    /// Nothing more will come. Some services leave the connection open.
    Over,
}

/// A request that is ready to be sent.
pub(super) struct Post<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) path: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl Post<'_> {
    /// Sends it, and hands the answer to `receiver` as it comes; gives the id of the request.
    pub(super) async fn send(self, receiver: &mut dyn Receive) -> Result<Head, ModelError> {
        let endpoint = self.endpoint;
        let mut pieces = self.start();
        let answer = receive(&mut pieces, receiver).await;
        // The key goes first: half of one would not be recognised.
        answer.map_err(|error| ModelError {
            message: antiphon_views::clip(&endpoint.without_key(error.message), MESSAGE_CHARS_MAX),
            retry: error.retry,
        })
    }

    fn start(self) -> Receiver<Piece> {
        let (sender, receiver) = channel(PIECES_MAX);
        let url = format!("{}{}", self.endpoint.url, self.path);
        let (headers, body) = (self.headers, self.body);
        // It ends when nobody listens any more: with the next piece, or when a time limit is over.
        std::thread::spawn(move || {
            if let Err(failure) = ask(&url, &headers, &body, &sender) {
                let _ = sender.blocking_send(Piece::Failed(failure));
            }
        });
        receiver
    }
}

/// Asks, in a thread of its own, and passes the answer on.
fn ask(
    url: &str,
    headers: &[(&'static str, String)],
    body: &[u8],
    to: &Sender<Piece>,
) -> Result<(), ModelError> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(CONNECT))
        .timeout_send_body(Some(FIRST_BYTE))
        .timeout_recv_body(Some(WHOLE_ANSWER))
        .timeout_recv_response(Some(FIRST_BYTE));
    let agent = ureq::Agent::new_with_config(config.build());
    let mut request = agent.post(url).content_type("application/json");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let response = request.send(body).map_err(|error| failure(&error))?;
    let header = |name: &str| response.headers().get(name).and_then(|it| it.to_str().ok());
    let request_id = header("request-id").or_else(|| header("x-request-id"));
    let head = Head {
        status: response.status().as_u16(),
        request_id: request_id.map(str::to_owned),
        is_stream: header("content-type").is_some_and(|it| it.contains("event-stream")),
        retry_after: header("retry-after").and_then(seconds),
    };
    if to.blocking_send(Piece::Head(head)).is_err() {
        return Ok(());
    }
    let mut reader = response.into_body().into_reader();
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let read = reader.read(&mut piece).map_err(|error| cut(&error.to_string()))?;
        piece.truncate(read);
        if read == 0 || to.blocking_send(Piece::Body(piece)).is_err() {
            return Ok(());
        }
    }
}

/// Why a service could not be asked. An address that is wrong stays wrong.
fn failure(error: &ureq::Error) -> ModelError {
    let is_wrong_address = matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_));
    let report = if is_wrong_address { ModelError::for_good } else { ModelError::for_now };
    report(error.to_string())
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    let seconds = Some(seconds).filter(|it| it.is_finite() && *it >= 0.0)?;
    Some(Duration::from_secs_f64(seconds.min(RETRY_AFTER_MAX.as_secs_f64())))
}

async fn receive(
    pieces: &mut Receiver<Piece>,
    receiver: &mut dyn Receive,
) -> Result<Head, ModelError> {
    let head = match timeout(FIRST_BYTE, pieces.recv()).await {
        Ok(Some(Piece::Head(head))) => head,
        Ok(Some(Piece::Failed(failure))) => return Err(failure),
        Ok(Some(Piece::Body(_)) | None) => return Err(cut("the service hung up")),
        Err(_) => return Err(cut("the service did not answer in time")),
    };
    if head.status != 200 {
        return Err(refused(&head, pieces).await);
    }
    match answer(&head, pieces, receiver).await {
        Err(error) if receiver.progress() == Progress::Coming => Err(error),
        // What came after the answer is not missed.
        Ok(()) | Err(_) => Ok(head),
    }
}

/// Hands an answer on as it comes, until all of it is there.
async fn answer(
    head: &Head,
    pieces: &mut Receiver<Piece>,
    receiver: &mut dyn Receive,
) -> Result<(), ModelError> {
    let mut parser = SseParser::default();
    let (mut whole, mut total) = (Vec::new(), 0usize);
    while receiver.progress() != Progress::Over {
        let piece = match timeout(BETWEEN_PIECES, pieces.recv()).await {
            Ok(Some(Piece::Body(piece))) => piece,
            Ok(Some(Piece::Failed(failure))) => return Err(failure),
            Ok(Some(Piece::Head(_)) | None) => break,
            Err(_) => return Err(cut("nothing more came")),
        };
        total += piece.len();
        if total > ANSWER_BYTES_MAX {
            return Err(ModelError::for_good("the answer is longer than 32 MB"));
        }
        if head.is_stream {
            let mut failure = Ok(());
            let fed = parser.feed(&piece, |event| {
                if failure.is_ok() {
                    failure = receiver.event(&event);
                }
            });
            fed.map_err(|_| malformed("an event is longer than 16 MB"))?;
            failure?;
        } else {
            whole.extend_from_slice(&piece);
        }
    }
    if !head.is_stream {
        receiver.whole(&String::from_utf8_lossy(&whole))?;
    }
    match receiver.progress() {
        Progress::Coming => Err(cut("it ended in the middle")),
        Progress::Complete | Progress::Over => Ok(()),
    }
}

/// Why a request was not taken, in the service's own words.
async fn refused(head: &Head, pieces: &mut Receiver<Piece>) -> ModelError {
    let mut body = Vec::new();
    while let Ok(Some(Piece::Body(piece))) = timeout(BETWEEN_PIECES, pieces.recv()).await {
        body.extend_from_slice(&piece);
        if body.len() > ERROR_BYTES_MAX {
            break;
        }
    }
    let text = String::from_utf8_lossy(&body);
    let status = head.status;
    let message = match error_words(&text) {
        Some(words) => format!("the service answered {status}: {words}"),
        None => format!("the service answered {status}"),
    };
    let is_temporary = matches!(status, 408 | 409 | 429 | 500..=599);
    let retry = if is_temporary { Retry::After(head.retry_after) } else { Retry::Never };
    ModelError { message, retry }
}

/// What a service says of an error, if it says it as services do.
pub(super) fn error_words(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let error = value.get("error").unwrap_or(&value);
    let words = error.get("message").unwrap_or(error).as_str()?;
    Some(words.to_owned()).filter(|words| !words.is_empty())
}

fn cut(why: &str) -> ModelError {
    ModelError::for_now(format!("the answer was cut off: {why}"))
}

pub(super) fn malformed(why: &str) -> ModelError {
    ModelError::for_now(format!("the answer is malformed: {why}"))
}
