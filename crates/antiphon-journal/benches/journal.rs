//! `make bench`: how fast the log is written and read, each beside what cannot be beaten: a bare
//! `write` loop, and `wc -l` on the same bytes, in the same run.
//!
//! Reading is told per CPU second of this thread, so that a busy machine does not matter; appending
//! in wall time, because it waits for the kernel. Ratios are what counts, not the figures.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench talks to a person"
)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use antiphon_journal::{Draft, Level, Log, Options, Writer};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    // One part alone: `cargo bench -- append`, or `read`, or `250`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|word| part.contains(&**word));
    if wants("append") {
        println!("append, records of 2 KB, one writer");
        append(folder.path());
    }
    println!("\nread and fold, hashes checked");
    for (name, line_bytes, total) in [("5 KB lines", 5_000, 400), ("250 B lines", 250, 250)] {
        if wants(&format!("read {name}")) {
            read(folder.path(), name, line_bytes, total << 20);
        }
    }
}

/// Events of about `bytes` bytes each: talk, and in every eight a call and its result.
fn draft(at: usize, bytes: usize) -> Draft {
    let room = bytes.saturating_sub(SHELL_BYTES);
    let text = "a line of code, or what somebody said about it. ".repeat(room / 48 + 1);
    let text = &text[..room];
    let agent = at / 7 % 3;
    Draft::from_json(&match at % 8 {
        1 => format!(
            r#"{{"agent_id":"a{agent}","role":"assistant","tool_calls":[{{"id":"c{at}","function":{{"name":"Read","arguments":"{text}"}}}}]}}"#
        ),
        2 => format!(
            r#"{{"agent_id":"a{agent}","role":"tool","tool_call_id":"c{}","content":"{text}"}}"#,
            at - 1
        ),
        0 | 3 | 5 => format!(r#"{{"agent_id":"a{agent}","role":"user","content":"{text}"}}"#),
        _ => format!(r#"{{"agent_id":"a{agent}","role":"assistant","content":"{text}"}}"#),
    })
    .unwrap()
}

/// What an event takes beside its text.
const SHELL_BYTES: usize = 55;
/// What the writer adds: id, time and seal.
const SEAL_BYTES: usize = 220;

fn append(folder: &Path) {
    let drafts: Vec<Draft> = (0..999).map(|at| draft(at, 2048)).collect();
    let path = folder.join("append.jsonl");
    for (level, name, count, batch) in [
        (Level::Os, "os", 60_000, 1),
        (Level::Interval, "interval", 60_000, 1),
        (Level::Disk, "disk", 200, 1),
        (Level::Disk, "disk, 100 at a time", 20_000, 100),
    ] {
        // Each beside its own floor: the very same lines, right after.
        let (mut best, mut floor) = (f64::MAX, f64::MAX);
        for _ in 0..3 {
            let options = Options { level, ..Options::default() };
            let writer = Writer::open(&path, options).unwrap();
            let begun = Instant::now();
            for at in (0..count).step_by(batch) {
                let from = at % (drafts.len() - batch);
                match batch {
                    1 => drop(writer.append(&drafts[from]).unwrap()),
                    _ => drop(writer.append_batch(&drafts[from..from + batch]).unwrap()),
                }
            }
            best = best.min(begun.elapsed().as_secs_f64());
            writer.close().unwrap();
            let written = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            floor = floor.min(raw_writes(&path, &written));
        }
        let (rate, raw) = (count as f64 / best, count as f64 / floor);
        println!(
            "  {name:<20} {rate:>9.0} /s   bare write loop {raw:>9.0} /s   ratio {:.2}",
            rate / raw
        );
    }
}

/// The same lines, each with one bare `write`.
fn raw_writes(path: &Path, written: &[u8]) -> f64 {
    let lines: Vec<&[u8]> = written.split_inclusive(|&byte| byte == b'\n').collect();
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    let begun = Instant::now();
    for line in lines {
        assert_eq!(file.write(line).unwrap(), line.len());
    }
    let elapsed = begun.elapsed().as_secs_f64();
    std::fs::remove_file(path).unwrap();
    elapsed
}

fn read(folder: &Path, name: &str, line_bytes: usize, total: usize) {
    let path = folder.join("read.jsonl");
    let writer = Writer::open(&path, Options { level: Level::Os, ..Options::default() }).unwrap();
    for at in 0..total / line_bytes {
        writer.append(&draft(at, line_bytes.saturating_sub(SEAL_BYTES))).unwrap();
    }
    drop(writer);
    let log = Log::find(&path).unwrap();
    let mut best = f64::MAX;
    let mut session = None;
    for _ in 0..3 {
        let begun = cpu_seconds();
        session = Some(log.fold().unwrap());
        best = best.min(cpu_seconds() - begun);
    }
    let (session, summary) = session.unwrap();
    assert!(session.problems().is_empty(), "{:?}", session.problems().first());
    let megabytes = summary.bytes as f64 / 1e6;
    let events = session.len() as f64;
    println!(
        "  {name:<12} {:>6.0} MB/s   {:>9.0} events/s of {:.0} bytes   {:>4.0} kept of each",
        megabytes / best,
        events / best,
        summary.bytes as f64 / events,
        session.heap_bytes() as f64 / events,
    );
    let counted = |program: &str, arguments: &[&str]| {
        let begun = Instant::now();
        let done = Command::new(program).args(arguments).arg(&path).output();
        done.is_ok_and(|done| done.status.success()).then(|| begun.elapsed().as_secs_f64())
    };
    let wc = counted("wc", &["-l"]).map_or(f64::NAN, |seconds| megabytes / seconds);
    let begun = cpu_seconds();
    let mut block = vec![0; 256 << 10];
    let mut file = File::open(&path).unwrap();
    while file.read(&mut block).unwrap() > 0 {}
    let read = megabytes / (cpu_seconds() - begun);
    println!("  {:<12} {wc:>6.0} MB/s wc -l   {read:.0} MB/s bare read loop", "");
    std::fs::remove_file(&path).unwrap();
}

/// What this thread has used of a processor; wall time where the system does not tell.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match told.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()) {
        Some(nanos) => nanos / 1e9,
        None => Instant::now().duration_since(*START).as_secs_f64(),
    }
}

static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
