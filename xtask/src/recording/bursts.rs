//! Bursts: how much of one is recorded, what it costs on disk, how late the recorder ends, and when
//! everything is written.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::nanos;
use crate::Outcome;

/// Set for the process that prints one: what, how many bytes, how many of them per second, and
/// where to write when it ends.
pub(super) const BURST: &str = "ANTIPHON_XTASK_BURST";
/// Measure only the bursts whose names contain this.
const ONLY: &str = "ANTIPHON_XTASK_ONLY";
/// How long the rest of a recording may take to be written.
const MOST_WAIT: Duration = Duration::from_secs(600);

/// A burst: its name, what is printed, megabytes of it, and megabytes a second, if not all at once.
const BURSTS: &[(&str, &str, u64, u64)] = &[
    ("seq 1 2000000", "seq", 0, 0),
    ("40 MB of `yes`", "yes", 40, 0),
    ("500 MB at once", "lines", 500, 0),
    ("2 GB, 100 MB a second", "lines", 2_000, 100),
    ("10 GB, 100 MB a second", "lines", 10_000, 100),
];

pub(super) fn run(antiphon: &Path, own: &Path, store: &Path) -> Result<(), std::io::Error> {
    println!("bursts");
    // The last takes minutes and more than 10 GB of disk, so it runs only on request.
    let only = std::env::var(ONLY);
    let wanted = |name: &str| match &only {
        Ok(word) => name.contains(word),
        Err(_) => !name.starts_with("10 GB"),
    };
    let end = store.with_extension("end");
    for &(name, what, megabytes, rate) in BURSTS.iter().filter(|burst| wanted(burst.0)) {
        let (bytes, rate) = (megabytes * 1_000_000, rate * 1_000_000);
        let burst = format!("{what} {bytes} {rate} {}", end.display());
        let mut bare = Command::new(own);
        let (alone, ..) = watch(bare.arg("recording").env(BURST, &burst), &end)?;
        let mut recorded = Command::new(antiphon);
        recorded.env("ANTIPHON_HOME", store).args(["record", "--"]).arg(own).arg("recording");
        let (took, printed, late) = watch(recorded.env(BURST, &burst), &end)?;
        let ended = Instant::now();
        while !is_written(store)? && ended.elapsed() < MOST_WAIT {
            std::thread::sleep(Duration::from_millis(20));
        }
        let written = ended.elapsed();
        let (kept, size) = kept(store)?;
        println!(
            "  {name:<24} kept {:>6.2} % of {printed} bytes, {:.3} times on disk; {:.2} s alone, \
             {:.2} s recorded; ended {:.0} ms after the command, written {:.2} s after that",
            kept as f64 / printed as f64 * 100.0,
            size as f64 / printed as f64,
            alone.as_secs_f64(),
            took.as_secs_f64(),
            late as f64 / 1e6,
            written.as_secs_f64(),
        );
        std::fs::remove_dir_all(store)?;
    }
    std::fs::remove_file(&end)
}

/// Prints a burst.
pub(super) fn play(burst: &str) -> Outcome {
    let mut words = burst.splitn(4, ' ');
    let what = words.next().unwrap_or_default();
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or_default();
    let (bytes, rate) = (number(), number());
    let end = words.next().unwrap_or_default().to_owned();
    let mut out = std::io::stdout().lock();
    if what == "seq" {
        let all: String = (1..=2_000_000).map(|n| format!("{n}\n")).collect();
        out.write_all(all.as_bytes())?;
    } else {
        // Lines as programs print them, or the shortest possible; no two blocks of them are equal.
        let begun = Instant::now();
        let mut printed = 0;
        while printed < bytes {
            let block: String = match what {
                "yes" => "y\n".repeat(32 << 10),
                _ => (0..1000)
                    .map(|n| {
                        format!("{printed:>12} {n:>4} compiled the module and ran its tests\n")
                    })
                    .collect(),
            };
            out.write_all(block.as_bytes())?;
            printed += block.len() as u64;
            if let Some(due) = printed.saturating_mul(1_000_000_000).checked_div(rate) {
                std::thread::sleep(Duration::from_nanos(due).saturating_sub(begun.elapsed()));
            }
        }
    }
    out.flush()?;
    std::fs::write(end, nanos().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a command and reads its output: how long all of it took, how many bytes there were, and how
/// many nanoseconds after the end of the burst it ended.
fn watch(command: &mut Command, end: &Path) -> Result<(Duration, u64, u64), std::io::Error> {
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut printed = 0;
    if let Some(mut out) = child.stdout.take() {
        let mut buffer = vec![0; 1 << 20];
        loop {
            match out.read(&mut buffer)? {
                0 => break,
                count => printed += count as u64,
            }
        }
    }
    child.wait()?;
    let (took, now) = (begun.elapsed(), nanos());
    let ended = std::fs::read_to_string(end)?.parse().unwrap_or(now);
    Ok((took, printed, now.saturating_sub(ended)))
}

/// Whether the only recording in a store has its end.
fn is_written(store: &Path) -> Result<bool, std::io::Error> {
    let log = log_of(store)?;
    let tail = Command::new("tail").args(["-c", "2000"]).arg(&log).output()?;
    Ok(String::from_utf8_lossy(&tail.stdout).contains("\"session_ended\""))
}

/// How many bytes of output it contains, and how many it takes.
fn kept(store: &Path) -> Result<(u64, u64), std::io::Error> {
    let (mut kept, mut size) = (0, 0);
    for line in BufReader::with_capacity(1 << 20, File::open(log_of(store)?)?).lines() {
        let line = line?;
        size += line.len() as u64 + 1;
        let event: Value = serde_json::from_str(&line)?;
        if let Some(text) = event.get("content").and_then(Value::as_str) {
            let times = event.get("times").and_then(Value::as_u64).unwrap_or(1);
            kept += (text.len() as u64 + 1) * times;
        }
    }
    Ok((kept, size))
}

fn log_of(store: &Path) -> Result<std::path::PathBuf, std::io::Error> {
    let session = std::fs::read_dir(store.join("sessions"))?.next();
    let session = session.ok_or(std::io::ErrorKind::NotFound)??;
    Ok(session.path().join("000001.jsonl"))
}
