//! Spans: a run, its coordinator, the agents under it, and what they called.
//!
//! They are derived from the session; nothing of it is stored. A call that creates or resumes an
//! agent is one span, the agent's: the call has no span of its own. A level is the parent's plus
//! one.

mod builder;
mod note;

use std::collections::BTreeMap;

use antiphon_model::{BodyError, Status, Timestamp, Usage};
use serde::Serialize;

use crate::Reading;
use crate::outline::{Node, nest};
use crate::prices::Prices;
use crate::usd::Usd;
use builder::Builder;
pub use note::SpanNote;

/// One unit of an agent's work.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The id of the span.
    pub span_id: String,
    /// The id of the span that it belongs to.
    pub parent_span_id: Option<String>,
    /// The depth in the run: a sub-task's coordinator is below the span that started it.
    pub level: usize,
    /// The depth in its own task.
    pub depth: usize,
    /// What it is a span of.
    pub kind: SpanKind,
    /// The id of the task.
    pub task_id: String,
    /// The id of the run.
    pub run_id: Option<String>,
    /// The id of the agent.
    pub agent_id: String,
    /// The program that runs the agent.
    pub adapter_id: Option<String>,
    /// The role of the agent.
    pub role: Option<String>,
    /// The name to show.
    pub name: String,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How it went. The root has the status of the session.
    pub status: SpanStatus,
    /// The span's own tokens, without those of its children.
    pub usage: SpanUsage,
    /// The span's own cost in US dollars; null if nothing could be priced.
    pub cost_usd: Option<Usd>,
    /// How a sub-agent was started.
    pub flavor: Flavor,
    /// Whether it ended after the span that it belongs to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outlives_parent: bool,
}

/// What a span is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    /// A task as a whole.
    Coordinator,
    /// An agent that is a program of its own.
    CliAgent,
    /// An agent that is called through an API.
    ApiAgent,
    /// An agent that divides a task.
    Decomposer,
    /// An agent that another agent created.
    SubAgent,
    /// A call of a tool.
    ToolCall,
}

impl SpanKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::CliAgent => "cli-agent",
            Self::ApiAgent => "api-agent",
            Self::Decomposer => "decomposer",
            Self::SubAgent => "sub-agent",
            Self::ToolCall => "tool-call",
        }
    }

    /// The kind of that name.
    pub fn from_word(word: &str) -> Option<Self> {
        let kinds = [
            Self::Coordinator,
            Self::CliAgent,
            Self::ApiAgent,
            Self::Decomposer,
            Self::SubAgent,
            Self::ToolCall,
        ];
        kinds.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The status of a span, with the words of a session's status.
pub type SpanStatus = Status;

/// How a sub-agent was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Flavor {
    /// It is not a sub-agent.
    None,
    /// With a context of its own.
    Normal,
    /// It continues with the context of another agent.
    CoWork,
}

impl Flavor {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Normal => "normal",
            Self::CoWork => "co-work",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::None, Self::Normal, Self::CoWork].into_iter().find(|flavor| flavor.as_str() == word)
    }
}

/// Tokens, under the names that spans have for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpanUsage {
    /// Input tokens that came from no cache.
    pub input_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
    /// Input tokens that were read from a cache.
    pub cache_read_tokens: u64,
    /// Input tokens that were written to a cache.
    pub cache_write_tokens: u64,
}

impl std::ops::AddAssign for SpanUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}

impl From<Usage> for SpanUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
        }
    }
}

/// Every span of a session: the coordinator, then the others in the order in which they began.
pub fn spans(
    reading: &Reading<'_>,
    session_id: &str,
    prices: &Prices,
) -> Result<Vec<Span>, BodyError> {
    Builder::new(reading, session_id, prices)?.build()
}

/// A span with those below it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpanNode {
    #[serde(flatten)]
    pub span: Span,
    /// The tokens of the span and of all spans below it.
    pub total_usage: SpanUsage,
    /// The cost of the span and of all spans below it, in US dollars; null if nothing could be
    /// priced.
    pub total_cost_usd: Option<Usd>,
    /// The spans that belong to it.
    pub children: Vec<Self>,
}

impl SpanNode {
    #[expect(clippy::indexing_slicing, reason = "only positions of these spans are nested")]
    fn of(spans: &[Span], at: usize) -> Self {
        let span = spans[at].clone();
        let (total_usage, total_cost_usd) = (span.usage, span.cost_usd);
        Self { span, total_usage, total_cost_usd, children: Vec::new() }
    }
}

impl Node for SpanNode {
    fn adopt(&mut self, child: Self) {
        self.total_usage += child.total_usage;
        if let Some(cost) = child.total_cost_usd {
            *self.total_cost_usd.get_or_insert_default() += cost;
        }
        self.children.push(child);
    }
}

/// The same spans, each within its parent; there may be several roots.
pub fn span_tree(spans: &[Span]) -> Vec<SpanNode> {
    let Below { roots, children } = Below::of(spans);
    let below = |at: usize| children.get(at).map_or(&[][..], Vec::as_slice);
    nest(roots, below, |at| SpanNode::of(spans, at))
}

/// The children of each span, by position.
struct Below {
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
}

impl Below {
    /// Finds the children by the ids of the parents, which may come later. A span whose parent is
    /// missing is a root, and so is the first of those that form a circle.
    fn of(spans: &[Span]) -> Self {
        let places: BTreeMap<&str, usize> =
            spans.iter().enumerate().map(|(at, span)| (span.span_id.as_str(), at)).collect();
        let parents: Vec<Option<usize>> =
            spans.iter().map(|span| places.get(span.parent_span_id.as_deref()?).copied()).collect();
        let parent_of = |at: usize| parents.get(at).copied().flatten();
        let mut roots = Vec::new();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
        // For each span: from which span it was first reached, on the way up.
        let mut reached: Vec<Option<usize>> = vec![None; spans.len()];
        for at in 0..spans.len() {
            let (mut line, mut up) = (Vec::new(), Some(at));
            while let Some(here) = up
                && let Some(slot @ None) = reached.get_mut(here)
            {
                *slot = Some(at);
                line.push(here);
                up = parent_of(here);
            }
            // A circle is cut where it closes.
            let cut = up.filter(|&here| reached.get(here) == Some(&Some(at)));
            for here in line {
                match parent_of(here).filter(|_| cut != Some(here)) {
                    Some(parent) => {
                        children.get_mut(parent).into_iter().for_each(|it| it.push(here));
                    }
                    None => roots.push(here),
                }
            }
        }
        roots.sort_unstable();
        children.iter_mut().for_each(|siblings| siblings.sort_unstable());
        Self { roots, children }
    }
}

/// Sets the level of every span from its links, and marks those that outlive their parents. The
/// levels of roots stay as they are.
pub(crate) fn settle(spans: &mut [Span]) {
    let Below { roots, children } = Below::of(spans);
    let mut waiting = roots;
    while let Some(at) = waiting.pop() {
        let Some(parent) = spans.get(at) else { continue };
        let (level, depth, end) = (parent.level, parent.depth, parent.completed_at);
        let is_coordinator = parent.kind == SpanKind::Coordinator;
        let task_id = parent.task_id.clone();
        for &child in children.get(at).into_iter().flatten() {
            if let Some(span) = spans.get_mut(child) {
                // A sub-agent without a known parent has the level it would have below one.
                let is_lost = is_coordinator && span.kind == SpanKind::SubAgent;
                span.level = level + 1 + usize::from(is_lost);
                // The depth starts again for a task below another task's span.
                span.depth = if span.task_id == task_id { depth + 1 } else { 0 };
                span.outlives_parent =
                    span.completed_at.zip(end).is_some_and(|(own, parents)| own > parents);
            }
            waiting.push(child);
        }
    }
}

#[cfg(test)]
mod tests;
