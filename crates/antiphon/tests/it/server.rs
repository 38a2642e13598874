//! The server, over its own sockets: who gets in, what is answered, and what happens live.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::home::Home;

/// `antiphon serve` on a free port, until it is dropped.
struct Server {
    child: Child,
    port: u16,
    said: Value,
}

impl Server {
    fn start(home: &Home, more: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--json"];
        arguments.extend(more);
        let mut command = home.command(&arguments);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = said["address"].as_str().unwrap();
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Self { child, port, said }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends a request and reads the whole answer.
    fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> String {
        let mut stream = self.connect();
        let port = self.port;
        let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let len = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
             Content-Length: {len}\r\n{more}\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The path and the code of the address that it printed.
    fn code(&self) -> &str {
        let url = self.said["url"].as_str().unwrap();
        url.split_once(&format!(":{}", self.port)).unwrap().1
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The JSON of an answer, whose body may come in chunks.
fn json(answer: &str) -> Value {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let body = match head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        false => body.to_owned(),
        true => {
            let (mut rest, mut whole) = (body, String::new());
            while let Some((len, behind)) = rest.split_once("\r\n") {
                let len = usize::from_str_radix(len, 16).unwrap();
                whole.push_str(&behind[..len]);
                rest = behind[len..].trim_start_matches("\r\n");
            }
            whole
        }
    };
    serde_json::from_str(&body).unwrap()
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let lines = answer.split("\r\n\r\n").next().unwrap().lines();
    let mut named = lines.filter_map(|line| line.split_once(": "));
    named.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn admin(home: &Home) -> String {
    format!("Authorization: Bearer {}", home.run("token create --scope admin").out.trim())
}

#[test]
fn a_code_lets_a_browser_in_once_and_nobody_else_gets_in() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    assert_eq!(status(&server.ask("GET", "/healthz", &[], "")), 200);
    assert_eq!(status(&server.ask("GET", "/api/sessions", &[], "")), 401);
    let answer = server.ask("GET", server.code(), &[], "");
    assert_eq!((status(&answer), header(&answer, "location")), (303, Some("/")));
    assert_eq!(status(&server.ask("GET", server.code(), &[], "")), 401);
    let cookie = header(&answer, "set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let cookie = format!("Cookie: {cookie}");
    assert_eq!(status(&server.ask("GET", "/api/sessions", &[&cookie], "")), 200);
    let other = [cookie.as_str(), "Origin: http://evil.example"];
    assert_eq!(status(&server.ask("GET", "/api/sessions", &other, "")), 403);
}

#[test]
fn what_is_sent_is_recorded_and_what_is_recorded_is_told_live() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let token = admin(&home);
    let json_type = "Content-Type: application/json";
    let made = server.ask("POST", "/api/sessions", &[&token, json_type], r#"{"title":"By hand"}"#);
    assert_eq!(status(&made), 201, "{made}");
    let id = json(&made)["id"].as_str().unwrap().to_owned();

    let mut live = server.connect();
    let port = server.port;
    let head = format!(
        "GET /api/sessions/{id}/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{token}\r\n\r\n"
    );
    live.write_all(head.as_bytes()).unwrap();
    let mut live = BufReader::new(live);
    let mut until = |word: &str| {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(live.read_line(&mut line).unwrap(), 0, "the stream ended before `{word}`");
        }
        line
    };
    until("event: snapshot");

    let lines = "{\"message_id\":\"x1\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"hello\"}\nnonsense\n";
    let path = format!("/api/sessions/{id}/events");
    let ndjson = "Content-Type: application/x-ndjson";
    let answer = server.ask("POST", &path, &[&token, ndjson], lines);
    let answers: Vec<&str> = answer.split("\r\n\r\n").nth(1).unwrap().lines().collect();
    assert_eq!(answers[0], r#"{"id":"x1"}"#);
    assert!(answers[1].starts_with(r#"{"error":"#), "{answers:?}");
    assert!(until("\"x1\"").contains("hello"));

    let shown = json(&server.ask("GET", &format!("/api/sessions/{id}"), &[&token], ""));
    let printed: Value = serde_json::from_str(&home.run(&format!("show {id} --json")).out).unwrap();
    assert_eq!(shown, printed);
}

#[test]
fn open_uses_the_server_that_runs_already() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let opened = home.run("open --no-browser");
    assert_eq!(opened.exit, 0, "{opened}");
    let url = opened.out.trim();
    assert!(url.starts_with(&format!("http://127.0.0.1:{}/?code=", server.port)), "{url}");
    let path = url.split_once(&format!(":{}", server.port)).unwrap().1;
    assert_eq!(status(&server.ask("GET", path, &[], "")), 303);
}

#[test]
fn listening_beyond_this_machine_needs_a_token_a_name_and_tls() {
    let home = Home::new();
    let refused = home.run("serve --listen 0.0.0.0:0");
    assert_eq!((refused.exit, refused.err.contains("token")), (2, true), "{refused}");
    admin(&home);
    let refused = home.run("serve --listen 0.0.0.0:0");
    assert!(refused.err.contains("--allowed-host"), "{refused}");
    let refused = home.run("serve --listen 0.0.0.0:0 --allowed-host box.example");
    assert!(refused.err.contains("--behind-proxy"), "{refused}");
}

#[test]
fn tokens_are_listed_without_what_they_are() {
    let home = Home::new();
    let token = home.run("token create --scope write --name otel --expires 30d").out;
    assert_eq!(token.trim().len(), 64);
    assert_eq!(home.run("token create --scope read --name otel").exit, 2);
    let listed = home.run("token ls --json").out;
    assert!(listed.contains("otel") && !listed.contains(token.trim()), "{listed}");
    assert_eq!(home.run("token revoke otel").exit, 0);
    assert_eq!(home.run("token revoke otel").exit, 1);
    assert_eq!(home.run("token create --scope read --expires soon").exit, 2);
}
