//! Tools of one's own.

use std::cell::Cell;

use super::*;
use crate::{Arguments, Calling, Context, Output, ToolSpec};

/// A tool that counts its calls, under any name, and gives back any text.
#[derive(Debug)]
struct Counted {
    name: &'static str,
    gives: String,
    calls: Rc<Cell<usize>>,
}

impl Tool for Counted {
    fn spec(&self) -> ToolSpec {
        let (name, description) = (self.name.to_owned(), String::new());
        ToolSpec { name, description, schema: serde_json::json!({"type": "object"}) }
    }

    fn call<'a>(&'a self, _: Context<'a>, _: Arguments) -> Calling<'a> {
        self.calls.set(self.calls.get() + 1);
        Box::pin(async { Ok(Output::from(self.gives.clone())) })
    }
}

fn counted(name: &'static str, gives: &str, calls: &Rc<Cell<usize>>) -> Rc<dyn Tool> {
    Rc::new(Counted { name, gives: gives.to_owned(), calls: Rc::clone(calls) })
}

#[test]
fn a_call_that_a_hook_approved_is_not_made_again_by_a_resume() {
    let stage = Stage::new();
    let whole = stage.log("whole.jsonl");
    let cast = format!("{HOST}[[hook]]\nname = \"Monitor\"\nbefore = [\"*\"]\n");
    let turns = r#"
{"agent": "Host", "tool_calls": [{"name": "pay"}]}
{"agent": "Monitor", "content": "APPROVE"}
{"agent": "Host", "content": "Paid."}
"#;
    let calls = Rc::new(Cell::new(0));
    let given = || Setup { tools: vec![counted("pay", "ok", &calls)], ..setup(&cast, turns) };
    run(Session::begin(&whole, given()).unwrap(), &["Pay."]);
    assert_eq!(calls.get(), 1);
    let text = std::fs::read_to_string(&whole).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let result = lines.iter().position(|line| line.contains("\"tool_call_id\"")).unwrap();
    for count in result + 1..lines.len() {
        let path = stage.log(&format!("cut{count}.jsonl"));
        std::fs::write(&path, lines[..count].concat()).unwrap();
        run(Session::resume(&path, given(), true).unwrap(), &[]);
        assert_eq!(calls.get(), 1, "cut behind line {count}");
        assert_eq!(transcripts(&path), transcripts(&whole), "cut behind line {count}");
    }
}

#[test]
fn a_tool_whose_name_no_service_takes_gets_one_that_they_take() {
    let stage = Stage::new();
    let calls = Rc::new(Cell::new(0));
    let turns = r#"
{"agent": "Host", "tool_calls": [{"name": "files_read_all"}]}
{"agent": "Host", "content": "Read."}
"#;
    let tools = vec![counted("files/read all", "ok", &calls)];
    let given = Setup { tools, ..setup(HOST, turns) };
    let session = Session::begin(&stage.log("log.jsonl"), given).unwrap();
    assert_eq!(said(&run(session, &["Read."])[0]), "Read.");
    assert_eq!(calls.get(), 1);
}

#[test]
fn a_result_that_no_line_could_hold_is_cut_and_says_so() {
    let stage = Stage::new();
    let path = stage.log("log.jsonl");
    let calls = Rc::new(Cell::new(0));
    let turns = r#"
{"agent": "Host", "tool_calls": [{"name": "dump"}]}
{"agent": "Host", "content": "Much."}
"#;
    // Each of these takes six bytes in a line of JSON.
    let tools = vec![counted("dump", &"\u{1}".repeat(12 << 20), &calls)];
    let given = Setup { tools, ..setup(HOST, turns) };
    let turns = run(Session::begin(&path, given).unwrap(), &["Dump."]);
    assert_eq!(said(&turns[0]), "Much.");
    let host = transcript(&path, "Host");
    let result = &host.iter().find(|(role, _)| role == "tool").unwrap().1;
    assert!(result.ends_with("[cut: the result has 12582912 bytes]"), "{}", result.len());
}

#[test]
fn several_sessions_run_in_one_process_at_a_time() {
    let stage = Stage::new();
    let turns = r#"{"agent": "Host", "content": "Here."}"#;
    let begin = |name: &str| Session::begin(&stage.log(name), setup(HOST, turns)).unwrap();
    let (mut one, mut two) = (begin("one.jsonl"), begin("two.jsonl"));
    let (one, two) = block_on(async { tokio::join!(one.prompt("1"), two.prompt("2")) });
    assert_eq!((said(&one.unwrap()), said(&two.unwrap())), ("Here.", "Here."));
}
