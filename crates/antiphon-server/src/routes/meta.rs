//! About the server itself.

use axum::http::StatusCode;
use axum::response::Response;

use crate::call::Call;
use crate::metrics::Gauges;
use crate::problem::{Problem, response};

/// That it is there.
pub(crate) async fn health(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    Ok(response(StatusCode::OK, "text/plain; charset=utf-8", b"ok\n".to_vec()))
}

/// What it has counted.
pub(crate) async fn metrics(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let app = &call.app;
    let (sessions, session_bytes) = app.sessions.size();
    let working = crate::app::WORKERS.saturating_sub(app.workers.available_permits());
    let gauges = Gauges { listeners: app.hub.listeners(), sessions, session_bytes, working };
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(response(StatusCode::OK, kind, app.metrics.text(gauges).into_bytes()))
}

/// The description of all routes.
pub(crate) async fn openapi(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    Ok(response(StatusCode::OK, "application/json", crate::openapi::DOCUMENT.as_bytes().to_vec()))
}
