//! `cargo xtask recording`: how recording affects an agent: the delay of each line, and of the
//! whole; and how much of a burst is recorded, what it costs on disk, and when the recorder ends.
//!
//! The agent is this program: it prints the time, line by line, and the reader compares. A burst is
//! printed by this program too.

#![expect(clippy::disallowed_methods, reason = "two processes have only the machine's clock")]

mod bursts;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Outcome;

const LINES: usize = 3000;
/// Set for the process that plays the agent.
const AGENT: &str = "ANTIPHON_XTASK_AGENT";

pub(crate) fn run(root: &Path) -> Outcome {
    if let Some(burst) = std::env::var_os(bursts::BURST) {
        return bursts::play(&burst.to_string_lossy());
    }
    if std::env::var_os(AGENT).is_some() {
        return play();
    }
    let own = std::env::current_exe()?;
    let store = std::env::temp_dir().join(format!("antiphon-recording-{}", std::process::id()));
    let bare = || {
        let mut command = Command::new(&own);
        command.arg("recording");
        command
    };
    let recorded = || {
        let mut command = Command::new(root.join("target/release/antiphon"));
        command.env("ANTIPHON_HOME", &store).args(["record", "--"]).arg(&own).arg("recording");
        command
    };
    println!("recording: {LINES} lines of 600 bytes, a millisecond apart");
    for (name, command) in [("bare", &bare as &dyn Fn() -> Command), ("recorded", &recorded)] {
        let (took, mut late) = watch(&mut command())?;
        late.sort_unstable();
        let at = |percent: usize| late.get(late.len() * percent / 100).copied().unwrap_or_default();
        println!(
            "  {name:<10} {:>7.1} ms in all   a line's way: half {:.2} ms, 99 % {:.2} ms",
            took.as_secs_f64() * 1000.0,
            at(50) as f64 / 1e6,
            at(99) as f64 / 1e6,
        );
    }
    std::fs::remove_dir_all(&store)?;
    bursts::run(&root.join("target/release/antiphon"), &own, &store)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints as an agent does.
fn play() -> Outcome {
    let mut out = std::io::stdout().lock();
    let words = "x".repeat(560);
    let begun = Instant::now();
    for line in 0..LINES {
        let due = Duration::from_millis(line as u64);
        std::thread::sleep(due.saturating_sub(begun.elapsed()));
        writeln!(out, "{{\"type\":\"note\",\"at\":\"{:>20}\",\"text\":\"{words}\"}}", nanos())?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How long the command took, and how late each line came, in nanoseconds.
fn watch(command: &mut Command) -> Result<(Duration, Vec<u64>), std::io::Error> {
    let begun = Instant::now();
    let mut child = command.env(AGENT, "1").stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut late = Vec::with_capacity(LINES);
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            let now = nanos();
            let line = line?;
            let printed = line.get(21..41).and_then(|at| at.trim().parse().ok()).unwrap_or(now);
            late.push(now.saturating_sub(printed));
        }
    }
    child.wait()?;
    Ok((begun.elapsed(), late))
}

fn nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
