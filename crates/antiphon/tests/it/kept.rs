//! Whatever an agent has left is kept to the last byte, can be opened, and comes out again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::library::{antiphon, json};
use crate::run::{folder, workspace};

/// Where an agent would have put a file of that name; `{}` stands for the name without its ending,
/// `{n}` for a number of its own.
const PLACES: &[(&str, &str)] = &[
    ("amp", ".local/share/amp/threads/T-{}.json"),
    ("claude-code", ".claude/projects/-srv-shop/{}.jsonl"),
    (
        "cline",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/{}/api_conversation_history.json",
    ),
    ("codex", ".codex/sessions/2026/05/{n}/rollout-2026-05-01T10-00-00-{}.jsonl"),
    ("copilot", ".copilot/session-state/{}/events.jsonl"),
    ("cursor", ".cursor/projects/shop/agent-transcripts/{}/{}.jsonl"),
    ("droid", ".factory/sessions/-srv-shop/{}.jsonl"),
    ("gemini", ".gemini/tmp/shop{n}/chats/session-2026-05-01T10-00-{}.jsonl"),
    ("goose", ".local/share/goose/sessions/{}.jsonl"),
    ("iflow", ".iflow/projects/-srv-shop/session-{}.jsonl"),
    ("kimi", ".kimi/sessions/shop/{}/wire.jsonl"),
    ("opencode", ".local/share/opencode/storage/session/shop{n}/ses_{}.json"),
    ("pi", ".pi/agent/sessions/--srv-shop--/1_{}.jsonl"),
    ("qwen", ".qwen/projects/-srv-shop/chats/{}.jsonl"),
];

/// A home, and the main files in it.
struct Left {
    folder: tempfile::TempDir,
    mains: Vec<PathBuf>,
}

impl Left {
    fn new() -> Self {
        Self { folder: folder(), mains: Vec::new() }
    }

    /// Puts a file where its agent would have; false for an ending that it never gives.
    fn add(&mut self, agent: &str, name: &str, file: &Path) -> bool {
        let Some((_, place)) = PLACES.iter().find(|(format, _)| *format == agent) else {
            return false;
        };
        let ending = file.extension().unwrap().to_str().unwrap();
        let place = place.replace("{}", name).replace("{n}", &format!("{:02}", self.mains.len()));
        // Gemini has written documents, and lines since.
        let place = match agent {
            "gemini" => Path::new(&place).with_extension(ending),
            _ => PathBuf::from(place),
        };
        if !["json", "jsonl"].contains(&ending) || place.extension().unwrap() != ending {
            return false;
        }
        let to = self.folder.path().join("home").join(place);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(file, &to).unwrap();
        // What lies in the folder that is named after it goes along.
        let (own, to_own) = (file.with_extension(""), to.with_extension(""));
        if own.is_dir() && own != file {
            copy_folder(&own, &to_own);
        }
        self.mains.push(to);
        true
    }

    /// Keeps everything, takes it out again, and says which sessions there were.
    fn check(&self) -> usize {
        let at = self.folder.path();
        let synced = antiphon(at, &["sync"]);
        let rows = json(at, &["ls", "--json", "--limit", "10000"]);
        let rows = rows.as_array().unwrap();
        let mut out: BTreeSet<Vec<u8>> = BTreeSet::new();
        for row in rows {
            let path = row["path"].as_str().unwrap();
            let shown = antiphon(at, &["show", path, "--json"]);
            assert!([0, 3].contains(&shown.exit), "{row}: {shown}");
            let shown: Value = serde_json::from_str(&shown.out).unwrap();
            assert_eq!(shown["format"], row["format"], "{row}");
            let to = folder();
            let target = to.path().to_str().unwrap();
            let exported = antiphon(at, &["export", path, "--as", "native", "-o", target]);
            assert_eq!(exported.exit, 0, "{row}: {exported}");
            out.extend(files(to.path()).iter().map(|file| fs::read(file).unwrap()));
        }
        for main in &self.mains {
            // What is no session of that agent is named.
            let is_named = synced.err.contains(main.to_str().unwrap());
            let is_out = out.contains(&fs::read(main).unwrap());
            assert!(is_out || is_named, "{} is lost: {}", main.display(), synced.err);
        }
        let report = antiphon(at, &["doctor", "--deep", "--json"]);
        assert_eq!(report.exit, 0, "{report}");
        rows.len()
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for file in files(from) {
        let to = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(file, to).unwrap();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let (folders, mut all): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|it| it.is_dir());
    all.extend(folders.iter().flat_map(|it| files(it)));
    all.sort();
    all
}

#[test]
fn every_fixture_is_kept_opened_and_given_back() {
    let mut left = Left::new();
    let fixtures = workspace().join("crates/antiphon-formats/fixtures");
    for (agent, _) in PLACES {
        let mut names: Vec<_> =
            fs::read_dir(fixtures.join(agent)).unwrap().map(|it| it.unwrap().path()).collect();
        names.sort();
        // What lies in folders that sessions share is no session alone.
        let alone = |fixture: &&PathBuf| {
            !fixture.join("message").is_dir() && !fixture.join("session").is_dir()
        };
        let added = names.iter().filter(alone).filter(|fixture| {
            let inputs =
                ["jsonl", "json"].map(|ending| fixture.join("input").with_extension(ending));
            let name = format!("{agent}-{}", fixture.file_name().unwrap().to_str().unwrap());
            inputs.iter().filter(|it| it.is_file()).any(|input| left.add(agent, &name, input))
        });
        assert!(added.count() > 0, "{agent}");
    }
    // Each once more, without the end of its last line.
    for main in left.mains.clone() {
        let text = fs::read_to_string(&main).unwrap();
        fs::write(main, text.trim_end()).unwrap();
    }
    let sessions = left.check();
    assert!(sessions > 40, "{sessions}");
}

#[test]
fn every_real_file_is_kept_opened_and_given_back() {
    let shared = workspace().join("../shared/data/formats");
    if !shared.is_dir() {
        println!("skipped: there are no real files here");
        return;
    }
    let mut left = Left::new();
    for (agent, _) in PLACES {
        let own = shared.join(if *agent == "gemini" { "gemini-cli" } else { agent });
        for (number, file) in files(&own).iter().enumerate() {
            if file.parent() == Some(&own) && file.extension().is_some() {
                left.add(agent, &format!("{agent}-{number}"), file);
            }
        }
    }
    let storage = left.folder.path().join("home/.local/share/opencode/storage");
    copy_folder(&shared.join("opencode/storage-v2/storage"), &storage);
    let sessions = left.check();
    println!("{} files, {sessions} sessions", left.mains.len());
    assert!(sessions > 50, "{sessions}");
}

/// A line of Claude Code.
pub(crate) fn line(session: &str, n: usize) -> String {
    format!(
        r#"{{"type":"user","sessionId":"{session}","uuid":"{session}-{n}","timestamp":"2026-05-01T10:00:00Z","message":{{"role":"user","content":"cobalt number {n}"}}}}"#
    ) + "\n"
}

/// A home with one session of Claude Code of so many lines; its main file.
pub(crate) fn session(at: &Path, id: &str, lines: usize) -> PathBuf {
    let project = at.join("home/.claude/projects/-srv-shop");
    fs::create_dir_all(&project).unwrap();
    let main = project.join(format!("{id}.jsonl"));
    fs::write(&main, (0..lines).map(|n| line(id, n)).collect::<String>()).unwrap();
    main
}

fn native(at: &Path, id: &str) -> String {
    antiphon(at, &["export", id, "--as", "native"]).out
}

#[test]
fn a_last_line_without_its_end_is_kept_shown_and_counted() {
    let folder = folder();
    let at = folder.path();
    for lines in [2, 200] {
        let id = format!("session-{lines}");
        let main = session(at, &id, lines);
        let text = fs::read_to_string(&main).unwrap();
        fs::write(&main, text.trim_end()).unwrap();
        antiphon(at, &["sync"]);
        assert_eq!(native(at, &id), text.trim_end());
        let row = json(at, &["ls", "--json"])[0].clone();
        let shown = antiphon(at, &["show", &id, "--json"]);
        let shown: Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!((&row["events"], &shown["problems"]), (&shown["events"], &Value::Array(vec![])));
        let found = json(at, &["search", &format!("\"number {}\"", lines - 1), "--json"]);
        assert_eq!(found.as_array().unwrap().len(), 1);
        // It grows, packed or not, by half a line and by the other half.
        let more = line(&id, lines);
        for end in [20, more.len()] {
            fs::write(&main, format!("{text}{}", &more[..end])).unwrap();
            antiphon(at, &["sync"]);
            assert_eq!(native(at, &id), format!("{text}{}", &more[..end]));
            let shown = antiphon(at, &["show", &id]);
            assert_eq!(shown.exit, 0, "{shown}");
        }
        let found = json(at, &["search", &format!("\"number {lines}\""), "--json"]);
        assert_eq!(found.as_array().unwrap().len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn names_of_any_kind_are_kept_and_given_back() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder();
    let at = folder.path();
    let project = at.join("home/.claude/projects/-srv-shop");
    fs::create_dir_all(&project).unwrap();
    let long = format!("{}.jsonl", "x".repeat(240));
    let names: [&[u8]; 4] = [long.as_bytes(), b"a\xff.jsonl", b"a\xfe.jsonl", b"plain.jsonl"];
    for (n, name) in names.iter().enumerate() {
        let name = std::ffi::OsStr::from_bytes(name);
        let text: String = (0..100).map(|line_of| line(&format!("s{n}"), line_of)).collect();
        fs::write(project.join(name), text).unwrap();
    }
    let done = antiphon(at, &["sync", "--json"]);
    assert_eq!((done.exit, done.err.as_str()), (0, ""), "{done}");
    let rows = json(at, &["ls", "--json"]);
    assert_eq!(rows.as_array().unwrap().len(), names.len());
    for row in rows.as_array().unwrap() {
        let to = crate::run::folder();
        let target = to.path().to_str().unwrap();
        let id = row["id"].as_str().unwrap();
        let done = antiphon(at, &["export", id, "--as", "native", "-o", target]);
        assert_eq!(done.exit, 0, "{done}");
        let n: usize = id.strip_prefix('s').unwrap().parse().unwrap();
        let exported = files(to.path());
        assert_eq!(exported.len(), 1);
        assert_eq!(exported[0].file_name().unwrap().as_bytes(), names[n]);
        assert_eq!(
            fs::read(&exported[0]).unwrap(),
            fs::read(project.join(exported[0].file_name().unwrap())).unwrap()
        );
    }
    assert_eq!(json(at, &["sync", "--json"])["copied"], 0);
    assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
}
