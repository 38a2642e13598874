//! Transcripts of agent sessions as text (seed 001): `{time}-{role}[-{issue}].log`.
//!
//! A record is a line `[19:21:40] ASSISTANT` at the left edge, and the indented lines below it. The
//! three known writers differ in their empty lines, which have no meaning. Times have no date: it
//! comes from the header, and a day is added whenever the time of day goes back. Results name a
//! call whose id is not in the text, so calls and results are paired in their order.

mod record;
mod write;

use antiphon_model::decode;

use crate::line::records;
use crate::{Format, Sink, Stream};

pub(crate) const FORMAT: Format = Format {
    name: "transcript",
    what: "transcripts of agent sessions, as written by `record`",
    versions: "three spacing variants, with and without a footer",
    detect: |head| head.iter().find(|line| !line.trim().is_empty()) == Some(&HEADER),
    lines: Some(write::lines),
    read,
    ..crate::ONE_FILE
};

const HEADER: &str = "=== Agent Session ===";
const MESSAGES: &str = "=== Messages ===";
const END: &str = "=== Session End ===";

/// Reads the lines that a transcript became.
fn read<'a>(streams: &[Stream<'a>], sink: &mut dyn Sink<'a>) {
    for (number, stream) in (0..).zip(streams) {
        for record in records(stream, number) {
            match record.and_then(|record| decode(&record.line)) {
                Ok(event) => sink.event(event),
                Err(problem) => sink.problem(problem),
            }
        }
    }
}

#[cfg(test)]
mod tests;
