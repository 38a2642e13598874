//! A person may stop a turn at any moment; it is not taken up again behind their back.

use super::*;
use crate::{Answering, Arguments, Calling, Context, Model, ModelError, Output, Request, Tell};

/// A tool that is never done.
#[derive(Debug)]
struct Endless;

impl Tool for Endless {
    fn spec(&self) -> crate::ToolSpec {
        let (name, description) = ("wait".to_owned(), String::new());
        crate::ToolSpec { name, description, schema: serde_json::json!({"type": "object"}) }
    }

    fn call<'a>(&'a self, _: Context<'a>, _: Arguments) -> Calling<'a> {
        Box::pin(std::future::pending::<Result<Output, crate::ToolError>>())
    }
}

/// A model that is always busy.
#[derive(Debug)]
struct Busy;

impl Model for Busy {
    fn answer<'a>(&'a self, _: Request<'a>, _: Tell<'a>) -> Answering<'a> {
        Box::pin(async { Err(ModelError::for_now("busy")) })
    }
}

/// Prompts a session that is stopped at certain news; then resumes it, and nothing must be owed.
fn check(given: Setup, again: Setup, is_moment: fn(&News<'_>) -> bool) {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let mut session = Session::begin(&path, given).unwrap();
    let stop = session.stop_signal();
    session.listen(move |news| {
        if is_moment(&news) {
            stop.stop();
        }
    });
    assert_eq!(block_on(session.prompt("Go on.")).unwrap(), Turn::Interrupted);
    session.end(None).unwrap();
    let resumed = Session::resume(&path, again, false).unwrap();
    assert_eq!(run(resumed, &[]), [], "nothing is asked again");
}

#[test]
fn while_a_tool_runs() {
    let turns = r#"{"agent": "Host", "tool_calls": [{"name": "wait"}]}"#;
    let given = || Setup { tools: vec![Rc::new(Endless)], ..setup(HOST, turns) };
    check(given(), given(), |news| matches!(news, News::Answered { .. }));
}

#[test]
fn while_a_service_is_waited_for() {
    let mut given = setup(HOST, "");
    given.models.insert("openai/mine", Rc::new(Busy));
    check(given, setup(HOST, ""), |news| matches!(news, News::Retry { .. }));
}

#[test]
fn while_scripts_answer_one_another_at_once() {
    let stage = Stage::new();
    let cast = format!("{HOST}[[agent]]\nname = \"Ann\"\n[limits]\nturns = 100000\n");
    let mut turns = String::from(
        "{\"agent\": \"Host\", \"tool_calls\": [{\"name\": \"discuss\", \"arguments\": \
         {\"speakers\": [\"Ann\"], \"rounds\": 1000}}]}\n",
    );
    turns.push_str(&"{\"agent\": \"Ann\", \"content\": \"Yes.\"}\n".repeat(1000));
    let mut session = Session::begin(&stage.log("log.jsonl"), setup(&cast, &turns)).unwrap();
    let stop = session.stop_signal();
    let turn = block_on(async {
        // As a signal's handler does: it runs only when the session lets it.
        tokio::spawn(async move { stop.stop() });
        session.prompt("Begin.").await.unwrap()
    });
    assert_eq!(turn, Turn::Interrupted);
}
