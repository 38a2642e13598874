//! `resume --as openai|anthropic`: transcripts as request bodies.

use antiphon_agents::{request, transcript_of};
use antiphon_model::AgentIx;
use serde_json::{Value, json};

use super::ResumeArgs;
use crate::failure::{Outcome, UserError};
use crate::opened::Opened;
use crate::terminal::{self, JsonLines};

/// A service that takes bodies.
#[derive(Debug, Clone, Copy)]
pub(super) enum Service {
    OpenAi,
    Anthropic,
}

pub(super) fn run(args: &ResumeArgs, service: Service) -> anyhow::Result<Outcome> {
    if args.restore || args.run {
        return Err(UserError::usage("--restore and --run put an agent's own file back").into());
    }
    let opened = Opened::read(&args.session)?;
    if let Some(name) = &args.agent {
        let agent = opened.agent(name)?;
        terminal::json(&body(&opened, agent, service)?.unwrap_or_default())?;
        return Ok(opened.outcome());
    }
    let mut lines = JsonLines::default();
    for (agent, _) in opened.session.agents() {
        if let Some(body) = body(&opened, agent, service)? {
            let (id, name) = (opened.session.agent_id(agent), opened.session.agent_name(agent));
            lines.add(&json!({"agent_id": id, "name": name, "body": body}).to_string())?;
        }
    }
    lines.flush()?;
    Ok(opened.outcome())
}

/// The body of an agent; `None` where it has no messages.
fn body(opened: &Opened, agent: AgentIx, service: Service) -> anyhow::Result<Option<Value>> {
    let transcript = transcript_of(&opened.reading(), agent, None)?;
    let model = model(opened, agent);
    let body = match service {
        Service::OpenAi => request::openai(&model, &transcript, &[]),
        Service::Anthropic => request::anthropic(&model, &transcript, &[]),
    };
    let messages = body.get("messages").and_then(Value::as_array);
    let has_messages = messages.is_some_and(|messages| !messages.is_empty());
    Ok(has_messages.then_some(Value::Object(body)))
}

/// The model that an agent was last asked with, or made with.
fn model(opened: &Opened, agent: AgentIx) -> String {
    let session = &opened.session;
    let entries = session.agent(agent).transcript().rev().map(|event| session.entry(event));
    let last = entries.filter_map(|entry| entry.model()).next();
    let model = last.or_else(|| session.agent(agent).language_model()).unwrap_or("MODEL");
    let plain = ["openai/", "anthropic/"].iter().find_map(|service| model.strip_prefix(service));
    plain.unwrap_or(model).to_owned()
}
