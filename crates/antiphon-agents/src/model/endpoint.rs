//! Where services are, and with which key they are asked.

use std::fmt;

use antiphon_model::Json;

use super::Reply;
use super::keyless::MARK;
use crate::transcript::{Answer, Call};

/// The services that models are asked from. The binary reads them from the environment.
#[derive(Debug, Clone)]
pub struct Endpoints {
    pub openai: Endpoint,
    pub anthropic: Endpoint,
}

/// A service.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    pub url: String,
    /// Never shown, and taken out of whatever a service says.
    key: String,
    /// What to set, for whoever has no key.
    variable: &'static str,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.url)
    }
}

impl Default for Endpoints {
    fn default() -> Self {
        Self::new(None, None, None, None)
    }
}

impl Endpoints {
    /// The services' own addresses, unless others are given.
    pub fn new(
        openai_url: Option<String>,
        openai_key: Option<String>,
        anthropic_url: Option<String>,
        anthropic_key: Option<String>,
    ) -> Self {
        let endpoint = |url: Option<String>, default: &str, key: Option<String>, variable| {
            let url = url.filter(|url| !url.trim().is_empty());
            let url = url.unwrap_or_else(|| default.to_owned());
            let key = key.unwrap_or_default().trim().to_owned();
            Endpoint { url: url.trim_end_matches('/').to_owned(), key, variable }
        };
        Self {
            openai: endpoint(openai_url, "https://api.openai.com/v1", openai_key, "OPENAI_API_KEY"),
            anthropic: endpoint(
                anthropic_url,
                "https://api.anthropic.com",
                anthropic_key,
                "ANTHROPIC_API_KEY",
            ),
        }
    }
}

impl Endpoint {
    /// The key; or which variable to set, where one is needed.
    pub(super) fn key(&self) -> Result<Option<&str>, &'static str> {
        match self.key.as_str() {
            "" if self.is_local() => Ok(None),
            "" => Err(self.variable),
            key => Ok(Some(key)),
        }
    }

    /// Whether it is this machine, where services need no key.
    fn is_local(&self) -> bool {
        let rest = self.url.split_once("://").map_or(&*self.url, |(_, rest)| rest);
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        let host = match host.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        host == "localhost" || host == "::1" || host.starts_with("127.")
    }

    /// A text without the key, even if the service repeated it.
    pub(super) fn without_key(&self, text: String) -> String {
        match self.key.is_empty() || !text.contains(&self.key) {
            true => text,
            false => text.replace(&self.key, MARK),
        }
    }

    /// An answer without the key, whatever it stands in.
    pub(super) fn keyless(&self, reply: Reply) -> Reply {
        if self.key.is_empty() {
            return reply;
        }
        let clean = |text: String| self.without_key(text);
        let Answer { content, calls, reasoning, thinking } = reply.answer;
        let call = |call: Call| Call {
            id: clean(call.id),
            name: clean(call.name),
            arguments: clean(call.arguments),
        };
        let blocks = |blocks: Json| Json::parse(&clean(blocks.as_str().to_owned())).ok();
        Reply {
            answer: Answer {
                content: clean(content.words().into_owned()).into(),
                calls: calls.into_iter().map(call).collect(),
                reasoning: reasoning.map(clean),
                thinking: thinking.and_then(blocks),
            },
            model: reply.model.map(clean),
            request_id: reply.request_id.map(clean),
            ..reply
        }
    }
}
