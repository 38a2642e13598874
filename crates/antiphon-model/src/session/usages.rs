//! The tokens of requests, in a column. Counts below four billion, which are all but none, take
//! half the room.

use super::column::{Sparse, push_tight};
use super::strings::StrIx;
use crate::Usage;

#[derive(Debug, Default, Clone)]
pub(super) struct Usages {
    rows: Vec<Row>,
    /// Those with a count that does not fit.
    wide: Sparse<Usage>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    event: u32,
    /// Input, output, reasoning, cache read, cache write, of that for one hour.
    counts: [u32; 6],
    model: u32,
}

/// Says that the counts are in `wide`.
const WIDE: [u32; 6] = [u32::MAX; 6];
const NO_MODEL: u32 = u32::MAX;

impl Usages {
    /// Usages are pushed in the order of events.
    pub(super) fn push(&mut self, event: u32, usage: Usage, model: Option<StrIx>) {
        let counts = narrow(usage).unwrap_or(WIDE);
        if counts == WIDE {
            self.wide.push(event, usage);
        }
        let model = model.map_or(NO_MODEL, |StrIx(model)| model);
        push_tight(&mut self.rows, Row { event, counts, model });
    }

    pub(super) fn get(&self, event: u32) -> Option<(Usage, Option<StrIx>)> {
        let at = self.rows.partition_point(|row| row.event < event);
        self.rows.get(at).filter(|row| row.event == event).map(|row| self.of(row))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Usage, Option<StrIx>)> {
        self.rows.iter().map(|row| {
            let (usage, model) = self.of(row);
            (row.event, usage, model)
        })
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>() + self.wide.heap_bytes()
    }

    fn of(&self, row: &Row) -> (Usage, Option<StrIx>) {
        let usage = match row.counts {
            WIDE => self.wide.get(row.event).copied().unwrap_or_default(),
            counts => {
                let [input, output, reasoning, cache_read, cache_write, cache_write_1h] =
                    counts.map(u64::from);
                Usage { input, output, reasoning, cache_read, cache_write, cache_write_1h }
            }
        };
        (usage, (row.model != NO_MODEL).then_some(StrIx(row.model)))
    }
}

fn narrow(usage: Usage) -> Option<[u32; 6]> {
    let Usage { input, output, reasoning, cache_read, cache_write, cache_write_1h } = usage;
    let count = |count: u64| u32::try_from(count).ok();
    Some([
        count(input)?,
        count(output)?,
        count(reasoning)?,
        count(cache_read)?,
        count(cache_write)?,
        count(cache_write_1h)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_counts_come_back() {
        let most = u64::from(u32::MAX);
        let all = |count| Usage {
            input: count,
            output: count,
            reasoning: count,
            cache_read: count,
            cache_write: count,
            cache_write_1h: count,
        };
        let of_input = |input| Usage { input, ..Usage::default() };
        let counts = [Usage::default(), of_input(7), of_input(most + 1), all(most), all(u64::MAX)];
        let mut usages = Usages::default();
        for (event, usage) in (0..).step_by(3).zip(counts) {
            usages.push(event, usage, (event > 0).then_some(StrIx(event)));
        }
        for (event, usage) in (0..).step_by(3).zip(counts) {
            assert_eq!(usages.get(event), Some((usage, (event > 0).then_some(StrIx(event)))));
            assert_eq!(usages.get(event + 1), None);
        }
        assert_eq!(usages.iter().map(|(_, usage, _)| usage).collect::<Vec<_>>(), counts);
    }
}
