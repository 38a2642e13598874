//! What the chore reads: drafts of a log, and a transcript as Claude Code writes it.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::counting::own_cpu;

pub(super) const DRAFTS: &str = "drafts.jsonl";
pub(super) const FEW: &str = "few.jsonl";
pub(super) const TRANSCRIPT: &str = "5e551005-0000-4000-8000-000000000001.jsonl";

const SENTENCE: &str = "a line of code, or what somebody said about it. ";

/// Writes all inputs into a folder.
pub(super) fn write(folder: &Path, events: usize) -> Result<(), Box<dyn Error>> {
    let words = SENTENCE.repeat(20);
    let mut drafts = BufWriter::new(File::create(folder.join(DRAFTS))?);
    let mut transcript = BufWriter::new(File::create(folder.join(TRANSCRIPT))?);
    for at in 0..events {
        let text = words.get(..600 + at * 37 % 300).unwrap_or_default();
        drafts.write_all(draft(at, 3, text).as_bytes())?;
        transcript.write_all(line(at, text).as_bytes())?;
    }
    drafts.flush()?;
    transcript.flush()?;
    let few: String = (events..events + 10).map(|at| draft(at, 3, SENTENCE)).collect();
    fs::write(folder.join(FEW), few)?;
    Ok(())
}

/// Of eight events one is a call and one its result; the others are messages.
fn draft(at: usize, agents: usize, text: &str) -> String {
    let agent = at / 8 % agents;
    let mut line = match at % 8 {
        1 => format!(
            r#"{{"agent_id":"a{agent}","role":"assistant","tool_calls":[{{"id":"c{at}","function":{{"name":"Read","arguments":"{{\"file_path\":\"src/{}.rs\",\"note\":\"{text}\"}}"}}}}]}}"#,
            at % 977
        ),
        2 => format!(
            r#"{{"agent_id":"a{agent}","role":"tool","tool_call_id":"c{}","content":"{text}"}}"#,
            at - 1
        ),
        0 | 3 | 5 => {
            format!(r#"{{"agent_id":"a{agent}","role":"user","content":"{at} {text}"}}"#)
        }
        _ => format!(r#"{{"agent_id":"a{agent}","role":"assistant","content":"{at} {text}"}}"#),
    };
    line.push('\n');
    line
}

/// The same events as lines of Claude Code.
fn line(at: usize, text: &str) -> String {
    let uuid = |at: usize| format!("{at:08x}-0000-4000-8000-000000000000");
    let parent = if at == 0 { "null".to_owned() } else { format!("\"{}\"", uuid(at - 1)) };
    let usage = r#""usage":{"input_tokens":3,"output_tokens":200}"#;
    let model = r#""model":"claude-sonnet-4-5-20250929""#;
    let (kind, message) = match at % 8 {
        1 => (
            "assistant",
            format!(
                r#"{{"role":"assistant","id":"msg_{at}",{model},"content":[{{"type":"tool_use","id":"toolu_{at}","name":"Read","input":{{"file_path":"src/{}.rs","note":"{text}"}}}}],{usage}}}"#,
                at % 977
            ),
        ),
        2 => (
            "user",
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{}","content":"{text}"}}]}}"#,
                at - 1
            ),
        ),
        0 | 3 | 5 => ("user", format!(r#"{{"role":"user","content":"{at} {text}"}}"#)),
        _ => (
            "assistant",
            format!(
                r#"{{"role":"assistant","id":"msg_{at}",{model},"content":[{{"type":"text","text":"{at} {text}"}}],{usage}}}"#
            ),
        ),
    };
    let id = TRANSCRIPT.trim_end_matches(".jsonl");
    let (minutes, seconds) = (at / 60_000 % 60, at / 1000 % 60);
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/srv/project","sessionId":"{id}","version":"2.0.76","type":"{kind}","message":{message},"uuid":"{}","timestamp":"2026-05-01T10:{minutes:02}:{seconds:02}.{:03}Z"}}"#,
        uuid(at),
        at % 1000
    ) + "\n"
}

/// Writes a log of that many events with the given binary; its agents are created first.
pub(super) fn with_agents(
    binary: &Path,
    log: &Path,
    events: usize,
    agents: usize,
) -> Result<(), Box<dyn Error>> {
    let mut append = Command::new(binary);
    append.arg("append").arg(log).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut append = append.spawn()?;
    if let Some(stdin) = append.stdin.take() {
        let mut drafts = BufWriter::new(stdin);
        for agent in 0..agents {
            writeln!(
                drafts,
                r#"{{"event_type":"agent_created","agent_id":"a{agent}","name":"Agent {agent}"}}"#
            )?;
        }
        for at in 0..events {
            drafts.write_all(draft(at, agents, SENTENCE).as_bytes())?;
        }
        drafts.flush()?;
    }
    if append.wait()?.success() { Ok(()) } else { Err("append failed".into()) }
}

/// The CPU seconds of reading the lines of a file and writing each with a bare `write`.
pub(super) fn bare_writes(drafts: &Path) -> Result<f64, Box<dyn Error>> {
    let copy = drafts.with_extension("copy");
    let mut input = BufReader::with_capacity(256 << 10, File::open(drafts)?);
    let mut output = OpenOptions::new().create(true).append(true).open(&copy)?;
    let begun = own_cpu();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&line)?;
        line.clear();
    }
    let used = own_cpu() - begun;
    fs::remove_file(copy)?;
    Ok(used)
}
