//! Where agents put the files of their sessions.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::names;

/// Where a file is from, and where it goes in the home.
type Laid = Vec<(PathBuf, PathBuf)>;

const CODE: &str = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks";

pub(super) fn folders(folder: &Path) -> Vec<PathBuf> {
    names(folder).into_iter().filter(|path| path.is_dir()).collect()
}

/// Every file below a folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for path in names(&folder) {
            if path.is_dir() { left.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// The files of a fixture, with their names in it.
fn fixture_files(case: &Path) -> Vec<(PathBuf, String)> {
    let files = files(case).into_iter().map(|path| {
        let name = path.strip_prefix(case).unwrap().to_str().unwrap().to_owned();
        (path, name)
    });
    files.filter(|(_, name)| name != "README.md" && !name.ends_with(".snap")).collect()
}

/// A fixture that no agent has a place for.
pub(super) fn as_it_is(case: &Path) -> Laid {
    fixture_files(case).into_iter().map(|(path, name)| (path, name.into())).collect()
}

/// A fixture as its agent would have laid it.
pub(super) fn fixture(format: &str, case: &Path) -> Option<Laid> {
    let files = fixture_files(case);
    let (main, main_name) = files.iter().find(|(_, name)| name.starts_with("input."))?;
    if format == "aider" {
        return Some(vec![(main.clone(), ".aider.chat.history.md".into())]);
    }
    let ending = main_name.strip_prefix("input").unwrap();
    let has_more = files.len() > 1;
    let (folder, stem) = place(format, main, has_more)?;
    let place = |(path, name): &(PathBuf, String)| {
        let to = match name.strip_prefix("input") {
            Some(_) if name == main_name && format == "opencode" && has_more => {
                let above =
                    if case.ends_with("older-folders") { "session/info" } else { "session/p1" };
                format!("{above}/{}.json", id(main, "id"))
            }
            Some(rest) => format!("{stem}{}", if name == main_name { ending } else { rest }),
            None => name.clone(),
        };
        (path.clone(), Path::new(&folder).join(to))
    };
    let mut laid: Laid = files.iter().map(place).collect();
    if format == "gemini" {
        // The folder of sub-agents has the whole id, the chat its beginning.
        for (_, to) in &mut laid {
            let name = to.to_str().unwrap().replace("/session-55555555/", "/55555555-eeee/");
            *to = name.into();
        }
    }
    Some(laid)
}

/// The folder of a session, and what its main file is called there, without the ending.
fn place(format: &str, main: &Path, has_more: bool) -> Option<(String, String)> {
    let is_document = main.extension().is_some_and(|it| it == "json");
    let (folder, stem) = match format {
        "amp" => (".local/share/amp/threads", "T-1"),
        "claude-code" => (".claude/projects/-repo", "input"),
        "cline" => return Some((format!("{CODE}/17"), "api_conversation_history".to_owned())),
        "codex" => {
            let id = thread(main).unwrap_or_else(|| "th-0".to_owned());
            let stem = format!("rollout-2026-05-01T10-00-00-{id}");
            return Some((".codex/sessions/2026/05/01".to_owned(), stem));
        }
        "copilot" => (".copilot/session-state/c0", "events"),
        "cursor" => (".cursor/projects/shop/agent-transcripts/d0", "d0"),
        "droid" => (".factory/sessions/-repo", "f0"),
        "gemini" => (".gemini/tmp/shop/chats", "session-55555555"),
        // A session out of a database.
        "goose" if is_document => return None,
        "goose" => (".local/share/goose/sessions", "20260501_1"),
        "iflow" => (".iflow/projects/-repo", "session-1"),
        "kimi" if is_document => (".kimi-code/sessions/shop/session_k0", "state"),
        "kimi" => (".kimi/sessions/shop/k0", "wire"),
        "opencode" if main.parent().is_some_and(|it| it.ends_with("resumed-child")) => return None,
        "opencode" if has_more => (".local/share/opencode/storage", ""),
        "opencode" => (".local/share/opencode/storage/session/shop", "ses_1"),
        "pi" => (".pi/agent/sessions/--repo--", "1_p0"),
        "qwen" => (".qwen/projects/-repo/chats", "input"),
        _ => return None,
    };
    Some((folder.to_owned(), stem.to_owned()))
}

/// The id of a rollout's thread.
fn thread(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).unwrap();
    let first: Value = serde_json::from_str(text.lines().next()?).ok()?;
    let id = first["payload"]["id"].as_str().or_else(|| first["id"].as_str());
    id.map(str::to_owned)
}

/// A word that a document says of itself.
fn id(path: &Path, name: &str) -> String {
    let document: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    document[name].as_str().unwrap().to_owned()
}

/// Longer ones take too long in a test.
const LARGEST: u64 = 400 << 10;

/// Real files of one kind, in parts that lie in a home of their own each: what the part is, its
/// files, and whether an agent keeps them like that.
pub(super) fn real(kind: &str, folder: &Path) -> Vec<(String, Laid, bool)> {
    if kind == "opencode" {
        return opencode(folder);
    }
    let format = if kind == "gemini-cli" { "gemini" } else { kind };
    let mut kept = Laid::new();
    let mut others = Laid::new();
    let mut parts = Vec::new();
    for (number, path) in files(folder).into_iter().enumerate() {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        if name == "INDEX.md" || path.metadata().unwrap().len() > LARGEST {
            continue;
        }
        match in_home(format, number, &path, &name).filter(|_| is_of(&path, format)) {
            // Their ids were made up, and repeat in the next file.
            Some(to) if name.starts_with("claude-code-log__") => {
                parts.push((name, vec![(path, to)], true));
            }
            Some(to) => kept.push((path, to)),
            None => others.push((path, name.into())),
        }
    }
    parts.push(("sessions".to_owned(), kept, true));
    parts.push(("other files".to_owned(), others, false));
    parts.retain(|(_, laid, _)| !laid.is_empty());
    parts
}

/// Whether a file is of this format.
fn is_of(path: &Path, format: &str) -> bool {
    let bytes = fs::read(path).unwrap();
    let head = String::from_utf8_lossy(bytes.get(..64 << 10).unwrap_or(&bytes)).into_owned();
    antiphon_formats::detect(&head).is_some_and(|it| it.name == format)
}

/// Where an agent would have put a file.
fn in_home(format: &str, number: usize, path: &Path, name: &str) -> Option<PathBuf> {
    let flat = name.replace('/', "-");
    let ending = path.extension()?.to_str()?;
    let to = match format {
        // Those that begin with `agent-` are a sub-agent's.
        "claude-code" => {
            format!(".claude/projects/-repo/{}", name.replace("agent-sessions__", "sessions-"))
        }
        "codex" => {
            let stem = flat.trim_end_matches(".jsonl");
            format!(".codex/sessions/2026/05/01/rollout-{stem}-{}.jsonl", thread(path)?)
        }
        "copilot" => format!(".copilot/session-state/c{number}/events.jsonl"),
        "cursor" => format!(".cursor/projects/shop/agent-transcripts/d{number}/d{number}.jsonl"),
        "gemini" => format!(".gemini/tmp/shop/chats/session-{number}.{ending}"),
        "pi" => format!(".pi/agent/sessions/--repo--/{flat}"),
        "qwen" => format!(".qwen/projects/-repo/chats/{flat}"),
        _ => return None,
    };
    Some(to.into())
}

/// Exports, and the folders of two versions.
fn opencode(folder: &Path) -> Vec<(String, Laid, bool)> {
    let storage = Path::new(".local/share/opencode/storage");
    let mut parts = Vec::new();
    let mut exports = Laid::new();
    for path in names(folder) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let below = files(&path).into_iter();
            let laid = below.map(|file| {
                let to = file.strip_prefix(&path).unwrap().to_owned();
                (file, to)
            });
            // Their ids were made up for these files: no OpenCode would call a session like that.
            parts.push((name, laid.collect(), false));
        } else if name.ends_with(".json") {
            exports.push((path, storage.join(format!("session/shop/ses_{name}"))));
        }
    }
    parts.push(("exports".to_owned(), exports, true));
    parts
}
