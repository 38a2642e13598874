//! Calls over many sessions: what is called, what fails, and how long it takes.

mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{TimeRange, Timestamp};
use serde::Serialize;

pub use sessions::SessionCalls;

/// What calls are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallGroup {
    Tool,
    /// The program that a shell ran; other calls are not counted.
    Command,
    /// What failed calls say; other calls are not counted.
    Error,
}

/// Which calls are counted, and how they are grouped.
#[derive(Debug, Clone)]
pub struct CallStatsQuery {
    pub group: CallGroup,
    pub range: TimeRange,
    /// A part of the name of the model, in lower case; `None` for every model.
    pub model: Option<String>,
}

/// A call that may be counted.
#[derive(Debug, Clone, Copy)]
pub struct CountedCall<'c> {
    pub at: Option<Timestamp>,
    pub tool: &'c str,
    pub command: Option<&'c str>,
    pub model: Option<&'c str>,
    /// The group of its failure, if it failed.
    pub error: Option<&'c str>,
    pub duration_ms: Option<u64>,
    pub output_tokens: u64,
}

impl CallStatsQuery {
    pub fn wants(&self, call: &CountedCall<'_>) -> bool {
        let has_model = self.model.as_ref().is_none_or(|wanted| {
            call.model.is_some_and(|model| model.to_lowercase().contains(wanted))
        });
        has_model && self.range.contains(call.at) && self.key(call).is_some()
    }

    /// The row of a call; `None` if it is not counted.
    fn key<'c>(&self, call: &CountedCall<'c>) -> Option<&'c str> {
        match self.group {
            CallGroup::Tool => Some(call.tool),
            CallGroup::Command => call.command,
            CallGroup::Error => call.error,
        }
    }
}

/// Calls over many sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallStats {
    /// All calls that were counted.
    pub totals: CallSums,
    /// Each group, the one with the most calls first.
    pub rows: Vec<CallStatsRow>,
    /// How many sessions have such a call.
    pub sessions: u64,
}

/// Some calls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallSums {
    /// How many there are.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// The share that failed, from 0 to 1.
    pub share: f64,
    /// The middle of their times, in milliseconds; null if no time is known.
    pub median_ms: Option<u64>,
    /// The time that 95 % of them do not exceed, in milliseconds.
    pub p95_ms: Option<u64>,
    /// How many tokens their output put into the context; estimated.
    pub output_tokens: u64,
}

/// A row of the calls.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CallStatsRow {
    Tool {
        /// The tool that was called.
        tool: String,
        #[serde(flatten)]
        sums: CallSums,
    },
    Command {
        /// The program that a shell ran, with its subcommand.
        command: String,
        #[serde(flatten)]
        sums: CallSums,
    },
    Error {
        /// What the calls said; numbers, ids and folders are left out.
        error: String,
        /// How many calls failed like this.
        calls: u64,
        /// The tools that failed like this.
        tools: Vec<String>,
    },
}

/// Calls that are being added up.
#[derive(Debug)]
pub struct CallStatsBuilder<'q> {
    query: &'q CallStatsQuery,
    all: Tally,
    groups: BTreeMap<String, Tally>,
    sessions: u64,
}

#[derive(Debug, Default)]
struct Tally {
    calls: u64,
    failed: u64,
    output_tokens: u64,
    durations: Vec<u64>,
    tools: BTreeSet<String>,
}

impl<'q> CallStatsBuilder<'q> {
    pub fn new(query: &'q CallStatsQuery) -> Self {
        Self { query, all: Tally::default(), groups: BTreeMap::new(), sessions: 0 }
    }

    /// Counts a call, if the query wants it.
    pub fn add(&mut self, call: &CountedCall<'_>) {
        let Some(key) = self.query.key(call).filter(|_| self.query.wants(call)) else { return };
        self.all.add(call);
        match self.groups.get_mut(key) {
            Some(group) => group.add(call),
            None => self.groups.entry(key.to_owned()).or_default().add(call),
        }
    }

    /// Counts a session that has such a call.
    pub fn add_session(&mut self) {
        self.sessions += 1;
    }

    pub fn finish(self) -> CallStats {
        let mut groups: Vec<(String, Tally)> = self.groups.into_iter().collect();
        groups.sort_by(|(a, x), (b, y)| y.calls.cmp(&x.calls).then_with(|| a.cmp(b)));
        let group = self.query.group;
        let row = |(name, tally): (String, Tally)| match group {
            CallGroup::Tool => CallStatsRow::Tool { tool: name, sums: tally.sums() },
            CallGroup::Command => CallStatsRow::Command { command: name, sums: tally.sums() },
            CallGroup::Error => CallStatsRow::Error {
                error: name,
                calls: tally.calls,
                tools: tally.tools.into_iter().collect(),
            },
        };
        CallStats {
            totals: self.all.sums(),
            rows: groups.into_iter().map(row).collect(),
            sessions: self.sessions,
        }
    }
}

impl Tally {
    fn add(&mut self, call: &CountedCall<'_>) {
        self.calls += 1;
        self.output_tokens = self.output_tokens.saturating_add(call.output_tokens);
        self.durations.extend(call.duration_ms);
        if call.error.is_some() {
            self.failed += 1;
            if !self.tools.contains(call.tool) {
                self.tools.insert(call.tool.to_owned());
            }
        }
    }

    fn sums(&self) -> CallSums {
        let mut durations = self.durations.clone();
        durations.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "no share needs more than 52 bits")]
        let share = if self.calls == 0 { 0.0 } else { self.failed as f64 / self.calls as f64 };
        CallSums {
            calls: self.calls,
            failed: self.failed,
            share,
            median_ms: median(&durations),
            p95_ms: nearest_rank(&durations, 95),
            output_tokens: self.output_tokens,
        }
    }
}

/// The middle of sorted numbers; of two in the middle, their mean.
fn median(sorted: &[u64]) -> Option<u64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(lower.midpoint(upper))
}

/// The smallest of sorted numbers that this share of them, in percent, does not exceed.
fn nearest_rank(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests;
