//! `cargo xtask small`: keeping and listing many small sessions, compared with another binary if
//! one is named (`OTHER=path`).
//!
//! By default 20,000 sessions of about 10 KB (`SESSIONS=n` for others), as Claude Code writes them,
//! with texts from this repository's own sources. Sizes are what the files and folders take on the
//! disk.

use std::error::Error;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::Outcome;
use crate::library::{Bench, show};
use crate::torture::Dice;

const SESSIONS: usize = 20_000;

pub(crate) fn run(root: &Path) -> Outcome {
    let count = std::env::var_os("SESSIONS").and_then(|it| it.to_str()?.parse().ok());
    let folder = std::env::temp_dir().join(format!("antiphon-small-{}", std::process::id()));
    let raw = make(root, &folder.join("home"), count.unwrap_or(SESSIONS), 8)?;
    let other = std::env::var_os("OTHER").map(PathBuf::from);
    let mut binaries = other.into_iter().chain([root.join("target/release/antiphon")]);
    let measured = binaries.try_for_each(|binary| measure(&folder, binary, raw));
    fs::remove_dir_all(&folder)?;
    measured?;
    Ok(ExitCode::SUCCESS)
}

fn measure(folder: &Path, binary: PathBuf, raw: u64) -> Result<(), Box<dyn Error>> {
    println!("{}: {:.2} GB of small sessions", binary.display(), raw as f64 / 1e9);
    println!("  CPU seconds, seconds, MB of memory");
    let bench = Bench { folder, binary };
    let first = bench.ours("first sync", &["sync"])?;
    println!("    {:.1} CPU seconds per GB (wanted: 15)", first.cpu / (raw as f64 / 1e9));
    let store = folder.join("store");
    let kept = disk_bytes(&store)?;
    let catalogue = fs::metadata(store.join("catalog.sqlite"))?.len();
    let part = |bytes: u64| 100.0 * bytes as f64 / raw as f64;
    println!(
        "    the store is {:.1} % of the sources, {:.1} % of them the catalogue (wanted: 30)",
        part(kept),
        part(catalogue)
    );
    bench.ours("sync, nothing new", &["sync"])?;
    let mut lists = Vec::new();
    for _ in 0..5 {
        lists.push(bench.measure(&bench.binary, &["ls"]).ok_or("antiphon failed")?);
    }
    lists.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    if let Some(used) = lists.first() {
        show("antiphon ls, best of five", *used);
        println!("    {:.0} ms (wanted: 60)", used.seconds * 1000.0);
    }
    bench.ours("search a common word", &["search", "error"])?;
    fs::remove_dir_all(store)?;
    Ok(())
}

/// Writes the sessions, spread over some folders, and returns how many bytes they have.
pub(crate) fn make(
    root: &Path,
    home: &Path,
    count: usize,
    folders: usize,
) -> Result<u64, Box<dyn Error>> {
    let mut words = String::new();
    sources(&root.join("crates"), &mut words)?;
    let mut dice = Dice::new(7);
    let mut raw = 0;
    for number in 0..count {
        let project = home.join(format!(".claude/projects/-srv-project-{}", number % folders));
        fs::create_dir_all(&project)?;
        let id = format!("{:08x}-0000-4000-8000-{number:012x}", 0x1000_0000 + number * 7919);
        let text = session(&id, &words, &mut dice);
        raw += text.len() as u64;
        fs::write(project.join(format!("{id}.jsonl")), text)?;
    }
    Ok(raw)
}

/// The texts of all Rust files below a folder.
fn sources(folder: &Path, words: &mut String) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, words)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            // Only ASCII can be cut anywhere.
            words.extend(fs::read_to_string(path)?.chars().filter(char::is_ascii));
        }
    }
    Ok(())
}

/// A prompt, two calls with their results, and an answer.
fn session(id: &str, words: &str, dice: &mut Dice) -> String {
    let mut text = String::new();
    let mut parent = Value::Null;
    let mut line = |kind: &str, message: &Value, dice: &mut Dice| {
        let uuid =
            format!("{:08x}-{:04x}-4000-8000-{:012x}", dice.hex(), dice.hex() & 0xffff, dice.hex());
        let time = format!(
            "2026-05-{:02}T10:{:02}:{:02}.{:03}Z",
            1 + dice.roll(28),
            dice.roll(60),
            dice.roll(60),
            dice.roll(1000)
        );
        let line = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/srv/project",
            "sessionId": id, "version": "2.0.76", "gitBranch": "main", "type": kind,
            "message": message, "uuid": uuid, "timestamp": time, "requestId": format!("req_{uuid}"),
        });
        parent = Value::String(uuid);
        text.push_str(&format!("{line}\n"));
    };
    let some = |most: usize, dice: &mut Dice| {
        let len = most / 3 + dice.roll(most);
        let start = dice.roll(words.len() - len);
        words.get(start..start + len).unwrap_or_default()
    };
    let usage = |dice: &mut Dice| {
        json!({"input_tokens": dice.roll(12), "output_tokens": dice.roll(1500),
            "cache_creation_input_tokens": dice.roll(4000), "cache_read_input_tokens": dice.roll(90_000)})
    };
    line("user", &json!({"role": "user", "content": some(200, dice)}), dice);
    for call in 0..2 {
        let call_id = format!("toolu_{:08x}{call}", dice.hex());
        let call = json!({"type": "tool_use", "id": call_id, "name": "Bash",
            "input": {"command": some(100, dice)}});
        let message = json!({"role": "assistant", "id": format!("msg_{call_id}"), "type": "message",
            "model": "claude-sonnet-4-5-20250929", "content": [call], "usage": usage(dice)});
        line("assistant", &message, dice);
        let result =
            json!({"type": "tool_result", "tool_use_id": call_id, "content": some(3000, dice)});
        line("user", &json!({"role": "user", "content": [result]}), dice);
    }
    let answer = json!({"role": "assistant", "id": format!("msg_{:08x}", dice.hex()), "type": "message",
        "model": "claude-sonnet-4-5-20250929", "usage": usage(dice),
        "content": [{"type": "text", "text": some(600, dice)}]});
    line("assistant", &answer, dice);
    text
}

/// What files and folders take on the disk.
pub(crate) fn disk_bytes(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = fs::metadata(folder)?.blocks() * 512;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let own = || fs::metadata(&path).map(|metadata| metadata.blocks() * 512);
        bytes += if path.is_dir() { disk_bytes(&path)? } else { own()? };
    }
    Ok(bytes)
}
