//! `POST /v1/traces` and `POST /v1/logs`.

use axum::http::StatusCode;
use axum::response::Response;

use crate::body::{JSON, PROTOBUF, is_protobuf, read};
use crate::call::Call;
use crate::otlp::{Signal, decode_json, decode_protobuf};
use crate::problem::{Problem, response};

pub(crate) async fn ingest(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let signal = Signal::of_path(&call.uri_path);
    let is_protobuf = is_protobuf(&call.headers);
    let body = read(&call, &[JSON, PROTOBUF]).await?;
    let refused = call.app.compute(move |app| {
        let request = match is_protobuf {
            true => decode_protobuf(&body, signal),
            false => decode_json(&body, signal),
        };
        let request = request.ok_or_else(|| Problem::bad_request("this is not an OTLP request"))?;
        let refused = request.refused();
        let store = app.library.store()?;
        let kept = app.spool.keep(store, &request);
        kept.map_err(|error| Problem::failed("the request cannot be kept", &error))?;
        app.metrics.spans_in.add(u64::try_from(request.len()).unwrap_or_default());
        app.metrics.spans_refused.add(u64::try_from(refused.count).unwrap_or_default());
        Ok(refused)
    });
    let refused = refused.await?;
    Ok(match is_protobuf {
        true => response(StatusCode::OK, PROTOBUF, refused.protobuf()),
        false => response(StatusCode::OK, JSON, refused.json(signal)),
    })
}
