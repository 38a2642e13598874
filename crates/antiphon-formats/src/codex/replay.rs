//! The lines at the beginning of a forked thread that are copies of its parent's, with new times.
//!
//! They are skipped, so that nothing is counted twice. Where the thread's own lines begin is
//! determined, in this order, by
//! 1. `subagent_history_start_ordinal` (or `history_base.end_ordinal_exclusive`) of its first line;
//! 2. the first turn that the parent does not have, if the parent is available and has the first
//!    ones;
//! 3. a second `session_meta` with another id, which begins the copy: it ends with the first turn
//!    that was started after the thread was created. If turns do not say when they were started,
//!    the copy is what was written at once: up to the last turn begun within a second of it.
//!
//! The totals of tokens continue those of the copy, so a copied `token_count` sets the starting
//! point.

use std::collections::BTreeSet;
use std::ops::Range;

use super::entry::Entry;
use super::thread::{Thread, Turn};

/// Copying takes less than this.
const BURST_MS: i64 = 1000;

/// Which lines are copies.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replay {
    None,
    /// Every line with a lower ordinal, except the first `session_meta` (at line `meta`).
    Below {
        ordinal: u64,
        meta: u64,
    },
    Lines(Range<u64>),
}

impl Replay {
    pub(super) fn of(thread: &Thread<'_>, parent: Option<&Thread<'_>>) -> Self {
        let Some(meta) = &thread.meta else { return Self::None };
        if let Some(ordinal) = meta.own_from_ordinal {
            return Self::Below { ordinal, meta: meta.line };
        }
        let copied_meta = thread.other_metas.iter().find(|(line, id)| {
            let is_next = *line == meta.line + 1;
            *id != meta.id && (meta.is_derived() || is_next)
        });
        if let Some(parent) = parent {
            let theirs: BTreeSet<&str> = parent.turns.iter().filter_map(|turn| turn.id).collect();
            let is_theirs = |turn: &Turn<'_>| turn.id.is_some_and(|id| theirs.contains(id));
            if thread.turns.first().is_some_and(is_theirs) {
                let own = thread.turns.iter().find(|turn| !is_theirs(turn));
                return Self::Lines(meta.line + 1..own.map_or(u64::MAX, |turn| turn.line));
            }
        }
        let Some(&(from, _)) = copied_meta else { return Self::None };
        let later = || thread.turns.iter().filter(move |turn| turn.line > from);
        let made_at = meta.made_at.map(|at| at.as_millis() / 1000);
        let end = if later().all(|turn| turn.started_at.is_some()) && made_at.is_some() {
            later().find(|turn| turn.started_at >= made_at)
        } else {
            let begun = meta.made_at.map(|at| at.as_millis());
            let is_burst = |turn: &&Turn<'_>| match (turn.at, begun) {
                (Some(at), Some(begun)) => at.as_millis() - begun < BURST_MS,
                _ => false,
            };
            let last = later().take_while(is_burst).last();
            last.or_else(|| later().next())
        };
        Self::Lines(from..end.map_or(u64::MAX, |turn| turn.line))
    }

    pub(super) fn has(&self, entry: &Entry<'_>) -> bool {
        self.has_line(entry.line(), entry.record.object.number("ordinal"))
    }

    pub(super) fn has_line(&self, line: u64, ordinal: Option<u64>) -> bool {
        match self {
            Self::None => false,
            Self::Below { ordinal: own, meta } => {
                line != *meta && ordinal.is_some_and(|ordinal| ordinal < *own)
            }
            Self::Lines(lines) => lines.contains(&line),
        }
    }
}
