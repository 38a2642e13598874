//! What each request used, and which answer it got.
//!
//! In Cline, a request says how long the conversation was before it; in the other programs, its
//! answer is the first message after it by time. If neither is known, they are matched in order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_model::{Message, Role, Timestamp, Usage};

use super::conversation::MAIN;
use crate::line::{Object, Record};
use crate::script::blank;

/// A request, as the screen shows it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) at: Option<Timestamp>,
    pub(super) usage: Usage,
    pub(super) cost: Option<f64>,
    pub(super) model: Option<String>,
}

impl Request {
    pub(super) fn has_spent(&self) -> bool {
        !self.usage.is_zero() || self.cost.is_some()
    }

    /// A message without content, for a request without an answer.
    pub(super) fn message<'a>(&self) -> Message<'a> {
        let mut message = blank(MAIN, Role::Assistant);
        message.usage = Some(self.usage);
        message.cost_usd = self.cost;
        message.model = self.model.clone().map(Cow::Owned);
        message
    }
}

#[derive(Debug, Default)]
pub(super) struct Requests {
    /// For each index on the screen: the request.
    shown: BTreeMap<usize, Request>,
    /// For each answer's index in the conversation: its request's index on the screen.
    answers: BTreeMap<usize, usize>,
    /// For each request's index on the screen: its answer's index in the conversation.
    answered: BTreeMap<usize, usize>,
}

/// Messages of the screen with the tokens of requests, and of work beside the answers.
const SPENT: [&str; 4] =
    ["api_req_started", "api_req_finished", "deleted_api_reqs", "subagent_usage"];

impl Requests {
    pub(super) fn new<'a>(said: &[Record<'a>], shown: &[Record<'a>]) -> Self {
        let mut requests = Self::default();
        let is_answer = |record: &Record<'a>| record.object.id("role") == Some("assistant");
        let answers: Vec<(usize, Option<Timestamp>)> = (0..)
            .zip(said)
            .filter(|(_, record)| is_answer(record))
            .map(|(at, record)| (at, record.object.time("ts")))
            .collect();
        let has_times = answers.iter().any(|(_, at)| at.is_some());
        let mut in_order = answers.iter();
        for (place, record) in shown.iter().enumerate() {
            let kind = record.object.id("say").filter(|kind| SPENT.contains(kind));
            let (Some(kind), Some(request)) = (kind, request(&record.object)) else { continue };
            let time = request.at;
            requests.shown.insert(place, request);
            if kind != "api_req_started" {
                continue;
            }
            let before = record.object.raw("conversationHistoryIndex");
            let answer = match before.and_then(|before| before.parse::<i64>().ok()) {
                // The message that is sent with the request comes in between.
                Some(before) => usize::try_from(before.saturating_add(2)).ok(),
                None if has_times => {
                    let next = answers.partition_point(|(_, at)| *at < time);
                    answers.get(next).map(|(at, _)| *at)
                }
                None => in_order.next().map(|(at, _)| *at),
            };
            // Of several attempts the last one was answered.
            let answer = answer.filter(|at| said.get(*at).is_some_and(is_answer));
            if let Some(failed) = answer.and_then(|at| requests.answers.insert(at, place)) {
                requests.answered.remove(&failed);
            }
            requests.answered.extend(answer.map(|at| (place, at)));
        }
        requests
    }

    /// The request that a message of the conversation answers.
    pub(super) fn of(&self, answer: usize) -> Option<&Request> {
        self.shown.get(self.answers.get(&answer)?)
    }

    /// The request at an index of the screen, if it is one, and its answer.
    pub(super) fn shown(&self, place: usize) -> Option<(&Request, Option<usize>)> {
        Some((self.shown.get(&place)?, self.answered.get(&place).copied()))
    }
}

/// Reads a request. Its numbers are in a string that contains JSON.
fn request(shown: &Object<'_>) -> Option<Request> {
    let text = shown.text("text")?;
    let counts = Object::parse(&text)?;
    let model = shown.object("modelInfo").unwrap_or_default();
    let named = counts.text("modelId").map(std::borrow::Cow::into_owned);
    Some(Request {
        at: shown.time("ts"),
        usage: usage(&counts, model.id("providerId").unwrap_or_default()),
        cost: counts.cost("cost"),
        model: named.or_else(|| model.text("modelId").map(std::borrow::Cow::into_owned)),
    })
}

/// Providers whose input, as Cline reports it, includes cached input.
const INCLUSIVE: [&str; 9] =
    ["openai", "litellm", "doubao", "fireworks", "hicap", "lmstudio", "qwen", "xai", "zai"];

/// Converts token counts. Roo Code and Kilo Code, which name the protocol, have reported all input
/// since November 2025; a sum that is less than its parts is not taken as a sum.
fn usage(counts: &Object<'_>, provider: &str) -> Usage {
    let count = |name| counts.number(name).unwrap_or_default();
    let (read, write) = (count("cacheReads"), count("cacheWrites"));
    let is_sum = counts.has("apiProtocol") || INCLUSIVE.contains(&provider);
    let input = count("tokensIn");
    let apart = input.checked_sub(read.saturating_add(write)).filter(|_| is_sum);
    Usage {
        input: apart.unwrap_or(input),
        output: count("tokensOut"),
        reasoning: count("reasoningTokens").min(count("tokensOut")),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    }
}
