//! Making a clean copy of a damaged log.
//!
//! Every event that can be read is written again, in order, with a new seal; what could not be read
//! is counted in the copy itself. A line that was changed after it was written is marked, because a
//! new seal must not make it look original.

use std::path::Path;

use antiphon_model::{Event, EventKind, Line, Loss, json};

use crate::disk::Disk;
use crate::{Damage, DamageKind, Draft, Error, Log, Options, OsDisk, Seal, Sink, Writer};

/// The result of copying a damaged log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    pub events: u64,
    /// The number of events that were changed after they were written; they are marked with
    /// `salvaged`.
    pub changed: u64,
    /// The number of places that could not be read, or where lines are missing.
    pub lost: u64,
}

/// Writes what can be read of `log` to a new log at `path`.
pub fn salvage(log: &Log, path: &Path, options: Options) -> Result<Salvaged, Error> {
    if path.exists() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    let writer = Writer::open(path, options)?;
    // The copy may need a first line of its own, under an id that no event has.
    let mut ids = IdsTaken(&writer);
    log.read(&mut ids)?;
    let found = Salvaged::default();
    let mut copy = Copy { log, writer, found, suspect: Suspect::default(), failure: None };
    log.read(&mut copy)?;
    if let Some(failure) = copy.failure {
        return Err(failure);
    }
    if copy.found.lost > 0 {
        let gap = Event::new(EventKind::Gap(Loss {
            count: Some(copy.found.lost),
            changed: Some(copy.found.changed),
            reason: Some("salvaged: lines that could not be read in the damaged log".into()),
            ..Loss::default()
        }));
        copy.writer.append(&Draft::from_event(&gap)?)?;
    }
    copy.writer.close()?;
    Ok(copy.found)
}

struct IdsTaken<'a>(&'a Writer);

impl Sink for IdsTaken<'_> {
    fn event(&mut self, event: &Event<'_>, _: &Line<'_>, _: Option<&Seal>) {
        if let Some(id) = &event.message_id {
            self.0.reserve_id(id);
        }
    }

    fn damage(&mut self, _: Damage) {}
}

/// An event that is not as it was written, by its place.
#[derive(Default)]
struct Suspect {
    changed: Option<(u32, u64, &'static str)>,
    not_utf8: Option<(u32, u64)>,
}

struct Copy<'a> {
    log: &'a Log,
    writer: Writer,
    found: Salvaged,
    /// The damage that was reported for an event, which comes before the event itself.
    suspect: Suspect,
    failure: Option<Error>,
}

impl Sink for Copy<'_> {
    fn event(&mut self, _: &Event<'_>, line: &Line<'_>, seal: Option<&Seal>) {
        if self.failure.is_some() {
            return;
        }
        let result = self.draft(line, seal).and_then(|draft| self.copy(draft));
        self.failure = result.err();
    }

    fn damage(&mut self, damage: Damage) {
        let (stream, offset, code) = (damage.stream, damage.offset, damage.kind.code());
        if let DamageKind::BadHash | DamageKind::BadSeal = damage.kind {
            self.suspect.changed = Some((stream, offset, code));
        } else if code == "not-utf8" {
            self.suspect.not_utf8 = Some((stream, offset));
        } else if let DamageKind::Gap { missing, .. } = damage.kind {
            self.found.lost += missing;
        } else if let DamageKind::OutOfOrder { .. } = damage.kind {
            // It was counted as lost where it was missing.
            self.found.lost = self.found.lost.saturating_sub(1);
        } else if damage.kind.is_of_bytes() {
            self.found.lost += 1;
        }
    }
}

impl Copy<'_> {
    fn draft(&mut self, line: &Line<'_>, seal: Option<&Seal>) -> Result<Draft, Error> {
        let place = (line.place.stream, line.place.offset);
        let mut draft = match self.suspect.not_utf8 == Some(place) {
            false => Draft::verbatim(line.text.as_bytes())?,
            true => {
                let path = self.log.segment(place.0);
                let read = OsDisk.read_at(&path, place.1, line.place.len as usize);
                Draft::verbatim(&read.map_err(|source| Error::read(&path, source))?)?
            }
        };
        // A foreign `transcript_edit` has its own number in the member that the seal needs.
        if draft.event_type.as_deref() == Some("transcript_edit")
            && let (None, Some(count)) = (seal, json::member(line.text, "n"))
            && json::member(line.text, "kept_first").is_none()
        {
            draft.members.push_str(&format!(",\"kept_first\":{count}"));
        }
        if let Some((stream, offset, mark)) = self.suspect.changed
            && (stream, offset) == place
        {
            draft.members.push_str(&format!(",\"salvaged\":\"{mark}\""));
            self.found.changed += 1;
        }
        Ok(draft)
    }

    fn copy(&mut self, mut draft: Draft) -> Result<(), Error> {
        // Two events with the same id stay separate.
        let id = draft.message_id.clone();
        for again in 2.. {
            match self.writer.append(&draft) {
                Err(Error::Conflict { .. }) => {}
                Ok(ack) if ack.repeated => {}
                Ok(_) => break,
                Err(error) => return Err(error),
            }
            draft.message_id = id.as_ref().map(|id| format!("{id}#{again}"));
        }
        self.found.events += 1;
        Ok(())
    }
}
