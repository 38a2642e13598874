//! Token counts: running totals, counted by differences.
//!
//! A total that did not change adds nothing, whatever `last_token_usage` says. A total that
//! decreased was reset (a context that overflowed, a thread that was reset): its value was used
//! since then, at most as much as `last_token_usage` says. A fork's totals continue its parent's.

use antiphon_model::Usage;

use crate::line::Object;

/// One running total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Total {
    /// Includes cache reads and writes.
    input: u64,
    cached: u64,
    cache_write: u64,
    /// Includes reasoning.
    output: u64,
    reasoning: u64,
    /// Only needed to distinguish a total that was reset from one that did not change.
    all: u64,
}

/// The result of counting a `token_count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Spent(Usage),
    /// The totals equal those of the previous count.
    Unchanged,
    /// It only reports limits, or has an unknown shape.
    Nothing,
}

/// The totals of a thread, so far.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    previous: Option<Total>,
}

impl Tokens {
    /// Takes the totals as the starting point, because their tokens were counted elsewhere.
    pub(crate) fn skip(&mut self, info: Option<&Object<'_>>) {
        if let Some(total) = info.and_then(|info| info.object("total_token_usage")) {
            self.previous = Some(Total::read(&total));
        }
    }

    /// Counts a `token_count`. `goes_on`: the thread continues the totals of another one.
    pub(crate) fn count(&mut self, info: Option<&Object<'_>>, goes_on: bool) -> Count {
        let Some(info) = info else { return Count::Nothing };
        let Some(total) = info.object("total_token_usage") else { return Count::Nothing };
        let total = Total::read(&total);
        let last = info.object("last_token_usage").map(|last| Total::read(&last));
        let difference = match self.previous {
            Some(previous) if previous == total => return Count::Unchanged,
            Some(previous) => total.since(previous),
            None => Some(total).filter(|_| !goes_on),
        };
        self.previous = Some(total);
        let spent = difference.unwrap_or_else(|| match last {
            Some(last) if total.since(last).is_some() => last,
            Some(_) | None => total,
        });
        Count::Spent(spent.usage())
    }
}

impl Tokens {
    /// Counts a total without `info` around it.
    pub(crate) fn total(&mut self, counts: &Object<'_>) -> Count {
        let total = Total::read(counts);
        let spent = match self.previous.replace(total) {
            Some(previous) if previous == total => return Count::Unchanged,
            Some(previous) => total.since(previous).unwrap_or(total),
            None => total,
        };
        Count::Spent(spent.usage())
    }
}

impl Total {
    fn read(counts: &Object<'_>) -> Self {
        let number = |name| counts.number(name).unwrap_or_default();
        Self {
            input: number("input_tokens"),
            cached: number("cached_input_tokens"),
            cache_write: number("cache_write_input_tokens"),
            output: number("output_tokens"),
            reasoning: number("reasoning_output_tokens"),
            all: number("total_tokens"),
        }
    }

    /// The difference to an earlier total; `None` if one of the numbers decreased.
    fn since(self, previous: Self) -> Option<Self> {
        Some(Self {
            input: self.input.checked_sub(previous.input)?,
            cached: self.cached.checked_sub(previous.cached)?,
            cache_write: self.cache_write.checked_sub(previous.cache_write)?,
            output: self.output.checked_sub(previous.output)?,
            reasoning: self.reasoning.checked_sub(previous.reasoning)?,
            all: self.all.saturating_sub(previous.all),
        })
    }

    fn usage(self) -> Usage {
        usage_of(self.input, self.cached, self.cache_write, self.output, self.reasoning)
    }
}

/// Converts token counts. The input includes cache reads and writes, the output reasoning.
fn usage_of(input: u64, cached: u64, cache_write: u64, output: u64, reasoning: u64) -> Usage {
    Usage {
        input: input.saturating_sub(cached).saturating_sub(cache_write),
        output,
        reasoning,
        cache_read: cached,
        cache_write,
        cache_write_1h: 0,
    }
}
