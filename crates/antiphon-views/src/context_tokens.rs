//! What fills the context of an agent, in tokens.
//!
//! Agents say how many tokens each request sent, and how many its answer has; not what each message
//! took. So what a request sent more than the one before it is divided among the messages that came
//! between them, in proportion to their length. The first request sent what is recorded nowhere,
//! too: the instructions of the agent and the descriptions of its tools.

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, BodyError, Detail, Entry, EventIx, Role, Source, json};
use serde::Serialize;

use crate::context::live;
use crate::cost_reasons::sent;
use crate::request::model_of;
use crate::window::window;
use crate::{Reading, tokens};

/// What a part of the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContextKind {
    /// Instructions, descriptions of tools, and notices of the program.
    System,
    /// What the person, or the agent that created this one, said.
    Prompt,
    /// What the agent said, and the arguments of its calls.
    Answer,
    /// What the agent thought.
    Thinking,
    /// The output of a tool.
    Tool,
    /// Pictures and documents.
    Attachment,
}

impl ContextKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Prompt => "prompts",
            Self::Answer => "answers",
            Self::Thinking => "thinking",
            Self::Tool => "tool",
            Self::Attachment => "attachments",
        }
    }
}

/// Where a number of tokens comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TokenBasis {
    /// The agent says so.
    Measured,
    /// It is worked out from the length of texts.
    Estimated,
}

/// The size of a context, and what fills it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextTokens {
    /// What the last request sent: input, read from the cache, and written to it. Without a
    /// request, the sum of the messages.
    pub tokens: u64,
    /// Whether a request says so.
    pub basis: TokenBasis,
    /// How many tokens fit into the context; null for an unknown model.
    pub window: Option<u64>,
    /// What fills the context, the most first. The sum is `tokens`.
    pub kinds: Vec<KindTokens>,
    /// How many tokens the messages have that were dropped; estimated.
    pub dropped_tokens: u64,
}

/// What one kind of message takes.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindTokens {
    /// What it is.
    pub kind: ContextKind,
    /// The tool whose output it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How many tokens it takes.
    pub tokens: u64,
    /// Where the number comes from.
    pub basis: TokenBasis,
}

/// A kind, with the tool whose output it is.
type Key<'s> = (ContextKind, Option<&'s str>);

/// What each kind takes, and whether that is measured.
type Parts<'s> = BTreeMap<Key<'s>, u64>;

pub(crate) fn context_tokens(
    reading: &Reading<'_>,
    agent: AgentIx,
    at: Option<EventIx>,
) -> Result<ContextTokens, BodyError> {
    let session = reading.session;
    let own = session.agent(agent).transcript();
    let usage_of = |event: EventIx| session.entry(event).usage().filter(|it| sent(*it) > 0);
    let is_before = |event: &EventIx| at.is_none_or(|at| *event <= at);
    let is_measured = |event: &EventIx| is_before(event) && usage_of(*event).is_some();
    let last = own.rev().find(is_measured);
    let live = live(session, agent, last.or(at));
    let mut dropped_tokens = 0_u64;
    for (event, _, _) in &live.dropped {
        let parts = estimates(reading, session.entry(*event))?;
        dropped_tokens = dropped_tokens.saturating_add(parts.iter().map(|(_, it)| it).sum());
    }
    let Some((last, usage)) = last.and_then(|last| Some((last, usage_of(last)?))) else {
        let mut parts = Parts::new();
        for event in &live.entries {
            add(&mut parts, estimates(reading, session.entry(*event))?);
        }
        let (tokens, basis) = (parts.values().sum(), TokenBasis::Estimated);
        let model = session.agent(agent).language_model();
        let window = model.and_then(|model| window(model, tokens));
        return Ok(ContextTokens { tokens, basis, window, kinds: kinds(parts), dropped_tokens });
    };
    // What requests sent before the context was edited says nothing about what is in it now.
    let edited = live.dropped.iter().map(|(_, by, _)| *by).filter(|by| *by < last).max();
    let mut parts = Parts::new();
    let mut pending: Vec<(Key<'_>, u64)> = Vec::new();
    // What the last measured request sent, and how long its answer is.
    let mut measured: Option<(u64, u64)> = None;
    for &event in live.entries.iter().chain([&last]) {
        let entry = session.entry(event);
        let usage = usage_of(event).filter(|_| edited.is_none_or(|edited| event > edited));
        if let Some(usage) = usage {
            let total = sent(usage);
            settle(&mut parts, std::mem::take(&mut pending), measured, total);
            measured = Some((total, usage.output));
        }
        if event != last {
            pending.extend(estimates(reading, entry)?);
        }
    }
    let tokens = sent(usage);
    let entry = session.entry(last);
    let window = model_of(entry, entry.model()).and_then(|model| window(model, tokens));
    let (basis, kinds) = (TokenBasis::Measured, kinds(parts));
    Ok(ContextTokens { tokens, basis, window, kinds, dropped_tokens })
}

/// Divides what a request sent among what was in the context before and what has come since.
fn settle<'s>(
    parts: &mut Parts<'s>,
    new: Vec<(Key<'s>, u64)>,
    before: Option<(u64, u64)>,
    total: u64,
) {
    let estimated: u64 = new.iter().map(|(_, tokens)| tokens).sum();
    let Some((last, answer)) = before else {
        // The first request: what no message explains is recorded nowhere.
        let fits = estimated <= total;
        let shares = if fits { new } else { scaled(new, total) };
        let explained: u64 = shares.iter().map(|(_, tokens)| tokens).sum();
        add(parts, shares);
        add(parts, vec![((ContextKind::System, None), total - explained)]);
        return;
    };
    let Some(grown) = total.checked_sub(last).filter(|_| estimated > 0) else {
        // It has become smaller, or nothing that is recorded has come: all keep their shares.
        add(parts, new);
        let all = std::mem::take(parts).into_iter().collect();
        add(parts, scaled(all, total));
        return;
    };
    // The answer is measured by itself, if it stayed in the context whole.
    let is_answer = |key: &Key<'_>| matches!(key.0, ContextKind::Answer | ContextKind::Thinking);
    let (own, others): (Vec<_>, Vec<_>) = new.into_iter().partition(|(key, _)| is_answer(key));
    let answer = match (own.is_empty(), others.is_empty()) {
        (true, _) => 0,
        (_, true) => grown,
        _ => answer.min(grown),
    };
    add(parts, scaled(own, answer));
    add(parts, scaled(others, grown - answer));
}

fn add<'s>(parts: &mut Parts<'s>, new: Vec<(Key<'s>, u64)>) {
    for (key, tokens) in new {
        let known = parts.entry(key).or_default();
        *known = known.saturating_add(tokens);
    }
}

/// The same parts with another sum, in proportion. Nothing is lost by rounding.
fn scaled<'s>(parts: Vec<(Key<'s>, u64)>, total: u64) -> Vec<(Key<'s>, u64)> {
    let sum: u128 = parts.iter().map(|(_, tokens)| u128::from(*tokens)).sum();
    let (mut seen, mut given) = (0_u128, 0_u64);
    let count = parts.len();
    let share = |(at, (key, tokens)): (usize, (Key<'s>, u64))| {
        seen += u128::from(tokens);
        // Without any length, the first takes it all.
        let until = match seen.checked_mul(u128::from(total)).and_then(|it| it.checked_div(sum)) {
            Some(until) => u64::try_from(until).unwrap_or(total),
            None => total,
        };
        let until = if at + 1 == count { total } else { until };
        let share = until.saturating_sub(given);
        given = given.max(until);
        (key, share)
    };
    parts.into_iter().enumerate().map(share).collect()
}

fn kinds(parts: Parts<'_>) -> Vec<KindTokens> {
    let row = |((kind, tool), tokens): (Key<'_>, u64)| KindTokens {
        kind,
        tool: tool.map(str::to_owned),
        tokens,
        basis: TokenBasis::Estimated,
    };
    let mut kinds: Vec<KindTokens> =
        parts.into_iter().filter(|(_, tokens)| *tokens > 0).map(row).collect();
    kinds.sort_by_key(|it| std::cmp::Reverse(it.tokens));
    kinds
}

/// What a message takes, by the length of what is in it.
fn estimates<'s>(
    reading: &Reading<'s>,
    entry: Entry<'s>,
) -> Result<Vec<(Key<'s>, u64)>, BodyError> {
    let mut parts = Vec::new();
    let kind = match (entry.role(), entry.source()) {
        (Some(Role::Tool), _) => {
            let tool = entry.call().map(|ix| reading.session.tool_name(ix));
            (ContextKind::Tool, tool)
        }
        (Some(Role::Assistant), _) => (ContextKind::Answer, None),
        (Some(Role::User), Source::System) | (Some(Role::System), _) => (ContextKind::System, None),
        (Some(Role::User | Role::Other), _) => (ContextKind::Prompt, None),
        (None, _) => return Ok(parts),
    };
    let mut tokens = 0;
    for place in entry.contents() {
        let own = tokens::of_place(reading, place)?;
        let is_prompt = kind.0 == ContextKind::Prompt;
        let attached = if is_prompt { attached(&reading.bodies.read(place)?) } else { 0 };
        if attached > 0 {
            parts.push(((ContextKind::Attachment, None), attached));
        }
        tokens += own.saturating_sub(attached);
    }
    for (_, call) in entry.calls() {
        tokens += tokens::of_place(reading, call.arguments)?;
    }
    parts.push((kind, tokens));
    if let Some(thought) = entry.detail(Detail::Reasoning) {
        let tokens = tokens::of_place(reading, thought)?;
        parts.push(((ContextKind::Thinking, None), tokens));
    }
    Ok(parts)
}

/// The tokens of the parts of a message that are not text.
fn attached(raw: &str) -> u64 {
    let mut tokens = 0;
    let is_text = |part: &str| part.starts_with('"') || json::member(part, "text").is_some();
    let parts = json::elements(raw, |part| {
        if !is_text(part) {
            tokens += tokens::of_json(part);
        }
    });
    parts.map_or(0, |()| tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context;
    use crate::fixture::{agent, call, read, result, spent};

    fn said(id: &str, role: &str, content: &str) -> String {
        format!(r#"{{"message_id":"{id}","agent_id":"a","role":"{role}","content":{content}}}"#)
    }

    fn told(log: &[String], at: Option<&str>) -> ContextTokens {
        read(log, |reading| {
            let at = at.map(|at| reading.session.find(at).unwrap().ix());
            let agent = reading.session.find_agent("a").unwrap();
            let told = context(reading, agent, at).unwrap().tokens;
            assert_eq!(told.kinds.iter().map(|it| it.tokens).sum::<u64>(), told.tokens);
            told
        })
    }

    fn of(told: &ContextTokens, kind: ContextKind) -> u64 {
        told.kinds.iter().filter(|it| it.kind == kind).map(|it| it.tokens).sum()
    }

    fn log() -> Vec<String> {
        let long = "x".repeat(400);
        vec![
            agent("a", None),
            said("p", "user", r#"[{"type":"text","text":"four"},{"type":"image","source":{}}]"#),
            spent(
                "1",
                "a",
                r#""input":10,"cache_write":9990,"output":50"#,
                r#","model":"claude-x""#,
            ),
            call("a", "c", "Read", r#"{"file_path":"/a"}"#, ""),
            result("a", "c", &format!(r#","content":"{long}""#)).replace(r#""content":"ok","#, ""),
            spent(
                "2",
                "a",
                r#""input":10,"cache_read":10990,"output":7"#,
                r#","model":"claude-x""#,
            ),
        ]
    }

    #[test]
    fn the_kinds_are_what_the_last_request_sent() {
        let told = told(&log(), None);
        assert_eq!(
            (told.tokens, told.basis, told.window),
            (11_000, TokenBasis::Measured, Some(200_000))
        );
        assert_eq!(of(&told, ContextKind::Attachment), 1_500);
        assert_eq!(of(&told, ContextKind::Prompt), 1);
        assert_eq!(of(&told, ContextKind::System), 10_000 - 1_501);
        let read = told.kinds.iter().find(|it| it.kind == ContextKind::Tool).unwrap();
        assert_eq!((read.tool.as_deref(), read.tokens), (Some("Read"), 950), "the answer has 50");
        assert_eq!(of(&told, ContextKind::Answer), 50);
    }

    #[test]
    fn an_earlier_step_has_what_its_own_request_sent() {
        let told = told(&log(), Some("1"));
        assert_eq!((told.tokens, of(&told, ContextKind::Answer)), (10_000, 0));
    }

    #[test]
    fn without_a_request_lengths_are_all_that_is_known() {
        let log = [
            agent("a", None),
            said("s", "system", r#""four""#),
            said("p", "user", r#""12345678""#),
        ];
        let told = told(&log, None);
        assert_eq!((told.tokens, told.basis, told.window), (3, TokenBasis::Estimated, None));
        assert_eq!((of(&told, ContextKind::System), of(&told, ContextKind::Prompt)), (1, 2));
    }

    #[test]
    fn what_was_compacted_away_is_not_in_it_and_a_smaller_request_still_adds_up() {
        let mut log = log();
        log.push(
            r#"{"message_id":"e","event_type":"context_edited","agent_id":"a","action":"compact"}"#
                .to_owned(),
        );
        log.push(said("q", "user", r#""four""#));
        log.push(spent("3", "a", r#""input":4000"#, ""));
        let now = told(&log, None);
        assert_eq!(
            (now.tokens, of(&now, ContextKind::Tool), of(&now, ContextKind::Prompt)),
            (4_000, 0, 1)
        );
        assert!(now.dropped_tokens > 1_500);
        log.push(spent("4", "a", r#""input":100"#, ""));
        assert_eq!(told(&log, None).tokens, 100);
    }
}
