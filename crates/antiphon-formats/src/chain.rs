//! Entries that name the one before them: a tree, of which the last branch is the conversation.

use std::collections::BTreeMap;

/// Which message stands for which entry.
#[derive(Debug, Default)]
pub(crate) struct Chain<'a> {
    /// By an entry's id: its message, or the last one before an entry that is none.
    stands: BTreeMap<&'a str, Option<usize>>,
    /// The latest message.
    latest: Option<usize>,
}

impl<'a> Chain<'a> {
    pub(crate) fn has(&self, id: &str) -> bool {
        self.stands.contains_key(id)
    }

    /// The message that an entry follows, where that is not the latest: the rest was left behind.
    pub(crate) fn left_behind(&self, parent: Option<&str>) -> Option<usize> {
        let latest = self.latest?;
        let parent = (*self.stands.get(parent?)?)?;
        (parent < latest).then_some(parent)
    }

    /// Adds an entry, and its message if it is one.
    pub(crate) fn add(&mut self, id: Option<&'a str>, parent: Option<&str>, said: Option<usize>) {
        if let Some(id) = id {
            let before = parent.and_then(|parent| *self.stands.get(parent)?);
            self.stands.insert(id, said.or(before));
        }
        self.latest = said.or(self.latest);
    }
}
