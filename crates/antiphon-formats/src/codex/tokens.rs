//! Tokens: running totals, counted by differences.
//!
//! A total that did not move adds nothing, whatever `last_token_usage` says. A total that went down
//! was set anew (a context that overflowed, a thread that was reset): what it holds beyond zero was
//! used since, and `last_token_usage` bounds it. A fork's totals go on from its parent's.

use antiphon_model::Usage;

use crate::line::Object;

/// One running total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Total {
    /// With what came from a cache or went to one.
    input: u64,
    cached: u64,
    cache_write: u64,
    /// With reasoning.
    output: u64,
    reasoning: u64,
    /// Only to tell a total that was set anew from one that did not move.
    all: u64,
}

/// What a `token_count` adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Spent(Usage),
    /// The totals are those of the count before.
    Unchanged,
    /// It tells of limits only, or in a shape that we do not know.
    Nothing,
}

/// The totals of a thread, so far.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    previous: Option<Total>,
}

impl Tokens {
    /// Takes the totals as they are: what they hold was counted elsewhere.
    pub(crate) fn skip(&mut self, info: Option<&Object<'_>>) {
        if let Some(total) = info.and_then(|info| info.object("total_token_usage")) {
            self.previous = Some(Total::read(&total));
        }
    }

    /// Adds a `token_count`. `goes_on`: the thread continues another's totals.
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
    /// Adds a bare total.
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

    /// What was added since; nothing if one of the numbers went down.
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

/// Input is told with what came from a cache and went to one; output with reasoning.
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
