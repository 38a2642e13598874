//! Files that would take more memory than a machine has: each is read within a bound, or refused
//! with what to do about it.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

use crate::run::{folder, workspace};

/// What came of a command, and the most memory that it held, in megabytes.
struct Measured {
    out: String,
    err: String,
    exit: Option<i32>,
    megabytes: u64,
}

/// Runs the binary, and asks the system how much memory it took at most.
fn measure(arguments: &[&str]) -> Measured {
    let script = "\"$0\" \"$@\" & pid=$!; peak=0
        while kill -0 $pid 2>/dev/null; do
            now=$(sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/$pid/status 2>/dev/null)
            [ -n \"$now\" ] && peak=$now
            sleep 0.005
        done
        wait $pid; status=$?; echo \"peak $peak\" >&2; exit $status";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_antiphon")]).args(arguments);
    let done = command.env("HOME", "/nonexistent").current_dir(workspace()).output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr).into_owned();
    let (err, peak) = err.trim_end().rsplit_once("peak ").unwrap();
    Measured {
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        exit: done.status.code(),
        megabytes: peak.parse::<u64>().unwrap() / 1024,
        err: err.to_owned(),
    }
}

const LINE: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/work","version":"2.1.7","message":{"role":"user","content":"words"}}"#;

#[test]
fn a_log_is_shown_in_the_memory_of_a_few_lines() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let words = "words ".repeat(300);
    let line = |n: usize| {
        format!(
            "{{\"message_id\":\"m{n}\",\"agent_id\":\"a\",\"role\":\"user\",\"content\":\"{words}\"}}\n"
        )
    };
    fs::write(&path, (0..20_000).map(line).collect::<String>()).unwrap();
    let path = path.to_str().unwrap();
    let done = measure(&["tail", "--once", "--json", path]);
    assert_eq!((done.exit, done.out.lines().count()), (Some(0), 20_000), "{}", done.err);
    assert!(done.megabytes < 30, "{} MB", done.megabytes);
    let done = measure(&["tail", "--once", path]);
    assert_eq!((done.exit, done.out.lines().count()), (Some(0), 20_000), "{}", done.err);
    assert!(done.megabytes < 30, "{} MB", done.megabytes);
}

/// A file of zeros is a hole, and takes no room on the disk.
fn hole(path: &Path, begin: &str, len: u64, end: &str) {
    let mut file = File::create(path).unwrap();
    file.write_all(begin.as_bytes()).unwrap();
    file.seek(SeekFrom::Start(len)).unwrap();
    file.write_all(end.as_bytes()).unwrap();
}

#[test]
fn a_small_packed_file_that_unpacks_to_gigabytes_is_cut_and_it_is_said() {
    let folder = folder();
    let path = folder.path().join("bomb.jsonl.zst");
    // Frames of the same lines, each a few kilobytes packed.
    let frame = zstd::bulk::compress(format!("{LINE}\n").repeat(40_000).as_bytes(), 3).unwrap();
    fs::write(&path, frame.repeat(400)).unwrap();
    assert!(path.metadata().unwrap().len() < 2 << 20);
    let path = path.to_str().unwrap();
    let done = measure(&["view", "cost", path, "--max-memory", "32MB"]);
    assert_eq!(done.exit, Some(3), "{}{}", done.out, done.err);
    assert!(done.err.contains("`--max-memory`"), "{}", done.err);
    assert!(done.megabytes < 100, "{} MB", done.megabytes);
    let done = measure(&["scan", path]);
    assert_eq!(done.exit, Some(3), "{}{}", done.out, done.err);
    assert!(done.err.contains("`--max-memory`"), "{}", done.err);
    assert!(done.megabytes < 120, "{} MB", done.megabytes);
}

#[test]
fn a_document_that_takes_more_memory_than_is_allowed_is_refused() {
    let folder = folder();
    let path = folder.path().join("chat.json");
    let message = format!(r#"{{"role":"user","content":"{}"}}"#, "words ".repeat(1000));
    let messages = vec![message; 1000].join(",");
    fs::write(&path, format!(r#"{{"messages":[{messages}]}}"#)).unwrap();
    let path = path.to_str().unwrap();
    let done = measure(&["export", "--as", "openai", path, "--max-memory", "10MB"]);
    assert_eq!(done.exit, Some(4), "{}", done.err);
    assert!(done.err.contains("reading this 5 MB document needs"), "{}", done.err);
    assert!(done.err.contains("`--max-memory 100MB`"), "{}", done.err);
    assert_eq!(measure(&["export", "--as", "openai", path]).exit, Some(0));
    let wrong = measure(&["show", path, "--max-memory", "much"]);
    assert_eq!(wrong.exit, Some(2));
    assert!(wrong.err.contains("expected a size such as 512MB"), "{}", wrong.err);
}

#[test]
fn a_document_of_tiny_records_is_refused_before_they_take_the_memory() {
    let folder = folder();
    let path = folder.path().join("chat.json");
    let messages = vec![r#"{"role":"user","content":"ab"}"#; 200_000].join(",");
    fs::write(&path, format!("[{messages}]")).unwrap();
    let path = path.to_str().unwrap();
    let done = measure(&["show", path, "--max-memory", "64MB"]);
    assert_eq!(done.exit, Some(4), "{}", done.err);
    assert!(done.err.contains("`--max-memory 300MB`"), "{}", done.err);
    assert!(done.megabytes < 64, "{} MB", done.megabytes);
    let done = measure(&["show", path, "--max-memory", "300MB"]);
    assert_eq!(done.exit, Some(0), "{}", done.err);
    assert!(done.megabytes < 300, "{} MB", done.megabytes);
}

#[test]
fn a_line_of_hundreds_of_megabytes_is_named_and_the_rest_is_read() {
    let folder = folder();
    let path = folder.path().join("long.jsonl");
    hole(&path, &format!("{LINE}\n{{\"type\":\""), 70 << 20, &format!("\"}}\n{LINE}\n"));
    let done = measure(&["show", path.to_str().unwrap()]);
    assert_eq!(done.exit, Some(3), "{}{}", done.out, done.err);
    assert!(done.out.contains("line 2: skipped a line of 734"), "{}", done.out);
    assert!(!done.out.contains("Nothing lost"), "{}", done.out);
    assert!(done.megabytes < 130, "{} MB", done.megabytes);
}

#[test]
fn secrets_are_found_in_bounded_memory_wherever_they_stand() {
    let folder = folder();
    let path = folder.path().join("dump.txt");
    let secret = "AKIA2E0A8F3B244C9986";
    // No newline at all; a secret far behind everything that is read at once.
    let mut file = File::create(&path).unwrap();
    let words = "some words ".repeat(100_000);
    for _ in 0..100 {
        file.write_all(words.as_bytes()).unwrap();
    }
    file.write_all(format!("aws_access_key_id={secret} and on").as_bytes()).unwrap();
    drop(file);
    let done = measure(&["scan", path.to_str().unwrap()]);
    assert_eq!(done.exit, Some(1), "{}{}", done.out, done.err);
    assert!(done.out.contains("1 secret in 1 file"), "{}", done.out);
    assert!(done.megabytes < 120, "{} MB", done.megabytes);
    let clean = folder.path().join("clean.txt");
    let done = measure(&["redact", path.to_str().unwrap(), "-o", clean.to_str().unwrap()]);
    assert_eq!(done.exit, Some(0), "{}{}", done.out, done.err);
    assert!(done.megabytes < 120, "{} MB", done.megabytes);
    let clean = fs::read_to_string(clean).unwrap();
    assert!(
        clean.ends_with("=[redacted:aws-access-key-id] and on"),
        "{}",
        &clean[clean.len() - 60..]
    );
}
