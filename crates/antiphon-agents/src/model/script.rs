//! `script:FILE`: answers that somebody wrote, one turn a line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use antiphon_journal::regular;
use antiphon_model::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use super::{Answering, Delta, Model, ModelError, Reply, Request, Tell};
use crate::transcript::{Answer, Call, Content};

/// Turns by the name of the agent whose they are, in order.
#[derive(Debug)]
pub struct Script {
    name: String,
    turns: BTreeMap<String, Vec<Turn>>,
}

#[derive(Debug, Error)]
pub enum ScriptError {
    #[error("cannot read the script `{path}`")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{script}:{line}: not a turn: {reason}")]
    Turn { script: String, line: usize, reason: String },
}

/// A turn as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    agent: String,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    tool_calls: Vec<LineCall>,
    #[serde(default)]
    usage: Option<LineUsage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineCall {
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LineUsage {
    input: u64,
    output: u64,
    reasoning: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_1h: u64,
}

#[derive(Debug)]
struct Turn {
    answer: Answer,
    usage: Option<Usage>,
}

impl Script {
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let text = regular::read_text(path);
        let text = text.map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads turns from their text; `name` is what errors call it.
    pub fn parse(text: &str, name: &str) -> Result<Self, ScriptError> {
        let mut turns: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let read: Line = serde_json::from_str(line).map_err(|error| {
                let script = name.to_owned();
                ScriptError::Turn { script, line: number, reason: error.to_string() }
            })?;
            turns.entry(read.agent.clone()).or_default().push(Turn::of(read));
        }
        Ok(Self { name: name.to_owned(), turns })
    }
}

impl Turn {
    fn of(line: Line) -> Self {
        let calls = line.tool_calls.into_iter().map(|call| {
            let raw = call.arguments.as_deref().map_or("{}", RawValue::get);
            // Text is taken as it is: models write what is not JSON, and a script can too.
            let text = antiphon_model::json::text(raw);
            let arguments = text.map_or_else(|| raw.to_owned(), std::borrow::Cow::into_owned);
            Call { id: String::new(), name: call.name, arguments }
        });
        let answer = Answer {
            content: Content::text(line.content.unwrap_or_default()),
            calls: calls.collect(),
            reasoning: line.reasoning,
            thinking: None,
        };
        let usage = line.usage.map(|usage| Usage {
            input: usage.input,
            output: usage.output,
            reasoning: usage.reasoning,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_1h: usage.cache_write_1h,
        });
        Self { answer, usage }
    }
}

impl Model for Script {
    fn answer<'a>(&'a self, request: Request<'a>, tell: Tell<'a>) -> Answering<'a> {
        Box::pin(async move {
            let turns = self.turns.get(request.agent);
            let Some(turn) = turns.and_then(|turns| turns.get(request.answered)) else {
                let (agent, count) = (request.agent, request.answered + 1);
                let what = format!("{}: there is no turn {count} of {agent}", self.name);
                return Err(ModelError::for_good(what));
            };
            if let Content::Text(words) = &turn.answer.content {
                tell(Delta::Words(words));
            }
            Ok(Reply { answer: turn.answer.clone(), usage: turn.usage, ..Reply::default() })
        })
    }
}
