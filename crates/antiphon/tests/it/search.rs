//! Searching: what is found, and what is not looked for.

use std::path::Path;

use serde_json::Value;

use crate::claude::Claude;
use crate::home::Home;
use crate::library::{antiphon, home, json};
use crate::run::folder;

/// How many places are found.
fn found(folder: &Path, query: &str) -> usize {
    let hits = antiphon(folder, &["search", query, "--json"]);
    let hits: Value = serde_json::from_str(&hits.out).unwrap();
    hits.as_array().unwrap().len()
}

/// Puts a session where an agent would, and takes it in.
fn sync(folder: &Path, file: &str, lines: &[String]) {
    let file = folder.join("home").join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, lines.join("\n") + "\n").unwrap();
    assert_eq!(antiphon(folder, &["sync"]).exit, 0);
}

/// A line of Claude Code in which the message of that id calls a tool.
fn call(message: &str, id: &str, tool: &str) -> String {
    format!(
        r#"{{"type":"assistant","sessionId":"s","uuid":"a-{id}","timestamp":"2026-05-01T10:00:00Z","message":{{"id":"{message}","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{"file_path":"/srv/x.rs"}}}}]}}}}"#
    )
}

fn result(id: &str, text: &str, twin: &str) -> String {
    format!(
        r#"{{"type":"user","sessionId":"s","uuid":"r-{id}","timestamp":"2026-05-01T10:00:01Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]}},"toolUseResult":{{"text":"{twin}"}}}}"#
    )
}

#[test]
fn words_are_found_wherever_they_stand() {
    let folder = folder();
    home(folder.path());
    antiphon(folder.path(), &["sync"]);
    let ids = |query: &str| -> Vec<String> {
        let hits = json(folder.path(), &["search", query, "--json"]);
        hits.as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["message_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("\"build it\""), ["u1"], "a prompt");
    assert_eq!(ids("FOUND"), ["b3", "c2"], "a sub-agent's words and a tool's output, newest first");
    assert_eq!(ids("\"fn main\""), ["r1"], "a phrase");
    assert_eq!(ids("x.rs tool:read"), ["a1"], "a tool's input");
    assert_eq!(ids("is:error interrupted"), ["r3"]);
    assert!(ids("where did the agents say interrupted").contains(&"r3".to_owned()), "a question");
    let none = antiphon(folder.path(), &["search", "zqnowhere", "--json"]);
    assert_eq!((none.exit, none.out.trim()), (1, "[]"));
    let wrong = antiphon(folder.path(), &["search", "since:soon"]);
    assert_eq!(wrong.exit, 2, "{wrong}");
}

#[test]
fn a_structured_twin_is_searched_where_it_says_more_than_its_result() {
    let folder = folder();
    let long = "as it was ".repeat(300);
    let lines = [
        call("m1", "t1", "Edit"),
        result("t1", &long, &format!("{long} quixotry")),
        call("m2", "t2", "Edit"),
        result("t2", &long, &format!("{long}{long} rigmarole")),
        call("m3", "t3", "Edit"),
        result("t3", "done", "taradiddle"),
    ];
    sync(folder.path(), ".claude/projects/shop/s.jsonl", &lines);
    let found = |query: &str| found(folder.path(), query);
    assert_eq!(found("rigmarole"), 1, "it is much longer than its result");
    assert_eq!(found("taradiddle"), 1, "its result says next to nothing");
    assert_eq!(found("quixotry"), 0, "it says once more what the result says");
    assert_eq!(found("quixotry file:x.rs"), 1, "but all that was done to a file is searched");
    assert_eq!(found("quixotry nowhere file:x.rs"), 1, "with any of the words, too");
    assert_eq!(found("nowhere quixotry file:x.rs"), 1, "whichever it is");
    assert_eq!(found("quixotry file:y.rs"), 0);
}

#[test]
fn a_tool_is_found_by_its_name_wherever_its_message_began() {
    let folder = folder();
    // A block is a megabyte.
    let long = "as it was ".repeat(120_000);
    let lines = [
        call("m1", "t1", "Edit"),
        result("t1", &long, ""),
        call("m1", "t2", "Zebrafish"),
        result("t2", "done", ""),
    ];
    sync(folder.path(), ".claude/projects/shop/s.jsonl", &lines);
    assert_eq!(found(folder.path(), "zebrafish"), 1);
    assert_eq!(found(folder.path(), "\"zebrafish {\\\"file_path\""), 1, "with what it was given");
}

#[test]
fn a_result_that_is_its_own_twin_is_searched() {
    let folder = folder();
    let long = "as it was ".repeat(300);
    let lines = [
        r#"{"type":"session.start","data":{"sessionId":"c0","version":1,"producer":"copilot-agent"},"id":"e1","timestamp":"2026-05-01T10:00:00Z"}"#.to_owned(),
        r#"{"type":"user.message","data":{"content":"Look"},"id":"e2","timestamp":"2026-05-01T10:00:01Z"}"#.to_owned(),
        r#"{"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"t1","name":"bash","arguments":{}}]},"id":"e3","timestamp":"2026-05-01T10:00:02Z"}"#.to_owned(),
        format!(
            r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"t1","success":true,"result":"{long} quixotry"}},"id":"e4","timestamp":"2026-05-01T10:00:03Z"}}"#
        ),
    ];
    sync(folder.path(), ".copilot/session-state/c0/events.jsonl", &lines);
    assert_eq!(found(folder.path(), "quixotry"), 1);
}

/// Two sessions of Claude Code, and the ids of what is said in the first.
fn talk(home: &Home) -> (Claude, Claude, Vec<String>) {
    let tokens = [10, 50, 1000, 100];
    let mut net = Claude::new(2, "/srv/shop", "2026-05-02T10:00:00Z");
    let ids = vec![
        net.prompt("Why is there a connection error?"),
        net.say("It timed out after 30 s in std::net.", tokens),
        net.prompt("The Connection is a VPN: note:this"),
        net.say("Then the connection waits.", tokens),
    ];
    net.save(home);
    let mut other = Claude::new(1, "/srv/shop", "2026-05-01T10:00:00Z");
    other.prompt("Draw the cable of the lamp");
    other.save(home);
    home.run("sync");
    (net, other, ids)
}

fn message_ids(home: &Home, query: &[&str]) -> Vec<String> {
    let output = home.command(&[&["search", "--json"], query].concat()).output().unwrap();
    let hits: Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = |hit: &Value| hit["message_id"].as_str().unwrap().to_owned();
    hits.as_array().unwrap().iter().map(id).collect()
}

#[test]
fn patterns_phrases_and_sessions_narrow_a_search() {
    let home = Home::new();
    let (net, other, ids) = talk(&home);
    assert_eq!(message_ids(&home, &[r"/timed? ?out after \d+ s/"]), [&*ids[1]]);
    assert_eq!(message_ids(&home, &[r"re:timed\sout"]), [&*ids[1]]);
    assert_eq!(message_ids(&home, &["/^then/"]), [&*ids[3]], "case is ignored");
    assert_eq!(message_ids(&home, &["(?-i)", "/(?-i)Connection/"]), Vec::<String>::new());
    assert_eq!(message_ids(&home, &["/(?-i)Connection/"]), [&*ids[2]]);
    assert_eq!(message_ids(&home, &["connection", "/vpn|waits/"]), [&*ids[3], &*ids[2]]);
    assert_eq!(message_ids(&home, &["/connection|cable/"]).len(), 4);
    assert_eq!(message_ids(&home, &["std::net"]), [&*ids[1]]);
    assert_eq!(message_ids(&home, &["\"note:this\""]), [&*ids[2]]);
    let within = |session: &str| message_ids(&home, &["the", &format!("session:{session}")]).len();
    assert_eq!((within(net.id()), within(&other.id()[..8]), within("latest")), (3, 1, 3));
    for wrong in ["/(/", "colour:red", "is:red"] {
        assert_eq!(home.run(&format!("search {wrong}")).exit, 2, "{wrong}");
    }
    let unknown = home.run("search cable session:ffff");
    assert!(unknown.exit == 1 && unknown.err.contains("no session `ffff`"), "{unknown}");
    let mistyped = home.run("search conection");
    assert_eq!(mistyped.exit, 1, "{mistyped}");
    assert!(mistyped.err.contains("`connection`"), "{mistyped}");
}

#[test]
fn a_session_stands_once_above_its_matches_with_their_marks_and_surroundings() {
    let home = Home::new();
    let (_, _, ids) = talk(&home);
    let hits: Value = serde_json::from_str(&home.run("search connection --json").out).unwrap();
    for hit in hits.as_array().unwrap() {
        let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
        let place = |at: usize| usize::try_from(hit["marks"][0][at].as_u64().unwrap()).unwrap();
        let marked: String = snippet[place(0)..place(1)].iter().collect();
        assert_eq!(marked.to_lowercase(), "connection", "{hit}");
    }
    let plain = home.run("search connection").out;
    assert_eq!(plain.matches("00000002").count() - 3, 1, "its id once, and in three others'");
    let places: Vec<usize> =
        [3, 2, 0].iter().map(|&at| plain.find(ids[at].as_str()).unwrap()).collect();
    assert!(plain.starts_with("Why is there a connection error?\n"), "{plain}");
    assert!(places.is_sorted(), "{plain}");
    let around = home.run("search VPN -C 1 --json").out;
    let around: Value = serde_json::from_str(&around).unwrap();
    let context: Vec<&str> = around[0]["context"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["message_id"].as_str().unwrap())
        .collect();
    assert_eq!(context, [&*ids[1], &*ids[2], &*ids[3]]);
    let plain = home.run("search VPN -C 1").out;
    assert!(plain.contains("timed out after") && plain.contains("connection waits"), "{plain}");
    let edge = home.run("search -C 9 \"Why\" role:user --json").out;
    let edge: Value = serde_json::from_str(&edge).unwrap();
    assert_eq!(edge[0]["context"].as_array().unwrap().len(), 4, "no more than there is");
}
