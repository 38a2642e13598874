//! `cargo xtask startup`: how long `antiphon --version` takes, and how large the binary is.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

const RUNS: usize = 50;

pub(crate) fn run(root: &Path) -> Outcome {
    let binary = root.join("target/release/antiphon");
    let bytes = std::fs::metadata(&binary)?.len();
    let ours = median(&binary, &["--version"])?;
    // The lower bound: starting any process at all.
    let floor = median(Path::new("true"), &[])?;
    println!("start");
    println!("  antiphon --version   {:.1} ms   true {:.1} ms", millis(ours), millis(floor));
    println!("  binary               {:.1} MB", bytes as f64 / 1e6);
    Ok(ExitCode::SUCCESS)
}

fn median(program: &Path, arguments: &[&str]) -> Result<Duration, std::io::Error> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let begun = Instant::now();
        Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(RUNS / 2).copied().unwrap_or_default())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
