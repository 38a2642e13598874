//! OpenAI's chat completions, and whatever speaks as they do.

use antiphon_model::Usage;
use serde::Deserialize;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::http::{Post, Progress, Receive, error_words, malformed};
use super::keyless::Keyless;
use super::sse::SseEvent;
use super::{Answering, Model, ModelError, Reply, Request, TOO_LONG, Tell};
use crate::request;
use crate::transcript::{Answer, Call, Content};

/// How many calls one answer may make.
const CALLS_MAX: usize = 1024;

#[derive(Debug)]
pub(super) struct OpenAi {
    model: String,
    endpoint: Endpoint,
}

impl OpenAi {
    pub(super) fn new(model: String, endpoint: Endpoint) -> Self {
        Self { model, endpoint }
    }
}

impl Model for OpenAi {
    fn answer<'a>(&'a self, request: Request<'a>, tell: Tell<'a>) -> Answering<'a> {
        Box::pin(async move {
            let key = self.endpoint.key().map_err(no_key)?;
            let mut body = request::openai(&self.model, request.transcript, request.tools);
            body.insert("stream".to_owned(), true.into());
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
            let mut headers = vec![("accept", "text/event-stream".to_owned())];
            headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
            let body = Value::Object(body).to_string().into_bytes();
            let post = Post { endpoint: &self.endpoint, path: "/chat/completions", headers, body };
            let mut receiver = Receiving::new(Keyless::new(key, tell));
            let head = post.send(&mut receiver).await?;
            Ok(self.endpoint.keyless(receiver.reply(head.request_id)))
        })
    }
}

pub(super) fn no_key(variable: &'static str) -> ModelError {
    ModelError::for_good(format!("no key: set {variable}"))
}

/// A chunk of a stream, or the whole answer.
#[derive(Debug, Deserialize)]
struct Chunk {
    id: Option<String>,
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Tokens>,
    error: Option<Value>,
}

/// A stream has deltas, an answer in one piece has a message; some services send both keys.
#[derive(Debug, Deserialize)]
struct Choice {
    delta: Option<Message>,
    message: Option<Message>,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Message {
    /// Text, or with some services a list of parts.
    content: Option<Value>,
    /// The two names of what a model thought; some services send both.
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPart>>,
}

#[derive(Debug, Deserialize)]
struct CallPart {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionPart>,
}

#[derive(Debug, Deserialize)]
struct FunctionPart {
    name: Option<String>,
    /// Text; from some services an object.
    arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptTokens>,
    completion_tokens_details: Option<CompletionTokens>,
    /// What some services say that the request cost, in US dollars.
    cost: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptTokens {
    cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionTokens {
    reasoning_tokens: Option<u64>,
}

impl Tokens {
    fn usage(&self) -> Usage {
        let cached = self.prompt_tokens_details.as_ref().and_then(|it| it.cached_tokens);
        let reasoning = self.completion_tokens_details.as_ref().and_then(|it| it.reasoning_tokens);
        let prompt = self.prompt_tokens.unwrap_or_default();
        let cached = cached.unwrap_or_default().min(prompt);
        Usage {
            input: prompt - cached,
            output: self.completion_tokens.unwrap_or_default(),
            reasoning: reasoning.unwrap_or_default(),
            cache_read: cached,
            ..Usage::default()
        }
    }
}

/// An answer as it comes.
struct Receiving<'t> {
    tell: Keyless<'t>,
    text: String,
    reasoning: String,
    calls: Vec<(usize, Call)>,
    id: Option<String>,
    model: Option<String>,
    tokens: Option<Tokens>,
    progress: Progress,
}

impl<'t> Receiving<'t> {
    fn new(tell: Keyless<'t>) -> Self {
        Self {
            tell,
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            id: None,
            model: None,
            tokens: None,
            progress: Progress::Coming,
        }
    }

    fn chunk(&mut self, text: &str) -> Result<(), ModelError> {
        let chunk: Chunk =
            serde_json::from_str(text).map_err(|error| malformed(&error.to_string()))?;
        if chunk.error.is_some() {
            let words = error_words(text).unwrap_or_else(|| "no reason given".to_owned());
            return Err(ModelError::for_now(format!("the service failed: {words}")));
        }
        self.id = self.id.take().or(chunk.id);
        self.model = chunk.model.filter(|model| !model.is_empty()).or(self.model.take());
        self.tokens = chunk.usage.or(self.tokens.take());
        // Only one answer is ever asked for.
        if let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() {
            if let Some(message) = choice.delta.or(choice.message) {
                self.message(message)?;
            }
            if choice.finish_reason.as_deref() == Some("length") {
                self.tell.note(TOO_LONG);
            }
            if choice.finish_reason.is_some() {
                self.progress = Progress::Complete;
            }
        }
        Ok(())
    }

    fn message(&mut self, message: Message) -> Result<(), ModelError> {
        let content = message.content.as_ref().map(words).unwrap_or_default();
        for words in [content, message.refusal.unwrap_or_default()] {
            if !words.is_empty() {
                self.tell.words(&words);
                self.text.push_str(&words);
            }
        }
        let reasoning = message.reasoning_content.filter(|words| !words.is_empty());
        self.reasoning.push_str(&reasoning.or(message.reasoning).unwrap_or_default());
        for part in message.tool_calls.into_iter().flatten() {
            self.call(part)?;
        }
        Ok(())
    }

    fn call(&mut self, part: CallPart) -> Result<(), ModelError> {
        let id = part.id.filter(|id| !id.is_empty());
        let call = self.call_of(part.index, id.as_deref())?;
        call.id = id.unwrap_or_else(|| std::mem::take(&mut call.id));
        if let Some(function) = part.function {
            call.name.push_str(function.name.as_deref().unwrap_or_default());
            match function.arguments {
                Some(Value::String(text)) => call.arguments.push_str(&text),
                Some(Value::Null) | None => {}
                Some(object) => call.arguments.push_str(&object.to_string()),
            }
        }
        Ok(())
    }

    /// The call that a part belongs to. Services count calls from 0 or from 1, number all of them
    /// 0, or leave the number out: another id always begins another call.
    fn call_of(&mut self, index: Option<usize>, id: Option<&str>) -> Result<&mut Call, ModelError> {
        let newest = match index {
            Some(index) => self.calls.iter().rposition(|(it, _)| *it == index),
            None => self.calls.len().checked_sub(1),
        };
        let is_same = |call: &Call| id.is_none_or(|id| call.id.is_empty() || call.id == id);
        let known = newest.filter(|&at| self.calls.get(at).is_some_and(|(_, it)| is_same(it)));
        let at = match known {
            Some(at) => at,
            None if self.calls.len() >= CALLS_MAX => {
                return Err(malformed("it makes more than 1024 calls"));
            }
            None => {
                let index = index.unwrap_or(self.calls.len());
                self.calls.push((index, Call::default()));
                self.calls.len() - 1
            }
        };
        self.calls.get_mut(at).map(|(_, call)| call).ok_or_else(|| malformed("a call is missing"))
    }

    fn reply(mut self, request_id: Option<String>) -> Reply {
        self.calls.sort_by_key(|(index, _)| *index);
        let calls = self.calls.into_iter().map(|(_, call)| call).collect();
        let cost = self.tokens.as_ref().and_then(|tokens| tokens.cost);
        Reply {
            answer: Answer {
                content: Content::text(self.text),
                calls,
                reasoning: Some(self.reasoning).filter(|words| !words.is_empty()),
                thinking: None,
            },
            model: self.model,
            request_id: request_id.or(self.id),
            usage: self.tokens.map(|tokens| tokens.usage()),
            cost_usd: cost.filter(|cost| cost.is_finite() && *cost >= 0.0),
        }
    }
}

impl Receive for Receiving<'_> {
    fn event(&mut self, event: &SseEvent) -> Result<(), ModelError> {
        match event.data.trim() {
            "[DONE]" => {
                self.progress = Progress::Over;
                Ok(())
            }
            "" => Ok(()),
            data => self.chunk(data),
        }
    }

    fn whole(&mut self, body: &str) -> Result<(), ModelError> {
        self.chunk(body)?;
        if self.progress == Progress::Coming && self.text.is_empty() && self.calls.is_empty() {
            return Err(malformed("it has no choices"));
        }
        self.progress = Progress::Over;
        Ok(())
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}

/// The words of a content: text, or a list of parts.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of_part).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// The text of a part. What a model thinks may be a part of its own, which has none.
fn text_of_part(part: &Value) -> &str {
    part.get("text").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
