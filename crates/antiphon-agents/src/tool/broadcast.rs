//! `broadcast`: words for all sub-agents, without answers.

use serde_json::json;

use super::whisper::send;
use super::{Arguments, Calling, Context, Tool, ToolError, ToolSpec};

#[derive(Debug)]
pub(super) struct Broadcast;

impl Tool for Broadcast {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "broadcast".to_owned(),
            description: "Tells all your sub-agents something. There are no answers.".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"message": {"type": "string"}},
                "required": ["message"],
            }),
        }
    }

    fn call<'a>(&'a self, mut context: Context<'a>, arguments: Arguments) -> Calling<'a> {
        Box::pin(async move {
            let to = context.sub_agents();
            if to.is_empty() {
                return Err(ToolError::failed("You have no sub-agents: make one with `task`."));
            }
            send(&mut context, &to, arguments.text("message")?)
        })
    }

    fn goes_on(&self) -> bool {
        true
    }
}
