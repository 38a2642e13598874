//! `cargo xtask growth`: what a library costs as it grows, as two tables.
//!
//! The first grows in bytes (`GROWTH_MB`, by default 0.1, 1 and 10 GB of generated sessions), the
//! second in sessions of about 10 KB (`GROWTH_SESSIONS`, by default 100 to 50,000). Costs that grow
//! with the library are printed per gigabyte or per thousand sessions, so a column of equal numbers
//! is linear growth; a column that falls is better.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Outcome;
use crate::library::{Bench, Used, bytes_below, generate};
use crate::small::{disk_bytes, make};

/// A word that no session has.
const ABSENT: &str = "zqneedlethatisnowhere";

pub(crate) fn run(root: &Path) -> Outcome {
    let all = std::env::temp_dir().join(format!("antiphon-growth-{}", std::process::id()));
    let measured = by_bytes(root, &all).and_then(|()| by_sessions(root, &all));
    if all.exists() {
        fs::remove_dir_all(&all)?;
    }
    measured?;
    Ok(ExitCode::SUCCESS)
}

fn by_bytes(root: &Path, all: &Path) -> Result<(), Box<dyn Error>> {
    let generator = root.join("../shared/bench/gen.py");
    if !generator.exists() {
        println!("growth in bytes: skipped, the generator is not here");
        return Ok(());
    }
    println!("growth in bytes; CPU seconds for each GB");
    heads();
    for size in list("GROWTH_MB", "100,1000,10000") {
        let folder = all.join(&size);
        generate(&generator, &folder.join("home"), &size)?;
        let gigabytes = bytes_below(&folder.join("home/.claude"))? as f64 / 1e9;
        measure(root, &folder, &format!("{gigabytes:.2} GB"), gigabytes)?;
        // The next one is larger, and there may not be room for both.
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

fn by_sessions(root: &Path, all: &Path) -> Result<(), Box<dyn Error>> {
    println!("growth in sessions of about 10 KB; CPU seconds for each thousand");
    heads();
    for count in list("GROWTH_SESSIONS", "100,1000,10000,50000") {
        let folder = all.join(format!("sessions-{count}"));
        let sessions: usize = count.parse()?;
        make(root, &folder.join("home"), sessions, 8)?;
        measure(root, &folder, &count, sessions as f64 / 1000.0)?;
        fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

fn list(variable: &str, default: &str) -> Vec<String> {
    let given = std::env::var_os(variable).and_then(|it| it.into_string().ok());
    given.unwrap_or_else(|| default.to_owned()).split(',').map(str::to_owned).collect()
}

fn heads() {
    println!(
        "  {:>10} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "first sync", "MB", "store", "again", "stats DIR", "ls ms", "stats ms", "absent ms"
    );
}

fn measure(root: &Path, folder: &Path, name: &str, units: f64) -> Result<(), Box<dyn Error>> {
    let bench = Bench { folder, binary: root.join("target/release/antiphon") };
    let claude = folder.join("home/.claude");
    let raw = bytes_below(&claude)?;
    let first = best(&bench, 1, &["sync"])?;
    let kept = disk_bytes(&folder.join("store"))?;
    let again = best(&bench, 3, &["sync"])?;
    let claude = claude.to_string_lossy();
    let counted = best(&bench, 2, &["stats", &claude])?;
    let listed = best(&bench, 5, &["ls"])?;
    let stats = best(&bench, 5, &["stats"])?;
    let absent = best(&bench, 5, &["search", ABSENT])?;
    println!(
        "  {name:>10} {:>10.2} {:>8.0} {:>7.1} % {:>9.3} {:>9.2} {:>9.0} {:>9.0} {:>9.0}",
        first.cpu / units,
        first.megabytes,
        100.0 * kept as f64 / raw as f64,
        again.cpu / units,
        counted.cpu / units,
        listed.cpu * 1000.0,
        stats.cpu * 1000.0,
        absent.cpu * 1000.0,
    );
    Ok(())
}

/// The best of that many runs, by CPU time.
fn best(bench: &Bench<'_>, runs: usize, words: &[&str]) -> Result<Used, Box<dyn Error>> {
    let binary: &PathBuf = &bench.binary;
    let all = (0..runs).filter_map(|_| bench.measure(binary, words));
    let best = all.min_by(|a, b| a.cpu.total_cmp(&b.cpu));
    best.ok_or_else(|| format!("antiphon {} failed", words.join(" ")).into())
}
