//! A person at a terminal.

use serde_json::json;

use super::service::{Reply, Service};
use super::{cast, events};
use crate::home::Home;
use crate::person::Person;

/// A person who has typed this at a shell.
fn person(home: &Home, arguments: &str) -> Person {
    let folder = home.path("");
    let person = Person::at_a_shell(&folder);
    person.waits_for("> ");
    let folder = folder.display();
    person.types(&format!("cd {folder}; PAGER=cat TERM=xterm \"$ANTIPHON\" chat {arguments}\n"));
    person.waits_for("/help lists");
    person
}

/// What the editor prints when it begins to edit: only now Ctrl-C and Ctrl-D are keys like others.
const EDITING: &str = "\u{1b}[K> ";

#[test]
fn a_person_talks_sees_who_speaks_and_looks_at_the_session() {
    let home = Home::new();
    let task = json!({"name": "task", "arguments": {"name": "Ann", "system_prompt": "You are A."}});
    let discuss = json!({"name": "discuss", "arguments": {"prompt": "Hm?", "speakers": ["Ann"]}});
    let turns = [
        json!({"agent": "Host", "content": "Wait.", "tool_calls": [task, discuss]}),
        json!({"agent": "Ann", "content": "I am here.\nReally."}),
        json!({"agent": "Host", "content": "She \u{1b}[31mis here."}),
        json!({"agent": "Host", "content": "Bye."}),
    ];
    cast(&home, &turns, "");
    let person = person(&home, "--cast cast.toml --log log.jsonl");
    person.types("Is Ann here?\r");
    person.waits_for("Host");
    person.waits_for(": Wait.");
    person.waits_for("Host task(name: \"Ann\"");
    person.waits_for("= Created subagent: Ann");
    person.waits_for("Ann");
    person.waits_for(": I am here.\r\n    Really.");
    person.waits_for(": She \\u{1b}[31mis here.");
    person.types("/tree\r");
    person.waits_for("└─ ");
    person.types("/perspective Ann\r");
    person.waits_for("[Heard]");
    person.types("/dance\r");
    person.waits_for("there is no /dance");
    person.types("/save copy.jsonl\r");
    person.types("Thanks.\r");
    person.waits_for(": Bye.");
    person.waits_for(EDITING);
    person.types("\x04");
    person.waits_for("--resume log.jsonl");
    let last = events(&home, "log.jsonl").pop().unwrap();
    assert_eq!(last["outcome"], "completed");
    assert!(events(&home, "copy.jsonl").len() > 8);
}

#[test]
fn ctrl_c_stops_an_answer_and_the_session_goes_on() {
    let home = Home::new();
    let service = Service::new(vec![Reply::Begins("Once upon a"), Reply::Says("The end.")]);
    let base = "--model openai/gpt --log log.jsonl";
    let folder = home.path("");
    let person = Person::at_a_shell(&folder);
    person.waits_for("> ");
    let url = service.url();
    let environment = format!("export OPENAI_BASE_URL={url} NO_PROXY=127.0.0.1 TERM=xterm");
    person.types(&format!("cd {}; {environment}; \"$ANTIPHON\" chat {base}\n", folder.display()));
    person.waits_for("/help lists");
    person.types("Tell me.\r");
    person.waits_for("Once upon a");
    person.types("\x03");
    person.waits_for("The answer was interrupted.");
    person.types("And?\r");
    person.waits_for("The end.");
    person.waits_for(EDITING);
    person.types("\x03");
    person.waits_for("Ctrl-C again ends the session.");
    person.waits_for(EDITING);
    person.types("\x03");
    person.waits_for("--resume log.jsonl");
    person.types("echo ended $?\n");
    person.waits_for("ended 0");
    let fragments: Vec<_> = events(&home, "log.jsonl")
        .into_iter()
        .filter(|event| event["event_type"] == "fragment")
        .map(|event| event["content"].clone())
        .collect();
    assert_eq!(fragments, ["Once upon a"]);
    assert_eq!(service.requests().len(), 2);
}

#[test]
fn a_person_goes_another_way_with_fork() {
    let home = Home::new();
    let turns = ["One.", "Two.", "Two, but otherwise."];
    let turns = turns.map(|words| json!({"agent": "Host", "content": words}));
    cast(&home, &turns, "");
    let person = person(&home, "--cast cast.toml");
    person.types("1?\r");
    person.waits_for("One.");
    person.types("/fork nothing\r");
    person.waits_for("nothing");
    person.types("/fork\r");
    person.waits_for("/help lists");
    person.types("2?\r");
    person.waits_for("Two.");
    person.types("/quit\r");
    person.waits_for("goes on.");
    let listed: serde_json::Value = serde_json::from_str(&home.run("ls --json").out).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
}

#[test]
fn a_person_is_asked_before_a_command_of_a_log_is_started() {
    let home = Home::new();
    let turns = [json!({"agent": "Host", "content": "One."})];
    let canary = home.path("started");
    cast(&home, &turns, "");
    assert_eq!(home.run("chat --cast cast.toml --log log.jsonl --prompt 1?").exit, 0);
    // As if it had been begun with a server.
    let log = home.text("log.jsonl");
    let lines: Vec<&str> = log.lines().take(4).collect();
    let mut first: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    first["cast"]["mcp"] = json!([{"name": "canary", "command": ["touch", canary]}]);
    for key in ["n", "prev", "hash"] {
        first.as_object_mut().unwrap().remove(key);
    }
    home.write("other.jsonl", &format!("{first}\n{}\n", lines[1]));
    let person = Person::at_a_shell(&home.path(""));
    person.waits_for("> ");
    let folder = home.path("").display().to_string();
    person.types(&format!("cd {folder}; TERM=xterm \"$ANTIPHON\" chat --resume other.jsonl\n"));
    person.waits_for("start the MCP server canary: touch");
    person.waits_for("Use it now? [y/N]");
    person.types("n\n");
    person.waits_for(EDITING);
    person.types("\x04");
    person.waits_for("goes on.");
    assert!(!canary.exists());
}
