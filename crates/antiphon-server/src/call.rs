//! A request as its route sees it.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts as _, RawPathParams, Request};
use axum::http::{HeaderMap, Method};

use crate::access::{Admitted, Asked, Need, Who};
use crate::app::App;
use crate::lock;
use crate::problem::Problem;
use crate::query::Query;

/// A request that was let in.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) app: Arc<App>,
    pub(crate) admitted: Admitted,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) uri_path: String,
    raw_query: String,
    params: Vec<(String, String)>,
    /// Taken by whoever reads it. (A body cannot be shared between threads, and a call is.)
    body: Mutex<Body>,
}

impl FromRequest<Arc<App>> for Call {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let params = RawPathParams::from_request_parts(&mut parts, app).await;
        let params = params.map_err(|_| Problem::bad_request("the address is not UTF-8"))?;
        let params = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let admitted = parts.extensions.remove::<Admitted>();
        Ok(Self {
            app: Arc::clone(app),
            admitted: admitted.ok_or_else(|| Problem::forbidden("nobody let this in"))?,
            method: parts.method,
            headers: parts.headers,
            uri_path: parts.uri.path().to_owned(),
            raw_query: parts.uri.query().unwrap_or_default().to_owned(),
            params: params.collect(),
            body: Mutex::new(body),
        })
    }
}

impl Call {
    /// Refuses whoever may not have this.
    pub(crate) fn check(&self, need: Need) -> Result<(), Problem> {
        self.admitted.check(need, &self.method, &self.headers, self.app.is_read_only)
    }

    pub(crate) fn take_body(&self) -> Body {
        std::mem::take(&mut *lock(&self.body))
    }

    /// A part of the address.
    pub(crate) fn param(&self, name: &str) -> &str {
        let found = self.params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    pub(crate) fn query(&self) -> Result<Query, Problem> {
        Query::parse(&self.raw_query)
    }

    pub(crate) fn raw_query(&self) -> &str {
        &self.raw_query
    }

    /// For an address without parameters.
    pub(crate) fn no_query(&self) -> Result<(), Problem> {
        self.query()?.finish()
    }

    /// Whether the answer may leave the machine, and is redacted.
    pub(crate) fn is_far(&self) -> bool {
        self.admitted.asked == Asked::Named
    }

    pub(crate) fn who(&self) -> &Who {
        &self.admitted.who
    }
}
