//! `antiphon append`: events in from any language.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use antiphon_journal::{Ack, Draft, Lines, Options, Writer};

use crate::cli;
use crate::failure::Outcome;
use crate::terminal::{complain, escape_line};

/// As many events as have arrived share one wait for the disk, up to this many.
const BATCH_MAX: usize = 256;

pub(crate) fn run(args: &cli::Append) -> anyhow::Result<Outcome> {
    let options = Options {
        level: match args.level {
            cli::Level::Os => antiphon_journal::Level::Os,
            cli::Level::Interval => antiphon_journal::Level::Interval,
            cli::Level::Disk => antiphon_journal::Level::Disk,
        },
        wait: Duration::from_secs(args.wait),
        program: "antiphon append".to_owned(),
        ..Options::default()
    };
    let writer = Writer::open(&args.session, options)?;
    let incoming = read_stdin();
    let mut outcome = Outcome::Done;
    while let Some(batch) = next_batch(&incoming) {
        let batch = batch.into_iter().collect::<Result<Vec<_>, _>>()?;
        let drafts: Vec<Draft> = batch.iter().filter_map(|line| line.draft.clone().ok()).collect();
        let mut acks = writer.append_batch(&drafts)?.into_iter();
        let mut failure = None;
        for line in batch {
            let answer = match line.draft {
                Ok(_) => match acks.next() {
                    Some(Ok(ack)) => Ok(ack),
                    Some(Err(error)) if error.is_about_the_event() => Err(error.to_string()),
                    // Nothing behind it was written: what is not acknowledged may be sent again.
                    Some(Err(error)) => {
                        failure = Some(error);
                        break;
                    }
                    None => break,
                },
                Err(reason) => Err(reason),
            };
            if let Err(reason) = &answer {
                complain(&format!("line {}: {reason}", line.number));
                outcome = Outcome::BadInput;
            }
            acknowledge(answer.as_ref().ok())?;
        }
        if let Some(failure) = failure {
            return Err(failure.into());
        }
    }
    writer.close()?;
    Ok(outcome)
}

/// A line of stdin: an event, or why it is none.
struct Incoming {
    number: u64,
    draft: Result<Draft, String>,
}

/// Reads and parses on a thread of its own, so that writing can see what has arrived.
fn read_stdin() -> Receiver<io::Result<Incoming>> {
    let (sender, receiver) = sync_channel(BATCH_MAX);
    std::thread::spawn(move || {
        let mut lines = Lines::new(io::stdin().lock());
        loop {
            let next = match lines.next_line() {
                Ok(None) => return,
                Err(error) => Err(error),
                Ok(Some(line)) if line.len > line.bytes.len() as u64 => Ok(Incoming {
                    number: line.number,
                    draft: Err(format!("{} bytes are too long for a line", line.len)),
                }),
                Ok(Some(line)) if line.bytes.trim_ascii().is_empty() => continue,
                Ok(Some(line)) => {
                    let draft = Draft::from_bytes(line.bytes).map_err(|error| error.to_string());
                    Ok(Incoming { number: line.number, draft })
                }
            };
            let is_last = next.is_err();
            if sender.send(next).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

/// Waits for an event, and takes along what else is there.
fn next_batch(incoming: &Receiver<io::Result<Incoming>>) -> Option<Vec<io::Result<Incoming>>> {
    let mut batch = vec![incoming.recv().ok()?];
    batch.extend(incoming.try_iter().take(BATCH_MAX - 1));
    Some(batch)
}

/// The id, or `!` in its place: one line per event, at once.
fn acknowledge(ack: Option<&Ack>) -> anyhow::Result<()> {
    let id = ack.map_or("!", |ack| ack.message_id.as_str());
    let mut out = io::stdout().lock();
    out.write_all(format!("{}\n", escape_line(id)).as_bytes())?;
    out.flush()?;
    Ok(())
}
