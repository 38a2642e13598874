//! Events of a session: some of them, one of them, and new ones.

use std::time::Duration;

use antiphon_journal::{Draft, Error, Options, Writer};
use antiphon_views::{session_events, whole_event};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use super::views::unread;
use crate::access::Who;
use crate::access::tokens::Scope;
use crate::answer::{json, json_rows, written};
use crate::body::{NDJSON, read};
use crate::call::Call;
use crate::library::Located;
use crate::problem::{Problem, response};
use crate::redacted::Redacting;

/// A text is cut behind so many bytes, unless its event is asked for alone.
pub(crate) const TEXT_BYTES: usize = 64 << 10;
const LIMIT: usize = 100;
const LIMIT_MAX: usize = 10_000;
/// As many lines share one wait for the disk.
const BATCH_MAX: usize = 256;
/// How long another writer may take.
const WAIT: Duration = Duration::from_secs(5);

/// Events from a number on.
pub(crate) async fn window(call: Call) -> Result<Response, Problem> {
    let (id, is_far) = (call.param("id").to_owned(), call.is_far());
    let mut query = call.query()?;
    let from: usize = query.number("from")?.unwrap_or(1);
    let limit: usize = query.number("limit")?.unwrap_or(LIMIT);
    query.finish()?;
    let before = from.checked_sub(1);
    let before = before.ok_or_else(|| Problem::bad_request("events are numbered from 1"))?;
    written(&call.app, &call.headers, "application/json", move |app, out| {
        let at = app.library.find(&id)?;
        let redacting = Redacting::new(app, is_far);
        app.sessions.with(&at, is_far, |folded| {
            let limit = limit.min(LIMIT_MAX);
            let rows = session_events(folded.reading(), before, limit, TEXT_BYTES);
            json_rows(out, &redacting, rows.map_err(unread)?)
        })?
    })
    .await
}

/// One event, whole.
pub(crate) async fn one(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let (id, is_far) = (call.param("id").to_owned(), call.is_far());
    let message = call.param("message_id").to_owned();
    json(&call, move |app| {
        let at = app.library.find(&id)?;
        app.sessions.with(&at, is_far, |folded| {
            let found = folded.session().find(&message).map(|entry| entry.ix());
            let event = found.ok_or_else(|| Problem::not_found("there is no such message"))?;
            whole_event(&folded.reading(), event).map_err(unread)
        })?
    })
    .await
}

/// The answer to a line.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Id(String),
    Error(String),
}

/// Adds events to a log, as `antiphon append` does.
pub(crate) async fn append(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let id = call.param("id").to_owned();
    let at = {
        let id = id.clone();
        call.app.compute(move |app| app.library.find(&id)).await?
    };
    may_write(&call, &at)?;
    let body = read(&call, &[NDJSON]).await?;
    let answers = call.app.compute(move |app| {
        if !at.is_recorded {
            return Err(Problem::conflict(
                "this session is another program's; nothing is added to it",
            ));
        }
        let lines = body.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let answers = write(&at, lines.filter(|line| !line.is_empty()))?;
        let written = answers.iter().filter(|it| matches!(it, Answer::Id(_))).count();
        app.metrics.events_in.add(u64::try_from(written).unwrap_or_default());
        Ok(answers)
    });
    let mut text = Vec::new();
    for answer in answers.await? {
        serde_json::to_writer(&mut text, &answer).unwrap_or_default();
        text.push(b'\n');
    }
    Ok(response(StatusCode::OK, NDJSON, text))
}

/// A token that only writes may add to what it made, and to nothing else.
fn may_write(call: &Call, at: &Located) -> Result<(), Problem> {
    match call.who() {
        Who::Token(token)
            if token.scope == Scope::Write && !call.app.access.tokens.has_made(&at.key, token) =>
        {
            Err(Problem::forbidden("this token did not make that session"))
        }
        Who::Nobody | Who::User | Who::Token(_) => Ok(()),
    }
}

/// Writes lines; an answer for each, in order, once it is durable.
fn write<'a>(at: &Located, lines: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Answer>, Problem> {
    let options = Options {
        wait: WAIT,
        program: "antiphon serve".to_owned(),
        keeps_checkpoint: true,
        ..Options::default()
    };
    let writer = Writer::open(&at.path, options).map_err(|error| not_written(&error))?;
    let drafts: Vec<Result<Draft, String>> =
        lines.map(|line| Draft::from_bytes(line).map_err(|error| error.to_string())).collect();
    let mut answers = Vec::with_capacity(drafts.len());
    let mut drafts = drafts.into_iter().peekable();
    while drafts.peek().is_some() {
        let (mut batch, mut marks) = (Vec::new(), Vec::new());
        for draft in drafts.by_ref().take(BATCH_MAX) {
            marks.push(draft.map(|draft| batch.push(draft)));
        }
        let acks = writer.append_batch(&batch).map_err(|error| not_written(&error))?;
        let mut acks = acks.into_iter();
        for mark in marks {
            answers.push(match (mark, ()) {
                (Err(reason), ()) => Answer::Error(reason),
                (Ok(()), ()) => match acks.next() {
                    Some(Ok(ack)) => Answer::Id(ack.message_id.to_string()),
                    Some(Err(error)) if error.is_about_the_event() => {
                        Answer::Error(error.to_string())
                    }
                    Some(Err(error)) => return Err(not_written(&error)),
                    None => Answer::Error("it was not written; send it again".to_owned()),
                },
            });
        }
    }
    writer.close().map_err(|error| not_written(&error))?;
    Ok(answers)
}

pub(crate) fn not_written(error: &Error) -> Problem {
    if let Error::Locked { .. } = error {
        return Problem::conflict("another program is writing this session");
    }
    Problem::failed("the log cannot be written", error)
}
