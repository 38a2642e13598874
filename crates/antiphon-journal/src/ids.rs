//! The ids of a log: which are taken, where their lines are, and which is the next.

use std::collections::HashMap;

use antiphon_model::Place;

use crate::checkpoint::{ENTRY_BYTES, entry, tag};
use crate::disk::Disk;
use crate::{Damage, Log};

/// The prefix of the ids of events that have no id of their own: `msg_001` and so on.
const EVENT: &str = "msg_";
/// The prefix of the ids of the journal's own lines. Senders may number their messages as the
/// journal does, and must not find a number taken by a line that they did not write.
const OWN: &str = "log_";

/// The ids that are taken, and the next that are free.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    last: u64,
    last_own: u64,
    /// Where the lines of consecutive ids are, by their number, from 1.
    counted: Vec<Place>,
    /// All other ids, by tag. A log may have a million; the ids themselves stay on disk.
    others: HashMap<u64, Place>,
    /// The ids up to a checkpoint.
    earlier: IdTable,
}

/// Where the lines of ids are, sorted by tag, in the format of a checkpoint.
#[derive(Debug, Default, Clone)]
pub(crate) struct IdTable(Vec<u8>);

impl IdTable {
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Option<Self> {
        bytes.len().is_multiple_of(ENTRY_BYTES).then_some(Self(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn of(mut entries: Vec<(u64, Place)>) -> Self {
        // Of two lines with one id the later one counts, and it comes last here.
        entries.sort_by_key(|(tag, _)| *tag);
        Self(entries.iter().flat_map(|(tag, place)| entry(*tag, *place)).collect())
    }

    fn len(&self) -> usize {
        self.0.len() / ENTRY_BYTES
    }

    fn get(&self, at: usize) -> Option<(u64, Place)> {
        let bytes = self.0.get(at * ENTRY_BYTES..(at + 1) * ENTRY_BYTES)?;
        let (tag, rest) = bytes.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (stream, _) = rest.split_first_chunk()?;
        let offset = u64::from_le_bytes(*offset);
        let (len, stream) = (u32::from_le_bytes(*len), u32::from_le_bytes(*stream));
        Some((u64::from_le_bytes(*tag), Place { offset, len, stream }))
    }

    /// The last entry with a tag.
    fn find(&self, wanted: u64) -> Option<Place> {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            match self.get(middle) {
                Some((tag, _)) if tag <= wanted => from = middle + 1,
                _ => to = middle,
            }
        }
        let (tag, place) = self.get(from.checked_sub(1)?)?;
        (tag == wanted).then_some(place)
    }
}

impl Ids {
    /// The ids of a checkpoint.
    pub(crate) fn after(last: u64, last_own: u64, earlier: IdTable) -> Self {
        Self { last, last_own, earlier, ..Self::default() }
    }

    /// Adds the ids of the lines after a checkpoint.
    pub(crate) fn extend(&mut self, later: Self) {
        self.last = self.last.max(later.last);
        self.last_own = self.last_own.max(later.last_own);
        let counted = (1_u64..).zip(later.counted);
        self.others.extend(counted.map(|(number, place)| (tag(&event_id(number)), place)));
        self.others.extend(later.others);
    }

    /// All ids, for a checkpoint, and the highest numbers.
    pub(crate) fn table(&self) -> (u64, u64, IdTable) {
        let earlier = (0..self.earlier.len()).filter_map(|at| self.earlier.get(at));
        let counted = (1_u64..).zip(&self.counted);
        let counted = counted.map(|(number, &place)| (tag(&event_id(number)), place));
        let others = self.others.iter().map(|(&tag, &place)| (tag, place));
        let entries = earlier.chain(counted).chain(others).collect();
        (self.last, self.last_own, IdTable::of(entries))
    }

    /// Prevents an id from being given to another event.
    pub(crate) fn reserve(&mut self, id: &str) {
        self.last = self.last.max(number_of(id, EVENT).unwrap_or_default());
        self.last_own = self.last_own.max(number_of(id, OWN).unwrap_or_default());
    }

    pub(crate) fn add(&mut self, id: &str, place: Place) {
        self.reserve(id);
        let position = position(id);
        if position == Some(self.counted.len()) {
            self.counted.push(place);
            return;
        }
        match position.and_then(|position| self.counted.get_mut(position)) {
            Some(known) => *known = place,
            None => {
                self.others.insert(tag(id), place);
            }
        }
    }

    /// Where the line with this id may be: the tags are equal.
    pub(crate) fn find(&self, id: &str) -> Option<Place> {
        let counted = position(id).and_then(|position| self.counted.get(position));
        counted.copied().or_else(|| {
            let tag = tag(id);
            self.others.get(&tag).copied().or_else(|| self.earlier.find(tag))
        })
    }

    /// Takes a new id for an event. It counts as taken even if its line is never completed.
    pub(crate) fn take(&mut self) -> String {
        self.last += 1;
        event_id(self.last)
    }

    /// Takes a new id for a line of the journal's own.
    pub(crate) fn take_own(&mut self) -> String {
        self.last_own += 1;
        format!("{OWN}{:03}", self.last_own)
    }

    /// Prevents the id of a damaged line from being given to another event.
    pub(crate) fn burn(&mut self, log: &Log, disk: &dyn Disk, damage: &Damage) {
        let path = log.segment(damage.stream);
        let len = usize::try_from(damage.len).unwrap_or(usize::MAX).min(200);
        let beginning = disk.read_at(&path, damage.offset, len).unwrap_or_default();
        let text = String::from_utf8_lossy(&beginning);
        let id = text
            .strip_prefix("{\"message_id\":\"")
            .and_then(|rest| rest.split_once('"'))
            .map(|(id, _)| id);
        self.reserve(id.unwrap_or_default());
        // A torn line is correct as far as it goes. Otherwise the id itself may be damaged or lost;
        // then it had the next number, if it was one of the journal's.
        if id.is_none() || !damage.kind.is_torn() {
            self.last += 1;
            self.last_own += 1;
        }
    }
}

fn event_id(number: u64) -> String {
    format!("{EVENT}{number:03}")
}

/// The index of an id among the consecutive ones, if it is written as the journal writes it.
fn position(id: &str) -> Option<usize> {
    let digits = id.strip_prefix(EVENT)?;
    let is_ours = digits.len() == 3 || (digits.len() > 3 && !digits.starts_with('0'));
    let number = number_of(id, EVENT).filter(|_| is_ours)?;
    usize::try_from(number.checked_sub(1)?).ok()
}

fn number_of(id: &str, prefix: &str) -> Option<u64> {
    let digits = id.strip_prefix(prefix)?;
    let plain = digits.len() < 19 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}
