//! Opening an existing log, by whatever program it was written, complete or not.
//!
//! Nothing is repaired in place. Damage is counted and located in a `recovered` line, once, and the
//! writer continues after it. Opening the log again finds nothing new.

use std::collections::BTreeSet;
use std::ops::Range;

use antiphon_model::json::{self, Json, Members};
use antiphon_model::{Body, Event, EventKind, Line, Loss, Severity};

use crate::checkpoint::{Checkpoint, Header};
use crate::disk::Disk;
use crate::ids::Ids;
use crate::{Damage, DamageKind, Draft, DraftError, Error, Log, LogSummary, Seal, Sink};

/// What a writer must know about a log before it continues.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    pub(crate) ids: Ids,
    pub(crate) agents: BTreeSet<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) format: Option<u64>,
    /// The damage that no `recovered` line mentions yet.
    pub(crate) damage: Vec<Damage>,
    /// Places (stream and offset) that a `recovered` line lists.
    listed: BTreeSet<(u64, u64)>,
    /// Ranges in which a `recovered` line counts damage without listing it.
    counted: Vec<Range<(u64, u64)>>,
    /// The checkpoint after which it was read.
    pub(crate) checkpoint: Option<Header>,
    /// The number of lines in the last segment, and the length of the last of them.
    pub(crate) last_line: (u64, u32),
    /// The place of a changed event, until the event itself comes.
    changed_at: Option<(u32, u64)>,
}

/// At most this many places are listed in a `recovered` line. All are counted, and `rest` says
/// where those begin that are not listed.
const LISTED_MAX: usize = 100;

impl Recovery {
    pub(crate) fn of(log: &Log, disk: &dyn Disk) -> Result<(Self, LogSummary), Error> {
        if let Some(found) = Self::after_checkpoint(log, disk) {
            return Ok(found);
        }
        let mut found = Self::default();
        let summary = log.read_from(disk, &mut found)?;
        let Self { damage, listed, counted, ids, .. } = &mut found;
        damage.retain(|damage| {
            let place = (u64::from(damage.stream), damage.offset);
            !listed.contains(&place) && !counted.iter().any(|range| range.contains(&place))
        });
        for stub in damage.iter().filter(|damage| damage.kind.is_of_bytes()) {
            ids.burn(log, disk, stub);
        }
        Ok((found, summary))
    }

    /// Reads what is after the checkpoint, and adds what the checkpoint says about the rest; `None`
    /// if there is none, or if something is wrong there, so that the whole log must be read.
    fn after_checkpoint(log: &Log, disk: &dyn Disk) -> Option<(Self, LogSummary)> {
        let checkpoint = Checkpoint::read(log, disk)?;
        let mut found = Self::default();
        let summary = log.read_after(&checkpoint, disk, &mut found).ok()?;
        if !found.damage.is_empty() || !summary.terminated || summary.unsealed > 0 {
            return None;
        }
        let Checkpoint { header, ids } = checkpoint;
        let mut all = Ids::after(header.last, header.last_own, ids);
        all.extend(found.ids);
        found.ids = all;
        found.agents.extend(header.agents.iter().cloned());
        found.session_id = found.session_id.or_else(|| header.session_id.clone());
        found.format = found.format.max(header.format);
        found.checkpoint = Some(header);
        Some((found, summary))
    }

    /// The line that records what was found; `None` if all is well.
    pub(crate) fn draft(&self, log: &Log) -> Result<Option<Draft>, DraftError> {
        if self.damage.is_empty() {
            return Ok(None);
        }
        let listed = self.damage.iter().take(LISTED_MAX).map(|damage| {
            let segment = log.segment(damage.stream);
            let mut members = Members::default();
            members.word("kind", damage.kind.code());
            let name = segment.file_name().unwrap_or_default().to_string_lossy();
            members.word("segment", &name);
            members.number("stream", Some(damage.stream));
            members.number("line", Some(damage.line));
            members.number("offset", Some(damage.offset));
            members.number("len", Some(damage.len));
            members.to_json()
        });
        let listed = Json::array(listed);
        let rest = self.damage.get(LISTED_MAX).map(|damage| {
            let mut members = Members::default();
            members.number("stream", Some(damage.stream));
            members.number("offset", Some(damage.offset));
            members.to_json()
        });
        let recovered = Event::new(EventKind::Recovered(Loss {
            count: Some(self.damage.len() as u64),
            reason: Some("damage found on opening".into()),
            damage: Some(Body::of(&listed)),
            rest: rest.as_ref().map(Body::of),
            ..Loss::default()
        }));
        Draft::from_event(&recovered).map(Some)
    }
}

impl Sink for Recovery {
    fn event(&mut self, event: &Event<'_>, line: &Line<'_>, _: Option<&Seal>) {
        self.last_line = (line.number, line.place.len);
        let is_changed = self.changed_at == Some((line.place.stream, line.place.offset));
        if let Some(id) = &event.message_id {
            self.ids.add(id, line.place);
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "only these concern a writer")]
        match &event.kind {
            EventKind::Message(message) => self.see_agent(&message.agent),
            EventKind::AgentCreated(agent) => self.see_agent(&agent.agent),
            EventKind::SessionStarted(started) => {
                // One flipped bit must not turn our own log into one that we refuse.
                let format = started.format.filter(|_| !is_changed);
                self.format = format.max(self.format);
                if let Some(id) = &started.session_id {
                    self.session_id = Some(id.clone().into_owned());
                }
            }
            EventKind::Recovered(loss) => {
                let Some(list) = loss.damage else { return };
                let number = |raw: &str, name| json::member(raw, name)?.parse::<u64>().ok();
                let place = |raw: &str| number(raw, "stream").zip(number(raw, "offset"));
                let _ = json::elements(list.json, |raw| self.listed.extend(place(raw)));
                let end = (u64::from(line.place.stream), line.place.offset);
                let rest = loss.rest.and_then(|rest| place(rest.json));
                self.counted.extend(rest.map(|from| from..end));
            }
            _ => {}
        }
    }

    fn damage(&mut self, damage: Damage) {
        if let DamageKind::BadHash | DamageKind::BadSeal = damage.kind {
            self.changed_at = Some((damage.stream, damage.offset));
        }
        // Lines of other programs, or a missing last newline, are unusual but not damage.
        if damage.kind.severity() == Severity::Error {
            self.damage.push(damage);
        }
    }
}

impl Recovery {
    fn see_agent(&mut self, agent: &str) {
        if !self.agents.contains(agent) {
            self.agents.insert(agent.to_owned());
        }
    }
}
