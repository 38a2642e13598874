//! Counts each token of a stream once.
//!
//! The input on a message's lines is final, but the output is only what was generated so far. A
//! `result` reports, per model, all that the session has used (`modelUsage`), including sub-agents
//! and requests that are not in the stream; the last one is right. So every message keeps the
//! counts of its last line, and the difference to the result is added to the main agent's last
//! message of that model. If the messages add up to more than the result (which should not happen),
//! only the result counts. A model without a message gets an empty one, at the result.
//!
//! Totals that decrease were reset (`/clear`), and the totals before that are added. A result
//! without totals (after a crash) has no effect. Versions without `modelUsage` reported the main
//! agent's tokens of each turn (`usage`); these replace the counts of the turn's messages.
//!
//! Costs are declared in the same way, per model (`costUSD`) and in total (`total_cost_usd`), and
//! go to the same messages: the last message of a model has the model's total cost, and the others
//! declare a cost of zero.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_model::{EventKind, Role, Usage};

use crate::claude_code::usage;
use crate::line::{Object, Record};
use crate::script::{Script, blank};

#[derive(Debug, Default)]
pub(super) struct Tally<'a> {
    /// The events of messages with usage, and whether they are the main agent's.
    spoken: Vec<(usize, bool)>,
    /// The index in `spoken` at which the turn begins.
    turn: usize,
    turns: Vec<(Vec<usize>, Usage)>,
    models: BTreeMap<Cow<'a, str>, Model>,
    /// The total cost of the session, in dollars.
    total: Dollars,
}

/// A declared cost: the sum before resets, and the current value.
#[derive(Debug, Default, Clone, Copy)]
struct Dollars {
    before: f64,
    since: f64,
}

impl Dollars {
    fn sum(self) -> f64 {
        self.before + self.since
    }
}

/// The usage of a model: the sum before resets, and the current value.
#[derive(Debug, Default, Clone, Copy)]
struct Model {
    before: Usage,
    since: Usage,
    cost: Dollars,
}

impl<'a> Tally<'a> {
    /// Notes the beginning of a message.
    pub(super) fn spoke(&mut self, event: usize, is_main: bool) {
        self.spoken.push((event, is_main));
    }

    pub(super) fn result(&mut self, result: &Object<'a>) {
        let turn = self.spoken.get(self.turn..).unwrap_or_default();
        let main: Vec<usize> =
            turn.iter().filter(|(_, is_main)| *is_main).map(|(event, _)| *event).collect();
        self.turn = self.spoken.len();
        let spent = result.object("usage").map(|counts| usage(&counts)).unwrap_or_default();
        if !spent.is_zero() {
            self.turns.push((main, spent));
        }
        // A result distinguishes variants of a model, and messages do not.
        let mut now: BTreeMap<Cow<'a, str>, (Usage, f64)> = BTreeMap::new();
        for (name, counts) in result.object("modelUsage").unwrap_or_default().members() {
            let Some(counts) = Object::parse(counts) else { continue };
            let name = match counts.text("canonicalModel").unwrap_or(Cow::Borrowed(name)) {
                Cow::Borrowed(name) => Cow::Borrowed(plain(name)),
                Cow::Owned(name) => Cow::Owned(plain(&name).to_owned()),
            };
            let (usage, cost) = now.entry(name).or_default();
            *usage += read(&counts);
            *cost += counts.cost("costUSD").unwrap_or_default();
        }
        for (name, (now, cost)) in now.into_iter().filter(|(_, (now, _))| !now.is_zero()) {
            let model = self.models.entry(name).or_default();
            if minus(now, model.since).is_none() {
                model.before += model.since;
                model.cost.before += model.cost.since;
            }
            model.since = now;
            model.cost.since = cost;
        }
        if let Some(total) = result.cost("total_cost_usd") {
            if total < self.total.since {
                self.total.before += self.total.since;
            }
            self.total.since = total;
        }
    }

    /// Sets the final counts of the messages.
    pub(super) fn settle(mut self, script: &mut Script<'a>, end: Option<&Record<'a>>) {
        if self.models.values().all(|model| model.since.is_zero()) {
            for (turn, spent) in std::mem::take(&mut self.turns) {
                settle_turn(script, &turn, spent);
            }
            return self.settle_total(script, end);
        }
        let mut by_model: BTreeMap<String, Vec<(bool, usize)>> = BTreeMap::new();
        for &(event, is_main) in &self.spoken {
            let model = script.message_at(event).and_then(|message| message.model.as_deref());
            if let Some(model) = model {
                by_model.entry(plain(model).to_owned()).or_default().push((is_main, event));
            }
        }
        for (name, model) in std::mem::take(&mut self.models) {
            let mut all = model.before;
            all += model.since;
            let messages = by_model.remove(plain(&name)).unwrap_or_default();
            let at = settle_model(script, (name, all), &messages, end);
            if let Some(at) = at {
                let events = messages.iter().map(|(_, event)| *event);
                declare(script, events, at, model.cost.sum());
                self.spoken.push((at, true));
            }
        }
        self.settle_total(script, end);
    }

    /// Declares what the session cost beyond the costs of its models.
    fn settle_total(self, script: &mut Script<'a>, end: Option<&Record<'a>>) {
        let events = || self.spoken.iter().map(|(event, _)| *event);
        let mut declared = 0.0;
        for event in events().collect::<BTreeSet<usize>>() {
            let message = script.message_at(event);
            declared += message.and_then(|message| message.cost_usd).unwrap_or_default();
        }
        let rest = self.total.sum() - declared;
        // A smaller difference is a rounding error.
        if rest < 1e-9 {
            return;
        }
        // The cost of the session goes to the main agent.
        let last = self.spoken.iter().max_by_key(|(event, is_main)| (*is_main, *event));
        let last = last.map(|(event, _)| *event).or_else(|| {
            let message = blank(super::MAIN, Role::Assistant);
            Some(script.push(end?, None, EventKind::Message(message)))
        });
        if let Some(last) = last {
            declare(script, events(), last, rest);
        }
    }
}

/// Adds a declared cost to one of some messages, and declares zero for the others.
fn declare(script: &mut Script<'_>, events: impl Iterator<Item = usize>, last: usize, cost: f64) {
    if cost <= 0.0 {
        return;
    }
    for event in events.chain([last]) {
        if let Some(message) = script.message_at(event)
            && (message.usage.is_some() || event == last)
        {
            message.cost_usd.get_or_insert_default();
        }
    }
    if let Some(cost_usd) = script.message_at(last).and_then(|message| message.cost_usd.as_mut()) {
        *cost_usd += cost;
    }
}

/// Adjusts the messages of a model to its total usage, and returns the one that has the difference.
fn settle_model<'a>(
    script: &mut Script<'a>,
    (name, all): (Cow<'a, str>, Usage),
    messages: &[(bool, usize)],
    end: Option<&Record<'a>>,
) -> Option<usize> {
    let mut sum = Usage::default();
    for &(_, event) in messages {
        let usage = script.message_at(event).and_then(|message| message.usage);
        sum += usage.unwrap_or_default();
    }
    let missing = minus(all, sum).unwrap_or_else(|| {
        for &(_, event) in messages {
            if let Some(message) = script.message_at(event) {
                message.usage = None;
            }
        }
        all
    });
    if let Some((_, event)) = messages.iter().max() {
        if let Some(message) = script.message_at(*event) {
            *message.usage.get_or_insert_default() += missing;
        }
        return Some(*event);
    }
    let mut message = blank(super::MAIN, Role::Assistant);
    message.model = Some(name);
    message.usage = Some(missing);
    Some(script.push(end?, None, EventKind::Message(message)))
}

/// A model's name without its variant (`claude-sonnet-4-5[1m]`).
fn plain(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

fn settle_turn(script: &mut Script<'_>, turn: &[usize], spent: Usage) {
    for &event in turn {
        if let Some(message) = script.message_at(event) {
            message.usage = None;
        }
    }
    if let Some(message) = turn.last().and_then(|&event| script.message_at(event)) {
        message.usage = Some(spent);
    }
}

fn read(counts: &Object<'_>) -> Usage {
    let number = |name| counts.number(name).unwrap_or_default();
    Usage {
        input: number("inputTokens"),
        output: number("outputTokens"),
        reasoning: number("thinkingTokens"),
        cache_read: number("cacheReadInputTokens"),
        cache_write: number("cacheCreationInputTokens"),
        cache_write_1h: 0,
    }
}

/// The difference between the total and the sum, unless one of the counts would be negative. Only
/// messages say how much was cached for an hour, and results did not always include reasoning.
fn minus(all: Usage, sum: Usage) -> Option<Usage> {
    Some(Usage {
        input: all.input.checked_sub(sum.input)?,
        output: all.output.checked_sub(sum.output)?,
        reasoning: all.reasoning.saturating_sub(sum.reasoning),
        cache_read: all.cache_read.checked_sub(sum.cache_read)?,
        cache_write: all.cache_write.checked_sub(sum.cache_write)?,
        cache_write_1h: 0,
    })
}
