//! A transcript as the body of a request that a service accepts.
//!
//! A log holds what happened, and services are strict: each call has exactly one result, right
//! behind it, nothing is empty, and ids and names are of few characters. What does not fit is put
//! in order here, once for all services; their own spellings are in the two files below.

mod anthropic;
mod openai;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::tool::ToolSpec;
use crate::transcript::{Answer, Content, Entry};
pub use anthropic::anthropic;
pub use openai::openai;

/// What a model is told of a call whose result nobody wrote down.
const NO_RESULT: &str = "No result was recorded.";
/// The longest name of a tool that every service takes.
const NAME_CHARS_MAX: usize = 64;

/// A transcript in the order that services want.
#[derive(Debug)]
enum Step<'a> {
    System(Cow<'a, str>),
    User(&'a Content),
    /// Words that stand for something that no service takes.
    Told(String),
    Answer {
        answer: &'a Answer,
        calls: Vec<CallStep<'a>>,
    },
}

/// A call, and the one result that it has.
#[derive(Debug)]
struct CallStep<'a> {
    id: String,
    name: String,
    arguments: &'a str,
    results: Vec<Cow<'a, str>>,
    is_error: bool,
}

impl CallStep<'_> {
    /// Several results for one call become one.
    fn result(&self) -> String {
        match self.results.as_slice() {
            [] => NO_RESULT.to_owned(),
            results => results.join("\n"),
        }
    }
}

fn steps(transcript: &[Entry]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    // By the id that the log has: where the newest call of that id is.
    let mut calls: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut ids = Ids::default();
    for entry in transcript {
        match entry {
            Entry::System(content) if !content.is_blank() => {
                steps.push(Step::System(content.words()));
            }
            Entry::User(content) if !content.is_blank() => steps.push(Step::User(content)),
            Entry::System(_) | Entry::User(_) => {}
            Entry::Assistant(answer) => {
                if answer.calls.is_empty() && answer.content.is_blank() {
                    continue;
                }
                let made = answer.calls.iter().enumerate().map(|(n, call)| {
                    calls.insert(&call.id, (steps.len(), n));
                    CallStep {
                        id: ids.unique(&call.id),
                        name: tool_name(&call.name),
                        arguments: &call.arguments,
                        results: Vec::new(),
                        is_error: false,
                    }
                });
                let made = made.collect();
                steps.push(Step::Answer { answer, calls: made });
            }
            Entry::Result(result) => {
                let place = calls.get(&*result.call_id);
                let step = place.and_then(|&(step, n)| match steps.get_mut(step)? {
                    Step::Answer { calls, .. } => calls.get_mut(n),
                    Step::System(_) | Step::User(_) | Step::Told(_) => None,
                });
                match step {
                    Some(call) => {
                        call.results.push(result.content.words());
                        call.is_error |= result.is_error;
                    }
                    None if result.content.is_blank() => {}
                    None => {
                        let tool = result.tool.as_deref().unwrap_or("a tool");
                        let words = result.content.words();
                        steps.push(Step::Told(format!("[Result of {tool}]: {words}")));
                    }
                }
            }
        }
    }
    steps
}

/// Ids of the characters that every service takes, each given once.
#[derive(Default)]
struct Ids {
    taken: BTreeSet<String>,
    /// The number that the next call of an id gets, so that many calls of one id stay cheap.
    next: BTreeMap<String, usize>,
}

impl Ids {
    fn unique(&mut self, id: &str) -> String {
        let mut plain: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        if plain.is_empty() {
            plain.push_str("call");
        }
        if self.taken.insert(plain.clone()) {
            return plain;
        }
        let number = self.next.entry(plain.clone()).or_insert(1);
        loop {
            *number += 1;
            let candidate = format!("{plain}_{number}");
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// A tool's name in the characters that every service takes.
pub(crate) fn tool_name(name: &str) -> String {
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.take(NAME_CHARS_MAX).collect();
    if plain.is_empty() { "tool".to_owned() } else { plain }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// The tools to declare: those that are offered; where none is, those that were called, since a
/// call in the history needs its tool.
fn declared(steps: &[Step<'_>], tools: &[ToolSpec]) -> Vec<ToolSpec> {
    if !tools.is_empty() {
        return tools.to_vec();
    }
    let mut names = BTreeSet::new();
    for step in steps {
        if let Step::Answer { calls, .. } = step {
            names.extend(calls.iter().map(|call| call.name.clone()));
        }
    }
    let tool = |name: String| ToolSpec {
        description: format!("The tool {name}, as it was used before."),
        schema: json!({"type": "object"}),
        name,
    };
    names.into_iter().map(tool).collect()
}

/// A part of a content that has more than words.
enum Part {
    Text(String),
    /// A picture: its type and its data in base64.
    Picture {
        media_type: String,
        data: String,
    },
}

fn parts(content: &Content) -> Vec<Part> {
    let Content::Parts(raw) = content else {
        return vec![Part::Text(content.words().into_owned())];
    };
    let Ok(value) = serde_json::from_str::<Value>(raw) else {
        return vec![Part::Text(content.words().into_owned())];
    };
    let list = match value {
        Value::Array(list) => list,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            vec![value]
        }
    };
    let part = |part: Value| {
        picture(&part).unwrap_or_else(|| {
            Part::Text(antiphon_model::plain_text(&part.to_string()).into_owned())
        })
    };
    let is_there = |part: &Part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Picture { .. } => true,
    };
    list.into_iter().map(part).filter(is_there).collect()
}

/// A picture, in either of the two spellings.
fn picture(part: &Value) -> Option<Part> {
    let is_known = |media_type: &str| {
        matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
    };
    let (media_type, data) = match part.get("type")?.as_str()? {
        "image" => {
            let source = part.get("source")?;
            let word = |name: &str| source.get(name)?.as_str().map(str::to_owned);
            (word("media_type")?, word("data")?)
        }
        "image_url" => {
            let url = part.get("image_url")?.get("url")?.as_str()?.strip_prefix("data:")?;
            let (media_type, data) = url.split_once(";base64,")?;
            (media_type.to_owned(), data.to_owned())
        }
        _ => return None,
    };
    is_known(&media_type).then_some(Part::Picture { media_type, data })
}

#[cfg(test)]
mod tests;
