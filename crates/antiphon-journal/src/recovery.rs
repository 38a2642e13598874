//! Opening a log that was written before, by us or by others, to the end or not.
//!
//! Nothing is repaired in place. What is found is counted and located in a `recovered` line, once;
//! the writer then goes on behind it. Opening again finds nothing new.

use std::collections::BTreeSet;
use std::ops::Range;

use antiphon_model::json::{self, Json, Members};
use antiphon_model::{Body, Event, EventKind, Line, Loss, Severity};

use crate::checkpoint::{Checkpoint, Header};
use crate::disk::Disk;
use crate::ids::Ids;
use crate::{Damage, DamageKind, Draft, DraftError, Error, Log, Seal, Sink, Summary};

/// What a writer must know of a log before it goes on.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    pub(crate) ids: Ids,
    pub(crate) agents: BTreeSet<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) format: Option<u64>,
    /// All damage that no `recovered` line speaks of yet.
    pub(crate) damage: Vec<Damage>,
    /// Places (stream and offset) that one does speak of.
    listed: BTreeSet<(u64, u64)>,
    /// From where to where one counts what it does not list.
    counted: Vec<Range<(u64, u64)>>,
    /// The checkpoint behind which it was read.
    pub(crate) checkpoint: Option<Header>,
    /// How many lines the last segment has, and how long the last of them is.
    pub(crate) last_line: (u64, u32),
    /// Where an event was changed after it was written, until it comes.
    changed_at: Option<(u32, u64)>,
}

/// At most this many places are listed in a `recovered` line. All are counted, and `rest` says
/// where those begin that are not listed.
const LISTED_MAX: usize = 100;

impl Recovery {
    pub(crate) fn of(log: &Log, disk: &dyn Disk) -> Result<(Self, Summary), Error> {
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

    /// What is behind the log's checkpoint, with what the checkpoint says of the rest; nothing, if
    /// there is none, or if something is amiss there: then all of the log has to be seen.
    fn after_checkpoint(log: &Log, disk: &dyn Disk) -> Option<(Self, Summary)> {
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
        // What others wrote between our lines, or without a newline, is odd and not damaged.
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
