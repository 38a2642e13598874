//! What a model is called: the service or file, and which of its models.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use crate::cast::{Bundled, bundled};

/// A model as a person writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelName {
    /// `openai/NAME`: any service that speaks OpenAI's chat completions.
    OpenAi(String),
    /// `anthropic/NAME`.
    Anthropic(String),
    /// `script:FILE`.
    Script(PathBuf),
    /// `script:bundled:CAST`: the script of a bundled cast.
    BundledScript(&'static Bundled),
    /// `replay:SESSION`.
    Replay(String),
}

/// Why a word is no model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a model: write openai/NAME, anthropic/NAME, script:FILE or replay:SESSION")]
pub struct NotAModel(String);

impl ModelName {
    pub fn parse(text: &str) -> Result<Self, NotAModel> {
        let wrong = || NotAModel(text.to_owned());
        let split = text.split_once(['/', ':']).filter(|(_, rest)| !rest.is_empty());
        let (service, rest) = split.ok_or_else(wrong)?;
        let is_service = text.as_bytes().get(service.len()) == Some(&b'/');
        match (service, is_service) {
            ("openai", true) => Ok(Self::OpenAi(rest.to_owned())),
            ("anthropic", true) => Ok(Self::Anthropic(rest.to_owned())),
            ("script", false) => match rest.strip_prefix(crate::cast::BUNDLED_PREFIX) {
                Some(name) => bundled(name).map(Self::BundledScript).ok_or_else(wrong),
                None => Ok(Self::Script(PathBuf::from(rest))),
            },
            ("replay", false) => Ok(Self::Replay(rest.to_owned())),
            _ => Err(wrong()),
        }
    }

    /// Whether it may be used because a log, or another model, names it: it leads to no file.
    pub fn is_harmless(&self) -> bool {
        match self {
            Self::OpenAi(_) | Self::Anthropic(_) | Self::BundledScript(_) => true,
            Self::Script(_) | Self::Replay(_) => false,
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenAi(name) => write!(f, "openai/{name}"),
            Self::Anthropic(name) => write!(f, "anthropic/{name}"),
            Self::Script(path) => write!(f, "script:{}", path.display()),
            Self::BundledScript(cast) => {
                write!(f, "script:{}{}", crate::cast::BUNDLED_PREFIX, cast.name)
            }
            Self::Replay(session) => write!(f, "replay:{session}"),
        }
    }
}
