//! A log without secrets: every event redacted, and the chain sealed again.
//!
//! The redacted events are first written without seals. That file is then copied as any damaged or
//! foreign log is, so that there is one way to write a log from another. Only redacted text is on
//! the disk meanwhile.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use antiphon_journal::{Damage, DamageKind, Log, Options, Salvaged, Seal, salvage};
use antiphon_model::json::{self, Members};
use antiphon_model::{Event, EventKind, Line, Loss};
use antiphon_redact::{Counts, Redactor};

use crate::Error;

/// Writes the events of `log` without their secrets to a new log at `to`.
pub fn redact_log(
    log: &Log,
    to: &Path,
    options: Options,
    redactor: &Redactor,
    counts: &mut Counts,
) -> Result<Salvaged, Error> {
    let mut search = Find { redactor, found: false };
    log.read(&mut search)?;
    if !search.found {
        return Ok(salvage(log, to, options)?);
    }
    if to.exists() {
        return Err(antiphon_journal::Error::Exists { path: to.to_owned() }.into());
    }
    let folder = Folder::beside(to)?;
    let path = folder.0.join("redacted.jsonl");
    let failed = |source| Error::Write { path: path.clone(), source };
    let out = BufWriter::new(File::create_new(&path).map_err(failed)?);
    let lost = Salvaged::default();
    let mut copy = Copy { redactor, counts, out, lost, changed: None, failure: None };
    log.read(&mut copy)?;
    copy.finish().map_err(failed)?;
    let lost = copy.lost;
    drop(copy);
    let copied = salvage(&Log::find(&path)?, to, options)?;
    Ok(Salvaged { changed: lost.changed, lost: lost.lost, ..copied })
}

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn beside(path: &Path) -> Result<Self, Error> {
        let name = format!(".antiphon-redact-{}", std::process::id());
        let folder = path.parent().unwrap_or(Path::new("")).join(name);
        match fs::create_dir(&folder) {
            Ok(()) => Ok(Self(folder)),
            Err(source) => Err(Error::Write { path: folder, source }),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If it cannot be removed, its content is redacted, and its name says whose it is.
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Find<'r> {
    redactor: &'r Redactor,
    found: bool,
}

impl antiphon_journal::Sink for Find<'_> {
    fn event(&mut self, _: &Event<'_>, line: &Line<'_>, _: Option<&Seal>) {
        self.found = self.found || !self.redactor.find_json(line.text).is_empty();
    }

    fn damage(&mut self, _: Damage) {}
}

struct Copy<'r> {
    redactor: &'r Redactor,
    counts: &'r mut Counts,
    out: BufWriter<File>,
    lost: Salvaged,
    /// The warning about an event, which comes before the event.
    changed: Option<(u32, u64, &'static str)>,
    failure: Option<io::Error>,
}

impl antiphon_journal::Sink for Copy<'_> {
    fn event(&mut self, _: &Event<'_>, line: &Line<'_>, seal: Option<&Seal>) {
        if self.failure.is_some() {
            return;
        }
        let mut members = Members::default();
        let text = self.redactor.redact_json(line.text, self.counts);
        // The line was decoded as an object, and redacting leaves it one.
        let _ = json::members(&text, |key, value| {
            if seal.is_none() || !matches!(key, "n" | "prev" | "hash") {
                members.raw(key, value);
            }
        });
        let place = (line.place.stream, line.place.offset);
        if let Some((stream, offset, mark)) = self.changed
            && (stream, offset) == place
        {
            members.word("salvaged", mark);
            self.lost.changed += 1;
        }
        self.failure = writeln!(self.out, "{}", members.object()).err();
    }

    fn damage(&mut self, damage: Damage) {
        if let DamageKind::BadHash | DamageKind::BadSeal = damage.kind {
            self.changed = Some((damage.stream, damage.offset, damage.kind.code()));
        } else if let DamageKind::Gap { missing, .. } = damage.kind {
            self.lost.lost += missing;
        } else if let DamageKind::OutOfOrder { .. } = damage.kind {
            // It was counted as lost where it was missing.
            self.lost.lost = self.lost.lost.saturating_sub(1);
        } else if damage.kind.code() != "not-utf8"
            && damage.kind.severity() == antiphon_model::Severity::Error
        {
            self.lost.lost += 1;
        }
    }
}

impl Copy<'_> {
    fn finish(&mut self) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.lost.lost > 0 {
            let gap = Event::new(EventKind::Gap(Loss {
                count: Some(self.lost.lost),
                changed: Some(self.lost.changed),
                reason: Some("redacted: lines that could not be read in the damaged log".into()),
                ..Loss::default()
            }));
            writeln!(self.out, "{}", gap.to_json())?;
        }
        self.out.flush()
    }
}
