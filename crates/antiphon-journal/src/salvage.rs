//! A clean copy of a damaged log.
//!
//! Every event that can be read is written again, in order, with a new seal; what could not be
//! read is counted in the copy itself. A line that was changed after it was written keeps a mark
//! that says so: a new seal must not make it look untouched.

use std::path::Path;

use antiphon_model::{Event, Line, Severity};

use crate::{Damage, DamageKind, Draft, Error, Log, Options, Seal, Sink, Writer};

/// What went into the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    pub events: u64,
    /// Events that were changed after they were written; they carry `salvaged`.
    pub changed: u64,
    /// Places that could not be read, or where lines are missing.
    pub lost: u64,
}

/// Writes what can be read of `log` to a new log at `path`.
pub fn salvage(log: &Log, path: &Path, options: Options) -> Result<Salvaged, Error> {
    if path.exists() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    let writer = Writer::open(path, options)?;
    let mut copy = Copy { writer, found: Salvaged::default(), mark: None, failure: None };
    log.read(&mut copy)?;
    if let Some(failure) = copy.failure {
        return Err(failure);
    }
    if copy.found.lost > 0 {
        let (lost, changed) = (copy.found.lost, copy.found.changed);
        let gap = format!(
            "{{\"event_type\":\"gap\",\"count\":{lost},\"changed\":{changed},\
             \"reason\":\"salvaged: what could not be read in the damaged log\"}}"
        );
        copy.writer.append(&Draft::from_json(&gap)?)?;
    }
    copy.writer.close()?;
    Ok(copy.found)
}

struct Copy {
    writer: Writer,
    found: Salvaged,
    /// Why the next event is suspect.
    mark: Option<&'static str>,
    failure: Option<Error>,
}

impl Sink for Copy {
    fn event(&mut self, _: &Event<'_>, line: &Line<'_>, _: Option<&Seal>) {
        if self.failure.is_some() {
            return;
        }
        let mark = self.mark.take();
        if let Err(error) = self.copy(line, mark) {
            self.failure = Some(error);
        }
    }

    fn damage(&mut self, damage: Damage) {
        if let DamageKind::BadHash | DamageKind::BadSeal = damage.kind {
            self.mark = Some(damage.kind.code());
        } else if let DamageKind::Gap { missing, .. } = damage.kind {
            self.found.lost += missing;
        } else if damage.kind.severity() == Severity::Error {
            self.found.lost += 1;
        }
    }
}

impl Copy {
    fn copy(&mut self, line: &Line<'_>, mark: Option<&'static str>) -> Result<(), Error> {
        let mut draft = Draft::verbatim(line.text.as_bytes())?;
        if let Some(mark) = mark {
            draft.members.push_str(&format!(",\"salvaged\":\"{mark}\""));
            self.found.changed += 1;
        }
        // Two events with one id stay two.
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
