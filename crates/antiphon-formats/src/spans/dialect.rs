//! Converts the many forms of a conversation to that of OpenAI's chat API.
//!
//! Every tracing library has its own: parts with a type (the GenAI conventions, Anthropic, the
//! Vercel SDK), parts without one (Gemini), items (OpenAI's Responses), complete responses, JSON
//! within strings. Anything else becomes the content as it is.

use std::borrow::Cow;

use antiphon_model::is_blank;
use antiphon_model::json::{self, Members};

use crate::line::{Object, elements};
use crate::spans::parts::Parts;

/// How deeply responses may be wrapped in one another.
const DEPTH: usize = 6;

/// The messages in a value. A message without a role gets `role`.
pub(crate) fn messages(raw: &str, role: &str) -> Vec<String> {
    let mut out = Vec::new();
    unwrap(raw, role, DEPTH, &mut out);
    out
}

/// The JSON that a string contains, or else the value as it is. On one line.
pub(crate) fn unwrapped(raw: &str) -> Cow<'_, str> {
    let raw = raw.trim();
    if let Some(text) = json::text(raw) {
        let inner = text.trim();
        if inner.starts_with(['{', '[']) && json::check(inner).is_ok() {
            return Cow::Owned(json::compact(inner));
        }
    }
    match raw.contains(['\n', '\r']) {
        true => Cow::Owned(json::compact(raw)),
        false => Cow::Borrowed(raw),
    }
}

fn unwrap(raw: &str, role: &str, depth: usize, out: &mut Vec<String>) {
    let raw = unwrapped(raw);
    if depth == 0 || is_blank(&raw) {
        return;
    }
    if raw.starts_with('[') {
        let list = elements(&raw);
        if list.iter().any(|element| is_message(element)) {
            list.iter().for_each(|element| message(element, role, depth, out));
            return;
        }
    }
    let Some(object) = Object::parse(&raw) else { return said(role, &raw, out) };
    let instructions = ["system", "system_instruction", "systemInstruction", "instructions"];
    if let Some(system) = instructions.iter().find_map(|name| object.raw(name))
        && !object.has("role")
    {
        unwrap(system, "system", depth - 1, out);
    }
    for list in ["messages", "contents", "choices", "candidates"] {
        if let Some(inner) = object.raw(list).filter(|inner| inner.starts_with('[')) {
            elements(inner).into_iter().for_each(|it| message(it, role, depth - 1, out));
            return;
        }
    }
    // A response of the Responses API, and other values that wrap messages.
    let is_wrapped = !is_message(&raw);
    for name in ["output", "prompt", "input", "generations", "message", "kwargs"] {
        if let Some(inner) = object.raw(name).filter(|_| is_wrapped) {
            return unwrap(inner, role, depth - 1, out);
        }
    }
    match is_wrapped {
        true => said(role, &raw, out),
        false => message(&raw, role, depth, out),
    }
}

fn is_message(raw: &str) -> bool {
    let Some(object) = Object::parse(raw) else { return false };
    let names = ["role", "parts", "toolCallId", "message", "call_id", "content", "tool_calls"];
    let is_item = object.id("type") == Some("reasoning");
    is_item || names.iter().any(|name| object.has(name))
}

/// Adds a message with a text, or any other value, as its content.
fn said(role: &str, raw: &str, out: &mut Vec<String>) {
    let mut message = Members::default();
    message.word("role", role);
    message.raw("content", raw);
    out.push(message.object());
}

/// Reads one message of a list. It becomes several if results are among a person's words.
fn message(raw: &str, role: &str, depth: usize, out: &mut Vec<String>) {
    let raw = raw.trim();
    let Some(object) = Object::parse(raw) else {
        if !is_blank(raw) {
            said(role, raw, out);
        }
        return;
    };
    if depth == 0 {
        return said(role, raw, out);
    }
    // A choice, or an event, contains its message.
    for name in ["message", "kwargs"] {
        if let Some(inner) = object.raw(name).filter(|inner| inner.starts_with('{')) {
            return message(inner, role, depth - 1, out);
        }
    }
    if let Some(inner) = object.raw("content").filter(|inner| inner.starts_with('{'))
        && !object.has("role")
        && is_message(inner)
    {
        return message(inner, role, depth - 1, out);
    }
    let role =
        object.text("role").or_else(|| object.text("type")).map_or(role, |own| match &*own {
            "user" | "human" | "HumanMessage" => "user",
            "assistant" | "model" | "ai" | "bot" | "AIMessage" => "assistant",
            "system" | "developer" | "SystemMessage" => "system",
            "tool" | "function" | "ToolMessage" => "tool",
            "function_call" | "reasoning" => "assistant",
            "function_call_output" => "tool",
            _ => role,
        });
    // Some give a result the tool's name as its role.
    let called = object.text("role").and_then(|tool| call_of(&tool, out));
    let role = if called.is_some() { "tool" } else { role };
    let mut parts = Parts::default();
    parts.answers = called;
    for name in ["reasoning_content", "reasoning", "thinking"] {
        let thought = object.raw(name).filter(|raw| raw.starts_with('"') && !is_blank(raw));
        parts.thoughts.extend(thought);
    }
    let is_item = parts.part(raw, true);
    if !is_item {
        for name in ["parts", "content", "contents", "text"] {
            let Some(content) = object.raw(name).filter(|raw| !is_blank(raw)) else { continue };
            match content.starts_with('[') {
                true => elements(content).into_iter().for_each(|part| parts.any(part)),
                false => parts.any(content),
            }
            break;
        }
    }
    for name in ["tool_calls", "toolCalls"] {
        for call in elements(object.raw(name).unwrap_or_default()) {
            parts.called(&Object::parse(call).unwrap_or_default());
        }
    }
    if let Some(call) = object.object("function_call") {
        parts.called(&call);
    }
    parts.write(role, &object, out);
}

/// The last call of that tool in the messages so far.
fn call_of(tool: &str, said: &[String]) -> Option<String> {
    let is_role = ["user", "assistant", "system", "tool", "developer", "model", "function"];
    if is_role.contains(&tool) {
        return None;
    }
    let calls = |message: &'_ String| -> Option<String> {
        let list = json::member(message, "tool_calls")?;
        elements(list).into_iter().rev().find_map(|call| {
            let call = Object::parse(call)?;
            let is_it = call.object("function")?.text("name")? == tool;
            call.text("id").filter(|_| is_it).map(Cow::into_owned)
        })
    };
    // A result follows its call closely.
    said.iter().rev().take(16).find_map(calls)
}

#[cfg(test)]
mod tests {
    use super::messages;

    #[test]
    fn every_dialect_says_the_same() {
        let said = [r#"{"role":"user","content":"hi"}"#, ANSWER, RESULT];
        let dialects = [
            r#"[{"role":"user","parts":[{"type":"text","content":"hi"}]},
               {"role":"assistant","parts":[{"type":"reasoning","content":"hm"},
                 {"type":"tool_call","id":"c","name":"look","arguments":{"at":1}}]},
               {"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"ok"}]}]"#,
            r#"[{"role":"user","content":"hi"},
               {"role":"assistant","content":[{"type":"thinking","thinking":"hm"},
                 {"type":"tool_use","id":"c","name":"look","input":{"at":1}}]},
               {"role":"user","content":[
                 {"type":"tool_result","tool_use_id":"c","content":"ok"}]}]"#,
            r#"{"messages":[{"type":"human","content":[{"type":"text","text":"hi"}]},
               {"role":"ai","reasoning_content":"hm",
                "tool_calls":[{"id":"c","name":"look","args":{"at":1}}]},
               {"type":"tool-result","toolCallId":"c","output":"ok"}]}"#,
            r#"[{"role":"user","content":"hi"},
               {"role":"assistant","content":null,"reasoning":"hm","tool_calls":[
                 {"id":"c","type":"function","function":{"name":"look","arguments":{"at":1}}}]},
               {"type":"function_call_output","call_id":"c","output":"ok"}]"#,
        ];
        for dialect in dialects {
            assert_eq!(messages(dialect, "user"), said, "{dialect}");
        }
    }

    const ANSWER: &str = r#"{"role":"assistant","reasoning_content":"hm","tool_calls":[{"id":"c","function":{"name":"look","arguments":{"at":1}}}]}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"c","content":"ok"}"#;

    #[test]
    fn a_result_may_be_called_by_its_tool() {
        let said = messages(
            r#"[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"look"}}]},
               {"role":"look","content":"ok"},{"role":"stranger","content":"hm"}]"#,
            "user",
        );
        let last = r#"{"role":"user","content":"hm"}"#;
        let result = r#"{"role":"tool","content":"ok","tool_call_id":"c"}"#;
        assert_eq!(said[1..], [result, last]);
    }

    #[test]
    fn answers_are_found_in_what_wraps_them() {
        let wrapped = [
            r#""{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"yes\"}}]}""#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"yes"}]}}]}"#,
            r#"{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}]}"#,
            r#""yes""#,
            r#"{"role":"assistant","content":"yes"}"#,
        ];
        for raw in wrapped {
            let said = [r#"{"role":"assistant","content":"yes"}"#];
            assert_eq!(messages(raw, "assistant"), said, "{raw}");
        }
    }

    #[test]
    fn what_is_no_message_is_said_as_it_is() {
        assert_eq!(messages(r#"{"a":1}"#, "user"), [r#"{"role":"user","content":{"a":1}}"#]);
        assert_eq!(messages("[1, 2]", "user"), [r#"{"role":"user","content":[1, 2]}"#]);
        assert!(messages("null", "user").is_empty());
        assert!(messages("\"\"", "user").is_empty());
    }
}
