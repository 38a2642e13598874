//! What is answered when a request cannot be: `application/problem+json` (RFC 9457), and under
//! `/v1/` a `google.rpc.Status`, as OTLP wants it. Neither names a path of the machine.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prost::Message;
use serde::Serialize;

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
}

impl Problem {
    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "this address does not know that method")
    }

    pub(crate) fn too_large() -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large")
    }

    pub(crate) fn unsupported(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
    }

    pub(crate) fn misdirected() -> Self {
        Self::new(StatusCode::MISDIRECTED_REQUEST, "this server is not known by that name")
    }

    pub(crate) fn busy(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// Something failed that the client cannot help. What it was is logged, not told: an error may
    /// name paths.
    pub(crate) fn failed(what: &'static str, error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(what, cause = kind_of(error), "a request failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    }

    /// As a `google.rpc.Status`, in the encoding of the request.
    pub(crate) fn for_otlp(self, is_protobuf: bool) -> Response {
        let code = match self.status {
            StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE => 3,
            StatusCode::NOT_FOUND => 5,
            StatusCode::FORBIDDEN => 7,
            StatusCode::PAYLOAD_TOO_LARGE => 8,
            StatusCode::METHOD_NOT_ALLOWED => 12,
            StatusCode::SERVICE_UNAVAILABLE => 14,
            StatusCode::UNAUTHORIZED => 16,
            _ => 13,
        };
        let status = RpcStatus { code, message: self.detail };
        let (kind, body) = match is_protobuf {
            true => ("application/x-protobuf", status.encode_to_vec()),
            false => ("application/json", serde_json::to_vec(&status).unwrap_or_default()),
        };
        response(self.status, kind, body)
    }
}

/// The last cause of an error that is the system's, in its own words: these name no path.
fn kind_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return io.kind().to_string();
        }
        cause = error.source();
    }
    "other".to_owned()
}

/// `google.rpc.Status`, without details.
#[derive(Clone, PartialEq, Message, Serialize)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = Document {
            kind: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = response(self.status, "application/problem+json", body);
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"antiphon\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        // Under `/v1/` it is told in other words.
        response.extensions_mut().insert(self);
        response
    }
}

pub(crate) fn response(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
