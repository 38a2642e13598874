//! Every `--json`, held against its schema in `docs/schema/json/`.
//!
//! That these files are the schemas of the types is a test of `xtask`.

mod schema;
mod typescript;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value;

use crate::home::Home;
use crate::run::{Done, antiphon, command, workspace};
use schema::Schema;

/// What is printed of one session, and the schema that it has to follow. `AGENT` and `MESSAGE` are
/// an agent and a message of the session.
const OF_A_SESSION: &[(&str, &[&str])] = &[
    ("diff", &["diff", "SESSION", "SESSION", "--steps"]),
    ("resume", &["resume", "SESSION"]),
    ("show", &["show", "SESSION"]),
    ("stats", &["stats", "SESSION", "--by", "session"]),
    ("stats", &["stats", "SESSION", "--by", "block"]),
    ("stats-by-tool", &["stats", "SESSION", "--by", "tool"]),
    ("stats-by-tool", &["stats", "SESSION", "--by", "error"]),
    ("verify", &["verify", "SESSION"]),
    ("view-calls", &["view", "calls", "SESSION"]),
    ("view-causality", &["view", "causality", "SESSION"]),
    ("view-context", &["view", "context", "SESSION", "--agent", "AGENT"]),
    ("view-context", &["view", "context", "SESSION", "--agent", "AGENT", "--at", "MESSAGE"]),
    ("view-context-links", &["view", "context-links", "SESSION"]),
    ("view-cost", &["view", "cost", "SESSION", "--why"]),
    ("view-cost-ledger", &["view", "cost", "SESSION", "--ledger"]),
    ("view-delivery", &["view", "delivery", "SESSION"]),
    ("view-dialog", &["view", "dialog", "SESSION"]),
    ("view-flow", &["view", "flow", "SESSION"]),
    ("view-hooks", &["view", "hooks", "SESSION"]),
    ("view-perspective", &["view", "perspective", "SESSION", "--agent", "AGENT", "--inner"]),
    ("view-phases", &["view", "phases", "SESSION"]),
    ("view-spans", &["view", "spans", "SESSION"]),
    ("view-spans-tree", &["view", "spans", "SESSION", "--tree"]),
    ("view-timeline", &["view", "timeline", "SESSION"]),
    ("view-trace", &["view", "trace", "SESSION", "MESSAGE"]),
    ("view-trace", &["view", "trace", "SESSION", "MESSAGE", "--forward"]),
    ("view-transcript", &["view", "transcript", "SESSION", "--agent", "AGENT"]),
    ("view-tree", &["view", "tree", "SESSION"]),
];

/// The schemas, and what they have been held against.
struct Schemas {
    all: BTreeMap<String, Schema>,
    failures: Mutex<Vec<String>>,
    checked: Mutex<BTreeSet<String>>,
}

impl Schemas {
    fn read() -> Self {
        let files = fs::read_dir(workspace().join("docs/schema/json")).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let read = |path: PathBuf| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, Schema::parse(&fs::read_to_string(&path).unwrap()))
        };
        let (failures, checked) = (Mutex::default(), Mutex::default());
        Self { all: files.map(read).collect(), failures, checked }
    }

    /// Holds what a command printed against a schema. It must have printed a document.
    fn check(&self, name: &str, asked: &str, done: &Done) -> Option<Value> {
        let fail = |what: String| self.failures.lock().unwrap().push(format!("{asked}: {what}"));
        let Ok(document) = serde_json::from_str(&done.out) else {
            fail(format!("no document, but {done}"));
            return None;
        };
        let problems = self.all[name].problems(&document);
        problems.into_iter().for_each(fail);
        self.checked.lock().unwrap().insert(name.to_owned());
        Some(document)
    }

    /// Asks everything about a session; a file that is none is left alone.
    fn check_session(&self, path: &Path) {
        let session = path.to_str().unwrap();
        let Some(first) = self.ask("view-timeline", &["view", "timeline", session]) else {
            self.failures.lock().unwrap().pop();
            return;
        };
        let rows = first.as_array().unwrap();
        let of = |member: &str| rows.iter().filter_map(|row| row[member].as_str()).next_back();
        let Some((agent, message)) = of("agent_id").zip(of("message_id")) else { return };
        for (name, words) in OF_A_SESSION {
            let words: Vec<&str> = words
                .iter()
                .map(|&word| match word {
                    "SESSION" => session,
                    "AGENT" => agent,
                    "MESSAGE" => message,
                    word => word,
                })
                .collect();
            self.ask(name, &words);
        }
        let tail = run(&["tail", session, "--once", "--json"]);
        for line in tail.out.lines() {
            let line = Done { out: line.to_owned(), err: String::new(), exit: 0 };
            self.check("tail", session, &line);
        }
    }

    fn ask(&self, name: &str, words: &[&str]) -> Option<Value> {
        let words = [words, &["--json"]].concat();
        self.check(name, &words.join(" "), &run(&words))
    }

    /// Asks everything about several sessions, side by side.
    fn check_sessions(&self, paths: &[PathBuf]) {
        let next = Mutex::new(paths.iter());
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let Some(path) = next.lock().unwrap().next() else { break };
                        self.check_session(path);
                    }
                });
            }
        });
    }

    fn check_at(&self, home: &Home, name: &str, arguments: &str) -> Option<Value> {
        self.check(name, arguments, &home.run(&format!("{arguments} --json")))
    }

    /// Everything fitted; these schemas were used.
    fn finish(self) -> BTreeSet<String> {
        let failures = self.failures.into_inner().unwrap();
        let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
        assert!(failures.is_empty(), "{} do not fit:\n{shown}", failures.len());
        self.checked.into_inner().unwrap()
    }
}

fn run(words: &[&str]) -> Done {
    let done = command().args(words).output().unwrap();
    Done {
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
        exit: done.status.code().unwrap_or(-1),
    }
}

/// The commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_with_json_has_a_schema() {
    let schemas = Schemas::read();
    let mut waiting = commands(&antiphon("--help").out);
    assert!(waiting.len() > 20, "{waiting:?}");
    let mut found = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        let help = antiphon(&format!("{name} --help")).out;
        let below = commands(&help).into_iter().filter(|it| it != "help");
        waiting.extend(below.map(|it| format!("{name} {it}")));
        if help.lines().any(|line| line.trim_start().starts_with("--json")) {
            found.insert(name.replace(' ', "-"));
        }
    }
    assert!(found.len() > 25, "{found:?}");
    let without: Vec<_> = found.iter().filter(|name| !schemas.all.contains_key(*name)).collect();
    assert!(without.is_empty(), "commands with --json and without a schema: {without:?}");
}

#[test]
fn what_is_said_of_a_sample_is_what_the_schemas_say() {
    let schemas = Schemas::read();
    let samples = files(&workspace().join("samples"), "jsonl");
    schemas.check_sessions(&samples);
    let used = schemas.finish();
    let wanted: BTreeSet<_> = OF_A_SESSION.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert!(used.is_superset(&wanted), "{used:?}");
}

#[test]
fn what_is_said_of_an_agents_session_is_what_the_schemas_say() {
    let schemas = Schemas::read();
    let formats = fs::read_dir(workspace().join("crates/antiphon-formats/fixtures")).unwrap();
    let mut sessions = Vec::new();
    for format in formats.map(|format| format.unwrap().path()) {
        let mut fixtures: Vec<PathBuf> =
            fs::read_dir(format).unwrap().map(|it| it.unwrap().path()).collect();
        fixtures.sort();
        // The shortest of each format, and the one that has everything.
        let chosen = |it: &PathBuf| it.ends_with("minimal") || it.ends_with("full");
        let inputs = fixtures.iter().filter(|it| chosen(it)).flat_map(|it| files(it, ""));
        let is_input = |it: &PathBuf| it.file_stem().is_some_and(|name| name == "input");
        sessions.extend(inputs.filter(is_input));
    }
    assert!(sessions.len() > 25, "{sessions:?}");
    schemas.check_sessions(&sessions);
    schemas.finish();
}

#[test]
fn what_is_said_of_a_real_session_is_what_the_schemas_say() {
    let data = workspace().join("../shared/data/formats");
    if !data.is_dir() {
        println!("skipped: there are no real files here");
        return;
    }
    let schemas = Schemas::read();
    let mut sessions = Vec::new();
    for format in fs::read_dir(data).unwrap().map(|format| format.unwrap().path()) {
        let mut own: Vec<(u64, PathBuf)> = files(&format, "")
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == "jsonl" || it == "json"))
            .map(|path| (path.metadata().unwrap().len(), path))
            .collect();
        own.sort();
        // Long ones take long, and say the same.
        own.retain(|(bytes, _)| *bytes < 256 << 10);
        let step = own.len().div_ceil(3).max(1);
        sessions.extend(own.into_iter().step_by(step).map(|(_, path)| path));
    }
    schemas.check_sessions(&sessions);
    println!("{} real files", sessions.len());
    schemas.finish();
}

/// The files of a folder with that ending, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.to_str().is_some_and(|path| path.ends_with(ending))).collect();
    files.sort();
    files
}

/// What is asked about everything that is kept.
const OF_THE_STORE: &[(&str, &str)] = &[
    ("ls", "ls"),
    ("ls", "ls --status completed --sort cost"),
    ("search", "search the"),
    ("search", "search nowhere-to-be-found"),
    ("stats", "stats"),
    ("stats", "stats --by agent"),
    ("stats", "stats --by sub-agent"),
    ("stats", "stats --by day"),
    ("stats", "stats --by project"),
    ("stats", "stats --by session"),
    ("reindex", "reindex"),
    ("sync", "sync"),
    ("doctor", "doctor"),
    ("doctor", "doctor --deep"),
    ("formats", "formats"),
];

#[test]
fn what_is_said_of_the_store_is_what_the_schemas_say() {
    let schemas = Schemas::read();
    let home = Home::new();
    let ask_all = || {
        for (name, asked) in OF_THE_STORE {
            schemas.check_at(&home, name, asked);
        }
    };
    ask_all();

    let fixture = |name: &str| {
        let path = workspace().join("crates/antiphon-formats/fixtures").join(name);
        fs::read_to_string(path).unwrap()
    };
    // Long enough to be kept in files of its own.
    let long = format!("{{\"type\":\"summary\",\"summary\":\"{}\"}}\n", "words ".repeat(40_000));
    let full = fixture("claude-code/full/input.jsonl") + &long;
    home.write(".claude/projects/-srv-shop/full.jsonl", &full);
    home.write(".claude/projects/-srv-shop/empty.jsonl", "");
    home.write(".claude/projects/-srv-shop/notes.jsonl", "no session\n");
    let lost = ".claude/projects/-srv-shop/5f0e/subagents/agent-1.jsonl";
    home.write(
        lost,
        &fixture("claude-code/full/input.jsonl")
            .replace("\"isSidechain\":false", "\"isSidechain\":true"),
    );
    home.write(".codex/sessions/2026/05/01/rollout-1.jsonl", &fixture("codex/minimal/input.jsonl"));
    schemas.check_at(&home, "sync", "sync");
    ask_all();
    assert!(home.run("ls --json").out.len() > 10);
    schemas.check_at(&home, "stats", "stats .claude");
    schemas.check_at(&home, "show", "show latest");

    // A copy that is damaged, and cannot be repaired, is named by every answer.
    fs::remove_dir_all(home.path(".claude")).unwrap();
    let mut folders = vec![home.path("store/archive/claude-code")];
    while let Some(folder) = folders.pop() {
        let below = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(below.filter(|path| path.is_dir()));
        for copy in files(&folder, ".zst") {
            let mut bytes = fs::read(&copy).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&copy, bytes).unwrap();
        }
    }
    let report = schemas.check_at(&home, "doctor", "doctor --deep").unwrap();
    assert_ne!(report["problems"].as_array().map(Vec::len), Some(0), "{report}");
    ask_all();
    let stats = schemas.check_at(&home, "stats", "stats").unwrap();
    assert!(stats["left_out"].is_array(), "{stats}");
    schemas.finish();
}

#[test]
fn what_is_said_of_files_is_what_the_schemas_say() {
    let schemas = Schemas::read();
    let home = Home::new();
    home.write("not.json", "{\"session_id\": ");
    home.write("other.json", "[]");
    home.write("secret.txt", "export GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789\n");
    home.write("plain.txt", "nothing\n");
    let documents = workspace().join("crates/antiphon-documents/fixtures");
    let documents = documents.to_str().unwrap();
    schemas.check_at(&home, "validate", "validate not.json other.json");
    schemas.check_at(&home, "validate", &format!("validate {documents}"));
    schemas.check_at(&home, "validate", &format!("validate {documents} --strict"));
    let found = schemas.check_at(&home, "scan", "scan secret.txt").unwrap();
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(1), "{found}");
    schemas.check_at(&home, "scan", "scan plain.txt");

    let sample = workspace().join("samples/jack-and-jill.jsonl");
    let text = fs::read_to_string(&sample).unwrap();
    home.write("cut.jsonl", &text[..text.len() - 20]);
    home.write("bent.jsonl", &text.replacen("Jill", "Jane", 1));
    for log in ["cut.jsonl", "bent.jsonl"] {
        schemas.check_at(&home, "verify", &format!("verify {log}"));
        schemas.check_at(&home, "show", &format!("show {log}"));
    }
    let whole = sample.to_str().unwrap();
    let rows = schemas.check_at(&home, "verify", &format!("verify {whole}")).unwrap();
    let head = rows[0]["head"].as_str().unwrap();
    schemas.check_at(&home, "verify", &format!("verify {whole} --head {head}"));
    schemas.finish();
}

#[test]
fn what_is_said_of_a_run_and_of_notes_is_what_the_schemas_say() {
    let schemas = Schemas::read();
    let home = Home::new();
    let events = r#"{"event_type":"session_started","session_id":"one","title":"Ship","run_id":"r1","timestamp":"2026-01-01T10:00:00Z"}
{"event_type":"run_status","run_id":"r1","status":"merging","feature_branch":"feat/x","base_branch":"main","timestamp":"2026-01-01T10:00:05Z"}
{"agent_id":"a","role":"assistant","tool_calls":[{"id":"c1","function":{"name":"Read","arguments":"{\"file_path\":\"a.rs\"}"}}],"timestamp":"2026-01-01T10:00:06Z"}
{"agent_id":"a","role":"tool","tool_call_id":"c1","content":"x","context_contribution":{"type":"file_content","summary":"props"},"timestamp":"2026-01-01T10:00:07Z"}
{"agent_id":"a","role":"assistant","tool_calls":[{"id":"c2","function":{"name":"Edit","arguments":"{\"file_path\":\"a.rs\",\"old_string\":\"x\",\"new_string\":\"y\"}"}}],"timestamp":"2026-01-01T10:00:08Z"}
{"agent_id":"a","role":"assistant","content":"Done","model":"claude-haiku-4-5","usage":{"input":1000,"output":10},"timestamp":"2026-01-01T10:00:09Z"}
"#;
    assert_eq!(home.run_with("append log.jsonl", events.as_bytes()).exit, 0);
    for asked in ["view run log.jsonl", "view run r1 log.jsonl"] {
        schemas.check_at(&home, "view-run", asked);
        schemas.check_at(&home, "view-run-tree", &format!("{asked} --tree"));
    }
    schemas.check_at(&home, "view-context-links", "view context-links log.jsonl");
    schemas.check_at(&home, "view-phases", "view phases log.jsonl");
    let notes = [
        "annotate log.jsonl --phase explore --from c1 --to c2 --description looked",
        "annotate log.jsonl --note wrong --from c1",
    ];
    for note in notes {
        assert_eq!(home.run(note).exit, 0);
    }
    home.run_with("append log.jsonl", br#"{"event_type":"annotation","annotation":{"annotation_id":"x","phase_type":"plan","tool_call_range":{"start_call_id":"no","end_call_id":"no"},"decisions":[{"title":"t"}],"context_used":["a"],"own":1}}"#);
    schemas.check_at(&home, "view-phases", "view phases log.jsonl");
    schemas.check_at(&home, "resume", "resume log.jsonl");
    schemas.finish();
}
