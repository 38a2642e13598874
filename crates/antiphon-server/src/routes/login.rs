//! How a browser gets its cookie.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::{Deserialize, Serialize};

use crate::access::is_page;
use crate::answer::document;
use crate::body::{JSON, read};
use crate::call::Call;
use crate::problem::Problem;

/// A token, to be exchanged for a cookie.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// What `antiphon token create` printed.
    token: String,
}

/// A token for a cookie that may do what the token may.
pub(crate) async fn login(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let body = read(&call, &[JSON]).await?;
    let login: Login =
        serde_json::from_slice(&body).map_err(|_| Problem::bad_request("`token` is missing"))?;
    let access = &call.app.access;
    let token = access.tokens.find(&login.token);
    let token = token.ok_or_else(|| Problem::unauthorized("this is not a token"))?;
    let cookie = access.codes.new_cookie(Some(&token));
    let cookie = cookie.map_err(|error| Problem::failed("no cookie can be made", &error))?;
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer.headers_mut().insert(header::SET_COOKIE, access.set_cookie(&cookie));
    Ok(answer)
}

/// For which address of the page a code is wanted.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedCode {
    /// The path, which begins with `/`.
    path: String,
}

/// An address of the page, with a new code.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Address {
    /// The address, which is good once and for a minute.
    url: String,
}

/// A new code, for whoever is the user: over the socket only.
pub(crate) async fn code(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let body = read(&call, &[JSON]).await?;
    let wanted: WantedCode =
        serde_json::from_slice(&body).map_err(|_| Problem::bad_request("`path` is missing"))?;
    if !is_page(&wanted.path) {
        return Err(Problem::bad_request("this is not an address of the page"));
    }
    let url = call.app.access.code_address(&wanted.path);
    let url = url.map_err(|error| Problem::failed("no code can be made", &error))?;
    Ok(document(StatusCode::OK, &Address { url }))
}

/// A code for a cookie, on any address of the page: then to the same address without the code.
pub(crate) fn exchange(call: &Call, code: &str) -> Result<Response, Problem> {
    let access = &call.app.access;
    if !access.codes.take(code) {
        return Err(Problem::unauthorized("this code is spent; `antiphon open` gives a new one"));
    }
    let cookie = access.codes.new_cookie(None);
    let cookie = cookie.map_err(|error| Problem::failed("no cookie can be made", &error))?;
    let rest: Vec<&str> = call
        .raw_query()
        .split('&')
        .filter(|pair| !pair.is_empty() && pair.split('=').next() != Some("code"))
        .collect();
    let address = match rest.is_empty() {
        true => call.uri_path.clone(),
        false => format!("{}?{}", call.uri_path, rest.join("&")),
    };
    let address = HeaderValue::from_str(&address);
    let address = address.map_err(|_| Problem::bad_request("this is not an address"))?;
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    let headers = answer.headers_mut();
    headers.insert(header::LOCATION, address);
    headers.insert(header::SET_COOKIE, access.set_cookie(&cookie));
    Ok(answer)
}
