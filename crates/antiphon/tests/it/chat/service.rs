//! A service that speaks as OpenAI's and Anthropic's do, and answers what a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// What the service does about a request.
pub(super) enum Reply {
    /// Answers with words.
    Says(&'static str),
    /// Answers with words that come in pieces, and leaves the connection open.
    SaysSlowly(&'static [&'static str]),
    /// Begins with these words, and never goes on.
    Begins(&'static str),
    /// Begins with these words, and hangs up.
    HangsUp(&'static str),
    /// Streams what is no JSON.
    Babbles,
    /// Calls a tool, with these arguments.
    Calls(&'static str, &'static str),
    /// Refuses, with these headers.
    Refuses(u16, &'static str),
    /// Refuses, with this message.
    Explains(u16, String),
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
                let (protocol, body) = request(&stream);
                // Whoever only looks what is there finds nothing.
                if body.is_empty() {
                    let _ = answer(&stream, protocol, &Reply::Refuses(404, ""));
                    continue;
                }
                let _ = sender.send(body);
                let reply = replies.get(number).or(replies.last()).unwrap();
                number += 1;
                if answer(&stream, protocol, reply).is_ok() {
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

/// What a request asks for, by its path.
#[derive(Clone, Copy)]
enum Protocol {
    OpenAi,
    Anthropic,
}

fn request(stream: &TcpStream) -> (Protocol, String) {
    let mut reader = BufReader::new(stream);
    let (mut length, mut protocol) = (0, Protocol::OpenAi);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.contains("/v1/messages ") {
            protocol = Protocol::Anthropic;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (protocol, String::from_utf8(body).unwrap())
}

impl Protocol {
    fn words(self, words: &str) -> String {
        match self {
            Self::OpenAi => chunk(&json!({"content": words}), None),
            Self::Anthropic => {
                let block = json!({"type": "text", "text": ""});
                let delta = json!({"type": "text_delta", "text": words});
                begin(&block)
                    + &event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
            }
        }
    }

    fn call(self, tool: &str, arguments: &str) -> String {
        match self {
            Self::OpenAi => {
                let function = json!({"name": tool, "arguments": arguments});
                let call = json!({
                    "index": 0, "id": "call_1", "type": "function", "function": function,
                });
                chunk(&json!({"tool_calls": [call]}), None)
            }
            Self::Anthropic => {
                let block = json!({"type": "tool_use", "id": "call_1", "name": tool, "input": {}});
                let delta = json!({"type": "input_json_delta", "partial_json": arguments});
                begin(&block)
                    + &event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
            }
        }
    }

    fn end(self) -> String {
        match self {
            Self::OpenAi => chunk(&json!({}), Some("stop")) + "data: [DONE]\n\n",
            Self::Anthropic => {
                let delta = json!({"stop_reason": "end_turn"});
                event(&json!({"type": "message_delta", "delta": delta}))
                    + &event(&json!({"type": "message_stop"}))
            }
        }
    }
}

/// A chunk of a chat completion.
fn chunk(delta: &Value, end: Option<&str>) -> String {
    event(&json!({
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
    }))
}

/// The beginning of the only block of a message.
fn begin(block: &Value) -> String {
    event(&json!({"type": "content_block_start", "index": 0, "content_block": block}))
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn answer(mut stream: &TcpStream, protocol: Protocol, reply: &Reply) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let end = protocol.end();
    match reply {
        Reply::Says(text) => {
            write!(stream, "{head}{}{end}", protocol.words(text))?;
            stream.shutdown(Shutdown::Both)
        }
        Reply::SaysSlowly(pieces) => {
            let pieces: String = pieces.iter().map(|piece| protocol.words(piece)).collect();
            write!(stream, "{head}{pieces}{end}")?;
            stream.flush()
        }
        Reply::Calls(tool, arguments) => {
            write!(stream, "{head}{}{end}", protocol.call(tool, arguments))?;
            stream.shutdown(Shutdown::Both)
        }
        Reply::Begins(text) => {
            write!(stream, "{head}{}", protocol.words(text))?;
            stream.flush()
        }
        Reply::HangsUp(text) => {
            write!(stream, "{head}{}", protocol.words(text))?;
            stream.shutdown(Shutdown::Both)
        }
        Reply::Babbles => {
            write!(stream, "{head}data: {{\"choices\": [{{\"del\n\n")?;
            stream.shutdown(Shutdown::Both)
        }
        Reply::Refuses(status, headers) => {
            write!(stream, "HTTP/1.1 {status} No\r\n{headers}Content-Length: 0\r\n\r\n")
        }
        Reply::Explains(status, message) => {
            let body = json!({"error": {"message": message}}).to_string();
            let length = body.len();
            write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: {length}\r\n\r\n{body}")
        }
    }
}
