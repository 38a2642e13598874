//! What is damaged is named, is repaired where its source is still there, and is never taken for
//! what was written; and what does not belong in the store does not come in.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kept::{line, session};
use crate::library::{antiphon, json};
use crate::run::folder;

/// The folder of the only session that is kept.
fn kept(at: &Path) -> PathBuf {
    let agent = at.join("store/archive/claude-code");
    fs::read_dir(agent).unwrap().next().unwrap().unwrap().path()
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x20;
    fs::write(path, bytes).unwrap();
}

/// What each of these commands says about the session, on stderr.
fn all_name_it(at: &Path, id: &str) {
    for words in [&["ls"][..], &["stats"], &["search", "cobalt"], &["sync", "--agent", "codex"]] {
        let told = antiphon(at, words);
        assert!(told.err.contains(id), "{words:?}: {told}");
        assert_eq!(told.exit, 3, "{words:?}: {told}");
    }
}

#[test]
fn a_damaged_record_does_not_take_its_session_along_and_is_healed() {
    let folder = folder();
    let at = folder.path();
    let main = session(at, "fine-session", 1500);
    antiphon(at, &["sync"]);
    let text = fs::read_to_string(&main).unwrap();
    let record = kept(at).join("session.json");
    for place in [3, 20, 60, fs::read(&record).unwrap().len() - 4] {
        flip(&record, place);
        let rows = json(at, &["ls", "--json"]);
        assert_eq!(rows.as_array().unwrap().len(), 1);
        assert_eq!(rows[0]["damaged"], true);
        all_name_it(at, "fine-session");
        let deep = json(at, &["doctor", "--deep", "--json"]);
        assert!(deep["problems"].to_string().contains("session.json"), "{deep}");
        assert_eq!(antiphon(at, &["export", "fine-session", "--as", "native"]).out, text);
        let synced = antiphon(at, &["sync"]);
        assert_eq!(synced.exit, 0, "{synced}");
        let listed = antiphon(at, &["ls"]);
        assert_eq!((listed.exit, listed.err.as_str()), (0, ""), "{listed}");
        assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
    }
    // Without its source it is still there, and the next `sync` writes the record again.
    fs::remove_dir_all(at.join("home/.claude")).unwrap();
    flip(&record, 30);
    assert_eq!(antiphon(at, &["export", "fine-session", "--as", "native"]).out, text);
    all_name_it(at, "fine-session");
    antiphon(at, &["sync"]);
    assert_eq!(antiphon(at, &["ls"]).exit, 0);
    assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
    assert_eq!(antiphon(at, &["export", "fine-session", "--as", "native"]).out, text);
}

#[test]
fn a_flipped_bit_in_a_copy_is_named_and_repaired() {
    for lines in [1500] {
        let folder = folder();
        let at = folder.path();
        let main = session(at, "fine-session", lines);
        // What has grown lately is not packed.
        let source = fs::File::options().write(true).open(&main).unwrap();
        source.set_modified(std::time::UNIX_EPOCH).unwrap();
        antiphon(at, &["sync"]);
        let text = fs::read_to_string(&main).unwrap();
        let copies: Vec<PathBuf> =
            fs::read_dir(kept(at).join("000001")).unwrap().map(|it| it.unwrap().path()).collect();
        let copy = &copies[0];
        let (len, changed) =
            (fs::read(copy).unwrap().len(), fs::metadata(copy).unwrap().modified());
        for place in [len / 2, len - 3, 40] {
            flip(copy, place);
            // As a disk does it, which tells nobody.
            let file = fs::File::options().write(true).open(copy).unwrap();
            file.set_modified(changed.as_ref().copied().unwrap()).unwrap();
            let native = antiphon(at, &["export", "fine-session", "--as", "native"]);
            assert!(native.out == text && lines > 5 || native.exit != 0, "{place}: {native}");
            let deep = antiphon(at, &["doctor", "--deep", "--json"]);
            let name = copy.file_name().unwrap().to_str().unwrap();
            assert!(deep.exit == 3 && deep.out.contains(name), "{place}: {deep}");
            all_name_it(at, "fine-session");
            let synced = antiphon(at, &["sync"]);
            assert_eq!((synced.exit, synced.err.as_str()), (0, ""), "{place}: {synced}");
            assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0, "{place}");
            assert_eq!(antiphon(at, &["export", "fine-session", "--as", "native"]).out, text);
            assert_eq!(antiphon(at, &["ls"]).exit, 0);
            let generations =
                fs::read_dir(kept(at)).unwrap().filter(|it| it.as_ref().unwrap().path().is_dir());
            assert_eq!(generations.count(), 1, "it is repaired in its place");
        }
        // Whoever flips it by writing has changed its time: `sync` sees that by itself.
        flip(copy, len / 3);
        antiphon(at, &["sync"]);
        assert_eq!(antiphon(at, &["export", "fine-session", "--as", "native"]).out, text);
        // A source that has become another one saves nothing: what is left stays, and is named.
        fs::write(&main, line("fine-session", 9)).unwrap();
        flip(copy, len / 3);
        antiphon(at, &["sync"]);
        assert!(kept(at).join("000002").is_dir() && copy.exists());
        assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 3);
    }
}

#[test]
fn a_session_that_cannot_be_read_is_named_by_reindex_and_by_every_answer() {
    let folder = folder();
    let at = folder.path();
    session(at, "first-session", 1500);
    antiphon(at, &["sync"]);
    let copy = kept(at).join("000001/first-session.jsonl.zst");
    session(at, "other-session", 1500);
    antiphon(at, &["sync"]);
    fs::write(copy, "nothing of it is left").unwrap();
    fs::remove_dir_all(at.join("home/.claude")).unwrap();
    let done = antiphon(at, &["reindex", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((done.exit, &told["read"], &told["failed"]), (3, &1.into(), &1.into()), "{done}");
    let key = told["left_out"][0]["session"].as_str().unwrap();
    all_name_it(at, key);
    let sums = antiphon(at, &["stats", "--json"]);
    assert!(sums.out.contains("left_out"), "{sums}");
}

#[test]
fn values_from_a_line_whose_hash_is_wrong_are_marked() {
    let folder = folder();
    let at = folder.path();
    let log = at.join(format!("store/sessions/{}", "a".repeat(32)));
    fs::create_dir_all(&log).unwrap();
    let event = r#"{"event_type":"session_started","session_id":"mine","title":"Paint the gate"}"#;
    let input = at.join("input");
    fs::write(&input, format!("{event}\n")).unwrap();
    let mut append = crate::run::command();
    append.args(["append", log.to_str().unwrap()]).stdin(fs::File::open(input).unwrap());
    assert!(append.output().unwrap().status.success());
    let segment = log.join("000001.jsonl");
    let text = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text.replace("Paint", "Faint")).unwrap();
    let listed = antiphon(at, &["ls"]);
    assert!(listed.out.contains("damaged") && listed.err.contains("mine"), "{listed}");
    let deep = antiphon(at, &["doctor", "--deep", "--json"]);
    assert!(deep.out.contains("000001.jsonl") && deep.out.contains("line 1"), "{deep}");
    assert_eq!(deep.exit, 3);
}

/// Damage in a log of our own that makes a line unreadable is named as well, and a reindex leaves
/// nothing behind that says otherwise.
#[test]
fn a_line_of_a_log_that_cannot_be_read_any_more_is_named() {
    let folder = folder();
    let at = folder.path();
    assert_eq!(antiphon(at, &["record", "--wait", "--", "echo", "cobalt"]).exit, 0);
    let sessions = fs::read_dir(at.join("store/sessions")).unwrap();
    let log = sessions.map(|it| it.unwrap().path().join("000001.jsonl")).next().unwrap();
    let text = fs::read_to_string(&log).unwrap();
    let ended = text.find("session_ended").unwrap();
    let id = json(at, &["ls", "--json"])[0]["id"].as_str().unwrap().to_owned();
    // The quotation mark before the word.
    flip(&log, ended - 1);
    for words in [&["ls"][..], &["stats"], &["search", "cobalt"]] {
        let told = antiphon(at, words);
        assert!(told.err.contains(&id) && told.exit == 3, "{words:?}: {told}");
    }
    fs::write(&log, text).unwrap();
    assert_eq!(antiphon(at, &["reindex"]).exit, 0);
    assert_eq!(antiphon(at, &["ls"]).exit, 0);
    assert_eq!(json(at, &["doctor", "--json"])["problems"], serde_json::json!([]));
}

#[test]
fn only_regular_files_of_the_agents_folders_come_into_the_store() {
    let folder = folder();
    let at = folder.path();
    let main = session(at, "own", 3);
    let secret = at.join("secret.jsonl");
    fs::write(&secret, line("secret", 1)).unwrap();
    symlink(&secret, main.with_file_name("out.jsonl")).unwrap();
    symlink(&main, main.with_file_name("in.jsonl")).unwrap();
    symlink("/dev/zero", main.with_file_name("device.jsonl")).unwrap();
    let pipe =
        |path: PathBuf| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    pipe(main.with_file_name("pipe.jsonl"));
    let below = main.with_extension("").join("subagents");
    fs::create_dir_all(&below).unwrap();
    pipe(below.join("agent-p.jsonl"));
    symlink(&secret, below.join("agent-l.jsonl")).unwrap();
    fs::write(below.join("agent-f.jsonl"), line("own", 7)).unwrap();
    let done = antiphon(at, &["sync", "--json"]);
    assert_eq!(done.exit, 0, "{done}");
    for name in ["out.jsonl", "device.jsonl", "pipe.jsonl", "agent-p.jsonl", "agent-l.jsonl"] {
        let told =
            done.err.lines().filter(|it| it.contains(name) && it.contains("skipped")).count();
        assert_eq!(told, 1, "{name}: {done}");
    }
    let everything = [files(&at.join("store/archive")), files(&at.join("store/packs"))].concat();
    let read = |path: &PathBuf| {
        let raw = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&zstd::decode_all(&*raw).unwrap_or(raw)).into_owned()
    };
    let holds = |text: &str| everything.iter().any(|it| read(it).contains(text));
    assert!(!holds("secret-1") && holds("own-7"));
    assert_eq!(json(at, &["ls", "--json"]).as_array().unwrap().len(), 2, "one by its link, too");
    // A hook that is given a pipe.
    let pipe = main.with_file_name("pipe.jsonl");
    let input = format!(
        r#"{{"session_id":"p","transcript_path":"{}","hook_event_name":"Stop"}}"#,
        pipe.display()
    );
    fs::write(at.join("hook.json"), input).unwrap();
    let mut hook = crate::run::command();
    hook.env("HOME", at.join("home")).env("ANTIPHON_HOME", at.join("store")).arg("hook");
    let done = hook.stdin(fs::File::open(at.join("hook.json")).unwrap()).output().unwrap();
    assert!(done.status.success() && done.stdout.is_empty() && done.stderr.is_empty());
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let (folders, mut all): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|it| it.is_dir());
    all.extend(folders.iter().flat_map(|it| files(it)));
    all.extend(folders);
    all
}

#[test]
fn everything_is_its_owners_alone_whatever_the_umask_and_whoever_made_the_folder() {
    let folder = folder();
    let at = folder.path();
    session(at, "open", 1500);
    session(at, "small", 2);
    fs::create_dir(at.join("store")).unwrap();
    fs::set_permissions(at.join("store"), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = env!("CARGO_BIN_EXE_antiphon");
    for words in ["sync", "ls", "search cobalt", "record -- true", "doctor --deep", "reindex"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("umask 000; exec {binary} {words}")]).env_clear();
        shell.env("HOME", at.join("home")).env("ANTIPHON_HOME", at.join("store"));
        shell.env("PATH", std::env::var_os("PATH").unwrap());
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
        for path in files(&at.join("store")).into_iter().chain([at.join("store")]) {
            let wanted = if path.is_dir() { 0o700 } else { 0o600 };
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, wanted, "{words}: {} is {mode:o}", path.display());
        }
    }
}

#[test]
fn answers_come_from_memory_where_the_disk_is_full() {
    let folder = folder();
    let at = folder.path();
    let main = session(at, "fine-session", 1500);
    antiphon(at, &["sync"]);
    for file in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"] {
        let _ = fs::remove_file(at.join("store").join(file));
    }
    let binary = env!("CARGO_BIN_EXE_antiphon");
    for words in ["ls --json", "stats --json", "search cobalt --json"] {
        // No file may become longer than a few kilobytes: as on a full disk, writing fails.
        let mut shell = Command::new("sh");
        let limited = format!("trap '' XFSZ; ulimit -f 20; exec {binary} {words}");
        shell.args(["-c", &limited]).env_clear();
        shell.env("HOME", at.join("home")).env("ANTIPHON_HOME", at.join("store"));
        let done = shell.output().unwrap();
        let err = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{words}: {err}");
        assert!(done.stdout.len() > 50, "{words}: {err}");
    }
    assert!(main.exists());
}

#[test]
fn bytes_behind_what_was_recorded_are_named_until_they_are_compared() {
    let folder = folder();
    let at = folder.path();
    let main = session(at, "fine-session", 1500);
    antiphon(at, &["sync"]);
    let text = fs::read_to_string(&main).unwrap();
    // What has grown lately is not packed.
    let copy = kept(at).join("000001/fine-session.jsonl");
    fs::write(&copy, format!("{text}{}", "of nobody\n")).unwrap();
    let deep = antiphon(at, &["doctor", "--deep", "--json"]);
    assert!(deep.exit == 3 && deep.out.contains("10 bytes at its end"), "{deep}");
    assert_eq!(antiphon(at, &["sync"]).exit, 0);
    assert_eq!(antiphon(at, &["doctor", "--deep"]).exit, 0);
    assert_eq!(antiphon(at, &["export", "fine-session", "--as", "native"]).out, text);
}
