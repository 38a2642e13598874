use super::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../antiphon-formats/fixtures");

/// Lays files into a folder: a fixture's file, and its name there.
fn lay(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in files {
        let to = folder.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(Path::new(FIXTURES).join(from), to).unwrap();
    }
    folder
}

/// The formats of the sessions below a folder, each with the number of its files; and how many
/// other files there are.
fn found(folder: &Path) -> (Vec<String>, usize) {
    let all = open_all(&[folder.to_owned()], Wanted::Usage, &|opened| {
        format!("{} {}", opened.format, opened.files.len())
    });
    assert!(all.failed.is_empty(), "{:?}", all.failed);
    (all.sessions, all.others)
}

#[test]
fn sessions_of_every_format_are_found_and_what_is_none_is_counted() {
    let folder = lay(&[
        ("gemini/minimal/input.jsonl", "a/session-1.jsonl"),
        ("opencode/minimal/input.json", "b.json"),
        ("cline/minimal/input.json", "c/api_conversation_history.json"),
        ("cline/minimal/ui_messages.json", "c/ui_messages.json"),
        ("aider/minimal/input.md", "d/.aider.chat.history.md"),
        ("atif/minimal/input.json", "e/trajectory.json"),
        ("codex/minimal/input.jsonl", "f/any name.jsonl"),
    ]);
    fs::write(folder.path().join("README.md"), "# Words\n").unwrap();
    fs::write(folder.path().join("history.jsonl"), "{\"display\":\"x\"}\n").unwrap();
    let (formats, others) = found(folder.path());
    let expected = ["gemini 1", "opencode 1", "cline 2", "aider 1", "atif 1", "codex 1"];
    assert_eq!((formats, others), (expected.map(str::to_owned).to_vec(), 2));
}

#[test]
fn the_files_of_sub_agents_are_their_sessions_and_alone_they_are_what_is_left() {
    let main = ("claude-code/subagents-folder/input.jsonl", "p/input.jsonl");
    let first = (
        "claude-code/subagents-folder/input/subagents/agent-a1.jsonl",
        "p/input/subagents/agent-a1.jsonl",
    );
    let second = (
        "claude-code/subagents-folder/input/subagents/agent-a2.jsonl",
        "p/input/subagents/agent-a2.jsonl",
    );
    assert_eq!(found(lay(&[main, first, second]).path()).0, ["claude-code 3"]);
    assert_eq!(found(lay(&[first, second]).path()).0, ["claude-code 1", "claude-code 1"]);
}

#[test]
fn threads_are_their_makers_in_a_folder_with_others() {
    let files: Vec<(String, String)> = fs::read_dir(Path::new(FIXTURES).join("codex/children"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl"))
        .map(|name| {
            let own = name.replace("input", "rollout-2026-05-01T10-00-00-th-1");
            (format!("codex/children/{name}"), own)
        })
        .collect();
    let mut laid: Vec<(&str, &str)> =
        files.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    laid.push(("claude-code/minimal/input.jsonl", "other.jsonl"));
    let (sessions, others) = found(lay(&laid).path());
    let own = format!("codex {}", files.len());
    assert!(sessions.contains(&own) && sessions.len() == 2, "{sessions:?}");
    assert_eq!(others, 0);
}

#[test]
fn a_session_that_is_named_twice_is_one() {
    let folder = lay(&[("claude-code/minimal/input.jsonl", "s.jsonl")]);
    let file = folder.path().join("s.jsonl");
    let paths = [file.clone(), folder.path().to_owned(), file];
    assert_eq!(open_all(&paths, Wanted::Usage, &|_| ()).sessions.len(), 1);
}

#[cfg(unix)]
#[test]
fn a_session_that_links_lead_to_is_one() {
    let folder = lay(&[
        ("claude-code/minimal/input.jsonl", "real/s.jsonl"),
        ("gemini/minimal/input.jsonl", "real/other.jsonl"),
    ]);
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(at("real"), at("linked")).unwrap();
    std::os::unix::fs::symlink(at("real/s.jsonl"), at("s.jsonl")).unwrap();
    // By its name, through a linked folder, through a link of its own, and among all.
    let paths = [at("real/s.jsonl"), at("linked/s.jsonl"), at("s.jsonl"), folder.path().to_owned()];
    assert_eq!(open_all(&paths, Wanted::Usage, &|_| ()).sessions.len(), 2);
}
