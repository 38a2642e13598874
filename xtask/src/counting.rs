//! `cargo xtask counting`: `stats` over generated transcripts, compared with a lower bound
//! (reading, and counting newlines) and with other counters, if they are installed.
//!
//! The generator is not in this repository; without it there is nothing to count.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::Outcome;

const MEGABYTES: &str = "1000";

pub(crate) fn run(root: &Path) -> Outcome {
    let generator = root.join("../shared/bench/gen.py");
    if !generator.exists() {
        println!("stats: skipped, the generator is not here");
        return Ok(ExitCode::SUCCESS);
    }
    let home = std::env::temp_dir().join(format!("antiphon-counting-{}", std::process::id()));
    let mut make = Command::new("python3");
    make.arg(&generator).arg(&home).arg(MEGABYTES).stdout(Stdio::null());
    if !make.status()?.success() {
        return Err("the generator failed".into());
    }
    let done = measure(root, &home);
    fs::remove_dir_all(&home)?;
    done
}

fn measure(root: &Path, home: &Path) -> Outcome {
    let folder = home.join(".claude");
    let files = files_below(&folder)?;
    let mut bytes = 0;
    let mut newlines = 0;
    let before = own_cpu();
    for file in &files {
        let text = fs::read(file)?;
        bytes += text.len();
        newlines += text.iter().filter(|&&byte| byte == b'\n').count();
    }
    let floor = own_cpu() - before;
    let before = own_cpu();
    let mut texts = 0;
    for file in &files {
        texts += usize::from(String::from_utf8(fs::read(file)?).is_ok());
    }
    let of_text = own_cpu() - before;
    let gigabytes = bytes as f64 / 1e9;
    let per_gigabyte = |seconds: f64| seconds / gigabytes;
    println!("stats over {gigabytes:.1} GB, {newlines} lines, CPU seconds per GB");
    println!("  read and count newlines   {:.2}", per_gigabyte(floor));
    println!("  read and check UTF-8      {:.2} ({texts} files)", per_gigabyte(of_text));
    let binary = root.join("target/release/antiphon");
    let folder = folder.to_string_lossy();
    let others = [
        (
            "antiphon stats",
            binary.to_string_lossy().into_owned(),
            vec!["stats", &*folder, "--json"],
        ),
        ("ccusage", "ccusage".to_owned(), vec!["daily", "--json", "--offline"]),
        ("ccost", "ccost".to_owned(), vec!["--claude-dir", &*folder, "--table", "compact"]),
    ];
    for (name, program, arguments) in others {
        let mut command = Command::new(program);
        command.args(arguments).env("HOME", home).env("CLAUDE_CONFIG_DIR", &*folder);
        match cpu_of(&mut command) {
            Some(seconds) => println!(
                "  {name:<25} {:.2}, {:.1} times reading and counting newlines (wanted: 1.2)",
                per_gigabyte(seconds),
                seconds / floor
            ),
            None => println!("  {name:<25} not installed, or failed"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn files_below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    Ok(files)
}

/// The CPU seconds of a command, the better of two runs; `None` if it cannot be run.
fn cpu_of(command: &mut Command) -> Option<f64> {
    let mut best = f64::MAX;
    for _ in 0..2 {
        let before = childrens_cpu();
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        if !status.success() {
            return None;
        }
        best = best.min(childrens_cpu() - before);
    }
    Some(best)
}

/// The CPU time of finished children, in user and system mode, from `/proc`.
fn childrens_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, in parentheses, may contain spaces; the fields after it do not.
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let field = |at: usize| rest.split_whitespace().nth(at).and_then(|f| f.parse::<f64>().ok());
    // Ticks of a hundredth of a second.
    (field(13).unwrap_or_default() + field(14).unwrap_or_default()) / 100.0
}

pub(crate) fn own_cpu() -> f64 {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = schedstat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok());
    nanos.unwrap_or_default() / 1e9
}
