//! A session is seen rightly from another terminal while it runs, after it, and when it goes on.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::cast;
use crate::home::Home;

/// A chat whose prompts come one by one.
struct Running {
    process: Child,
    prompts: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Running {
    fn start(home: &Home, arguments: &str) -> Self {
        let mut command = home.command(&arguments.split(' ').collect::<Vec<_>>());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let prompts = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Self { process, prompts, answers }
    }

    /// Says something, and waits for the answer.
    fn says(&mut self, words: &str) -> String {
        writeln!(self.prompts, "{words}").unwrap();
        let mut line = String::new();
        while line.trim().is_empty() {
            line.clear();
            self.answers.read_line(&mut line).unwrap();
        }
        line
    }

    fn ends(mut self) {
        drop(self.prompts);
        assert!(self.process.wait().unwrap().success());
    }
}

/// What everybody else sees: the last words of the dialog, the last event, and how it stands.
fn seen(home: &Home) -> (String, String, bool) {
    let json = |command: &str| -> Vec<Value> {
        let done = home.run(command);
        assert_eq!(done.exit, 0, "{command}: {done}");
        done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let dialog = home.run("view dialog log.jsonl --json");
    let dialog: Value = serde_json::from_str(&dialog.out).unwrap();
    let last = dialog.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    let event = json("tail log.jsonl --once --json").pop().unwrap();
    let what = event["event_type"].as_str().or(event["role"].as_str()).unwrap().to_owned();
    let resume: Value = serde_json::from_str(&home.run("resume log.jsonl --json").out).unwrap();
    let verified: Value = serde_json::from_str(&home.run("verify log.jsonl --json").out).unwrap();
    let verified = verified.get(0).unwrap_or(&verified);
    assert_eq!(resume["ended"], verified["ended"], "{resume}\n{verified}");
    (last, what, resume["ended"].as_bool().unwrap())
}

#[test]
fn a_session_that_goes_on_after_its_end_is_running_again() {
    let home = Home::new();
    let turns = ["One.", "Two.", "Three."];
    let turns = turns.map(|words| json!({"agent": "Host", "content": words}));
    cast(&home, &turns, "");
    let state = |last: &str, what: &str, ended| (last.to_owned(), what.to_owned(), ended);

    let mut chat = Running::start(&home, "chat --cast cast.toml --log log.jsonl");
    assert_eq!(chat.says("1?"), "One.\n");
    assert_eq!(seen(&home), state("One.", "assistant", false), "it runs");
    assert_eq!(chat.says("2?"), "Two.\n");
    assert_eq!(seen(&home), state("Two.", "assistant", false), "it still runs");
    chat.ends();
    assert_eq!(seen(&home), state("Two.", "session_ended", true), "it has ended");

    let mut chat = Running::start(&home, "chat --resume log.jsonl --cast cast.toml");
    assert_eq!(chat.says("3?"), "Three.\n");
    assert_eq!(seen(&home), state("Three.", "assistant", false), "it runs again");
    chat.ends();
    assert_eq!(seen(&home), state("Three.", "session_ended", true), "and has ended again");
}
