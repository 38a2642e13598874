//! A service that speaks as OpenAI's does, and answers what a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// What the service does about a request.
pub(super) enum Reply {
    /// Answers with words.
    Says(&'static str),
    /// Begins with these words, and never goes on.
    Begins(&'static str),
    /// Calls a tool, with these arguments.
    Calls(&'static str, &'static str),
    /// Refuses, with these headers.
    Refuses(u16, &'static str),
}

/// A service on loopback.
pub(super) struct Service {
    url: String,
    /// The body of each request.
    requests: Receiver<String>,
}

impl Service {
    /// Answers each request with the next reply, and then with the last.
    pub(super) fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            let (mut held, mut number) = (Vec::new(), 0);
            for stream in listener.incoming().flatten() {
                let body = body(&stream);
                // Whoever only looks what is there finds nothing.
                if body.is_empty() {
                    let _ = answer(&stream, &Reply::Refuses(404, ""));
                    continue;
                }
                let _ = sender.send(body);
                let reply = replies.get(number).or(replies.last()).unwrap();
                number += 1;
                if answer(&stream, reply).is_ok() {
                    held.push(stream);
                }
            }
        });
        Self { url, requests }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns when a request has come.
    pub(super) fn waits_for_a_request(&self) {
        self.requests.recv().unwrap();
    }

    /// How many requests have come.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.try_iter().collect()
    }
}

fn body(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

fn answer(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let chunk = |delta: &str, end: &str| {
        let head =
            "\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\"";
        let choice = format!("{{\"index\":0,\"delta\":{delta},\"finish_reason\":{end}}}");
        format!("data: {{{head},\"choices\":[{choice}]}}\n\n")
    };
    let words = |words: &str| chunk(&serde_json::json!({"content": words}).to_string(), "null");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    match reply {
        Reply::Says(text) => {
            let end = chunk("{}", "\"stop\"");
            write!(stream, "{head}{}{end}data: [DONE]\n\n", words(text))?;
            stream.shutdown(std::net::Shutdown::Both)
        }
        Reply::Calls(tool, arguments) => {
            let function = serde_json::json!({"name": tool, "arguments": arguments});
            let call = serde_json::json!({
                "index": 0, "id": "call_1", "type": "function", "function": function,
            });
            let call = serde_json::json!({"tool_calls": [call]}).to_string();
            let (call, end) = (chunk(&call, "null"), chunk("{}", "\"tool_calls\""));
            write!(stream, "{head}{call}{end}data: [DONE]\n\n")?;
            stream.shutdown(std::net::Shutdown::Both)
        }
        Reply::Begins(text) => {
            write!(stream, "{head}{}", words(text))?;
            stream.flush()
        }
        Reply::Refuses(status, headers) => {
            write!(stream, "HTTP/1.1 {status} No\r\n{headers}Content-Length: 0\r\n\r\n")
        }
    }
}
