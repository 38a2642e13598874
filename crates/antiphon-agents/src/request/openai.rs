//! The body of a chat completion.

use serde_json::{Map, Value, json};

use super::{CallStep, Part, Step, declared, parts, steps};
use crate::tool::ToolSpec;
use crate::transcript::{Content, Entry};

/// A transcript as the body of a request for a chat completion.
pub fn openai(model: &str, transcript: &[Entry], tools: &[ToolSpec]) -> Map<String, Value> {
    let steps = steps(transcript);
    let mut messages: Vec<Value> = Vec::new();
    for step in &steps {
        match step {
            Step::System(words) => messages.push(json!({"role": "system", "content": words})),
            Step::User(content) => {
                messages.push(json!({"role": "user", "content": user_content(content)}));
            }
            Step::Told(words) => messages.push(json!({"role": "user", "content": words})),
            Step::Answer { answer, calls } => {
                let words = answer.content.words();
                let content = if words.trim().is_empty() { Value::Null } else { json!(words) };
                let made: Vec<Value> = calls.iter().map(call_part).collect();
                messages.push(match made.is_empty() {
                    true => json!({"role": "assistant", "content": content}),
                    false => json!({"role": "assistant", "content": content, "tool_calls": made}),
                });
                messages.extend(calls.iter().map(|call| {
                    json!({"role": "tool", "tool_call_id": call.id, "content": call.result()})
                }));
            }
        }
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), messages.into());
    let tools = declared(&steps, tools);
    if !tools.is_empty() {
        let tools = tools.into_iter().map(|tool| {
            let ToolSpec { name, description, schema } = tool;
            let function = json!({"name": name, "description": description, "parameters": schema});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    body
}

fn call_part(call: &CallStep<'_>) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

/// Words as text, and pictures beside them as parts.
fn user_content(content: &Content) -> Value {
    let parts = parts(content);
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return json!(content.words());
    }
    let part = |part: Part| match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Picture { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }
    };
    parts.into_iter().map(part).collect()
}
