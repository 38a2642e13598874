//! `task`: makes a sub-agent, or a hook.

use serde_json::json;

use super::{Arguments, Calling, Context, Output, Tool, ToolError, ToolSpec};
use crate::ModelName;
use crate::agent::is_name;
use crate::cast::Watch;
use crate::session::NewMember;

#[derive(Debug)]
pub(super) struct Task;

impl Tool for Task {
    fn spec(&self) -> ToolSpec {
        let words = json!({"type": "array", "items": {"type": "string"}});
        ToolSpec {
            name: "task".to_owned(),
            description: "Creates a sub-agent with its own transcript. Let it speak with \
                          `discuss`. With `hook` it watches instead: it is asked before the \
                          given tools are called, or sees what the given agents say before \
                          anybody hears it."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Its name, unique among yours"},
                    "system_prompt": {"type": "string", "description": "Who it is"},
                    "model": {"type": "string", "description": "Another model than yours"},
                    "hook": {
                        "type": "object",
                        "properties": {"before": words, "after": words},
                    },
                },
                "required": ["name", "system_prompt"],
            }),
        }
    }

    fn call<'a>(&'a self, mut context: Context<'a>, arguments: Arguments) -> Calling<'a> {
        Box::pin(async move { create(&mut context, &arguments) })
    }

    fn goes_on(&self) -> bool {
        true
    }
}

fn create(context: &mut Context<'_>, arguments: &Arguments) -> Result<Output, ToolError> {
    let name = arguments.text("name")?;
    let system = arguments.text("system_prompt")?;
    if !is_name(name) {
        let words = "A name is one line of at most 100 characters, without brackets.";
        return Err(ToolError::failed(words));
    }
    if context.caller().children.contains_key(name) {
        return Err(ToolError::failed(format!("You have an agent `{name}` already.")));
    }
    let model = arguments.optional_text("model")?;
    if let Some(model) = model {
        let parsed = ModelName::parse(model);
        let parsed = parsed.map_err(|error| ToolError::failed(format!("{error}.")))?;
        // A model is no person: it leads to no file that nobody named.
        if !parsed.is_harmless() && !context.session.may_use(model) {
            return Err(ToolError::failed(format!("The model `{model}` is not available.")));
        }
    }
    let watch = match arguments.get("hook") {
        Some(hook) => Some(watch(hook)?),
        None => None,
    };
    context.session.check_room(context.caller)?;
    let is_hook = watch.is_some();
    context.session.make(NewMember {
        name,
        system: Some(system),
        model,
        tools: None,
        watch,
        parent: Some(context.caller),
        call_id: Some(context.call_id),
    })?;
    Ok(Output::from(match is_hook {
        true => format!("Installed hook: {name}"),
        false => format!("Created subagent: {name}"),
    }))
}

fn watch(hook: &serde_json::Value) -> Result<Watch, ToolError> {
    let read: Watch = serde_json::from_value(hook.clone()).map_err(|_| {
        ToolError::failed("The argument `hook` must be {\"before\": [tools], \"after\": [names]}.")
    })?;
    match read.before.is_empty() && read.after.is_empty() {
        true => Err(ToolError::failed("The argument `hook` needs `before` or `after`.")),
        false => Ok(read),
    }
}
