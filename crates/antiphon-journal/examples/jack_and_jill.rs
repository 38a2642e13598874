//! Records two agents who meet in a café: `cargo run -p antiphon-journal --example jack_and_jill`.
//! Then ask the log: `antiphon view dialog jack-and-jill.jsonl`.

use antiphon_journal::{Call, Error, Message, NewAgent, Session};
use antiphon_model::{AgentId, CallId, Role};

fn main() -> Result<(), Error> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "jack-and-jill.jsonl".to_owned());
    let session = Session::create(path)?;
    session.session_started("Jack and Jill meet in a café")?;

    let host = session.agent_created(NewAgent::named("Host"))?;
    session.message(Message::external(&host, "Let Jack and Jill meet in a café."))?;
    let jack = make(&session, &host, "Jack", "You work in HR.")?;
    let jill = make(&session, &host, "Jill", "You are an aspiring author.")?;

    let discuss = CallId::new("call_discuss");
    let arguments = r#"{"speakers": ["Jack", "Jill"]}"#;
    session.message(Message::call(&host, Call { id: &discuss, tool: "discuss", arguments }))?;
    let said = session.message(Message::assistant(&jack, "Hi, I'm Jack. *extends hand*"))?;
    session.deliver(&said, &jack, &jill, "[Jack]: Hi, I'm Jack. *extends hand*")?;
    let answer = session.message(Message::assistant(&jill, "*smiles* Hello Jack, I'm Jill."))?;
    session.deliver(&answer, &jill, &jack, "[Jill]: *smiles* Hello Jack, I'm Jill.")?;

    let mut result = Message::new(&host, Role::Tool, "They have met.");
    result.result_of = Some(&discuss);
    result.cause = vec![&said, &answer];
    session.message(result)?;
    session.session_ended("completed")?;
    Ok(())
}

/// The host makes an agent with a `task` call.
fn make(session: &Session, host: &AgentId, name: &str, prompt: &str) -> Result<AgentId, Error> {
    let call = CallId::new(format!("call_{name}"));
    let arguments = format!(r#"{{"name": "{name}", "system_prompt": "{prompt}"}}"#);
    let task = Call { id: &call, tool: "task", arguments: &arguments };
    session.message(Message::call(host, task))?;
    let agent = session.agent_created(NewAgent::named(name))?;
    session.message(Message::system(&agent, prompt))?;
    session.tool_result(host, &call, &format!("Created subagent: {name}"))?;
    Ok(agent)
}
