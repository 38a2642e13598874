//! `antiphon append`: records events from a program in any language.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use antiphon_journal::{Ack, Draft, Lines, Options, RawLine, Writer};
use clap::{Args, ValueEnum};

use crate::failure::Outcome;
use crate::terminal::{self, complain, escape_line};

/// Events that have arrived by then share one wait for the disk, up to this many.
const BATCH_MAX: usize = 256;
/// How many batches may wait to be written.
const BATCHES_MAX: usize = 4;

#[derive(Debug, Args)]
#[command(after_help = "\
The id of each event is printed when it is acknowledged, one per line; for a rejected line `!` is
printed instead, with the reason on stderr. An event without `message_id` is given one; the same
event with the same id may be sent again.

Example:
  echo '{\"agent_id\":\"jill\",\"role\":\"assistant\",\"content\":\"Hello\"}' | antiphon append run.jsonl")]
pub(crate) struct AppendArgs {
    /// The log; it is created if it does not exist
    session: PathBuf,
    /// How safe an event must be before it is acknowledged
    #[arg(long, value_enum, default_value_t = Level::Interval)]
    level: Level,
    /// How many seconds to wait for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    wait: u64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    /// Handed to the operating system; survives a crash of any process
    Os,
    /// The same, and written to disk within a second
    Interval,
    /// Written to disk; survives a power cut
    Disk,
}

pub(crate) fn run(args: &AppendArgs) -> anyhow::Result<Outcome> {
    let options = Options {
        level: match args.level {
            Level::Os => antiphon_journal::Level::Os,
            Level::Interval => antiphon_journal::Level::Interval,
            Level::Disk => antiphon_journal::Level::Disk,
        },
        wait: Duration::from_secs(args.wait),
        program: "antiphon append".to_owned(),
        keeps_checkpoint: true,
        ..Options::default()
    };
    let writer = Writer::open(&args.session, options)?;
    let incoming = read_stdin();
    let mut outcome = Outcome::Done;
    for batch in incoming {
        let (mut drafts, mut lines) = (Vec::new(), Vec::new());
        for Incoming { number, draft } in batch? {
            lines.push((number, draft.map(|draft| drafts.push(draft))));
        }
        let mut acks = writer.append_batch(&drafts)?.into_iter();
        let (mut failure, mut answers) = (None, String::new());
        for (number, draft) in lines {
            let answer = match draft {
                Ok(()) => match acks.next() {
                    Some(Ok(ack)) => Ok(ack),
                    Some(Err(error)) if error.is_about_the_event() => Err(error.to_string()),
                    // Nothing after it was written, so everything that is not acknowledged may be
                    // sent again.
                    Some(Err(error)) => {
                        failure = Some(error);
                        break;
                    }
                    None => break,
                },
                Err(reason) => Err(reason),
            };
            if let Err(reason) = &answer {
                complain(&format!("line {number}: {reason}"));
                outcome = Outcome::BadInput;
            }
            add_answer(&mut answers, answer.as_ref().ok());
        }
        terminal::document(&answers)?;
        if let Some(failure) = failure {
            return Err(failure.into());
        }
    }
    writer.close()?;
    Ok(outcome)
}

/// A line of stdin: an event, or why it is not one.
struct Incoming {
    number: u64,
    draft: Result<Draft, String>,
}

/// Reads and parses on another thread. Events that have arrived together are passed on together, so
/// that they share a wait for the disk and one answer.
fn read_stdin() -> Receiver<io::Result<Vec<Incoming>>> {
    let (sender, receiver) = sync_channel(BATCHES_MAX);
    std::thread::spawn(move || {
        let mut lines = Lines::new(io::stdin().lock());
        loop {
            let mut batch = Vec::new();
            match lines.next_line() {
                Ok(Some(line)) => batch.extend(incoming(&line)),
                Ok(None) => return,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            }
            while batch.len() < BATCH_MAX
                && let Some(line) = lines.line_at_hand()
            {
                batch.extend(incoming(&line));
            }
            if sender.send(Ok(batch)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Parses a line; `None` if it is blank.
fn incoming(line: &RawLine<'_>) -> Option<Incoming> {
    let draft = match line.bytes.trim_ascii() {
        [] if line.len > line.bytes.len() as u64 => Err(format!("too long ({} bytes)", line.len)),
        [] => return None,
        _ => Draft::from_bytes(line.bytes).map_err(|error| error.to_string()),
    };
    Some(Incoming { number: line.number, draft })
}

/// Adds the id, or `!` for a rejected event: one line for each.
fn add_answer(answers: &mut String, ack: Option<&Ack>) {
    let id = ack.map_or("!", |ack| ack.message_id.as_str());
    answers.push_str(&escape_line(id));
    answers.push('\n');
}
