//! `discuss`: sub-agents speak in turn, and hear one another.

use std::sync::Arc;

use serde_json::json;

use super::{Arguments, Calling, Context, Output, Tool, ToolError, ToolSpec};
use crate::agent::AgentKey;
use crate::session::Spoken;

#[derive(Debug)]
pub(super) struct Discuss;

impl Tool for Discuss {
    fn spec(&self) -> ToolSpec {
        let names = json!({"type": "array", "items": {"type": "string"}});
        ToolSpec {
            name: "discuss".to_owned(),
            description: "Lets sub-agents talk. The prompt goes to all speakers and listeners; \
                          then each speaker answers in turn, and all the others hear it. You get \
                          everything that was said."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "prompt": {"type": "string", "description": "What they are told first"},
                    "speakers": names,
                    "listeners": names,
                    "rounds": {"type": "integer", "minimum": 1, "description": "Default: 1"},
                },
                "required": ["speakers"],
            }),
        }
    }

    fn call<'a>(&'a self, mut context: Context<'a>, arguments: Arguments) -> Calling<'a> {
        Box::pin(async move { discuss(&mut context, &arguments).await })
    }

    fn goes_on(&self) -> bool {
        true
    }
}

async fn discuss(context: &mut Context<'_>, arguments: &Arguments) -> Result<Output, ToolError> {
    let missing = || ToolError::failed("The argument `speakers` is missing.");
    let speakers = arguments.texts("speakers")?.ok_or_else(missing)?;
    let listeners = arguments.texts("listeners")?.unwrap_or_default();
    let prompt = arguments.optional_text("prompt")?.filter(|prompt| !prompt.trim().is_empty());
    let rounds = arguments.count("rounds")?.unwrap_or(1);
    if speakers.is_empty() {
        return Err(ToolError::failed("The argument `speakers` names nobody."));
    }
    let find = |names: &[&str]| -> Result<Vec<AgentKey>, ToolError> {
        names.iter().map(|name| context.sub_agent(name)).collect()
    };
    let (speakers, listeners) = (find(&speakers)?, find(&listeners)?);
    // Everybody once, however often they are named.
    let mut present: Vec<AgentKey> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for &agent in speakers.iter().chain(&listeners) {
        if seen.insert(agent) {
            present.push(agent);
        }
    }
    if let Some(prompt) = prompt {
        let fragment = context.fragment(prompt)?;
        let words: Arc<str> = prompt.into();
        for &agent in &present {
            context.inform(context.caller, agent, &words, &fragment)?;
        }
    }
    let mut output = Output::default();
    let mut lines: Vec<Arc<str>> = Vec::new();
    for _ in 0..rounds {
        for &speaker in &speakers {
            match context.speak(speaker).await? {
                Spoken::Said(said) => {
                    let line = format!("[{}]: {}", context.name_of(speaker), said.words);
                    let line: Arc<str> = line.into();
                    for &agent in present.iter().filter(|&&agent| agent != speaker) {
                        context.inform(speaker, agent, &line, &said.message_id)?;
                    }
                    lines.push(line);
                    output.cause.push(said.message_id);
                }
                Spoken::Nothing => {}
                Spoken::Withheld { hook, reason } => {
                    let name = context.name_of(speaker);
                    let line = format!("({name} was withheld by the hook '{hook}': {reason})");
                    lines.push(line.into());
                }
            }
        }
    }
    output.text = match lines.is_empty() {
        true => "Nobody said anything.".to_owned(),
        false => lines.join("\n"),
    };
    Ok(output)
}
