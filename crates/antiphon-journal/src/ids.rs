//! The ids of a log: which are taken, where their lines stand, and which is the next.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use antiphon_model::Place;

use crate::disk::Disk;
use crate::{Damage, Log};

/// What we call events that bring no id of their own: `msg_001` and so on.
const EVENT: &str = "msg_";
/// What we call the journal's own lines. Senders count their messages as we do, and must not find
/// a number taken by a line that they know nothing of.
const OWN: &str = "log_";

/// The ids that are taken, and the next that are free.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    last: u64,
    last_own: u64,
    /// Where the lines of ids stand that were given one after the other: by their number, from 1.
    counted: Vec<Place>,
    hasher: RandomState,
    /// By hash of any other id. A log may hold a million; the ids stay on disk.
    others: HashMap<u64, Place>,
}

impl Ids {
    /// Keeps an id from being given to another event.
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
                self.others.insert(self.hasher.hash_one(id), place);
            }
        }
    }

    /// Where the line with that id stands, if it can be one: the hashes are equal.
    pub(crate) fn find(&self, id: &str) -> Option<Place> {
        let counted = position(id).and_then(|position| self.counted.get(position));
        counted.or_else(|| self.others.get(&self.hasher.hash_one(id))).copied()
    }

    /// A new id for an event. It counts as taken even if its line is never finished.
    pub(crate) fn take(&mut self) -> String {
        self.last += 1;
        format!("{EVENT}{:03}", self.last)
    }

    /// The same for a line of the journal's own.
    pub(crate) fn take_own(&mut self) -> String {
        self.last_own += 1;
        format!("{OWN}{:03}", self.last_own)
    }

    /// Keeps the id of a damaged line from being given to another event.
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
        // What is there of a torn line is as it was written. Otherwise the id itself may be what
        // is damaged, or gone; then it had the next number, if it had one of ours.
        if id.is_none() || !damage.kind.is_torn() {
            self.last += 1;
            self.last_own += 1;
        }
    }
}

/// Where an id stands among those that count, if it is written as we write it.
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
