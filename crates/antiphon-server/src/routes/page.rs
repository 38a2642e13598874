//! The page: the list of sessions, until there is more to see.

use axum::http::StatusCode;
use axum::response::Response;

use super::login::exchange;
use crate::call::Call;
use crate::problem::{Problem, response};

/// Any address of the page.
pub(crate) async fn page(call: Call) -> Result<Response, Problem> {
    let pairs = call.raw_query().split('&');
    let code = pairs.filter_map(|pair| pair.strip_prefix("code=")).next();
    if let Some(code) = code {
        return exchange(&call, code);
    }
    Ok(response(
        StatusCode::OK,
        "text/html; charset=utf-8",
        include_bytes!("page/page.html").to_vec(),
    ))
}

pub(crate) async fn script(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    let text = include_bytes!("page/page.js").to_vec();
    Ok(response(StatusCode::OK, "text/javascript; charset=utf-8", text))
}

pub(crate) async fn style(call: Call) -> Result<Response, Problem> {
    call.no_query()?;
    Ok(response(
        StatusCode::OK,
        "text/css; charset=utf-8",
        include_bytes!("page/page.css").to_vec(),
    ))
}
