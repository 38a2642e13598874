//! Real agents' files: what they did, under whom, and what it cost.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::run::{Done, folder, run_with};

/// A Claude Code session as it lies on disk: the main agent has a helper, which has one of its own
/// on another model; then the helper is asked again, and that fails.
pub(crate) fn family(folder: &Path) -> PathBuf {
    let id = "0f0e0d0c-1111-4222-8333-444455556666";
    let mut main = File::new(id, None);
    main.user("u1", "\"Build it\"");
    main.reply(
        "a1",
        "msg_1",
        SONNET,
        40,
        &call(
            "toolu_A",
            "Task",
            r#"{"description":"builder","prompt":"Build","subagent_type":"general-purpose"}"#,
        ),
    );
    // The same message goes on with another block, and repeats its usage.
    main.reply("a2", "msg_1", SONNET, 50, &call("toolu_X", "Read", r#"{"file_path":"x.rs"}"#));
    main.result("r1", "toolu_X", "\"1 fn main() {}\"", "{\"type\":\"text\"}", false);
    main.result(
        "r2",
        "toolu_A",
        "\"built\"",
        r#"{"status":"completed","agentId":"aaa","totalDurationMs":5000}"#,
        false,
    );
    main.reply(
        "a3",
        "msg_2",
        SONNET,
        5,
        &call("toolu_R", "Agent", r#"{"description":"again","prompt":"Fix","resume":"aaa"}"#),
    );
    main.result("r3", "toolu_R", "\"interrupted\"", "\"Error: interrupted\"", true);

    let mut helper = File::new(id, Some("aaa"));
    helper.user("b1", "\"Build\"");
    helper.reply(
        "b2",
        "msg_3",
        HAIKU,
        20,
        &call("toolu_a", "Agent", r#"{"description":"scout","prompt":"Look"}"#),
    );
    helper.result("b3", "toolu_a", "\"found\"", r#"{"status":"completed","agentId":"ccc"}"#, false);
    helper.reply("b4", "msg_4", HAIKU, 10, r#"{"type":"text","text":"built"}"#);

    let mut scout = File::new(id, Some("ccc"));
    scout.user("c1", "\"Look\"");
    scout.reply("c2", "msg_5", "mystery-model-1", 7, r#"{"type":"text","text":"found"}"#);

    let below = folder.join(id).join("subagents");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("agent-aaa.jsonl"), helper.text).unwrap();
    std::fs::write(below.join("agent-ccc.jsonl"), scout.text).unwrap();
    let path = folder.join(format!("{id}.jsonl"));
    std::fs::write(&path, main.text).unwrap();
    path
}

const SONNET: &str = "claude-sonnet-4-5-20250929";
const HAIKU: &str = "claude-haiku-4-5-20251001";

struct File {
    text: String,
    session: &'static str,
    agent: Option<&'static str>,
    seconds: u32,
}

impl File {
    fn new(session: &'static str, agent: Option<&'static str>) -> Self {
        Self { text: String::new(), session, agent, seconds: 0 }
    }

    fn line(&mut self, uuid: &str, kind: &str, rest: &str) {
        self.seconds += 1;
        let agent = self.agent.map(|a| format!(",\"agentId\":\"{a}\"")).unwrap_or_default();
        let (session, is_side, seconds) = (self.session, self.agent.is_some(), self.seconds);
        writeln!(self.text, "{{\"uuid\":\"{uuid}\",\"sessionId\":\"{session}\",\"isSidechain\":{is_side},\"version\":\"2.1.210\",\"timestamp\":\"2026-11-01T10:00:{seconds:02}.000Z\",\"type\":\"{kind}\"{agent},{rest}}}").unwrap();
    }

    fn user(&mut self, uuid: &str, content: &str) {
        let rest = format!("\"message\":{{\"role\":\"user\",\"content\":{content}}}");
        self.line(uuid, "user", &rest);
    }

    fn reply(&mut self, uuid: &str, message: &str, model: &str, output: u32, block: &str) {
        let rest = format!(
            "\"requestId\":\"req_{message}\",\"message\":{{\"id\":\"{message}\",\"role\":\"assistant\",\"model\":\"{model}\",\"content\":[{block}],\"usage\":{{\"input_tokens\":10,\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":1000,\"output_tokens\":{output}}}}}"
        );
        self.line(uuid, "assistant", &rest);
    }

    fn result(&mut self, uuid: &str, call: &str, content: &str, twin: &str, is_error: bool) {
        let rest = format!(
            "\"toolUseResult\":{twin},\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{call}\",\"content\":{content},\"is_error\":{is_error}}}]}}"
        );
        self.line(uuid, "user", &rest);
    }
}

fn call(id: &str, tool: &str, input: &str) -> String {
    format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{tool}\",\"input\":{input}}}")
}

fn view(words: &[&str], path: &Path) -> Done {
    let mut all = words.to_vec();
    all.push(path.to_str().unwrap());
    run_with(&all, b"")
}

#[test]
fn sub_agents_stand_under_the_call_that_made_them() {
    let folder = folder();
    let main = family(folder.path());
    insta::assert_snapshot!(view(&["view", "tree"], &main));
    insta::assert_snapshot!("spans_of_a_family", view(&["view", "spans", "--tree"], &main));
}

#[test]
fn every_request_is_counted_once_at_its_own_models_price() {
    let folder = folder();
    let main = family(folder.path());
    let shown = view(&["view", "cost"], &main).to_string();
    let ledger = view(&["view", "cost", "--ledger"], &main).to_string();
    let place = folder.path().to_str().unwrap();
    insta::assert_snapshot!(format!("{shown}\n{}", ledger.replace(place, "FOLDER")));
    let stats = view(&["stats", "--json"], &main).out;
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    // 50 and not 90 for the message of two lines.
    assert_eq!(stats["totals"]["output"], 50 + 5 + 20 + 10 + 7);
    assert_eq!(stats["unpriced"][0], "mystery-model-1");
    // Counting only and reading everything come to the same.
    let by_agent = view(&["stats", "--json", "--by", "agent"], &main).out;
    let by_agent: serde_json::Value = serde_json::from_str(&by_agent).unwrap();
    assert_eq!(stats["totals"], by_agent["totals"]);
}

#[test]
fn an_exported_log_tells_the_same() {
    let folder = folder();
    let main = family(folder.path());
    let log = folder.path().join("exported.log");
    let done = run_with(
        &["export", main.to_str().unwrap(), "--as", "antiphon", "-o", log.to_str().unwrap()],
        b"",
    );
    assert_eq!(done.exit, 0, "{done}");
    assert_eq!(view(&["verify"], &log).exit, 0);
    for words in [
        &["view", "tree"][..],
        &["view", "spans"],
        &["view", "cost"],
        &["view", "calls"],
        &["view", "flow"],
        &["view", "timeline"],
    ] {
        let json = |path| view(&[words, &["--json"]].concat(), path).out;
        assert_eq!(json(&main), json(&log), "{words:?}");
    }
    let piped = run_with(&["export", main.to_str().unwrap(), "--as", "antiphon"], b"");
    assert_eq!(piped.out, std::fs::read_to_string(&log).unwrap());
}

#[test]
fn an_exported_session_without_an_id_keeps_the_name_it_is_shown_by() {
    let folder = folder();
    let chat = r##"# aider chat started at 2026-02-02 02:40:00

#### Sew a button.

Sewn.
"##;
    let log = "{\"agent_id\":\"a\",\"role\":\"assistant\",\"content\":\"hi\"}\n";
    for (name, text) in [("chat.md", chat), ("bare.jsonl", log)] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let copy = folder.path().join(format!("copy-of-{name}.log"));
        let (from, to) = (path.to_str().unwrap(), copy.to_str().unwrap());
        let done = run_with(&["export", from, "--as", "antiphon", "-o", to], b"");
        assert_eq!(done.exit, 0, "{done}");
        let id = |path| {
            let shown = view(&["show", "--json"], path).out;
            serde_json::from_str::<serde_json::Value>(&shown).unwrap()["session_id"].clone()
        };
        assert_eq!(id(&path), id(&copy), "{name}");
    }
}

#[test]
fn a_file_cut_anywhere_loads_what_came_before() {
    let folder = folder();
    let main = family(folder.path());
    let text = std::fs::read(&main).unwrap();
    for cut in (0..text.len()).step_by(97) {
        std::fs::write(&main, &text[..cut]).unwrap();
        let done = view(&["show", "--json"], &main);
        let whole_lines = text[..cut].iter().filter(|&&byte| byte == b'\n').count();
        assert!([0, 1, 3, 4].contains(&done.exit), "{cut}: {done}");
        if whole_lines > 0 {
            assert!([0, 3].contains(&done.exit), "{cut}: {done}");
            let shown: serde_json::Value = serde_json::from_str(&done.out).unwrap();
            assert!(shown["events"].as_u64().unwrap() > 0, "{cut}");
        }
    }
}

#[test]
fn a_running_agent_is_followed_with_its_helpers_as_they_appear() {
    use std::io::{BufRead, BufReader};

    let folder = folder();
    let main = family(folder.path());
    let text = std::fs::read_to_string(&main).unwrap();
    let below = main.with_extension("").join("subagents");
    let helpers = folder.path().join("later");
    std::fs::rename(&below, &helpers).unwrap();
    let (before, after) = text.split_at(text.find("\"uuid\":\"r1\"").unwrap() - 1);
    std::fs::write(&main, before).unwrap();

    let mut tail = crate::run::command()
        .args(["tail", main.to_str().unwrap(), "--json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let mut ids = Vec::new();
    let mut read_until = |id: &str, ids: &mut Vec<String>| {
        while !ids.iter().any(|known| known == id) {
            let line: serde_json::Value =
                serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            ids.push(line["message_id"].as_str().unwrap().to_owned());
        }
    };
    read_until("a1", &mut ids);
    std::fs::rename(&helpers, &below).unwrap();
    std::fs::write(&main, format!("{before}{after}")).unwrap();
    read_until("r3", &mut ids);
    read_until("c2", &mut ids);
    tail.kill().unwrap();
    tail.wait().unwrap();
    let unique: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "each event once: {ids:?}");
}

/// A helper is shown when it is called and after its call, also while it writes all the time.
#[test]
fn a_helper_appears_at_its_call() {
    use std::io::{BufRead, BufReader, Write as _};

    let folder = folder();
    let main = folder.path().join("s.jsonl");
    let helper = folder.path().join("s/subagents/agent-b.jsonl");
    std::fs::create_dir_all(helper.parent().unwrap()).unwrap();
    let line = |uuid: &str, kind: &str, message: &str| {
        let more = if uuid.starts_with('b') { r#","agentId":"b","isSidechain":true"# } else { "" };
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":null,"sessionId":"s","version":"2.1.0","cwd":"/srv"{more},"message":{message}}}"#
        ) + "\n"
    };
    let asked = |uuid: &str, text: &str| {
        line(uuid, "user", &format!(r#"{{"role":"user","content":"{text}"}}"#))
    };
    let did = move |uuid: &str, content: &str| {
        let message =
            format!(r#"{{"id":"m-{uuid}","role":"assistant","model":"m","content":[{content}]}}"#);
        line(uuid, "assistant", &message)
    };
    let call = r#"{"type":"tool_use","id":"t","name":"Task","input":{"prompt":"count them"}}"#;
    std::fs::write(&main, asked("u1", "Delegate") + &did("u2", call)).unwrap();
    std::fs::write(&helper, asked("b0", "count them")).unwrap();
    let mut tail = crate::run::command()
        .args(["tail", main.to_str().unwrap(), "--json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // It never stops to write for as long as a message must be left alone.
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let writer = std::thread::spawn(move || {
        let mut file = std::fs::OpenOptions::new().append(true).open(&helper).unwrap();
        let mut number = 0;
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) && number < 400 {
            number += 1;
            let said = did(&format!("b{number}"), r#"{"type":"text","text":"One."}"#);
            file.write_all(said.as_bytes()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(150));
        }
        number
    });
    let mut ids = Vec::new();
    for text in BufReader::new(tail.stdout.take().unwrap()).lines() {
        let line: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
        ids.push(line["message_id"].as_str().unwrap().to_owned());
        if ids.last().is_some_and(|id| id == "b1") {
            break;
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let written = writer.join().unwrap();
    tail.kill().unwrap();
    tail.wait().unwrap();
    let at = |id: &str| ids.iter().position(|it| it == id);
    let created = ids.iter().position(|id| id.contains('b') && !id.starts_with('b'));
    assert!(at("u2").is_some() && at("u2") < created && created < at("b0"), "{ids:?}");
    assert!(written < 100, "the call was not shown while its agent worked");
}

/// A Codex thread, the one that it spawned, and the one which that spawned, as they lie on disk.
#[test]
fn threads_are_gathered_with_those_that_they_spawned_and_counted_once() {
    let folder = folder();
    let fixture = crate::run::workspace().join("crates/antiphon-formats/fixtures/codex/children");
    let names = [
        ("input.jsonl", "rollout-2026-05-01T10-00-00-th-1.jsonl"),
        ("rollout-2026-05-01T10-00-07-th-2.jsonl", "rollout-2026-05-01T10-00-07-th-2.jsonl"),
        ("rollout-2026-05-01T10-00-12-th-3.jsonl", "rollout-2026-05-01T10-00-12-th-3.jsonl"),
    ];
    for (from, to) in names {
        std::fs::copy(fixture.join(from), folder.path().join(to)).unwrap();
    }
    let main = folder.path().join(names[0].1);
    let shown: serde_json::Value =
        serde_json::from_str(&view(&["show", "--json"], &main).out).unwrap();
    // The fourth was spawned, and left no file.
    assert_eq!((&shown["agents"], &shown["tree"][1]), (&4.into(), &serde_json::Value::Null));
    let totals = |path: &Path| -> serde_json::Value {
        serde_json::from_str(&view(&["stats", "--json"], path).out).unwrap()
    };
    let (one, all) = (totals(&main), totals(folder.path()));
    assert!(one["totals"]["output"].as_u64().unwrap() > 0);
    assert_eq!(one["totals"], all["totals"], "no thread is counted twice");
}

/// Threads spawned after midnight lie in the next day's folder, and old ones are packed.
#[test]
fn threads_of_later_days_and_packed_ones_are_gathered() {
    let folder = folder();
    let fixture = crate::run::workspace().join("crates/antiphon-formats/fixtures/codex/children");
    let (today, tomorrow) =
        (folder.path().join("sessions/2026/05/01"), folder.path().join("sessions/2026/06/01"));
    std::fs::create_dir_all(&today).unwrap();
    std::fs::create_dir_all(&tomorrow).unwrap();
    let main = today.join("rollout-2026-05-01T10-00-00-th-1.jsonl");
    std::fs::copy(fixture.join("input.jsonl"), &main).unwrap();
    let (second, third) =
        ("rollout-2026-05-01T10-00-07-th-2.jsonl", "rollout-2026-05-01T10-00-12-th-3.jsonl");
    std::fs::copy(fixture.join(second), today.join(second)).unwrap();
    std::fs::copy(fixture.join(third), today.join(third)).unwrap();
    let stats = |path: &Path| -> serde_json::Value {
        let done = view(&["stats", "--json"], path);
        assert_eq!(done.exit, 0, "{done}");
        serde_json::from_str(&done.out).unwrap()
    };
    let expected = stats(&main);

    std::fs::rename(today.join(second), tomorrow.join(second)).unwrap();
    let packed = zstd::encode_all(&*std::fs::read(fixture.join(third)).unwrap(), 3).unwrap();
    std::fs::write(tomorrow.join(format!("{third}.zst")), &packed).unwrap();
    std::fs::remove_file(today.join(third)).unwrap();
    assert_eq!(stats(&main), expected, "a session in two folders");
    assert_eq!(stats(folder.path())["totals"], expected["totals"], "no thread is counted twice");
    let tree = view(&["view", "tree"], &main);
    assert!(tree.out.contains("Pascal") && tree.out.contains("/team/check"), "{tree}");

    // An outdated packed copy beside the file itself says nothing.
    std::fs::write(tomorrow.join(format!("{second}.zst")), &packed).unwrap();
    assert_eq!(stats(folder.path())["totals"], expected["totals"]);

    // The main file may be packed, in several frames, and cut.
    let text = std::fs::read(&main).unwrap();
    let frames = text.split_inclusive(|&byte| byte == b'\n');
    let packed: Vec<u8> = frames.flat_map(|frame| zstd::encode_all(frame, 3).unwrap()).collect();
    let cold = today.join("rollout-2026-05-01T10-00-00-th-1.jsonl.zst");
    std::fs::write(&cold, &packed).unwrap();
    std::fs::remove_file(&main).unwrap();
    assert_eq!(stats(&cold)["totals"], expected["totals"]);
    std::fs::write(&cold, &packed[..packed.len() - 3]).unwrap();
    let cut = view(&["show"], &cold);
    assert_eq!(cut.exit, 3, "{cut}");
    assert!(format!("{cut}").contains("cannot be unpacked"), "{cut}");
}

#[test]
fn the_context_across_a_compaction_is_what_the_agent_had() {
    let fixtures = crate::run::workspace().join("crates/antiphon-formats/fixtures");
    for format in ["claude-code", "codex"] {
        let done =
            view(&["view", "context"], &fixtures.join(format).join("compaction/input.jsonl"));
        assert_eq!(done.exit, 0, "{done}");
        insta::assert_snapshot!(format!("context_after_compaction_in_{format}"), done.out);
    }
}
