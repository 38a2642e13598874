//! The table of routes. Everything else is made from it: the router, the description of the API,
//! and the test that asks every route without a right to it.

mod annotations;
mod events;
mod export;
mod live;
mod login;
mod many;
mod meta;
mod otlp;
mod page;
mod session;
mod sessions;
mod stats;
mod views;
mod work;

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::access::{Need, guard};
use crate::app::App;
use crate::call::Call;
use crate::problem::Problem;

/// The documents that only the server gives or takes.
#[cfg(feature = "schema")]
pub(crate) mod schemas {
    pub(crate) use super::annotations::Given;
    pub(crate) use super::export::CheckedDocument;
    pub(crate) use super::login::{Address, Login, WantedCode};
    pub(crate) use super::many::{ListedRun, ServerStatus};
    pub(crate) use super::sessions::{Created, NewSession, SessionPage};
}

pub(crate) use events::TEXT_BYTES;
pub(crate) use views::unread;

type Answering = Pin<Box<dyn Future<Output = Result<Response, Problem>> + Send>>;

/// An address, and what is done when it is asked for.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) need: Need,
    /// What it gives, in a few words.
    pub(crate) about: &'static str,
    pub(crate) parameters: &'static [&'static str],
    pub(crate) gives: Gives,
    handle: fn(Call) -> Answering,
}

/// What a route answers with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gives {
    /// A JSON document whose schema has this name.
    Json(&'static str),
    /// JSON of a kind that another parameter chooses.
    AnyJson,
    /// Any other type.
    Type(&'static str),
    Nothing,
}

macro_rules! routes {
    ($(
        $method:ident $path:literal $need:ident $handler:path, $gives:expr,
        [$($parameter:literal)*], $about:literal;
    )+) => {
        &[$(Route {
            method: Method::$method,
            path: $path,
            need: Need::$need,
            about: $about,
            parameters: &[$($parameter),*],
            gives: $gives,
            handle: |call| Box::pin($handler(call)),
        }),+]
    };
}

use Gives::{AnyJson, Json, Nothing, Type};

pub(crate) const TABLE: &[Route] = routes! {
    GET "/api/sessions" Read sessions::list, Json("sessions"),
        ["q" "agent" "project" "role" "issue" "since" "until" "status" "tool" "file" "min_cost" "sort" "limit" "after"],
        "The sessions, as `antiphon ls --json` lists them, in pages";
    POST "/api/sessions" Write sessions::create, Json("created"), [], "Makes a new recorded session";
    GET "/api/sessions/{id}" Read session::show, Json("show"), [], "A session on one page: `antiphon show --json`";
    GET "/api/sessions/{id}/skeleton" Read session::columns, Type("application/octet-stream"), ["from"],
        "All events as columns of numbers: `antiphon view skeleton`";
    GET "/api/sessions/{id}/events" Read events::window, Json("events"), ["from" "limit"],
        "Events from a number on, with their calls and links";
    POST "/api/sessions/{id}/events" Write events::append, Type("application/x-ndjson"), [],
        "Adds events to a recorded session, one JSON object a line, as `antiphon append` does";
    GET "/api/sessions/{id}/events/{message_id}" Read events::one, Json("event"), [], "One event, whole, with its line";
    GET "/api/sessions/{id}/views/{view}" Read views::view, AnyJson,
        ["agent" "at" "message" "heard_by" "inner" "forward" "role" "source" "kind" "tool" "failed" "all" "tree" "ledger"],
        "A view of a session: `antiphon view VIEW --json`";
    GET "/api/sessions/{id}/changes" Read session::changed_files, Json("changes"), ["file"],
        "What a session changed: `antiphon changes --json`";
    GET "/api/sessions/{id}/export/{format}" Read export::form, Type("application/octet-stream"), [],
        "A session in another form: `antiphon export`";
    GET "/api/sessions/{id}/findings" Read export::findings, Json("findings"), [],
        "The session document of a session, and what is wrong with it";
    POST "/api/sessions/{id}/annotations" Admin annotations::annotate, Json("created"), [],
        "Adds a phase or a note by a person";
    GET "/api/blame" Read many::blame, Json("blame"), ["project" "path"],
        "Who wrote each line of a file, as the last kept session left it: `antiphon blame --json`";
    GET "/api/digest" Read work::digest, Json("digest"), ["since" "until" "project" "tz"],
        "What sessions did: `antiphon digest --json`";
    GET "/api/compare" Read work::compare, Json("diff"), ["a" "b"],
        "Two sessions side by side: `antiphon diff --json`";
    POST "/v1/traces" Write otlp::ingest, AnyJson, [], "Takes spans: OTLP/HTTP, in protobuf or JSON";
    POST "/v1/logs" Write otlp::ingest, AnyJson, [], "Takes log records: OTLP/HTTP, in protobuf or JSON";
    GET "/api/sessions/{id}/live" Read live::session, Type("text/event-stream"), [], "The events of a session as they happen";
    GET "/api/live" Read live::list, Type("text/event-stream"), [], "The list of sessions as it changes";
    GET "/api/runs" Read many::runs, Json("runs"), [], "The runs that sessions belong to";
    GET "/api/runs/{id}" Read many::one_run, Json("view-run"), [], "A run over all of its sessions: `antiphon view run --json`";
    GET "/api/search" Read many::search, Json("search"), ["q" "sort" "limit"], "`antiphon search --json`";
    GET "/api/stats" Read stats::stats, Json("stats"), ["by" "since" "until" "utc" "project" "agent" "model"], "Tokens and cost: `antiphon stats --json`";
    GET "/api/formats" Read many::formats, Json("formats"), [], "`antiphon formats --json`";
    GET "/api/status" Read many::status, Json("status"), [], "How the server is";
    GET "/api/openapi.json" Read meta::openapi, AnyJson, [], "This document";
    POST "/api/login" Nothing login::login, Nothing, [], "Exchanges a token for a cookie";
    POST "/api/code" Socket login::code, Json("address"), [], "A new one-time code, over the socket only";
    GET "/metrics" Admin meta::metrics, Type("application/openmetrics-text"), [], "What the server has counted";
    GET "/healthz" Nothing meta::health, Type("text/plain"), [], "That the server is there";
    GET "/" Nothing page::page, Type("text/html"), [], "The page";
    GET "/stats" Nothing page::page, Type("text/html"), [], "The page";
    GET "/s/{id}" Nothing page::page, Type("text/html"), [], "The page";
    GET "/s/{id}/{tab}" Nothing page::page, Type("text/html"), [], "The page";
    GET "/compare/{a}/{b}" Nothing page::page, Type("text/html"), [], "The page";
    GET "/assets/page.js" Nothing page::script, Type("text/javascript"), [], "The page's script";
    GET "/assets/page.css" Nothing page::style, Type("text/css"), [], "The page's style";
};

pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut router: Router<Arc<App>> = Router::new();
    let mut paths: Vec<&str> = Vec::new();
    for route in TABLE {
        if !paths.contains(&route.path) {
            paths.push(route.path);
        }
    }
    for path in paths {
        let mut methods: MethodRouter<Arc<App>> = MethodRouter::new();
        for route in TABLE.iter().filter(|route| route.path == path) {
            let filter =
                if route.method == Method::POST { MethodFilter::POST } else { MethodFilter::GET };
            let (need, handle) = (route.need, route.handle);
            methods = methods.merge(on(filter, move |call: Call| async move {
                call.check(need)?;
                handle(call).await
            }));
        }
        router = router.route(path, methods);
    }
    router
        .method_not_allowed_fallback(|| async { Problem::method_not_allowed().into_response() })
        .fallback(|| async {
            Problem::not_found("there is nothing at this address").into_response()
        })
        .layer(from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app))
}

#[cfg(test)]
mod tests;
