//! The body of a request for a message of Anthropic's.

use serde_json::{Map, Value, json};

use super::{CallStep, Part, Step, declared, parts, steps};
use crate::tool::ToolSpec;
use crate::transcript::{Answer, Content, Entry};

/// How long an answer may become; the service insists on a number.
const ANSWER_TOKENS_MAX: u32 = 8192;
/// A conversation begins with the user; one that does not is given a beginning.
const BEGINNING: &str = "(The conversation begins here.)";

/// A transcript as the body of a request for a message.
pub fn anthropic(model: &str, transcript: &[Entry], tools: &[ToolSpec]) -> Map<String, Value> {
    let steps = steps(transcript);
    let leading = steps.iter().take_while(|step| matches!(step, Step::System(_))).count();
    let mut messages = Messages::default();
    let mut system = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        match step {
            Step::System(words) if n < leading => system.push(&**words),
            // The system speaks once, at the beginning; later it is heard like anybody else.
            Step::System(words) => {
                messages.add("user", [text(&format!("<system>{words}</system>"))]);
            }
            Step::User(content) => messages.add("user", user_blocks(content)),
            Step::Told(words) => messages.add("user", [text(words)]),
            Step::Answer { answer, calls } => {
                messages.add("assistant", answer_blocks(answer, calls));
                messages.add("user", calls.iter().map(result_block));
            }
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("max_tokens".to_owned(), ANSWER_TOKENS_MAX.into());
    body.insert("messages".to_owned(), messages.list.into());
    if !system.is_empty() {
        body.insert("system".to_owned(), system.join("\n\n").into());
    }
    let tools = declared(&steps, tools);
    if !tools.is_empty() {
        let tools = tools.into_iter().map(|tool| {
            let ToolSpec { name, description, schema } = tool;
            json!({"name": name, "description": description, "input_schema": schema})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    body
}

/// Messages whose roles alternate.
#[derive(Default)]
struct Messages {
    list: Vec<Value>,
}

impl Messages {
    fn add(&mut self, role: &str, blocks: impl IntoIterator<Item = Value>) {
        let mut blocks = blocks.into_iter().peekable();
        if blocks.peek().is_none() {
            return;
        }
        if self.list.is_empty() && role == "assistant" {
            self.list.push(json!({"role": "user", "content": [text(BEGINNING)]}));
        }
        if let Some(last) = self.list.last_mut()
            && last["role"] == role
            && let Some(content) = last["content"].as_array_mut()
        {
            content.extend(blocks);
            return;
        }
        let content: Vec<Value> = blocks.collect();
        self.list.push(json!({"role": role, "content": content}));
    }
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn user_blocks(content: &Content) -> Vec<Value> {
    let block = |part: Part| match part {
        Part::Text(words) => text(&words),
        Part::Picture { media_type, data } => {
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            json!({"type": "image", "source": source})
        }
    };
    parts(content).into_iter().map(block).collect()
}

fn answer_blocks(answer: &Answer, calls: &[CallStep<'_>]) -> Vec<Value> {
    let thinking = answer.thinking.as_ref();
    let thinking = thinking.and_then(|blocks| serde_json::from_str(blocks.as_str()).ok());
    let mut blocks: Vec<Value> = thinking.unwrap_or_default();
    let words = answer.content.words();
    if !words.trim().is_empty() {
        blocks.push(text(&words));
    }
    blocks.extend(calls.iter().map(|call| {
        // Arguments that are no object go back as an empty one: the result says what was wrong.
        let input: Map<String, Value> = serde_json::from_str(call.arguments).unwrap_or_default();
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
    }));
    blocks
}

fn result_block(call: &CallStep<'_>) -> Value {
    let words = call.result();
    let words = if words.trim().is_empty() { "(empty)".to_owned() } else { words };
    match call.is_error {
        true => json!({
            "type": "tool_result", "tool_use_id": call.id, "content": words, "is_error": true,
        }),
        false => json!({"type": "tool_result", "tool_use_id": call.id, "content": words}),
    }
}
