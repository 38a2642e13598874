//! The content blocks of an assistant's message.

use std::borrow::Cow;

use antiphon_model::{Body, Message, ToolCall, is_blank};

use crate::line::{Object, Record};

/// What a line contains in addition to the message itself.
#[derive(Debug, Default)]
pub(crate) struct Rest<'a> {
    /// The calls, which are also in the message.
    pub(crate) calls: Vec<Object<'a>>,
    /// Results of the tools that the API runs itself, which are within the message.
    pub(crate) results: Vec<Object<'a>>,
    /// Further thoughts, after the first one.
    pub(crate) thoughts: Vec<Body<'a>>,
    /// Whether the line contains nothing readable, mostly because its reasoning is encrypted.
    pub(crate) is_mute: bool,
}

/// Adds the content of a line to its message.
pub(crate) fn add<'a>(
    record: &Record<'a>,
    message: &mut Message<'a>,
    said: &Object<'a>,
) -> Rest<'a> {
    let mut rest = Rest { is_mute: true, ..Rest::default() };
    if let Some(content) = said.raw("content").filter(|raw| raw.starts_with('"')) {
        rest.is_mute = false;
        add_content(message, record.body(content));
    }
    for block in said.elements("content").into_iter().filter_map(|(_, block)| block) {
        let said = |name| block.raw(name).filter(|text| !is_blank(text));
        match block.id("type").unwrap_or_default() {
            "text" => {
                let Some(text) = said("text") else { continue };
                add_content(message, record.body(text));
            }
            "thinking" => {
                let Some(text) = said("thinking") else { continue };
                if message.reasoning.is_none() {
                    message.reasoning = Some(record.body(text));
                } else {
                    rest.thoughts.push(record.body(text));
                }
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let made = call(record, &block, message.tool_calls.len());
                message.tool_calls.push(made);
                rest.calls.push(block);
            }
            kind if kind.ends_with("tool_result") => rest.results.push(block),
            _ => continue,
        }
        rest.is_mute = false;
    }
    rest
}

pub(crate) fn add_content<'a>(message: &mut Message<'a>, body: Body<'a>) {
    if message.content.is_none() {
        message.content = Some(body);
    } else {
        message.more_content.push(body);
    }
}

/// Reads a call. If its id was not kept, one is derived from the line.
fn call<'a>(record: &Record<'a>, block: &Object<'a>, before: usize) -> ToolCall<'a> {
    let input = block.object("input").unwrap_or_default();
    let unnamed = || Cow::Owned(format!("call-{}-{}", record.line.number, before + 1));
    ToolCall {
        id: block.text("id").unwrap_or_else(unnamed),
        name: block.text("name").unwrap_or_default(),
        arguments: block.raw("input").map(|input| record.body(input)),
        description: input.text("description"),
        ..ToolCall::default()
    }
}
