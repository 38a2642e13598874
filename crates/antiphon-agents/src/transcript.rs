//! A transcript: what an agent was told, did, received and said. It is all the state there is.
//!
//! Entries are small, and share the words that reach many: a sentence that a hundred agents hear
//! is in memory once.

use std::borrow::Cow;
use std::sync::Arc;

use antiphon_model::{Json, is_blank, plain_text};

/// The entries of one agent, in order.
pub type Transcript = Vec<Entry>;

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    System(Content),
    /// What the agent hears: a person, another agent, the system.
    User(Content),
    Assistant(Arc<Answer>),
    Result(Arc<ToolResult>),
}

/// What an agent did or said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub content: Content,
    pub calls: Vec<Call>,
    /// What it thought, in words.
    pub reasoning: Option<String>,
    /// The blocks of thinking as the service gave them, a JSON array: they go back as they came.
    pub thinking: Option<Json>,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// As the model wrote them: JSON, or what it took for JSON.
    pub arguments: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub call_id: String,
    pub tool: Option<String>,
    pub content: Content,
    pub is_error: bool,
}

/// Words, or what else a service takes for a message's content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Content {
    #[default]
    Empty,
    Text(Arc<str>),
    /// A list of parts, as JSON.
    Parts(Arc<str>),
}

impl Content {
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        if text.is_empty() { Self::Empty } else { Self::Text(text) }
    }

    /// The content whose JSON this is.
    pub fn of_json(raw: &str) -> Self {
        match raw.as_bytes().first() {
            _ if is_blank(raw) => Self::Empty,
            Some(b'[' | b'{') => Self::Parts(raw.into()),
            _ => Self::text(&*plain_text(raw)),
        }
    }

    pub fn to_json(&self) -> Option<Json> {
        match self {
            Self::Empty => None,
            Self::Text(text) => Some(Json::text(text)),
            Self::Parts(parts) => Json::parse(parts).ok(),
        }
    }

    /// The words, for a person or a service that takes nothing else.
    pub fn words(&self) -> Cow<'_, str> {
        match self {
            Self::Empty => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => plain_text(parts),
        }
    }

    /// Whether nothing is there to be read.
    pub fn is_blank(&self) -> bool {
        self.words().trim().is_empty()
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl Entry {
    pub fn role(&self) -> antiphon_model::Role {
        match self {
            Self::System(_) => antiphon_model::Role::System,
            Self::User(_) => antiphon_model::Role::User,
            Self::Assistant(_) => antiphon_model::Role::Assistant,
            Self::Result(_) => antiphon_model::Role::Tool,
        }
    }

    pub fn content(&self) -> &Content {
        match self {
            Self::System(content) | Self::User(content) => content,
            Self::Assistant(answer) => &answer.content,
            Self::Result(result) => &result.content,
        }
    }

    /// Whether a model would see the same in both.
    pub fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Assistant(one), Self::Assistant(other)) => {
                let calls = one.calls.len() == other.calls.len();
                let mut pairs = one.calls.iter().zip(&other.calls);
                one.content.words() == other.content.words()
                    && calls
                    && pairs.all(|(one, other)| one.asks_the_same(other))
            }
            (Self::Result(one), Self::Result(other)) => {
                one.content.words() == other.content.words() && one.is_error == other.is_error
            }
            _ => self.role() == other.role() && self.content().words() == other.content().words(),
        }
    }
}

impl Call {
    /// Whether both ask for the same. Ids are given anew where they are taken, so they may differ.
    fn asks_the_same(&self, other: &Self) -> bool {
        self.name == other.name && self.arguments == other.arguments
    }
}

impl Answer {
    /// Whether it is an utterance: words, and no call.
    pub fn is_utterance(&self) -> bool {
        self.calls.is_empty() && !self.content.is_blank()
    }
}
