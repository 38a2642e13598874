//! Anthropic's messages.

use antiphon_model::{Json, Usage};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;
use super::http::{Post, Progress, Receive, error_words, malformed};
use super::keyless::Keyless;
use super::openai::no_key;
use super::sse::SseEvent;
use super::{Answering, Model, ModelError, Reply, Request, TOO_LONG, Tell};
use crate::request;
use crate::transcript::{Answer, Call, Content};

const VERSION: &str = "2023-06-01";
/// What an agent is told that is asked again.
const GO_ON: &str = "(Go on.)";
/// How many blocks one answer may have.
const BLOCKS_MAX: usize = 1024;

#[derive(Debug)]
pub(super) struct Anthropic {
    model: String,
    endpoint: Endpoint,
}

impl Anthropic {
    pub(super) fn new(model: String, endpoint: Endpoint) -> Self {
        Self { model, endpoint }
    }
}

impl Model for Anthropic {
    fn answer<'a>(&'a self, request: Request<'a>, tell: Tell<'a>) -> Answering<'a> {
        Box::pin(async move {
            let key = self.endpoint.key().map_err(no_key)?;
            let mut body = request::anthropic(&self.model, request.transcript, request.tools);
            body.insert("stream".to_owned(), true.into());
            let_user_speak_last(&mut body);
            let mut headers = vec![
                ("accept", "text/event-stream".to_owned()),
                ("anthropic-version", VERSION.to_owned()),
            ];
            headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
            let body = Value::Object(body).to_string().into_bytes();
            let post = Post { endpoint: &self.endpoint, path: "/v1/messages", headers, body };
            let mut receiver = Receiving::new(Keyless::new(key, tell));
            let head = post.send(&mut receiver).await?;
            Ok(self.endpoint.keyless(receiver.reply(head.request_id)))
        })
    }
}

/// An agent that is asked twice in a row has spoken last. The service would take its words for the
/// beginning of the answer, or refuse them.
fn let_user_speak_last(body: &mut Map<String, Value>) {
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    if let Some(messages) = messages
        && messages.last().is_some_and(|last| word(last, "role") == "assistant")
    {
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": GO_ON}]}));
    }
}

/// An event of a stream.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    index: Option<usize>,
    message: Option<Message>,
    content_block: Option<Value>,
    delta: Option<Value>,
    usage: Option<Tokens>,
}

/// An answer, whole or as it begins.
#[derive(Debug, Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    content: Option<Vec<Value>>,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
}

/// An answer as it comes.
struct Receiving<'t> {
    tell: Keyless<'t>,
    blocks: Vec<Block>,
    id: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
    progress: Progress,
}

/// A block as it comes: what it was begun with, and what was added to it.
#[derive(Default)]
struct Block {
    begun: Value,
    text: String,
    /// The signature of thinking.
    signature: String,
}

impl<'t> Receiving<'t> {
    fn new(tell: Keyless<'t>) -> Self {
        let (blocks, id, model, usage) = (Vec::new(), None, None, None);
        Self { tell, blocks, id, model, usage, progress: Progress::Coming }
    }

    fn take(&mut self, event: Event) -> Result<(), ModelError> {
        match event.kind.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    self.head(message);
                }
            }
            "content_block_start" => {
                let at = event.index.unwrap_or(self.blocks.len());
                // Some services begin a block with its first words.
                let block = Block::of(event.content_block.unwrap_or_default());
                self.show(&block);
                *self.block(at)? = block;
            }
            "content_block_delta" => self.add(event.index, &event.delta.unwrap_or_default())?,
            "message_delta" => {
                self.count(event.usage);
                let delta = event.delta.unwrap_or_default();
                self.end(word(&delta, "stop_reason"));
            }
            "message_stop" => self.progress = Progress::Over,
            // Whatever a service adds to its protocol is none of the answer.
            _ => {}
        }
        Ok(())
    }

    /// Takes in why the answer ends, if it does.
    fn end(&mut self, reason: &str) {
        if reason == "max_tokens" {
            self.tell.note(TOO_LONG);
        }
        if !reason.is_empty() {
            self.progress = Progress::Complete;
        }
    }

    /// Tells the words that a block has already.
    fn show(&mut self, block: &Block) {
        if word(&block.begun, "type") == "text" && !block.text.is_empty() {
            self.tell.words(&block.text);
        }
    }

    fn head(&mut self, message: Message) {
        self.id = message.id;
        self.model = message.model;
        self.count(message.usage);
    }

    /// Later counts complete and correct earlier ones.
    fn count(&mut self, tokens: Option<Tokens>) {
        let Some(tokens) = tokens else { return };
        let usage = self.usage.get_or_insert_default();
        let set = |slot: &mut u64, value: Option<u64>| *slot = value.unwrap_or(*slot);
        set(&mut usage.input, tokens.input_tokens);
        set(&mut usage.output, tokens.output_tokens);
        set(&mut usage.cache_read, tokens.cache_read_input_tokens);
        set(&mut usage.cache_write, tokens.cache_creation_input_tokens);
        let hour = tokens.cache_creation.and_then(|it| it.ephemeral_1h_input_tokens);
        set(&mut usage.cache_write_1h, hour);
    }

    fn add(&mut self, index: Option<usize>, delta: &Value) -> Result<(), ModelError> {
        let at = index.unwrap_or(self.blocks.len().saturating_sub(1));
        let part = |name: &str| word(delta, name);
        match word(delta, "type") {
            "text_delta" => {
                self.tell.words(part("text"));
                self.block(at)?.text.push_str(part("text"));
            }
            "thinking_delta" => self.block(at)?.text.push_str(part("thinking")),
            "input_json_delta" => self.block(at)?.text.push_str(part("partial_json")),
            "signature_delta" => self.block(at)?.signature.push_str(part("signature")),
            _ => {}
        }
        Ok(())
    }

    fn block(&mut self, at: usize) -> Result<&mut Block, ModelError> {
        if at >= BLOCKS_MAX {
            return Err(malformed("it has more than 1024 blocks"));
        }
        if self.blocks.len() <= at {
            self.blocks.resize_with(at + 1, Block::default);
        }
        self.blocks.get_mut(at).ok_or_else(|| malformed("a block is missing"))
    }

    fn reply(self, request_id: Option<String>) -> Reply {
        let mut answer = Answer::default();
        let (mut text, mut reasoning, mut thinking) = (String::new(), String::new(), Vec::new());
        for block in self.blocks {
            match word(&block.begun, "type") {
                "text" => text.push_str(&block.text),
                "thinking" => {
                    reasoning.push_str(&block.text);
                    thinking.push(json!({
                        "type": "thinking", "thinking": block.text, "signature": block.signature,
                    }));
                }
                "redacted_thinking" => thinking.push(json!({
                    "type": "redacted_thinking", "data": word(&block.begun, "data"),
                })),
                "tool_use" => answer.calls.push(block.call()),
                _ => {}
            }
        }
        answer.content = Content::text(text);
        answer.reasoning = Some(reasoning).filter(|words| !words.is_empty());
        if !thinking.is_empty() {
            answer.thinking = Json::parse(&Value::from(thinking).to_string()).ok();
        }
        let request_id = request_id.or(self.id);
        Reply { answer, model: self.model, request_id, usage: self.usage, cost_usd: None }
    }
}

impl Block {
    /// A block that came whole.
    fn of(begun: Value) -> Self {
        let text = match word(&begun, "type") {
            "thinking" => word(&begun, "thinking").to_owned(),
            "tool_use" => String::new(),
            _ => word(&begun, "text").to_owned(),
        };
        let signature = word(&begun, "signature").to_owned();
        Self { begun, text, signature }
    }

    fn call(&self) -> Call {
        let input = || self.begun.get("input").map(Value::to_string).unwrap_or_default();
        let arguments = match self.text.is_empty() {
            true => input(),
            false => self.text.clone(),
        };
        let part = |name: &str| word(&self.begun, name).to_owned();
        Call { id: part("id"), name: part("name"), arguments }
    }
}

impl Receive for Receiving<'_> {
    fn event(&mut self, event: &SseEvent) -> Result<(), ModelError> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let read: Event =
            serde_json::from_str(&event.data).map_err(|error| malformed(&error.to_string()))?;
        if read.kind == "error" {
            let words = error_words(&event.data).unwrap_or_else(|| "no reason given".to_owned());
            return Err(ModelError::for_now(format!("the service failed: {words}")));
        }
        self.take(read)
    }

    fn whole(&mut self, body: &str) -> Result<(), ModelError> {
        let mut message: Message =
            serde_json::from_str(body).map_err(|error| malformed(&error.to_string()))?;
        let content = message.content.take();
        let content = content.ok_or_else(|| malformed("it has no content"))?;
        for block in content.into_iter().map(Block::of) {
            self.show(&block);
            self.blocks.push(block);
        }
        self.end(message.stop_reason.as_deref().unwrap_or_default());
        self.head(message);
        self.progress = Progress::Over;
        Ok(())
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}

/// The text of a member; nothing, if it is none.
fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
