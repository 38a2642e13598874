//! Why a session cost what it did: its turns, what was paid for again, and what filled the context.

use std::collections::BTreeMap;

use antiphon_model::{AgentIx, BodyError, CallIx, ContextAction, EventIx, Timestamp, Usage};
use serde::Serialize;

use crate::call_facts::output_tokens;
use crate::calls::has_failed;
use crate::request::{Pricing, requests};
use crate::{
    CostTree, Prices, Reading, SubAgent, Totals, call_subject, main_agent, prompts, sub_agents,
};

/// Services keep nothing shorter than this in their cache, in tokens.
const CACHED_AT_LEAST: u64 = 1024;

/// Why a session cost what it did.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostReasons {
    /// What followed each prompt, the most expensive first. All turns together are the total.
    pub turns: Vec<TurnCost>,
    /// The requests that the cache should have served and did not, in order.
    pub misses: Vec<CacheMiss>,
    /// How many tokens each request of the main agent sent, in order.
    pub growth: Vec<ContextGrowth>,
    /// The tools, by the tokens that their output put into a context.
    pub tools: Vec<ToolTokens>,
    /// The agents that other agents created, the most expensive first.
    pub sub_agents: Vec<SubAgent>,
    /// Calls that were made again after they had failed, in order.
    pub retries: Vec<Retry>,
    /// How much each compaction took out of a context, in order.
    pub compactions: Vec<Compaction>,
}

/// What followed a prompt, until the next one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnCost {
    /// The id of the message with the prompt; null for what was done before the first one.
    pub message_id: Option<String>,
    /// The words of the prompt.
    pub prompt: Option<String>,
    #[serde(flatten)]
    pub totals: Totals,
}

/// A request for which tokens were paid again that had been in the cache.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheMiss {
    /// The id of the message with the answer.
    pub message_id: String,
    /// How many tokens were paid again.
    pub tokens: u64,
    /// When the cache served this agent last; null if that has no time.
    pub since: Option<Timestamp>,
}

/// The size of a context.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextGrowth {
    /// The id of the message with the answer.
    pub message_id: String,
    /// How many tokens the request sent: input, read from the cache, and written to it.
    pub tokens: u64,
}

/// What a tool put into a context.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolTokens {
    /// The tool.
    pub tool: String,
    /// How often it was called.
    pub calls: u64,
    /// How many tokens its output has; estimated.
    pub tokens: u64,
}

/// A call that was made again after it had failed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retry {
    /// The id of the message that made the call again.
    pub message_id: String,
    /// The tool.
    pub tool: String,
    /// What the call is about.
    pub text: String,
    #[serde(flatten)]
    pub totals: Totals,
}

/// A compaction.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compaction {
    /// The id of the event.
    pub message_id: String,
    /// The id of the agent.
    pub agent_id: String,
    /// How many tokens the last request before it sent; null if there is none.
    pub before: Option<u64>,
    /// How many tokens the first request after it sent; null if there is none.
    pub after: Option<u64>,
    /// How many tokens each request after it did not send.
    pub saved: Option<u64>,
}

/// A request, with what it cost.
struct Paid {
    event: EventIx,
    agent: Option<AgentIx>,
    usage: Usage,
    totals: Totals,
}

/// How many tokens a request sent.
pub(crate) fn sent(usage: Usage) -> u64 {
    [usage.input, usage.cache_read, usage.cache_write].into_iter().fold(0, u64::saturating_add)
}

/// Why a session cost what it did; `cost` is what each of its agents cost.
pub fn cost_reasons(
    reading: &Reading<'_>,
    cost: &CostTree,
    prices: &Prices,
) -> Result<CostReasons, BodyError> {
    let session = reading.session;
    let mut pricing = Pricing::new(prices);
    let paid: Vec<Paid> = requests(session)
        .map(|request| {
            let mut totals = Totals::default();
            totals.add(request.usage, pricing.of(&request), request.is_partial);
            let (event, agent) = (request.entry.ix(), request.entry.agent());
            Paid { event, agent, usage: request.usage, totals }
        })
        .collect();
    let main = main_agent(session);
    let growth = paid.iter().filter(|it| it.agent == main).map(|it| ContextGrowth {
        message_id: session.entry(it.event).id().to_owned(),
        tokens: sent(it.usage),
    });
    let mut sub_agents = sub_agents(session, cost);
    sub_agents.sort_by_key(|agent| std::cmp::Reverse(agent.own.known()));
    Ok(CostReasons {
        turns: turns(reading, &paid)?,
        misses: misses(reading, &paid),
        growth: growth.collect(),
        tools: tools(reading),
        sub_agents,
        retries: retries(reading, &paid)?,
        compactions: compactions(reading, &paid),
    })
}

fn turns(reading: &Reading<'_>, paid: &[Paid]) -> Result<Vec<TurnCost>, BodyError> {
    let before = TurnCost { message_id: None, prompt: None, totals: Totals::default() };
    let mut turns = vec![before];
    let mut paid = paid.iter().peekable();
    let mut take_until = |turn: &mut TurnCost, end: Option<EventIx>| {
        while let Some(it) = paid.next_if(|it| end.is_none_or(|end| it.event < end)) {
            turn.totals += it.totals;
        }
    };
    for prompt in prompts(reading)? {
        if let Some(turn) = turns.last_mut() {
            take_until(turn, Some(prompt.event));
        }
        let (message_id, words) = (Some(prompt.message_id), Some(prompt.text));
        turns.push(TurnCost { message_id, prompt: words, totals: Totals::default() });
    }
    if let Some(turn) = turns.last_mut() {
        take_until(turn, None);
    }
    turns.retain(|turn| turn.message_id.is_some() || turn.totals.requests > 0);
    turns.sort_by_key(|turn| std::cmp::Reverse(turn.totals.known()));
    Ok(turns)
}

/// The events that changed the context of an agent, in order.
fn edits(reading: &Reading<'_>, agent: AgentIx) -> Vec<(EventIx, ContextAction)> {
    let events = reading.session.agent(agent).transcript();
    let edits =
        events.filter_map(|event| Some((event, reading.session.entry(event).edit()?.action)));
    edits.collect()
}

fn misses(reading: &Reading<'_>, paid: &[Paid]) -> Vec<CacheMiss> {
    /// What is known of the cache of an agent.
    struct Cache {
        edits: Vec<(EventIx, ContextAction)>,
        last: Usage,
        event: EventIx,
        served: Option<Timestamp>,
    }
    let session = reading.session;
    let mut caches: BTreeMap<AgentIx, Cache> = BTreeMap::new();
    let mut misses = Vec::new();
    for it in paid {
        let Some(agent) = it.agent else { continue };
        let at = session.entry(it.event).at();
        let Some(cache) = caches.get_mut(&agent) else {
            let edits = edits(reading, agent);
            caches.insert(agent, Cache { edits, last: it.usage, event: it.event, served: at });
            continue;
        };
        let is_other = cache.edits.iter().any(|(edit, _)| (cache.event..it.event).contains(edit));
        let cached = cache.last.cache_read.saturating_add(cache.last.cache_write);
        let again = cached.min(sent(it.usage)).saturating_sub(it.usage.cache_read);
        // What was taken out of the context is not missed by the cache.
        if again >= CACHED_AT_LEAST && !is_other {
            let message_id = session.entry(it.event).id().to_owned();
            misses.push(CacheMiss { message_id, tokens: again, since: cache.served });
        }
        if it.usage.cache_read > 0 {
            cache.served = at;
        }
        (cache.last, cache.event) = (it.usage, it.event);
    }
    misses
}

fn tools(reading: &Reading<'_>) -> Vec<ToolTokens> {
    let mut tools: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (ix, _) in reading.session.calls() {
        let (calls, tokens) = tools.entry(reading.session.tool_name(ix)).or_default();
        *calls += 1;
        *tokens = tokens.saturating_add(output_tokens(reading, ix));
    }
    let row = |(tool, (calls, tokens)): (&str, (u64, u64))| ToolTokens {
        tool: tool.to_owned(),
        calls,
        tokens,
    };
    let mut rows: Vec<ToolTokens> = tools.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.tokens));
    rows
}

fn retries(reading: &Reading<'_>, paid: &[Paid]) -> Result<Vec<Retry>, BodyError> {
    let session = reading.session;
    let cost_of = |event: EventIx| {
        let at = paid.binary_search_by_key(&event, |it| it.event).ok();
        at.and_then(|at| paid.get(at)).map(|it| it.totals).unwrap_or_default()
    };
    let mut last: BTreeMap<AgentIx, CallIx> = BTreeMap::new();
    let mut retries = Vec::new();
    for (ix, call) in session.calls() {
        let Some(before) = last.insert(call.agent, ix) else { continue };
        let same_tool = session.tool_name(before) == session.tool_name(ix);
        if !same_tool || !has_failed(reading, before) {
            continue;
        }
        let text = call_subject(reading, ix)?;
        if text == call_subject(reading, before)? {
            retries.push(Retry {
                message_id: session.entry(call.event).id().to_owned(),
                tool: session.tool_name(ix).to_owned(),
                text,
                totals: cost_of(call.event),
            });
        }
    }
    Ok(retries)
}

fn compactions(reading: &Reading<'_>, paid: &[Paid]) -> Vec<Compaction> {
    let session = reading.session;
    let mut found = Vec::new();
    for (agent, _) in session.agents() {
        let own: Vec<&Paid> = paid.iter().filter(|it| it.agent == Some(agent)).collect();
        for (event, action) in edits(reading, agent) {
            if action != ContextAction::Compact {
                continue;
            }
            let at = own.partition_point(|it| it.event < event);
            let tokens = |at: usize| own.get(at).map(|it| sent(it.usage));
            let (before, after) = (at.checked_sub(1).and_then(tokens), tokens(at));
            let saved = before.zip(after).map(|(before, after)| before.saturating_sub(after));
            found.push((
                event,
                Compaction {
                    message_id: session.entry(event).id().to_owned(),
                    agent_id: session.agent_id(agent).to_owned(),
                    before,
                    after,
                    saved,
                },
            ));
        }
    }
    found.sort_by_key(|(event, _)| *event);
    found.into_iter().map(|(_, compaction)| compaction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost;
    use crate::fixture::{agent, call, read, result, spent};

    fn prompt(id: &str) -> String {
        format!(r#"{{"message_id":"{id}","agent_id":"a","role":"user","content":"{id}"}}"#)
    }

    fn request(id: &str, usage: &str) -> String {
        let more =
            format!(r#","model":"claude-sonnet-4-5","timestamp":"2026-01-01T00:00:0{id}.000Z""#);
        spent(id, "a", usage, &more)
    }

    fn reasons(log: &[String]) -> CostReasons {
        read(log, |reading| {
            let prices = Prices::bundled();
            let tree = cost(reading.session, "s", &prices);
            let reasons = cost_reasons(reading, &tree, &prices).unwrap();
            let mut sum = Totals::default();
            reasons.turns.iter().for_each(|turn| sum += turn.totals);
            assert_eq!(sum, tree.total, "the turns are the total");
            reasons
        })
    }

    #[test]
    fn turns_are_named_by_their_prompts_and_a_cold_cache_is_a_miss() {
        let why = reasons(&[
            agent("a", None),
            request("1", r#""output":1"#),
            prompt("small"),
            request("2", r#""cache_write":20000"#),
            request("3", r#""cache_read":20000,"cache_write":500"#),
            prompt("dear"),
            request("4", r#""cache_write":30000"#),
            request("5", r#""cache_read":29500"#),
        ]);
        let turns: Vec<_> = why.turns.iter().map(|it| it.message_id.as_deref()).collect();
        assert_eq!(turns, [Some("dear"), Some("small"), None]);
        let since = Timestamp::parse("2026-01-01T00:00:03.000Z");
        let miss = CacheMiss { message_id: "4".to_owned(), tokens: 20_500, since };
        assert_eq!(why.misses, [miss], "a few tokens less are no miss");
        let growth: Vec<u64> = why.growth.iter().map(|it| it.tokens).collect();
        assert_eq!(growth, [0, 20_000, 20_500, 30_000, 29_500]);
    }

    #[test]
    fn what_compaction_takes_out_is_saved_and_not_missed() {
        let why = reasons(&[
            agent("a", None),
            request("1", r#""cache_write":90000"#),
            r#"{"message_id":"c","event_type":"context_edited","agent_id":"a","action":"compact"}"#
                .to_owned(),
            request("2", r#""cache_write":15000"#),
        ]);
        assert_eq!(why.misses, []);
        let [compaction] = why.compactions.as_slice() else { unreachable!("one") };
        assert_eq!(
            (compaction.before, compaction.after, compaction.saved),
            (Some(90_000), Some(15_000), Some(75_000))
        );
    }

    #[test]
    fn only_the_same_call_after_a_failure_is_a_retry() {
        let failed = r#","is_error":true"#;
        let make = |id: &str, command: &str, more: &str| {
            let arguments = format!(r#"{{"command":"{command}"}}"#);
            [call("a", id, "Bash", &arguments, ""), result("a", id, more)]
        };
        let log: Vec<String> = [
            make("c1", "make", failed),
            make("c2", "make", ""),
            make("c3", "make", ""),
            make("c4", "make test", failed),
            make("c5", "make", ""),
        ]
        .concat();
        let why = reasons(&log);
        let retries: Vec<_> = why.retries.iter().map(|it| (&*it.message_id, &*it.text)).collect();
        assert_eq!(retries, [("a calls c2", "make")]);
        let [tool] = why.tools.as_slice() else { unreachable!("one") };
        assert_eq!((tool.calls, tool.tokens), (5, 5));
    }
}
