//! Unique ids: the wanted one, or the first of `wanted#2`, `wanted#3` that is free.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The ids in use, each with the session that it belongs to (`None` is the main one).
#[derive(Debug, Default)]
pub(super) struct FreeIds<'s> {
    taken: BTreeSet<(Option<usize>, Cow<'s, str>)>,
    /// The first number that may be free for each id, so that a thousand equal ids do not take a
    /// million attempts.
    next: BTreeMap<(Option<usize>, Cow<'s, str>), u64>,
}

impl<'s> FreeIds<'s> {
    /// Reserves an id; returns a replacement if the wanted one is in use.
    pub(super) fn take(&mut self, owner: Option<usize>, wanted: Cow<'s, str>) -> Option<String> {
        let wanted = (owner, wanted);
        if self.taken.insert(wanted.clone()) {
            return None;
        }
        let next = self.next.entry(wanted.clone()).or_insert(2);
        loop {
            let id = format!("{}#{next}", wanted.1);
            *next += 1;
            if self.taken.insert((owner, id.clone().into())) {
                return Some(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_taken_gets_the_first_number_that_is_free() {
        let mut ids = FreeIds::default();
        let mut take = |owner, wanted: &'static str| ids.take(owner, wanted.into());
        assert_eq!(take(None, "a"), None);
        assert_eq!(take(None, "a#3"), None);
        assert_eq!(take(Some(0), "a"), None, "every session has its own");
        assert_eq!(take(None, "a").as_deref(), Some("a#2"));
        assert_eq!(take(None, "a").as_deref(), Some("a#4"));
        assert_eq!(take(None, "a#2").as_deref(), Some("a#2#2"));
    }

    #[test]
    fn a_hundred_thousand_equal_ids_are_numbered_in_one_go() {
        let mut ids = FreeIds::default();
        let last = (0..100_000).filter_map(|_| ids.take(None, "call".into())).last();
        assert_eq!(last.as_deref(), Some("call#100000"));
    }
}
