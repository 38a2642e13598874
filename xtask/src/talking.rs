//! `cargo xtask talking`: what the runtime costs beside its models, whose answers are scripted.
//!
//! A hundred agents discuss for ten rounds and for a hundred (a million deliveries): the time per
//! round must not grow. Then the session goes on with ten thousand prompts, and every view is
//! asked.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use crate::Outcome;
use crate::library::Bench;

const AGENTS: usize = 100;
const PROMPTS: usize = 10_000;
const VIEWS: &[&str] = &[
    "tree",
    "dialog",
    "perspective",
    "transcript",
    "context",
    "causality",
    "delivery",
    "hooks",
    "flow",
    "timeline",
    "calls",
    "phases",
    "context-links",
    "spans",
    "cost",
];

pub(crate) fn run(root: &Path) -> Outcome {
    let folder = std::env::temp_dir().join(format!("antiphon-talking-{}", std::process::id()));
    fs::create_dir_all(folder.join("home"))?;
    let bench = Bench { folder: &folder, binary: root.join("target/release/antiphon") };
    let measured = measure(&bench);
    fs::remove_dir_all(&folder)?;
    measured?;
    Ok(ExitCode::SUCCESS)
}

fn measure(bench: &Bench<'_>) -> Result<(), Box<dyn Error>> {
    println!("{AGENTS} agents who talk: CPU seconds, seconds, MB of memory");
    for rounds in [10, 100] {
        let log = bench.folder.join(format!("log{rounds}.jsonl"));
        let cast = cast(bench.folder, rounds)?;
        let words = ["chat", "--cast", &cast, "--log", &text(&log), "--prompt", "Begin."];
        let used = bench.ours(&format!("chat, {rounds} rounds"), &words)?;
        let turns = (AGENTS * rounds) as f64;
        let bytes = fs::metadata(&log)?.len();
        println!(
            "    {:.3} ms of CPU time per turn of {AGENTS} messages; {:.2} GB of log",
            used.cpu * 1000.0 / turns,
            bytes as f64 / 1e9
        );
        goes_on(bench, &log, &cast)?;
        bench.ours("verify", &["verify", &text(&log)])?;
        for view in VIEWS {
            let mut words = vec!["view", view, "--json"];
            let log = text(&log);
            words.push(&log);
            if matches!(*view, "perspective" | "transcript" | "context") {
                words.extend(["--agent", "Agent 7"]);
            }
            bench.ours(&format!("view {view}"), &words)?;
        }
        fs::remove_file(&log)?;
    }
    Ok(())
}

/// Resumes a long session without and with prompts: the difference is what the turns cost.
fn goes_on(bench: &Bench<'_>, log: &Path, cast: &str) -> Result<(), Box<dyn Error>> {
    let copy = text(&bench.folder.join("copy.jsonl"));
    fs::copy(log, &copy)?;
    let resume = ["chat", "--resume", &copy, "--cast", cast];
    let before = bench.ours("chat --resume", &resume)?;
    let prompts = ["--prompt", "And?"].repeat(PROMPTS);
    let name = format!("chat --resume, {PROMPTS} prompts");
    let after = bench.ours(&name, &[&resume[..], &prompts].concat())?;
    let answers = fs::read_to_string(&copy)?.matches("\"Answer ").count();
    if answers != PROMPTS + 1 {
        return Err(format!("{answers} answers of {}", PROMPTS + 1).into());
    }
    let each = (after.cpu - before.cpu) * 1000.0 / PROMPTS as f64;
    println!("    {each:.3} ms of CPU time per turn of one agent (wanted: below 1)");
    Ok(fs::remove_file(copy)?)
}

/// A cast of many agents, and its script.
fn cast(folder: &Path, rounds: usize) -> Result<String, Box<dyn Error>> {
    let mut cast = String::from("model = \"script:turns.jsonl\"\n[root]\nname = \"Host\"\n");
    let names: Vec<String> = (1..=AGENTS).map(|number| format!("Agent {number}")).collect();
    for name in &names {
        write!(cast, "[[agent]]\nname = \"{name}\"\nsystem = \"You are {name}.\"\n")?;
    }
    cast.push_str("[limits]\nagents = 1000\nturns = 1000000\n");
    let arguments = json!({"prompt": "Talk.", "speakers": names, "rounds": rounds});
    let call = json!([{"name": "discuss", "arguments": arguments}]);
    let mut turns = format!("{}\n", json!({"agent": "Host", "tool_calls": call}));
    for round in 1..=rounds {
        for name in &names {
            let words = format!("This is what {name} says in round {round}.");
            writeln!(turns, "{}", json!({"agent": name, "content": words}))?;
        }
    }
    for number in 0..=PROMPTS {
        let words = format!("Answer {number}.");
        writeln!(turns, "{}", json!({"agent": "Host", "content": words}))?;
    }
    fs::write(folder.join("turns.jsonl"), turns)?;
    fs::write(folder.join("cast.toml"), cast)?;
    Ok(text(&folder.join("cast.toml")))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
