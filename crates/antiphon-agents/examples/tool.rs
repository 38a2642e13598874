//! A tool and a model of one's own: `cargo run -p antiphon-agents --example tool`.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::rc::Rc;

use antiphon_agents::{
    Answer, Answering, Arguments, Call, Calling, Context, Entry, Model, Models, Output, Reply,
    Request, Session, Setup, Tell, Tool, ToolSpec,
};
use serde_json::json;

/// Throws dice. What it returns, or why it fails, is what the agent is told.
#[derive(Debug)]
struct Dice;

impl Tool for Dice {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "dice".to_owned(),
            description: "Throws a die with so many sides.".to_owned(),
            schema: json!({"type": "object", "properties": {"sides": {"type": "integer"}}}),
        }
    }

    fn call<'a>(&'a self, context: Context<'a>, arguments: Arguments) -> Calling<'a> {
        Box::pin(async move {
            let sides = arguments.count("sides")?.unwrap_or(6);
            let seed = context.caller().transcript().len() as u64;
            Ok(Output::from(format!("{}", seed % sides + 1)))
        })
    }
}

/// Throws once, and says what came.
#[derive(Debug)]
struct Player;

impl Model for Player {
    fn answer<'a>(&'a self, request: Request<'a>, _: Tell<'a>) -> Answering<'a> {
        Box::pin(async move {
            let answer = match request.transcript.last() {
                Some(Entry::Result(thrown)) => {
                    let content = format!("It is a {}.", thrown.content.words()).into();
                    Answer { content, ..Answer::default() }
                }
                _ => {
                    let (name, arguments) = ("dice".to_owned(), json!({"sides": 6}).to_string());
                    let call = Call { id: String::new(), name, arguments };
                    Answer { calls: vec![call], ..Answer::default() }
                }
            };
            Ok(Reply { answer, ..Reply::default() })
        })
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = std::env::temp_dir().join(format!("dice-{}.jsonl", std::process::id()));
    let mut models = Models::default();
    models.insert("player", Rc::new(Player));
    models.set_above_all("player");
    let setup = Setup { models, tools: vec![Rc::new(Dice)], ..Setup::default() };
    let mut session = Session::begin(&log, setup)?;
    println!("{:?}", session.prompt("Throw.").await?);
    session.end(None)?;
    Ok(std::fs::remove_file(&log)?)
}
