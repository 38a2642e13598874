//! Views: pure functions of a session.
//!
//! One file per view. Each returns plain data that serialises to the JSON of `docs/json.md`;
//! showing it in a terminal is left to the binary. A view reads bodies through a [`Reading`] and
//! nothing else: same log, same result, on any machine.

mod answer;
mod basis;
mod blame;
mod busy;
mod call_facts;
mod call_index;
mod call_stats;
mod call_subject;
mod calls;
mod category;
mod causality;
mod changes;
mod commits;
mod context;
mod context_link;
mod context_reference;
mod context_tokens;
mod conversation;
mod cost;
mod cost_figures;
mod cost_reasons;
mod delivery;
mod dialog;
mod digest;
mod edit_log;
mod edits;
mod events;
mod failure_text;
mod failures;
mod files;
#[cfg(test)]
mod fixture;
mod flow;
mod hooks;
mod mermaid;
mod outline;
mod perspective;
mod phases;
mod prices;
mod prompts;
mod quantity;
mod request;
mod resume;
mod run;
mod run_diff;
mod score;
mod shell;
mod skeleton;
mod spans;
mod stats;
mod sub_agents;
mod summary;
mod svg;
mod timeline;
mod tokens;
mod totals;
mod trace;
mod transcript;
mod tree;
mod unified;
mod usd;
mod window;
mod words;

// What every view is given.
pub use answer::{LastAnswer, last_answer};
pub use antiphon_model::{AgentNotFound, MessageNotFound, Reading, short_arguments};
pub use basis::FactBasis;
pub use blame::{Blame, BlameRule, BlamedLine, blame, blame_as_left};
pub use busy::{Busy, Idle, busy};
pub use call_facts::{CallFacts, CallIdentity, call_facts};
pub use call_index::{CallIndex, CallNotFound};
pub use call_stats::{
    CallGroup, CallStats, CallStatsBuilder, CallStatsQuery, CallStatsRow, CallSums, CountedCall,
    SessionCalls,
};
pub use call_subject::call_subject;
pub use calls::{CallRow, CallStatus, Delegations, call_ended_at, call_status, calls, delegates};
pub use category::{Category, category};
pub use causality::{Causality, LinkRow, causality};
pub use changes::{Base, CallEdit, ChangedFile, Changes, FileStatus, changes};
pub use commits::{Commit, commits};
pub use context::{Context, ContextEntry, DroppedEntry, context, context_entries};
pub use context_link::{ContextLink, ContextRule, context_links};
pub use context_reference::{
    ContextReference, ContextType, Relevance, UsageMode, context_references,
};
pub use context_tokens::{ContextKind, ContextTokens, KindTokens, TokenBasis};
pub use conversation::{Conversation, Step, StepCall, StepKind};
pub use cost::{CostNode, CostTree, LedgerRow, cost, ledger};
pub use cost_figures::CostFigures;
pub use cost_reasons::{
    CacheMiss, Compaction, ContextGrowth, CostReasons, Retry, ToolTokens, TurnCost, cost_reasons,
};
pub use delivery::{Delivery, DeliveryForm, delivery};
pub use dialog::{DialogFilter, Utterance, dialog};
pub use digest::{
    Digest, DigestSubject, DigestTotals, DigestedProject, DigestedSession, digest_session,
};
pub use edit_log::{EditLog, PossibleChange};
pub use edits::relative_path;
pub use events::{SessionEvent, WholeEvent, session_events, whole_event};
pub use failures::{FailedCall, failures};
pub use files::{FileChange, FileChanges, FileChangesOfAll, file_changes, file_changes_of_all};
pub use flow::{Flow, FlowKind, FlowRow, Participant, flow};
pub use hooks::{HookEpisode, hooks};
pub use mermaid::mermaid;
pub use perspective::{Perspective, PerspectiveKind, PerspectiveOptions, perspective};
pub use phases::{
    AutomaticPhases, CallRange, Phase, automatic_phases, main_agent, phases, phases_of,
    phases_of_all,
};
pub use prices::{ModelPrices, Prices, PricesError};
pub use prompts::{Prompt, prompts};
pub use quantity::{count, dollars, duration, size, tokens};
pub use request::{Cost, CostBasis, Identity, Pricing, Request, requests};
pub use resume::{OpenCall, Resume, ResumePoint, resume};
pub use run::{Run, RunPart, RunSession, RunSpan, RunStatus, RunStatusRule, RunStep, RunTree, run};
pub use run_diff::{
    ComparedFile, ComparedRun, ComparedStep, LineCount, RunDiff, RunSide, StepPair, run_diff,
};
pub use skeleton::{SkeletonOptions, skeleton};
pub use spans::{
    Flavor, Span, SpanKind, SpanNode, SpanNote, SpanStatus, SpanUsage, span_tree, spans,
};
pub use stats::{
    BLOCK_MILLIS, Facts, Group, QUARTER_MILLIS, SessionRequests, Stats, StatsBuilder, StatsKey,
    StatsQuery, StatsRow, sub_agent,
};
pub use sub_agents::{SubAgent, sub_agents};
pub use summary::{Named, SessionOverview, overview};
pub use svg::svg;
pub use timeline::{TimelineFilter, TimelineKind, TimelineRow, timeline, timeline_lanes};
pub use totals::{Sums, Totals};
pub use trace::{TraceStep, trace, trace_forward};
pub use transcript::{LogLine, transcript};
pub use tree::{Tree, TreeNode, tree};
pub use usd::Usd;
pub use words::{clip, words};
