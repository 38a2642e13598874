//! OpenAI's chat completions, and whatever speaks as they do.

use antiphon_model::Usage;
use serde::Deserialize;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::http::{Post, Receive, error_words, malformed};
use super::sse::SseEvent;
use super::{Answering, Delta, Model, ModelError, Reply, Request, TOO_LONG, Tell};
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
            let mut receiver = Receiving::new(tell);
            let head = post.send(&mut receiver).await?;
            Ok(receiver.reply(head.request_id))
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
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Tokens>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Message>,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Message {
    content: Option<String>,
    /// What some services call thinking.
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
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
    arguments: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    prompt_tokens: u64,
    completion_tokens: u64,
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
        let cached = cached.unwrap_or_default().min(self.prompt_tokens);
        Usage {
            input: self.prompt_tokens - cached,
            output: self.completion_tokens,
            reasoning: reasoning.unwrap_or_default(),
            cache_read: cached,
            ..Usage::default()
        }
    }
}

/// An answer as it comes.
struct Receiving<'t> {
    tell: Tell<'t>,
    text: String,
    reasoning: String,
    calls: Vec<Call>,
    id: Option<String>,
    model: Option<String>,
    tokens: Option<Tokens>,
    is_finished: bool,
}

impl<'t> Receiving<'t> {
    fn new(tell: Tell<'t>) -> Self {
        Self {
            tell,
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            id: None,
            model: None,
            tokens: None,
            is_finished: false,
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
        if let Some(choice) = chunk.choices.into_iter().next() {
            if let Some(message) = choice.delta {
                self.message(message)?;
            }
            if choice.finish_reason.as_deref() == Some("length") {
                (self.tell)(Delta::Note(TOO_LONG));
            }
            self.is_finished |= choice.finish_reason.is_some();
        }
        Ok(())
    }

    fn message(&mut self, message: Message) -> Result<(), ModelError> {
        for words in [message.content, message.refusal].into_iter().flatten() {
            if !words.is_empty() {
                (self.tell)(Delta::Words(&words));
                self.text.push_str(&words);
            }
        }
        self.reasoning.push_str(message.reasoning_content.as_deref().unwrap_or_default());
        for part in message.tool_calls.into_iter().flatten() {
            self.call(part)?;
        }
        Ok(())
    }

    fn call(&mut self, part: CallPart) -> Result<(), ModelError> {
        // Without an index a part with an id begins a call, and another goes on with the last.
        let at = part.index.unwrap_or_else(|| match part.id {
            Some(_) => self.calls.len(),
            None => self.calls.len().saturating_sub(1),
        });
        if at >= CALLS_MAX {
            return Err(malformed("it makes more than 1024 calls"));
        }
        while self.calls.len() <= at {
            let (id, name, arguments) = (String::new(), String::new(), String::new());
            self.calls.push(Call { id, name, arguments });
        }
        let Some(call) = self.calls.get_mut(at) else { return Ok(()) };
        if let Some(id) = part.id.filter(|id| !id.is_empty()) {
            call.id = id;
        }
        if let Some(function) = part.function {
            call.name.push_str(function.name.as_deref().unwrap_or_default());
            call.arguments.push_str(function.arguments.as_deref().unwrap_or_default());
        }
        Ok(())
    }

    fn reply(self, request_id: Option<String>) -> Reply {
        let cost = self.tokens.as_ref().and_then(|tokens| tokens.cost);
        Reply {
            answer: Answer {
                content: Content::text(self.text),
                calls: self.calls,
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
                self.is_finished = true;
                Ok(())
            }
            "" => Ok(()),
            data => self.chunk(data),
        }
    }

    fn whole(&mut self, body: &str) -> Result<(), ModelError> {
        self.chunk(body)?;
        self.is_finished = true;
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_finished
    }
}

#[cfg(test)]
mod tests;
