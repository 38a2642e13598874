//! `cargo xtask library`: keeping, listing, counting and searching generated sessions, compared
//! with `grep` and with agentsview, if it is installed.
//!
//! Sizes are megabytes, by default 100 and 1000 (`ANTIPHON_BENCH_MB=100,1000,4000`). The generator
//! is not in this repository; without it there is nothing to keep.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::Outcome;

/// Runs a command and prints its CPU seconds, its seconds, and its memory in kilobytes.
const MEASURE: &str = "
import resource, subprocess, sys, time
begun = time.time()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                      close_fds=False).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, time.time() - begun, used.ru_maxrss, code)
";

/// Words that are nowhere. All trigrams of the second are common: only a finer filter tells.
const NOWHERE: &[(&str, &[&str])] =
    &[("search a word nowhere", &["zqnowhere"]), ("search `returnable`, nowhere", &["returnable"])];

/// What is asked of events, with words and without, there or not.
const FIELDS: &[(&str, &[&str])] = &[
    ("search is:error", &["is:error"]),
    ("search tool:Write", &["tool:Write"]),
    ("search tool:Grep parser", &["tool:Grep", "parser"]),
    ("search tool:Nothing parser", &["tool:Nothing", "parser"]),
    ("search file:argparse.py", &["file:argparse.py"]),
    ("search file:nothinghere.py", &["file:nothinghere.py"]),
];

pub(crate) fn run(root: &Path) -> Outcome {
    let generator = root.join("../shared/bench/gen.py");
    if !generator.exists() {
        println!("library: skipped, the generator is not here");
        return Ok(ExitCode::SUCCESS);
    }
    let sizes = std::env::var_os("ANTIPHON_BENCH_MB");
    let sizes = sizes.and_then(|it| it.into_string().ok()).unwrap_or_else(|| "100,1000".to_owned());
    // All are removed at the end, because creating files is slow after many were removed.
    let all = std::env::temp_dir().join(format!("antiphon-library-{}", std::process::id()));
    let measured = sizes.split(',').try_for_each(|size| -> Result<(), Box<dyn Error>> {
        let folder = all.join(size);
        generate(&generator, &folder.join("home"), size)?;
        Bench { folder: &folder, binary: root.join("target/release/antiphon") }.run()
    });
    fs::remove_dir_all(&all)?;
    measured?;
    Ok(ExitCode::SUCCESS)
}

/// Generates that many megabytes of sessions below a home folder.
pub(crate) fn generate(
    generator: &Path,
    home: &Path,
    megabytes: &str,
) -> Result<(), Box<dyn Error>> {
    let mut make = Command::new("python3");
    make.arg(generator).arg(home).arg(megabytes).stdout(Stdio::null());
    if !make.status()?.success() {
        return Err("the generator failed".into());
    }
    Ok(())
}

pub(crate) struct Bench<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) binary: PathBuf,
}

/// What a command used.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    pub(crate) cpu: f64,
    pub(crate) seconds: f64,
    pub(crate) megabytes: f64,
}

impl Bench<'_> {
    fn run(&self) -> Result<(), Box<dyn Error>> {
        let home = self.folder.join("home");
        let raw = bytes_below(&home.join(".claude"))?;
        println!("library of {:.2} GB: CPU seconds, seconds, MB of memory", raw as f64 / 1e9);
        let first = self.ours("first sync", &["sync"])?;
        println!("    {:.1} CPU seconds per GB (wanted: 6)", first.cpu / (raw as f64 / 1e9));
        let kept = bytes_below(&self.folder.join("store"))?;
        println!("    the store is {:.1} % of the sources", 100.0 * kept as f64 / raw as f64);
        self.ours("sync, nothing new", &["sync"])?;
        self.ours("ls", &["ls"])?;
        self.fresh()?;
        self.ours("stats", &["stats"])?;
        self.ours("search a common word", &["search", "error"])?;
        self.ours("search by relevance", &["search", "--sort", "relevance", "cache"])?;
        for (what, words) in NOWHERE {
            self.ours(what, &[&["search"], *words].concat())?;
        }
        for (what, words) in FIELDS {
            self.ours(what, &[&["search"], *words].concat())?;
        }
        self.needles(&home)?;
        self.others(&home)
    }

    /// What it costs to look for what is new before answering, where nothing is: the median of some
    /// runs with and without, in turn.
    fn fresh(&self) -> Result<(), Box<dyn Error>> {
        const RUNS: usize = 15;
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            for (times, words) in [(&mut with, &["ls"][..]), (&mut without, &["ls", "--no-sync"])] {
                let begun = std::time::Instant::now();
                let status = self.command(&self.binary, words).stdout(Stdio::null()).status()?;
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
                if !status.success() {
                    return Err("antiphon failed".into());
                }
            }
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times.get(RUNS / 2).copied().unwrap_or_default()
        };
        let (with, without) = (median(&mut with), median(&mut without));
        println!(
            "  ls with nothing new {with:.0} ms, with --no-sync {without:.0} ms: {:.0} ms for being \
             fresh",
            with - without
        );
        Ok(())
    }

    pub(crate) fn ours(&self, what: &str, words: &[&str]) -> Result<Used, Box<dyn Error>> {
        let used = self.measure(&self.binary, words).ok_or("antiphon failed")?;
        show(&format!("antiphon {what}"), used);
        Ok(used)
    }

    /// Searches for every needle that the generator has hidden, each in a process of its own.
    fn needles(&self, home: &Path) -> Result<(), Box<dyn Error>> {
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs::read(home.join("manifest.json"))?)?;
        let needles = manifest.get("needles").and_then(|it| it.as_object()).ok_or("no needles")?;
        let (mut found, mut times) = (0, Vec::new());
        for (needle, place) in needles {
            let mut command = self.command(&self.binary, &["search", needle, "--json"]);
            let begun = std::time::Instant::now();
            let answer = command.stderr(Stdio::null()).output()?;
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
            let session = Path::new(place.as_str().unwrap_or_default()).iter().nth(3);
            let session = session.unwrap_or_default().to_string_lossy();
            let session = session.split('.').next().unwrap_or_default();
            found += usize::from(String::from_utf8_lossy(&answer.stdout).contains(session));
        }
        times.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let last = times.len().saturating_sub(1) as f64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
            times.get((last * part) as usize).copied().unwrap_or_default()
        };
        println!(
            "  {found} of {} needles found; half in {:.0} ms (wanted: 20 at 1 GB), 95 % in {:.0} ms \
             (wanted: 50), 99 % in {:.0} ms, all in {:.0} ms",
            needles.len(),
            at(0.5),
            at(0.95),
            at(0.99),
            at(1.0)
        );
        Ok(())
    }

    fn others(&self, home: &Path) -> Result<(), Box<dyn Error>> {
        let folder = home.join(".claude");
        let folder = folder.to_string_lossy();
        let grep = self.measure(Path::new("grep"), &["-rlF", "zqneedlethatisnowhere", &folder]);
        grep.into_iter().for_each(|used| show("grep -rF", used));
        let other = Path::new("agentsview");
        let Some(first) = self.measure(other, &["sync"]) else {
            println!("  agentsview                         not installed, or failed");
            return Ok(());
        };
        show("agentsview first sync", first);
        let again = self.measure(other, &["sync"]);
        again.into_iter().for_each(|used| show("agentsview sync, nothing new", used));
        let store = home.join(".agentsview");
        println!("    its store is {:.0} MB", bytes_below(&store).unwrap_or_default() as f64 / 1e6);
        Ok(())
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let home = self.folder.join("home");
        let mut command = Command::new(program);
        command.args(words).env("HOME", &home).env("ANTIPHON_HOME", self.folder.join("store"));
        command.env("AGENTSVIEW_NO_DAEMON", "1").env_remove("XDG_DATA_HOME");
        command.env_remove("CLAUDE_CONFIG_DIR");
        command
    }

    /// Measures a command; `None` if it cannot be run. An exit code for "nothing found" is a
    /// result.
    pub(crate) fn measure(&self, program: &Path, words: &[&str]) -> Option<Used> {
        let mut words = words.to_vec();
        let program = program.to_string_lossy();
        words.insert(0, &program);
        words.splice(0..0, ["-c", MEASURE]);
        let output = self.command(Path::new("python3"), &words).output().ok()?.stdout;
        let output = String::from_utf8(output).ok()?;
        let numbers: Vec<f64> =
            output.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        match numbers[..] {
            [cpu, seconds, kilobytes, code] if code <= 1.0 => {
                Some(Used { cpu, seconds, megabytes: kilobytes / 1000.0 })
            }
            _ => None,
        }
    }
}

pub(crate) fn show(what: &str, used: Used) {
    let Used { cpu, seconds, megabytes } = used;
    println!("  {what:<34} {cpu:>7.2} {seconds:>7.2} {megabytes:>6.0}");
}

pub(crate) fn bytes_below(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        bytes += if path.is_dir() { bytes_below(&path)? } else { fs::metadata(&path)?.len() };
    }
    Ok(bytes)
}
