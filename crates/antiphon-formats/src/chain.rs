//! Entries that name the entry before them: a tree, whose last branch is the conversation.

use std::collections::BTreeMap;

/// Which message each entry of the tree corresponds to.
#[derive(Debug, Default)]
pub(crate) struct Chain<'a> {
    /// For each entry's id: its message, or the last message before an entry that is not a message.
    stands: BTreeMap<&'a str, Option<usize>>,
    /// The latest message.
    latest: Option<usize>,
}

impl<'a> Chain<'a> {
    pub(crate) fn has(&self, id: &str) -> bool {
        self.stands.contains_key(id)
    }

    /// The message that an entry follows, if that is not the latest one: then a branch was
    /// abandoned.
    pub(crate) fn left_behind(&self, parent: Option<&str>) -> Option<usize> {
        let latest = self.latest?;
        let parent = (*self.stands.get(parent?)?)?;
        (parent < latest).then_some(parent)
    }

    /// Adds an entry, with its message if it is one.
    pub(crate) fn add(&mut self, id: Option<&'a str>, parent: Option<&str>, said: Option<usize>) {
        if let Some(id) = id {
            let before = parent.and_then(|parent| *self.stands.get(parent)?);
            self.stands.insert(id, said.or(before));
        }
        self.latest = said.or(self.latest);
    }
}
