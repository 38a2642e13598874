//! `whisper`: words for one agent, which nobody else hears.

use std::sync::Arc;

use serde_json::json;

use super::{Arguments, Calling, Context, Output, Tool, ToolError, ToolSpec};
use crate::agent::AgentKey;

#[derive(Debug)]
pub(super) struct Whisper;

impl Tool for Whisper {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "whisper".to_owned(),
            description: "Tells one of your sub-agents or siblings something that nobody else \
                          hears. There is no answer."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"to": {"type": "string"}, "message": {"type": "string"}},
                "required": ["to", "message"],
            }),
        }
    }

    fn call<'a>(&'a self, mut context: Context<'a>, arguments: Arguments) -> Calling<'a> {
        Box::pin(async move {
            let to = context.sub_agent_or_sibling(arguments.text("to")?)?;
            send(&mut context, &[to], arguments.text("message")?)
        })
    }

    fn goes_on(&self) -> bool {
        true
    }
}

/// Sends words of the caller: one fragment, and a delivery to each.
pub(super) fn send(
    context: &mut Context<'_>,
    to: &[AgentKey],
    message: &str,
) -> Result<Output, ToolError> {
    if message.trim().is_empty() {
        return Err(ToolError::failed("The argument `message` is empty."));
    }
    let fragment = context.fragment(message)?;
    let line: Arc<str> = format!("[{}]: {message}", context.caller().name).into();
    for &agent in to {
        context.inform(context.caller, agent, &line, &fragment)?;
    }
    let names: Vec<&str> = to.iter().map(|&agent| context.name_of(agent)).collect();
    Ok(Output::from(format!("Delivered to {}.", names.join(", "))))
}
