//! Who may ask: the name, the origin and the secret of a request are checked before anything else.
//!
//! Name and origin come first, for every address, so that a page of another site learns nothing,
//! not even what is there. Then a request is somebody's: of the user, by a cookie or the socket;
//! of whoever has a token; or nobody's. What that somebody may do is a matter of the route.

mod codes;
mod host;
pub(crate) mod tokens;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

pub(crate) use codes::{Codes, Holder};
pub(crate) use host::{Asked, Hosts};
use tokens::{Scope, Token, TokenError, Tokens};

use crate::app::App;
use crate::problem::Problem;

/// Secrets and names.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) hosts: Hosts,
    pub(crate) tokens: Tokens,
    pub(crate) codes: Codes,
}

/// Whose request it is.
#[derive(Debug, Clone)]
pub(crate) enum Who {
    Nobody,
    /// The user of the machine: by a cookie that a code was exchanged for, or over the socket.
    User,
    Token(Token),
}

/// What was found out about a request before its route sees it.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) who: Who,
    pub(crate) asked: Asked,
    pub(crate) is_socket: bool,
    /// A cookie is sent by itself: whoever writes with one has to show that it is our page.
    by_cookie: bool,
}

/// Marks the requests that came over the socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverSocket;

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    Read,
    Write,
    Admin,
    /// Over the socket only.
    Socket,
}

impl Need {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
            Self::Socket => "socket",
        }
    }
}

impl Admitted {
    /// Whether the request may be answered.
    pub(crate) fn check(
        &self,
        need: Need,
        method: &Method,
        headers: &HeaderMap,
        is_read_only: bool,
    ) -> Result<(), Problem> {
        let scope = match (&self.who, need) {
            (_, Need::Nothing) => return Ok(()),
            (_, Need::Socket) if self.is_socket => return Ok(()),
            (_, Need::Socket) => return Err(Problem::forbidden("this is for the socket only")),
            (Who::Nobody, _) => {
                let how =
                    "a token is needed, or a cookie: see `antiphon token` and `antiphon open`";
                return Err(Problem::unauthorized(how));
            }
            (Who::User, _) => Scope::Admin,
            (Who::Token(token), _) => token.scope,
        };
        let may = match (need, scope) {
            (_, Scope::Admin) | (Need::Read, Scope::Read) | (Need::Write, Scope::Write) => true,
            (Need::Nothing | Need::Socket | Need::Read | Need::Write | Need::Admin, _) => false,
        };
        if !may {
            let what = format!("a token with the scope `{}` may not do this", scope.as_str());
            return Err(Problem::forbidden(what));
        }
        if *method == Method::POST && need != Need::Read {
            if self.by_cookie && headers.get("x-antiphon").is_none_or(|it| it != "1") {
                return Err(Problem::forbidden("the header `X-Antiphon: 1` is missing"));
            }
            if is_read_only {
                return Err(Problem::forbidden("this server only reads"));
            }
        }
        Ok(())
    }
}

impl Access {
    fn admit(&self, request: &Request) -> Result<Admitted, Problem> {
        let headers = request.headers();
        if request.extensions().get::<OverSocket>().is_some() {
            let (who, asked) = (Who::User, Asked::Loopback);
            return Ok(Admitted { who, asked, is_socket: true, by_cookie: false });
        }
        let asked = self.hosts.asked(request.uri(), headers).ok_or_else(Problem::misdirected)?;
        self.check_origin(request)?;
        let (who, by_cookie) = match headers.get(header::AUTHORIZATION) {
            Some(_) => (self.bearer(headers), false),
            None => (self.cookie(headers), true),
        };
        Ok(Admitted { who, asked, is_socket: false, by_cookie })
    }

    fn check_origin(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let other = || Problem::forbidden("the request comes from a page of another site");
        let mut origins = headers.get_all(header::ORIGIN).iter();
        if let Some(origin) = origins.next() {
            let is_own = origin.to_str().is_ok_and(|origin| self.hosts.is_own_origin(origin));
            if !is_own || origins.next().is_some() {
                return Err(other());
            }
        }
        let word = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
        let is_navigation = || {
            let reads = matches!(*request.method(), Method::GET | Method::HEAD);
            let navigates = word("sec-fetch-mode") == Some("navigate")
                && word("sec-fetch-dest") == Some("document");
            reads && navigates && is_page(request.uri().path())
        };
        match word("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            // Somebody followed a link.
            Some(_) if is_navigation() => Ok(()),
            Some(_) => Err(other()),
        }
    }

    fn bearer(&self, headers: &HeaderMap) -> Who {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return Who::Nobody };
        let word = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        let token = word.and_then(|word| self.tokens.find(word));
        token.map_or(Who::Nobody, Who::Token)
    }

    fn cookie(&self, headers: &HeaderMap) -> Who {
        let name = self.hosts.cookie_name();
        let values = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let pairs = values.flat_map(|value| value.split(';')).filter_map(|it| it.split_once('='));
        let mut own =
            pairs.filter(|(known, _)| known.trim() == name).map(|(_, value)| value.trim());
        match own.find_map(|value| self.codes.holder(value)) {
            Some(Holder::User) => Who::User,
            // The cookie is as good as the token that it was given for.
            Some(Holder::Token(id)) => self.tokens.by_id(&id).map_or(Who::Nobody, Who::Token),
            None => Who::Nobody,
        }
    }

    /// An address of the page with a new code.
    pub(crate) fn code_address(&self, path: &str) -> Result<String, TokenError> {
        let code = self.codes.new_code()?;
        Ok(format!("{}{path}?code={code}", self.hosts.address()))
    }

    /// The header that gives a browser its cookie.
    pub(crate) fn set_cookie(&self, value: &str) -> HeaderValue {
        let secure = if self.hosts.is_tls() { "; Secure" } else { "" };
        let name = self.hosts.cookie_name();
        let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::from_str(&cookie).unwrap_or(HeaderValue::from_static(""))
    }
}

/// Whether an address is one of the page.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/"
        || path == "/stats"
        || ["/s/", "/compare/"].iter().any(|below| path.starts_with(below))
}

/// Lets a request through to its route, and gives every answer the headers that it must have.
pub(crate) async fn guard(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    app.note_request();
    let is_otlp = request.uri().path().starts_with("/v1/");
    let is_protobuf = crate::body::is_protobuf(request.headers());
    let answer = match app.access.admit(&request) {
        Ok(admitted) => {
            request.extensions_mut().insert(admitted);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    };
    let mut answer = match answer.extensions().get::<Problem>().cloned() {
        Some(problem) if is_otlp => {
            let challenge = answer.headers().get(header::WWW_AUTHENTICATE).cloned();
            let allow = answer.headers().get(header::ALLOW).cloned();
            let mut status = problem.for_otlp(is_protobuf);
            let headers = status.headers_mut();
            challenge.map(|it| headers.insert(header::WWW_AUTHENTICATE, it));
            allow.map(|it| headers.insert(header::ALLOW, it));
            status
        }
        _ => answer,
    };
    app.metrics.count_answer(answer.status());
    add_headers(&mut answer);
    answer
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

fn add_headers(answer: &mut Response<Body>) {
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}
