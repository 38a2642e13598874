//! The same answers, whatever happens to what is derived: killed, damaged, deleted, in any order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::run::{command, folder};

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// A home with sessions of Claude Code, some of them forks, some with sub-agents.
struct Machine {
    folder: tempfile::TempDir,
    sources: Vec<(PathBuf, String)>,
}

const SESSIONS: usize = 12;

impl Machine {
    fn new() -> Self {
        let folder = folder();
        let project = folder.path().join("home/.claude/projects/-work-shop");
        let mut dice = Dice(7);
        let mut sources = Vec::new();
        for number in 0..SESSIONS {
            let id = format!("{number:08x}-aaaa-4bbb-8ccc-dddddddddddd");
            let mut text = String::new();
            // A fork repeats what was asked and answered before it left.
            let first = if number % 4 == 3 { number - 1 } else { number };
            for turn in 0..6 {
                let own = if turn < 3 { first } else { number };
                text += &lines(&id, own, turn, &mut dice);
            }
            sources.push((project.join(format!("{id}.jsonl")), text));
            if number % 3 == 0 {
                let agent = format!("{id}/subagents/agent-a{number}.jsonl");
                sources.push((project.join(agent), lines(&id, 100 + number, 0, &mut dice)));
            }
        }
        Self { folder, sources }
    }

    fn with_all() -> Self {
        let machine = Self::new();
        machine.write(0..machine.sources.len());
        machine
    }

    fn write(&self, which: impl IntoIterator<Item = usize>) {
        for (path, text) in which.into_iter().map(|at| &self.sources[at]) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = command();
        command.env("HOME", self.folder.path().join("home"));
        command.env("ANTIPHON_HOME", self.store()).args(words);
        command
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn catalogue(&self) -> PathBuf {
        self.store().join("catalog.sqlite")
    }

    fn sync(&self) {
        let done = self.command(&["sync"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn json(&self, words: &[&str]) -> Value {
        let done = self.command(words).output().unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        let err = String::from_utf8_lossy(&done.stderr);
        let value = serde_json::from_str(&out);
        assert!(value.is_ok(), "{words:?}: {out}{err}");
        value.unwrap()
    }

    /// All that can be asked, without what depends on where and when it was kept.
    fn dump(&self) -> Value {
        let mut listed = self.json(&["ls", "--json", "--limit", "1000"]);
        let mut found = self.json(&["search", "marker", "--json", "--limit", "1000"]);
        let mut ranked =
            self.json(&["search", "--sort", "relevance", "cobalt", "--json", "--limit", "1000"]);
        for rows in [&mut listed, &mut found, &mut ranked] {
            let rows = rows.as_array_mut().unwrap();
            for row in rows.iter_mut() {
                let row = row.as_object_mut().unwrap();
                row.retain(|name, _| !["changed_at", "path"].contains(&name.as_str()));
            }
            rows.sort_by_key(ToString::to_string);
        }
        let sums = ["session", "day", "model", "sub-agent", "project", "agent"]
            .map(|by| self.json(&["stats", "--by", by, "--json"]));
        json!({"listed": listed, "found": found, "ranked": ranked, "sums": sums})
    }

    /// The bytes of every session, as they are given back.
    fn native(&self) -> Vec<Vec<u8>> {
        let sessions = self.sources.iter().filter(|(path, _)| !is_sub_agent(path));
        let id = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let native =
            |id: String| self.command(&["export", &id, "--as", "native"]).output().unwrap().stdout;
        sessions.map(|(path, _)| native(id(path))).collect()
    }

    fn expected_native(&self) -> Vec<Vec<u8>> {
        let sessions = self.sources.iter().filter(|(path, _)| !is_sub_agent(path));
        sessions.map(|(_, text)| text.clone().into_bytes()).collect()
    }
}

fn is_sub_agent(path: &Path) -> bool {
    path.parent().unwrap().ends_with("subagents")
}

/// A question, an answer with a call, and a result.
fn lines(id: &str, own: usize, turn: usize, dice: &mut Dice) -> String {
    let time = format!("2026-03-{:02}T10:{turn:02}:00.000Z", own % 28 + 1);
    let envelope = |uuid: &str| {
        format!(
            r#""sessionId":"{id}","cwd":"/srv/shop{}","version":"2.1.0","uuid":"{uuid}-{own}-{turn}","parentUuid":null,"isSidechain":false,"timestamp":"{time}""#,
            own % 3
        )
    };
    let letters: Vec<char> = ('a'..='z').collect();
    let noise: String = (0..400).map(|_| letters[dice.roll(26)]).collect();
    let filler = noise.repeat(10);
    let word = ["cobalt", "amber", "violet"][own % 3];
    let (input, output) = (10 + own, 100 + turn);
    [
        format!(
            r#"{{{},"type":"user","message":{{"role":"user","content":"marker: the {word} parser, please"}}}}"#,
            envelope("u")
        ),
        format!(
            r#"{{{},"type":"assistant","requestId":"req-{own}-{turn}","message":{{"id":"msg-{own}-{turn}","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"text","text":"I read the {word} file."}},{{"type":"tool_use","id":"call-{own}-{turn}","name":"Read","input":{{"file_path":"/srv/shop/{word}.rs"}}}}],"usage":{{"input_tokens":{input},"output_tokens":{output}}}}}}}"#,
            envelope("a")
        ),
        format!(
            r#"{{{},"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"call-{own}-{turn}","content":"{filler}"}}]}}}}"#,
            envelope("r")
        ),
    ]
    .map(|line| line + "\n")
    .concat()
}

/// What a machine says on which nothing ever went wrong.
fn truth() -> Value {
    let machine = Machine::with_all();
    machine.sync();
    let dump = machine.dump();
    assert_eq!(dump["listed"].as_array().unwrap().len(), SESSIONS);
    assert!(!dump["ranked"].as_array().unwrap().is_empty());
    let requests: u64 = (SESSIONS * 6 - SESSIONS / 4 * 3 + SESSIONS / 3) as u64;
    assert_eq!(dump["sums"][0]["totals"]["requests"], requests, "forks count once");
    dump
}

#[test]
fn in_whatever_order_sessions_come_the_answers_are_the_same() {
    let truth = truth();
    for seed in 1..4 {
        let machine = Machine::new();
        let mut dice = Dice(seed * 991);
        let mut order: Vec<usize> = (0..machine.sources.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, dice.roll(at + 1));
        }
        for some in order.chunks(5) {
            machine.write(some.iter().copied());
            machine.sync();
            machine.sync();
        }
        assert_eq!(machine.dump(), truth, "seed {seed}");
        assert_eq!(machine.native(), machine.expected_native());
    }
}

#[test]
fn killed_at_any_moment_it_goes_on_and_the_answers_are_the_same() {
    let truth = truth();
    let machine = Machine::with_all();
    let mut dice = Dice(23);
    for _ in 0..50 {
        let mut sync = machine.command(&["sync"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(dice.roll(60_000) as u64));
        let _ = sync.kill();
        let _ = sync.wait();
        // Now and then all is lost, so that there is something to be killed at.
        match dice.roll(6) {
            0 => drop(fs::remove_dir_all(machine.store())),
            1 => drop(fs::remove_file(machine.catalogue())),
            _ => {}
        }
    }
    machine.sync();
    assert_eq!(machine.dump(), truth);
    assert_eq!(machine.native(), machine.expected_native());
}

#[test]
fn a_damaged_catalogue_is_set_aside_and_made_again() {
    let truth = truth();
    let machine = Machine::with_all();
    machine.sync();
    let whole = fs::read(machine.catalogue()).unwrap();
    let mut dice = Dice(5);
    for round in 0..100 {
        let mut damaged = whole.clone();
        match round % 10 {
            0 => damaged.truncate(dice.roll(whole.len())),
            1 => damaged.fill(0),
            _ => {
                for _ in 0..=dice.roll(40) {
                    let at = dice.roll(damaged.len());
                    damaged[at] ^= 1 << dice.roll(8);
                }
            }
        }
        fs::write(machine.catalogue(), &damaged).unwrap();
        for beside in ["-wal", "-shm"] {
            let _ = fs::remove_file(machine.store().join(format!("catalog.sqlite{beside}")));
        }
        // One question a round: each must find the damage that matters to it.
        match round % 4 {
            0 => assert_eq!(machine.json(&["stats", "--by", "day", "--json"]), truth["sums"][1]),
            1 => {
                let found = machine.json(&["search", "marker", "--json", "--limit", "1000"]);
                let count = truth["found"].as_array().unwrap().len();
                assert_eq!(found.as_array().unwrap().len(), count, "round {round}");
            }
            _ => assert_eq!(machine.dump(), truth, "round {round}"),
        }
    }
}

#[test]
fn without_a_catalogue_or_a_place_for_one_the_answers_are_the_same() {
    let truth = truth();
    let machine = Machine::with_all();
    machine.sync();
    fs::remove_file(machine.catalogue()).unwrap();
    assert_eq!(machine.dump()["sums"], truth["sums"], "whoever asks makes it");
    assert!(machine.catalogue().is_file());
    let done = machine.json(&["reindex", "--json"]);
    assert_eq!(done, json!({"read": SESSIONS, "failed": 0}));
    assert_eq!(machine.dump(), truth);
    fs::remove_file(machine.catalogue()).unwrap();
    fs::create_dir(machine.catalogue()).unwrap();
    assert_eq!(machine.dump()["found"], truth["found"], "in memory");
    assert_eq!(machine.dump()["sums"], truth["sums"]);
}

#[test]
fn what_was_forgotten_is_neither_listed_nor_found_nor_counted() {
    let machine = Machine::with_all();
    machine.sync();
    let id = "00000000-aaaa-4bbb-8ccc-dddddddddddd";
    let asked = machine.command(&["forget", id, "--yes"]).output().unwrap();
    assert!(asked.status.success());
    for _ in 0..2 {
        let dump = machine.dump();
        assert_eq!(dump["listed"].as_array().unwrap().len(), SESSIONS - 1);
        assert!(!dump.to_string().contains(id));
        machine.sync();
    }
    let bytes = fs::read(machine.catalogue()).unwrap();
    let holds = |needle: &str| bytes.windows(needle.len()).any(|it| it == needle.as_bytes());
    assert!(!holds(id), "nothing of it is left in the file");
}
