//! Where a listener is. As an id it outlives the server: it says after how many events, and has a
//! hash of the ids of these events.

use std::fmt;

use crate::opened::Folded;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) epoch: u64,
    /// So many events were read.
    pub(crate) events: usize,
    /// The mark behind the last of them.
    pub(crate) chain: u64,
    /// Up to which state of the session changed events were told; not a part of the id.
    pub(crate) changes_seen: u64,
}

impl Position {
    pub(crate) fn of(folded: &Folded, events: usize) -> Self {
        let chain = folded.chain(events).unwrap_or_default();
        Self { epoch: folded.epoch(), events, chain, changes_seen: folded.changes() }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split('.');
        let (Some(epoch), Some(events), Some(chain), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return None;
        };
        let hex = |word| u64::from_str_radix(word, 16).ok();
        let (epoch, events, chain) = (hex(epoch)?, events.parse().ok()?, hex(chain)?);
        Some(Self { epoch, events, chain, changes_seen: 0 })
    }

    /// Whether what was read is a beginning of what there is.
    pub(crate) fn is_in(&self, folded: &Folded) -> bool {
        folded.chain(self.events) == Some(self.chain)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}.{:x}", self.epoch, self.events, self.chain)
    }
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn an_id_is_read_as_it_was_written_and_nothing_else_is_one() {
        let position = Position { epoch: 0xab, events: 12, chain: u64::MAX, changes_seen: 0 };
        assert_eq!(Position::parse(&position.to_string()), Some(position));
        for text in ["", "nonsense", "99999999", "-1", "1.2", "1.-2.3", "1.2.3.4", "x.1.2"] {
            assert_eq!(Position::parse(text), None, "{text}");
        }
    }
}
