//! One session: its page, its skeleton, its changes, and its document.

use antiphon_library::{root_of, session_overview};
use antiphon_views::{EditLog, SkeletonOptions, changes, skeleton};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use super::views::unread;
use crate::answer::{json, written};
use crate::call::Call;
use crate::problem::Problem;

/// `antiphon show --json`.
pub(crate) async fn show(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let (id, is_far) = (call.param("id").to_owned(), call.is_far());
    json(&call, move |app| {
        let at = app.library.find(&id)?;
        app.sessions.with(&at, is_far, |folded| {
            let (reading, id, format) = (folded.reading(), folded.id(), folded.format());
            session_overview(&reading, &id, format, &app.prices).map_err(unread)
        })?
    })
    .await
}

/// All events as columns.
pub(crate) async fn columns(call: Call) -> Result<Response, Problem> {
    let (id, is_far) = (call.param("id").to_owned(), call.is_far());
    let mut query = call.query()?;
    let from: usize = query.number("from")?.unwrap_or_default();
    query.finish()?;
    let word = id.clone();
    let tag = call.app.compute(move |app| {
        let at = app.library.find(&word)?;
        app.sessions.with(&at, is_far, |folded| {
            let events = folded.session().len();
            let chain = folded.chain(events).unwrap_or_default();
            let state =
                blake3::hash(format!("{chain} {:?}", folded.session().standing()).as_bytes());
            let state = state.to_hex();
            let state = state.get(..16).unwrap_or_default();
            match from <= events {
                true => Ok(format!("\"{:x}.{events}.{state}.{from}\"", folded.epoch())),
                false => Err(Problem::bad_request("there are not so many events")),
            }
        })?
    });
    let tag = HeaderValue::from_str(&tag.await?).map_err(|_| Problem::bad_request("no tag"))?;
    let known = call.headers.get_all(header::IF_NONE_MATCH).iter();
    if known.filter_map(|it| it.to_str().ok()).any(|it| it.split(',').any(|one| one.trim() == tag))
    {
        let mut unchanged = Response::new(Body::empty());
        *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
        unchanged.headers_mut().insert(header::ETAG, tag);
        return Ok(unchanged);
    }
    let kind = "application/octet-stream";
    let mut answer = written(&call.app, &call.headers, kind, move |app, out| {
        let at = app.library.find(&id)?;
        let bytes = app.sessions.with(&at, is_far, |folded| {
            let session_id = &folded.id();
            let from = from.min(folded.session().len());
            let (epoch, prices) = (folded.epoch(), &app.prices);
            let options = SkeletonOptions { session_id, epoch, from, prices };
            skeleton(&folded.reading(), &options).map_err(unread)
        })??;
        Ok(out.write_all(&bytes)?)
    })
    .await?;
    answer.headers_mut().insert(header::ETAG, tag);
    Ok(answer)
}

/// `antiphon changes --json`.
pub(crate) async fn changed_files(call: Call) -> Result<Response, Problem> {
    let (id, is_far) = (call.param("id").to_owned(), call.is_far());
    let mut query = call.query()?;
    let file = query.one("file")?;
    query.finish()?;
    json(&call, move |app| {
        let at = app.library.find(&id)?;
        app.sessions.with(&at, is_far, |folded| {
            let mut log = EditLog::default();
            let root = root_of(folded.session().info().cwd.as_deref());
            log.add(&folded.reading(), &folded.id(), root.as_deref()).map_err(unread)?;
            Ok(changes(log, file.as_deref()))
        })?
    })
    .await
}
