//! Bringing in what is new before a question is answered.
//!
//! It is `sync` with a deadline: it never waits for another process, copies what changed last
//! first, and says what is left. A store in which nothing was ever copied stays as it is: whether
//! sessions are kept at all is a person's decision.

use std::time::{Duration, Instant};

use crate::archive::{Packs, Patience};
use crate::keeping::indexed_by;
use crate::sync::{Brief, Round, Time};
use crate::{Environment, Store};

/// How long a question may wait for what is new.
pub const FRESH_WITHIN: Duration = Duration::from_millis(300);

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// One session, which is read from its files.
    Session,
    /// Many sessions: what is copied has to be taken into the catalogue, too.
    Catalogue,
}

/// What was brought in, and what was not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Freshened {
    /// The number of sessions of which something new was copied.
    pub copied: usize,
    /// The number of sessions that are newer than their copies.
    pub left: usize,
    /// Whether more may be newer: there was no time to look at all of them.
    pub is_cut: bool,
    /// Whether nothing was copied because a session is being deleted, or an interrupted deletion is
    /// to be finished first.
    pub is_deleting: bool,
}

impl Store {
    /// Copies what is new of agents' sessions, for no longer than `within`. It fails silently: what
    /// could not be copied is left, and `sync` says why.
    pub fn freshen(&self, environment: &Environment, asked: Asked, within: Duration) -> Freshened {
        let time = Time::until(Instant::now() + within, asked == Asked::Catalogue);
        if !self.has_copies() {
            return Freshened::default();
        }
        // Until it is marked, a session that is being deleted would come back.
        if self.is_deleting() {
            return Freshened { is_deleting: true, ..Freshened::default() };
        }
        let round = Round::glance(self, environment);
        let stale = round.stale(&time);
        if stale.is_empty() {
            return stale.left().into();
        }
        let catalogue = match asked {
            Asked::Session => None,
            Asked::Catalogue => self.open_catalogue(&|_, _| {}, Patience::None).ok(),
        };
        indexed_by(catalogue, |sink| stale.keep(sink, &time)).into()
    }

    /// Whether something of an agent's was ever copied.
    fn has_copies(&self) -> bool {
        let archive = self.root().join("archive");
        let has_folder = || antiphon_sources::list(&archive).iter().any(|agent| has_entries(agent));
        Packs::of(self.root()).sessions().next().is_some() || has_folder()
    }
}

fn has_entries(folder: &std::path::Path) -> bool {
    folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())
}

impl From<Brief> for Freshened {
    fn from(brief: Brief) -> Self {
        let Brief { copied, left, is_cut } = brief;
        Self { copied, left, is_cut, is_deleting: false }
    }
}

#[cfg(test)]
mod tests;
