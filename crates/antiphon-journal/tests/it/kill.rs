//! `kill -9` under load: what was acknowledged is read, once, and the log goes on by itself.
//!
//! The parent starts this very test binary again as a writer, kills it after a few milliseconds,
//! and keeps what it heard acknowledged over a pipe. Several writers in turn write one log.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use antiphon_journal::{Draft, Level, Options, Writer};
use antiphon_model::json;

use crate::story::{self, Found};

const LOG: &str = "ANTIPHON_TEST_KILL_LOG";
const LEVEL: &str = "ANTIPHON_TEST_KILL_LEVEL";
const SEED: &str = "ANTIPHON_TEST_KILL_SEED";

/// A few random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

/// The writer that is killed. Without its variables it is a test that does nothing.
#[test]
fn a_writer_that_is_killed() {
    let variable = |name| std::env::var_os(name).and_then(|value| value.into_string().ok());
    let (Some(log), Some(level), Some(seed)) = (variable(LOG), variable(LEVEL), variable(SEED))
    else {
        return;
    };
    let level = if level == "os" { Level::Os } else { Level::Interval };
    let mut dice = Dice(seed.parse().unwrap());
    // Made beforehand, so that most of its life is spent in writing.
    let drafts: Vec<_> = (0..6).map(|_| payload(&mut dice)).collect();
    let options = Options { segment_bytes_max: 8 << 20, ..story::options(level) };
    let writer = Writer::open(&PathBuf::from(log), options).unwrap();
    let mut out = std::io::stdout();
    // On a line of its own, whatever the harness has printed before.
    out.write_all(b"\nready\n").unwrap();
    for draft in drafts.iter().cycle() {
        let ack = writer.append(draft).unwrap();
        out.write_all(format!("ack {}\n", ack.message_id).as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

/// A message of 100 bytes to 300 KB; most are long, because those are torn.
fn payload(dice: &mut Dice) -> Draft {
    let len = match dice.roll(4) {
        0 => 100 + dice.roll(2_000),
        _ => 200_000 + dice.roll(100_000),
    };
    let letter = char::from(b'a' + u8::try_from(dice.roll(26)).unwrap());
    let content = letter.to_string().repeat(usize::try_from(len).unwrap());
    story::draft(&format!(r#"{{"agent_id":"agent_001","role":"user","content":"{content}"}}"#))
}

fn start(log: &Path, level: &str, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::a_writer_that_is_killed", "--nocapture", "--test-threads=1"])
        .env(LOG, log)
        .env(LEVEL, level)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// When a writer is killed.
#[derive(Debug, Clone, Copy)]
enum Death {
    /// So long after it began to write.
    Writing(Duration),
    /// So long after it was started: perhaps while it recovers what the one before it left.
    Opening(Duration),
}

impl Death {
    /// A quarter die early. The others live for 1 to 40 ms; short lives are more frequent, so that
    /// the logs stay short.
    fn roll(dice: &mut Dice) -> Self {
        if dice.roll(4) == 0 {
            return Self::Opening(Duration::from_micros(dice.roll(15_000)));
        }
        let life = 1_000 + 39 * dice.roll(100) * dice.roll(100) * dice.roll(100) / 1_000;
        Self::Writing(Duration::from_micros(life))
    }
}

/// Runs a writer for a moment, kills it, and returns the ids that it acknowledged.
fn run_and_kill(log: &Path, level: &str, seed: u64, death: Death) -> Vec<String> {
    let mut child = start(log, level, seed);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let life = match death {
        Death::Writing(life) => {
            // The time to start is no part of its life: it must be writing when it is killed.
            assert!(lines.any(|line| line.unwrap() == "ready"), "the writer did not start");
            life
        }
        Death::Opening(life) => life,
    };
    let reader = std::thread::spawn(move || {
        let acknowledged = |line: String| line.strip_prefix("ack ").map(str::to_owned);
        lines.map_while(Result::ok).filter_map(acknowledged).collect::<Vec<_>>()
    });
    std::thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// Kills `kills` writers of one log, one after the other. Returns how many events they had
/// acknowledged, and how many lines were torn.
fn check_log(level: &str, kills: u64, dice: &mut Dice) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for _ in 0..kills {
        let death = Death::roll(dice);
        acknowledged.extend(run_and_kill(folder.path(), level, dice.roll(1 << 31), death));
    }
    // The last one may finish, so that what it found is in the log as well.
    story::append(folder.path(), story::EVENTS[2]);

    let found = Found::at(folder.path());
    found.assert_gapless();
    found.assert_ids_unique();
    let ids: BTreeSet<_> = found.ids().into_iter().collect();
    for id in &acknowledged {
        assert!(ids.contains(id.as_str()), "{id} was acknowledged and is lost");
    }
    for damage in found.errors() {
        assert_eq!(damage.kind.code(), "torn-line", "{damage:?}");
    }
    let torn = found.errors().len();
    let recorded: usize = found.texts().iter().filter_map(|text| recovered_count(text)).sum();
    assert_eq!(recorded, torn, "each torn line is recorded, once");
    (acknowledged.len(), torn)
}

fn recovered_count(text: &str) -> Option<usize> {
    let is_recovered = json::member(text, "event_type")? == "\"recovered\"";
    is_recovered.then(|| json::member(text, "count")?.parse().ok())?
}

fn check_level(level: &str, seed: u64) -> String {
    const KILLS: u64 = 3;
    let logs = if std::env::var_os("ANTIPHON_SLOW_TESTS").is_some() { 1000 } else { 35 };
    let mut dice = Dice(seed);
    let (mut acknowledged, mut torn) = (0, 0);
    for _ in 0..logs {
        let (more_acknowledged, more_torn) = check_log(level, KILLS, &mut dice);
        acknowledged += more_acknowledged;
        torn += more_torn;
    }
    let kills = logs * KILLS;
    let summary = format!("{level}: {kills} kills, {acknowledged} acknowledged, {torn} torn lines");
    assert!(acknowledged > 0, "{summary}");
    assert!(torn > 0, "{summary}: not one line was torn, so this proves nothing");
    summary
}

#[test]
fn a_hundred_kills_at_level_os_lose_nothing_acknowledged() {
    println!("{}", check_level("os", 1));
}

#[test]
fn a_hundred_kills_at_level_interval_lose_nothing_acknowledged() {
    println!("{}", check_level("interval", 2));
}
