//! Recordings: the log contains what a command printed, and the meaning is worked out on reading.
//!
//! So a better reader improves old recordings, and the printed lines stay the recorded fact. The
//! command's output gives content and tokens; the log gives role, issue, run, times and outcome.

use std::path::Path;

use antiphon_formats::{Duplicate, Sink as FormatSink, Stream, detect};
use antiphon_journal::{Damage, Log, LogBodies, Seal, Sink as LogSink};
use antiphon_model::{
    Bodies, BodyError, Detail, EntryKind, Event, EventKind, Line, MemoryBodies, Place, Problem,
    Session, Timestamp, json,
};

use crate::{Bundle, Error, file};

/// A session that was read from a recording, and its bodies.
pub(crate) struct Recorded {
    pub(crate) session: Session,
    pub(crate) bodies: RecordedBodies,
    pub(crate) duplicates: Vec<Duplicate>,
}

/// Reads the recording in a log, if it is one in a known format. `folded` is the fold of the log
/// itself.
pub(crate) fn read(log: &Log, folded: &Session) -> Result<Option<Recorded>, Error> {
    let bodies = LogBodies::new(log);
    if !is_recording(folded, &bodies) {
        return Ok(None);
    }
    let mut text = String::new();
    let mut times: Vec<Option<Timestamp>> = Vec::new();
    for Printed { line, at } in records(folded, &bodies) {
        text.push_str(&line);
        text.push('\n');
        times.push(at);
    }
    let Some(format) = detect(file::first_lines(&text)) else { return Ok(None) };
    // The printed lines are one more stream, after those of the log.
    let number = log.segments().len();
    let mut streams = vec![Stream { name: "", text: "" }; number];
    streams.push(Stream { name: "stdout", text: &text });
    let mut printed_events = Collected::default();
    (format.read)(&streams, &mut printed_events);
    for event in &mut printed_events.events {
        let line = usize::try_from(event.line).unwrap_or_default();
        event.at = event.at.or_else(|| times.get(line.checked_sub(1)?).copied().flatten());
    }
    let Collected { mut events, duplicates, problems } = printed_events;
    if folded.info().ended {
        // The log says how the command ended; its output may claim something else.
        events.retain(|event| !matches!(event.kind, EventKind::SessionEnded(_)));
    }
    let mut merge = Merge { session: Session::default(), printed_events: Some(events) };
    log.read(&mut merge)?;
    let Merge { mut session, .. } = merge;
    problems.into_iter().for_each(|problem| session.add_problem(problem));
    let stream = u32::try_from(number).unwrap_or(u32::MAX);
    let mut memory = vec![Vec::new(); number];
    memory.push(text.into_bytes());
    let bodies = RecordedBodies { log: bodies, stream, memory: MemoryBodies::new(memory) };
    Ok(Some(Recorded { session, bodies, duplicates }))
}

/// A line of JSON that a recorded command printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    pub line: String,
    pub at: Option<Timestamp>,
}

/// The JSON lines that the command of a recording printed; `None` if this is not a recording.
pub fn printed(path: &Path) -> Result<Option<Vec<Printed>>, Error> {
    if Bundle::find(path)?.is_some() {
        return Ok(None);
    }
    let log = Log::find(path)?;
    let (session, _) = log.fold()?;
    let bodies = LogBodies::new(&log);
    Ok(is_recording(&session, &bodies).then(|| records(&session, &bodies).collect()))
}

fn records<'s>(
    session: &'s Session,
    bodies: &'s LogBodies,
) -> impl Iterator<Item = Printed> + use<'s> {
    let fragments = session.entries().filter(|entry| entry.kind() == EntryKind::Fragment);
    fragments.filter_map(|entry| {
        let line = bodies.read(entry.content()?).ok()?;
        is_record(&line).then(|| Printed { line, at: entry.at() })
    })
}

/// A recording names its command.
fn is_recording(session: &Session, bodies: &LogBodies) -> bool {
    let started = session.info().started_by.map(|event| session.entry(event));
    let extra = started.and_then(|entry| entry.detail(Detail::Extra));
    let extra = extra.and_then(|place| bodies.read(place).ok()).unwrap_or_default();
    json::member(&extra, "command").is_some()
}

/// Whether a fragment is a printed line of JSON rather than text.
fn is_record(raw: &str) -> bool {
    raw.starts_with('{')
}

#[derive(Default)]
struct Collected<'a> {
    events: Vec<Event<'a>>,
    duplicates: Vec<Duplicate>,
    problems: Vec<Problem>,
}

impl<'a> FormatSink<'a> for Collected<'a> {
    fn event(&mut self, event: Event<'a>) {
        self.events.push(event);
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn duplicate(&mut self, duplicate: Duplicate) {
        self.duplicates.push(duplicate);
    }
}

/// The events of the log, with those of the printed lines inserted where the first of them was
/// printed.
struct Merge<'a> {
    session: Session,
    printed_events: Option<Vec<Event<'a>>>,
}

impl LogSink for Merge<'_> {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {
        let EventKind::Fragment(fragment) = &event.kind else { return self.session.apply(event) };
        if !fragment.content.is_some_and(|body| is_record(body.json)) {
            return self.session.apply(event);
        }
        for event in self.printed_events.take().into_iter().flatten() {
            self.session.apply(&event);
        }
    }

    fn damage(&mut self, damage: Damage) {
        self.session.add_problem(damage.problem());
    }
}

/// The bodies of the log, and those of the printed lines.
#[derive(Debug)]
pub(crate) struct RecordedBodies {
    log: LogBodies,
    stream: u32,
    memory: MemoryBodies,
}

impl Bodies for RecordedBodies {
    fn read(&self, place: Place) -> Result<String, BodyError> {
        match place.stream == self.stream {
            true => self.memory.read(place),
            false => self.log.read(place),
        }
    }
}
