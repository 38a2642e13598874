//! `cargo xtask shapes`: what a large session and a full folder cost, each beside what is wanted,
//! and compared with another binary if one is named (`OTHER=path`).
//!
//! By default a log and a transcript of Claude Code with a million events, a gigabyte each
//! (`EVENTS=n` for others; what is wanted is for the default). CPU seconds and memory can be
//! trusted on a busy machine; seconds cannot.

mod inputs;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Outcome;
use crate::library::{Bench, Used, show};
use crate::small;

const EVENTS: usize = 1_000_000;

/// Every export that streams, and what its memory must stay below at a gigabyte.
const EXPORTS: &[&str] = &[
    "antiphon",
    "std",
    "std-001",
    "std-008",
    "transcript",
    "atif",
    "openai",
    "otlp",
    "html",
    "markdown",
];
const EXPORT_MEGABYTES: f64 = 300.0;

/// What reads a whole session, and the CPU seconds that are wanted: a third of what it took when
/// each of them decoded more than it showed.
const READERS: &[(&[&str], f64)] = &[
    (&["view", "timeline"], 5.7),
    (&["tail", "--once"], 5.3),
    (&["view", "transcript", "--agent", "a1"], 4.3),
    (&["export", "--as", "antiphon"], 7.7),
];

/// What is wanted of a row.
#[derive(Clone, Copy)]
enum Bar {
    Cpu(f64),
    Seconds(f64),
    Megabytes(f64),
}

pub(crate) fn run(root: &Path) -> Outcome {
    let events = std::env::var_os("EVENTS").and_then(|it| it.to_str()?.parse().ok());
    let folder = std::env::temp_dir().join(format!("antiphon-shapes-{}", std::process::id()));
    fs::create_dir_all(folder.join("home"))?;
    let other = std::env::var_os("OTHER").map(PathBuf::from);
    let mut binaries = other.into_iter().chain([root.join("target/release/antiphon")]);
    let measured = inputs::write(&folder, events.unwrap_or(EVENTS)).and_then(|()| {
        binaries.try_for_each(|binary| {
            println!("{}: CPU seconds, seconds, MB of memory", binary.display());
            measure(root, &Bench { folder: &folder, binary })
        })
    });
    fs::remove_dir_all(&folder)?;
    measured?;
    Ok(ExitCode::SUCCESS)
}

fn measure(root: &Path, bench: &Bench<'_>) -> Result<(), Box<dyn Error>> {
    folders(root, bench)?;
    let log = append(bench)?;
    let transcript = text(&bench.folder.join(inputs::TRANSCRIPT));
    println!(" one page about a session");
    for (what, session) in [("a log", &log), ("a transcript", &transcript)] {
        let used = row(bench, &format!("show, {what}"), &["show", session])?;
        verdict(used, Bar::Seconds(2.0));
        verdict(used, Bar::Megabytes(200.0));
    }
    println!(" what reads a whole log (P8)");
    for (words, wanted) in READERS {
        let used = row(bench, &words.join(" "), &[*words, &[&log]].concat())?;
        verdict(used, Bar::Cpu(*wanted));
    }
    for (what, session) in [("a log", &log), ("a transcript", &transcript)] {
        println!(" every export of {what} (P4)");
        for format in EXPORTS {
            let used = row(bench, format, &["export", "--as", format, session])?;
            verdict(used, Bar::Megabytes(EXPORT_MEGABYTES));
        }
    }
    let used = row(bench, "native", &["export", "--as", "native", &transcript])?;
    verdict(used, Bar::Megabytes(EXPORT_MEGABYTES));
    fs::remove_file(&log)?;
    agents(bench)
}

/// `stats` over many sessions in one folder, which must not cost more than in many.
fn folders(root: &Path, bench: &Bench<'_>) -> Result<(), Box<dyn Error>> {
    println!(" `stats` of 2,000 small sessions (P2)");
    let mut cpu = Vec::new();
    for folders in [40, 1] {
        let home = bench.folder.join(format!("folders-{folders}"));
        small::make(root, &home, 2_000, folders)?;
        let used = row(bench, &format!("{folders} folders"), &["stats", &text(&home)])?;
        cpu.push(used.cpu);
        fs::remove_dir_all(home)?;
    }
    ratio("one folder, beside forty", &cpu, 1.5);
    let home = bench.folder.join("home");
    small::make(root, &home, 20_000, 8)?;
    row(bench, "20,000 small sessions", &["stats", &text(&home)])?;
    match bench.measure(Path::new("ccusage"), &["daily", "--json", "--offline"]) {
        Some(used) => show("the same with ccusage", used),
        None => println!("  {:<34} not installed, or failed", "the same with ccusage"),
    }
    fs::remove_dir_all(home.join(".claude"))?;
    Ok(())
}

/// Appends all events to a new log, and then a few more to it (P7); returns its path.
fn append(bench: &Bench<'_>) -> Result<String, Box<dyn Error>> {
    println!(" `append` (P7)");
    let log = text(&bench.folder.join("log.jsonl"));
    let from = |what: &str, drafts: &str| {
        let drafts = text(&bench.folder.join(drafts));
        let binary = text(&bench.binary);
        let script = r#"exec "$0" append "$1" < "$2""#;
        let used = bench.measure(Path::new("sh"), &["-c", script, &binary, &log, &drafts]);
        used.inspect(|used| show(what, *used)).ok_or("append failed")
    };
    let all = from("all events, a new log", inputs::DRAFTS)?;
    let floor = inputs::bare_writes(&bench.folder.join(inputs::DRAFTS))?;
    ratio("beside a bare write per line", &[floor, all.cpu], 2.0);
    let used = from("a few, to that log", inputs::FEW)?;
    verdict(used, Bar::Cpu(0.25));
    Ok(log)
}

/// A document of many agents, which must not cost more than one of few with as many events.
fn agents(bench: &Bench<'_>) -> Result<(), Box<dyn Error>> {
    println!(" `export --as std` of 100,000 events (P3)");
    let mut cpu = Vec::new();
    for count in [10, 10_000] {
        let log = bench.folder.join("agents.jsonl");
        inputs::with_agents(&bench.binary, &log, 100_000, count)?;
        let what = format!("{count} agents");
        cpu.push(row(bench, &what, &["export", "--as", "std", &text(&log)])?.cpu);
        fs::remove_file(log)?;
    }
    ratio("ten thousand agents, beside ten", &cpu, 3.0);
    Ok(())
}

fn row(bench: &Bench<'_>, what: &str, words: &[&str]) -> Result<Used, Box<dyn Error>> {
    let used = bench.measure(&bench.binary, words);
    let used = used.ok_or_else(|| format!("antiphon {} failed", words.join(" ")))?;
    show(what, used);
    Ok(used)
}

fn verdict(used: Used, bar: Bar) {
    let (is, wanted, unit) = match bar {
        Bar::Cpu(wanted) => (used.cpu, wanted, "CPU seconds"),
        Bar::Seconds(wanted) => (used.seconds, wanted, "seconds"),
        Bar::Megabytes(wanted) => (used.megabytes, wanted, "MB"),
    };
    println!("    wanted: at most {wanted} {unit}: {}", word(is <= wanted));
}

/// How much more the last costs than the first.
fn ratio(what: &str, costs: &[f64], wanted: f64) {
    if let [first, .., last] = costs {
        let is = last / first;
        println!("    {what}: {is:.2} times (wanted: at most {wanted}): {}", word(is <= wanted));
    }
}

fn word(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
