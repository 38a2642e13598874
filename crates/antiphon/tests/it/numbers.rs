//! Everything counts once, everywhere: the library's sums, the sums over the raw files, the ledgers
//! of all sessions, their spans, and a count that knows nothing of the program are the same.

mod independent;
mod layout;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{antiphon, command, file, folder, workspace};
use independent::Tokens;

/// What was counted in one way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    tokens: Tokens,
    requests: u64,
    cost: Dollars,
}

/// Money as JSON has it: a sum of parts is rounded otherwise than the sum.
#[derive(Debug, Clone, Copy, Default)]
struct Dollars(f64);

impl PartialEq for Dollars {
    fn eq(&self, other: &Self) -> bool {
        (self.0 - other.0).abs() < 1e-9
    }
}

impl Dollars {
    fn of(value: &Value) -> Self {
        Self(value.as_f64().unwrap_or_default())
    }

    /// The sum of a member over some objects.
    fn sum<'a>(objects: impl IntoIterator<Item = &'a Value>, name: &str) -> Self {
        Self(objects.into_iter().map(|it| Self::of(&it[name]).0).sum())
    }
}

impl Sums {
    fn add_row(&mut self, row: &Value) {
        let count = |name: &str| row[name].as_u64().unwrap_or_default();
        self.tokens += Tokens {
            input: count("input"),
            output: count("output"),
            cache_read: count("cache_read"),
            cache_write: count("cache_write"),
        };
        self.requests += row["requests"].as_u64().unwrap_or(1);
    }

    fn of(sums: &Value) -> Self {
        let mut own = Self { cost: Dollars::of(&sums["cost_usd"]), ..Self::default() };
        own.add_row(sums);
        own
    }
}

/// A home, and a store that is not in it.
struct Machine {
    folder: tempfile::TempDir,
    /// Whether every form of every answer is wanted.
    is_thorough: bool,
    /// How many sessions were compared.
    sessions: Cell<usize>,
    /// What was not the same.
    wrong: RefCell<Vec<String>>,
}

impl Machine {
    fn new() -> Self {
        Self {
            folder: folder(),
            is_thorough: true,
            sessions: Cell::default(),
            wrong: RefCell::default(),
        }
    }

    /// Notes what is not the same: many files are counted, and all of them are wanted.
    fn same<T: PartialEq + std::fmt::Debug>(&self, left: &T, right: &T, what: &str) {
        if left != right {
            self.wrong.borrow_mut().push(format!("{what}\n  {left:?}\n  {right:?}"));
        }
    }

    fn wrong(self) -> Vec<String> {
        self.wrong.into_inner()
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn json(&self, words: &[&str]) -> Value {
        let (answer, said) = self.ask(words);
        assert!(answer.is_some(), "{words:?}: {said}");
        answer.unwrap_or_default()
    }

    /// The answer, if there is one, and what was said instead.
    fn ask(&self, words: &[&str]) -> (Option<Value>, String) {
        let mut asked = command();
        asked.env("HOME", self.home()).env("ANTIPHON_HOME", self.folder.path().join("store"));
        let done = asked.current_dir(self.home()).args(words).arg("--json").output().unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        let err = String::from_utf8_lossy(&done.stderr).into_owned();
        (serde_json::from_str(&out).ok(), out + &err)
    }

    /// Puts files into the home: where each is from, and where it goes.
    fn lay(&self, files: &[(PathBuf, PathBuf)]) {
        for (from, to) in files {
            let to = self.home().join(to);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            let mut bytes = fs::read(from).unwrap();
            // Whether a last line without its end is kept is another test's question.
            if to.extension().is_some_and(|it| it == "jsonl") && bytes.last() != Some(&b'\n') {
                bytes.push(b'\n');
            }
            fs::write(to, bytes).unwrap();
        }
    }

    /// Counts what lies in the home in every way, and compares.
    fn check(&self, what: &str, is_kept: bool) -> Sums {
        let home = self.home();
        let raw = self.json(&["stats", home.to_str().unwrap()]);
        let sums = Sums::of(&raw["totals"]);
        let mut paths = Vec::new();
        if is_kept {
            let synced = self.json(&["sync"]);
            self.same(&synced["failed"], &0.into(), &format!("{what}: sync"));
            let kept = self.json(&["stats"]);
            self.same(
                &Sums::of(&kept["totals"]),
                &sums,
                &format!("{what}: the library and the files"),
            );
            self.same(&kept["sessions"], &raw["sessions"], &format!("{what}: sessions"));
            let raw_rows = self.json(&["stats", "--by", "session", home.to_str().unwrap()]);
            let kept_rows = self.json(&["stats", "--by", "session"]);
            self.same(&by_session(&raw_rows), &by_session(&kept_rows), &format!("{what}: whose"));
            let listed = self.json(&["ls", "--limit", "100000"]);
            let listed = listed.as_array().unwrap();
            self.same(&listed.len().into(), &kept["sessions"], &format!("{what}: sessions listed"));
            self.same(&Dollars::sum(listed, "cost_usd"), &sums.cost, &format!("{what}: the list"));
            paths.extend(listed.iter().map(|row| row["path"].as_str().unwrap().to_owned()));
        } else {
            let by_session = self.json(&["stats", "--by", "session", home.to_str().unwrap()]);
            self.same(&Sums::of(&by_session["totals"]), &sums, &format!("{what}: by session"));
            paths = self.sessions_in(&home);
        }
        let mut ledger = Ledger::default();
        for path in &paths {
            self.check_session(what, path, &mut ledger);
        }
        self.same(&ledger.sums(), &sums, &format!("{what}: the ledgers and the files"));
        sums
    }

    /// The main files in a folder: those that no other session counts from.
    fn sessions_in(&self, home: &Path) -> Vec<String> {
        let mut sessions: Vec<(String, BTreeSet<String>)> = Vec::new();
        for path in layout::files(home) {
            let path = path.to_str().unwrap().to_owned();
            let (Some(rows), _) = self.ask(&["view", "cost", "--ledger", &path]) else { continue };
            let rows = rows["counted"].as_array().unwrap().iter();
            sessions.push((path, rows.map(|row| row["file"].to_string()).collect()));
        }
        sessions.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
        let mut counted: BTreeSet<String> = BTreeSet::new();
        let mut mains = Vec::new();
        for (path, files) in sessions {
            if files.iter().all(|file| counted.insert(file.clone())) {
                mains.push(path);
            }
        }
        mains
    }

    /// The ledger, the cost and the spans of a session are the same.
    fn check_session(&self, what: &str, path: &str, ledger: &mut Ledger) {
        self.sessions.set(self.sessions.get() + 1);
        let cost = self.json(&["view", "cost", path]);
        let total = Sums::of(&cost["total"]);
        let rows = self.json(&["view", "cost", "--ledger", path]);
        let mut own = Ledger::default();
        own.add(&cost["session_id"], &rows["counted"]);
        self.same(&own.sums(), &total, &format!("{what}: the ledger and the cost of {path}"));
        ledger.add(&cost["session_id"], &rows["counted"]);
        let spans = self.json(&["view", "spans", path]);
        let mut tokens = Tokens::default();
        for span in spans.as_array().unwrap() {
            let count = |name: &str| span["usage"][name].as_u64().unwrap();
            tokens += Tokens {
                input: count("inputTokens"),
                output: count("outputTokens"),
                cache_read: count("cacheReadTokens"),
                cache_write: count("cacheWriteTokens"),
            };
        }
        self.same(&tokens, &total.tokens, &format!("{what}: the spans and the cost of {path}"));
        let what = format!("{what}: spans, their tree and the page of {path}");
        self.same(&Dollars::sum(spans.as_array().unwrap(), "costUsd"), &total.cost, &what);
        if !self.is_thorough {
            return;
        }
        let tree = self.json(&["view", "spans", "--tree", path]);
        self.same(&Dollars::sum(tree.as_array().unwrap(), "totalCostUsd"), &total.cost, &what);
        let shown = self.json(&["show", path]);
        self.same(&shown["cost_usd"], &cost["total"]["cost_usd"], &what);
        self.same(&shown["usage"]["output"], &cost["total"]["output"], &what);
    }
}

/// Rows of ledgers, each request once: forks and copies hold the same.
#[derive(Default)]
struct Ledger {
    rows: BTreeMap<String, Value>,
}

impl Ledger {
    fn add(&mut self, session: &Value, rows: &Value) {
        let mut parts: BTreeMap<String, u32> = BTreeMap::new();
        for row in rows.as_array().unwrap() {
            let id = match row["request_id"].as_str() {
                Some(id) => id.to_owned(),
                None => format!("{session} {} {}", row["message_id"], row["timestamp"]),
            };
            let part = parts.entry(id.clone()).or_default();
            self.rows.entry(format!("{id} {part}")).or_insert_with(|| row.clone());
            *part += 1;
        }
    }

    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        self.rows.values().for_each(|row| sums.add_row(row));
        sums.cost = Dollars::sum(self.rows.values(), "cost_usd");
        sums
    }
}

#[test]
fn every_fixture_counts_once() {
    let fixtures = workspace().join("crates/antiphon-formats/fixtures");
    let (mut checked, mut wrong) = (0, Vec::new());
    for format in antiphon_formats::FORMATS {
        for case in layout::folders(&fixtures.join(format.name)) {
            let machine = Machine::new();
            let what = format!("{} {}", format.name, case.file_name().unwrap().display());
            let kept = layout::fixture(format.name, &case).filter(|_| format.layout.kept.is_some());
            machine.lay(&kept.clone().unwrap_or_else(|| layout::as_it_is(&case)));
            let sums = machine.check(&what, kept.is_some());
            if let Some(tokens) = independent::count(format.name, &what, &machine.home()) {
                machine.same(&sums.tokens, &tokens, &format!("{what}: counted by itself"));
            }
            wrong.extend(machine.wrong());
            checked += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 90, "{checked}");
}

#[test]
fn every_sample_counts_once() {
    let machine = Machine::new();
    let samples = layout::files(&workspace().join("samples"));
    let samples = samples.into_iter().filter(|it| it.extension().is_some_and(|it| it == "jsonl"));
    let samples: Vec<(PathBuf, PathBuf)> = samples
        .filter(|path| path.parent().is_some_and(|it| it.ends_with("samples")))
        .map(|path| (path.clone(), path.file_name().unwrap().into()))
        .collect();
    machine.lay(&samples);
    assert!(machine.check("samples", false).requests > 0);
    assert_eq!(machine.wrong(), Vec::<String>::new());
}

/// Real files, which are not in this repository.
#[test]
fn every_real_file_counts_once() {
    let data = workspace().join("../shared/data/formats");
    if !data.exists() {
        eprintln!("skipped: real files are not in this repository");
        return;
    }
    let (mut seen, mut wrong, mut sessions) = (BTreeSet::new(), Vec::new(), 0);
    for folder in layout::folders(&data) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for (part, files, is_kept) in layout::real(&name, &folder) {
            let machine = Machine { is_thorough: false, ..Machine::new() };
            machine.lay(&files);
            let what = format!("{name} {part}");
            let sums = machine.check(&what, is_kept);
            if let Some(tokens) = independent::count(&name, &what, &machine.home()) {
                machine.same(&sums.tokens, &tokens, &format!("{what}: counted by itself"));
                seen.insert(name.clone());
            }
            sessions += machine.sessions.get();
            wrong.extend(machine.wrong());
        }
    }
    eprintln!("real sessions: {sessions} compared, {} comparisons not equal", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() >= 5, "{seen:?}");
}

/// A fork and a resumed session repeat requests; a copy of a session repeats it all.
#[test]
fn forks_resumes_and_repeated_request_ids_count_once() {
    let line = |session: &str, number: u32, request: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","sessionId":"{session}","uuid":"{session}-{number}","timestamp":"2026-05-01T10:00:{number:02}.000Z","requestId":"{request}","message":{{"id":"msg-{request}","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":1,"output_tokens":{output}}}}}}}"#
        )
    };
    let machine = Machine::new();
    let write = |name: &str, lines: &[String]| {
        let path = machine.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, lines.join("\n") + "\n").unwrap();
    };
    let first = [line("s1", 1, "r1", 10), line("s1", 2, "r2", 20)];
    let fork = [line("s2", 1, "r1", 10), line("s2", 3, "r3", 40)];
    write(".claude/projects/-p/s1.jsonl", &first);
    write(".claude/projects/-p/s2.jsonl", &fork);
    // What another session asked is this one's: it is called as its first line says.
    let asked = r#"{"type":"user","sessionId":"s-0","uuid":"u","message":{"content":"x"}}"#;
    write(".claude/projects/-p/s0.jsonl", &[asked.to_owned(), line("s-9", 4, "r4", 80)]);
    let answer = |id: u32, output: u64| {
        format!(
            r#"{{"type":"assistant.message","data":{{"messageId":"m{id}","model":"gpt-5","content":"x","outputTokens":{output},"requestId":"00000-aaaa"}},"id":"{id}","timestamp":"2026-05-01T10:00:{id:02}.000Z"}}"#
        )
    };
    let start = r#"{"type":"session.start","data":{"sessionId":"c"},"id":"1","timestamp":"2026-05-01T10:00:00.000Z"}"#;
    let copilot = [start.to_owned(), answer(2, 407), answer(3, 669)];
    write(".copilot/session-state/c/events.jsonl", &copilot);
    let sums = machine.check("forks", true);
    assert_eq!((sums.tokens.output, sums.requests), (10 + 20 + 40 + 80 + 407 + 669, 6));
    let stats = machine.json(&["stats"]);
    assert_eq!(stats["totals"]["partial"], true, "Copilot did not say what it read");
    assert_eq!(machine.wrong(), Vec::<String>::new());
}

/// Some services give requests no id. Then a message is known by its own, and a fork, which repeats
/// messages, is no second request; ids too short to be a service's say nothing.
#[test]
fn requests_without_an_id_are_known_by_their_message() {
    let line = |session: &str, number: u32, message: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","sessionId":"{session}","uuid":"{session}-{number}","timestamp":"2026-05-01T10:00:{number:02}.000Z","message":{{"id":"{message}","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":1,"output_tokens":{output}}}}}}}"#
        ) + "\n"
    };
    let machine = Machine::new();
    let shared = "msg_01ABCDEFGHJKLMNPQRSTUVWX";
    for (session, rest) in [("s1", line("s1", 2, "msg_1", 20)), ("s2", line("s2", 2, "msg_1", 40))]
    {
        let path = machine.home().join(format!(".claude/projects/-p/{session}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, line(session, 1, shared, 10) + &rest).unwrap();
    }
    let sums = machine.check("forks without request ids", true);
    assert_eq!((sums.tokens.output, sums.requests), (10 + 20 + 40, 3));
    assert_eq!(machine.wrong(), Vec::<String>::new());
}

/// Where some requests have a price and others only what the agent reports, a sum says so.
#[test]
fn a_sum_of_prices_and_reports_says_how_much_is_which() {
    let said = |id: &str, model: &str, more: &str| {
        format!(
            r#"{{"message_id":"{id}","agent_id":"a","role":"assistant","content":"x","model":"{model}","usage":{{"input":1000,"output":0}}{more}}}"#
        ) + "\n"
    };
    let note = |log: &str| {
        let folder = folder();
        let log = file(&folder, "log.jsonl", log);
        let done = antiphon(&format!("view cost {log}"));
        assert_eq!(done.exit, 0, "{done}");
        assert_eq!(note_of(&antiphon(&format!("stats {log}")).out), note_of(&done.out));
        note_of(&done.out).unwrap_or_default().to_owned()
    };
    let (priced, unpriced) = ("claude-haiku-4-5", "a-model-of-nobody");
    let reported = |usd: &str| format!(r#","cost_usd":{usd}"#);
    let own = said("m2", unpriced, &reported("0.15"));
    assert_eq!(
        note(&(said("m1", priced, "") + &own)),
        "$0.0010 by list price, $0.1500 as reported by the agent"
    );
    assert_eq!(
        note(&(said("m1", priced, &reported("0.002")) + &own)),
        "$0.0010 by list price, $0.1500 as reported by the agent, which reports $0.1520 in total"
    );
    assert_eq!(note(&own), "as reported by the agent");
    assert_eq!(
        note(&said("m1", priced, &reported("0.002"))),
        "by list price; the agent reports $0.0020 in total"
    );
    assert_eq!(note(&said("m1", priced, "")), "");
}

/// The line of a cost that says what it rests on.
fn note_of(out: &str) -> Option<&str> {
    out.lines().find(|line| line.contains("list price") || line.contains("as reported"))
}

/// A thread that was made is not listed beside its maker, and is still opened by its id.
#[test]
fn a_spawned_thread_is_its_makers() {
    let machine = Machine::new();
    let case = workspace().join("crates/antiphon-formats/fixtures/codex/children");
    machine.lay(&layout::fixture("codex", &case).unwrap());
    // One of them was made after midnight.
    let sessions = machine.home().join(".codex/sessions/2026/05");
    fs::create_dir_all(sessions.join("02")).unwrap();
    let late = "rollout-2026-05-01T10-00-12-th-3.jsonl";
    fs::rename(sessions.join("01").join(late), sessions.join("02").join(late)).unwrap();
    machine.check("threads", true);
    let listed = machine.json(&["ls"]);
    let ids: Vec<&str> =
        listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["th-1"]);
    for id in ["th-2", "th-3"] {
        assert_eq!(machine.json(&["show", id])["session_id"], id);
    }
    assert_eq!(machine.wrong(), Vec::<String>::new());
}

/// How many requests each session has. One without its own id has another name in the library.
fn by_session(stats: &Value) -> Vec<(Option<String>, u64)> {
    let is_own = |id: &String| id.contains('-') && !id.starts_with('.');
    let row = |row: &Value| {
        let id = Some(row["session_id"].as_str().unwrap().to_owned()).filter(is_own);
        (id, row["requests"].as_u64().unwrap())
    };
    let mut rows: Vec<(Option<String>, u64)> =
        stats["rows"].as_array().unwrap().iter().map(row).collect();
    rows.sort();
    rows
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    names.sort();
    names
}
