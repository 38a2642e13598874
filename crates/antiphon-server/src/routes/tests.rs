//! Who may ask what: every route, asked by everybody. A route that is not in this table fails.

use std::sync::Arc;

use antiphon_library::Store;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::{TABLE, router};
use crate::access::tokens::Scope;
use crate::app::App;

/// Method, path, and who may: nobody, a token to read, one to write, one for everything.
const MATRIX: [(&str, &str, [bool; 4]); 37] = [
    ("GET", "/api/sessions", [false, true, false, true]),
    ("POST", "/api/sessions", [false, false, true, true]),
    ("GET", "/api/sessions/{id}", [false, true, false, true]),
    ("GET", "/api/sessions/{id}/skeleton", [false, true, false, true]),
    ("GET", "/api/sessions/{id}/events", [false, true, false, true]),
    ("POST", "/api/sessions/{id}/events", [false, false, true, true]),
    ("GET", "/api/sessions/{id}/events/{message_id}", [false, true, false, true]),
    ("GET", "/api/sessions/{id}/views/{view}", [false, true, false, true]),
    ("GET", "/api/sessions/{id}/changes", [false, true, false, true]),
    ("GET", "/api/sessions/{id}/export/{format}", [false, true, false, true]),
    ("GET", "/api/sessions/{id}/findings", [false, true, false, true]),
    ("POST", "/api/sessions/{id}/annotations", [false, false, false, true]),
    ("GET", "/api/blame", [false, true, false, true]),
    ("GET", "/api/digest", [false, true, false, true]),
    ("GET", "/api/compare", [false, true, false, true]),
    ("POST", "/v1/traces", [false, false, true, true]),
    ("POST", "/v1/logs", [false, false, true, true]),
    ("GET", "/api/sessions/{id}/live", [false, true, false, true]),
    ("GET", "/api/live", [false, true, false, true]),
    ("GET", "/api/runs", [false, true, false, true]),
    ("GET", "/api/runs/{id}", [false, true, false, true]),
    ("GET", "/api/search", [false, true, false, true]),
    ("GET", "/api/stats", [false, true, false, true]),
    ("GET", "/api/formats", [false, true, false, true]),
    ("GET", "/api/status", [false, true, false, true]),
    ("GET", "/api/openapi.json", [false, true, false, true]),
    ("POST", "/api/login", [true, true, true, true]),
    // Over the socket only.
    ("POST", "/api/code", [false, false, false, false]),
    ("GET", "/metrics", [false, false, false, true]),
    ("GET", "/healthz", [true, true, true, true]),
    ("GET", "/", [true, true, true, true]),
    ("GET", "/stats", [true, true, true, true]),
    ("GET", "/s/{id}", [true, true, true, true]),
    ("GET", "/s/{id}/{tab}", [true, true, true, true]),
    ("GET", "/compare/{a}/{b}", [true, true, true, true]),
    ("GET", "/assets/page.js", [true, true, true, true]),
    ("GET", "/assets/page.css", [true, true, true, true]),
];

struct Server {
    app: Arc<App>,
    _folder: tempfile::TempDir,
}

impl Server {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = Arc::new(App::for_tests(Store::at(folder.path())));
        Self { app, _folder: folder }
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "127.0.0.1:7462");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let service = TowerToHyperService::new(router(&self.app));
        service.call(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    fn token(&self, scope: Scope) -> String {
        let word = self.app.access.tokens.create(None, scope, None).unwrap();
        format!("Bearer {word}")
    }
}

/// An address of a route: what is in braces is something that is not there.
fn example(path: &str) -> String {
    path.split('/')
        .map(|part| if part.starts_with('{') { "nobody" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

#[test]
fn every_route_is_in_the_table_of_who_may_ask() {
    let known: Vec<(&str, &str)> =
        MATRIX.iter().map(|(method, path, _)| (*method, *path)).collect();
    let routes: Vec<(&str, &str)> =
        TABLE.iter().map(|route| (route.method.as_str(), route.path)).collect();
    for route in &routes {
        assert!(known.contains(route), "{route:?} is not in the table");
    }
    assert_eq!(known.len(), routes.len(), "the table has routes that are gone");
}

#[tokio::test]
async fn a_route_answers_those_who_may_ask_and_nobody_else() {
    let server = Server::new();
    let tokens = [Scope::Read, Scope::Write, Scope::Admin].map(|scope| server.token(scope));
    for (method, path, may) in MATRIX {
        let address = example(path);
        let mut everybody = vec![None];
        everybody.extend(tokens.iter().map(Some));
        for (token, may) in everybody.into_iter().zip(may) {
            let headers: Vec<(&str, &str)> =
                token.iter().map(|token| ("authorization", token.as_str())).collect();
            let answer = server.ask(method, &address, &headers).await;
            let is_refused =
                matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            assert_eq!(!is_refused, may, "{method} {path} as {token:?}: {}", answer.status());
            assert_eq!(answer.headers()[header::X_FRAME_OPTIONS], "DENY");
            if token.is_none() && !may && path != "/api/code" {
                assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn another_name_or_another_site_gets_nothing_from_any_route() {
    let server = Server::new();
    let token = server.token(Scope::Admin);
    for (method, path, _) in MATRIX {
        let address = example(path);
        let ask = |name: &'static str, value: &'static str| {
            let (server, address, token) = (&server, address.clone(), token.clone());
            async move {
                let headers = [("authorization", token.as_str()), (name, value)];
                server.ask(method, &address, &headers).await.status()
            }
        };
        assert_eq!(ask("host", "evil.example:7462").await, 421, "{method} {path}");
        assert_eq!(ask("host", "127.0.0.1:7463").await, 421, "{method} {path}");
        assert_eq!(ask("origin", "http://evil.example").await, 403, "{method} {path}");
        assert_eq!(ask("origin", "null").await, 403, "{method} {path}");
        assert_eq!(ask("sec-fetch-site", "cross-site").await, 403, "{method} {path}");
        assert_eq!(ask("sec-fetch-site", "same-site").await, 403, "{method} {path}");
    }
}

#[tokio::test]
async fn a_cookie_writes_only_with_the_header_of_our_page() {
    let server = Server::new();
    let cookie = format!("antiphon_7462={}", server.app.access.codes.new_cookie(None).unwrap());
    let status = |headers: Vec<(&'static str, String)>| {
        let server = &server;
        async move {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            server.ask("POST", "/api/sessions", &headers).await.status()
        }
    };
    assert_eq!(status(vec![("cookie", cookie.clone())]).await, 403);
    let with_header = vec![("cookie", cookie), ("x-antiphon", "1".to_owned())];
    assert_eq!(status(with_header).await, 415, "it gets as far as the missing body");
}
