//! The two standards for session documents: their types, their rules, and how a session is written
//! as a document.
//!
//! STD-001 is for the session of one agent, STD-008 for that of several; the second extends the
//! first. The types describe a correct document. [`validate()`] works on the JSON itself, so that
//! one broken member hides nothing of the rest.
//!
//! Every type keeps the members it does not know (`extra`), and every list of words is open,
//! because the published documents soon used more words than the standards list. The words are in
//! the schemas (`docs/schema/`), which are generated from the types and which the validator reads.

mod interfaces;
mod multi;
mod name;
mod output;
mod payload;
#[cfg(feature = "schema")]
mod schema;
mod session;
mod validate;
mod write;

pub use multi::{
    AgentIdentifier, AgentMessage, AgentSummaries, AgentSummary, AgentsByRole, Collaboration,
    MultiAgentSession, MultiAgentSessionSummary, SubAgentSession, Task, TaskCounts,
};
pub use name::Name;
pub use output::{
    AgentOutput, Changes, Check, CheckDetail, DeveloperOutput, FileChange, GenericOutput, Location,
    RequiredChange, ReviewFinding, ReviewerOutput, SelfReview, Verification,
};
pub use payload::{
    Abort, Acknowledgment, CustomCheck, DeveloperInput, Feedback, InputConstraints, InputContext,
    Payload, PreviousAttempt, ReferenceFile, ReviewCriteria, ReviewRequest, ReviewScope,
    ReviewerContext, TaskAssignment, TaskProgress,
};
#[cfg(feature = "schema")]
pub use schema::{std_001, std_008};
pub use session::{
    AgentInfo, CallInput, CallOutput, CallResult, ContextContribution, ContextReference, Decision,
    PhaseAnnotation, Session, SessionSummary, SubagentInfo, ToolCall, ToolCallRange, ToolCount,
};
pub use validate::{
    BYTES_MAX, Code, DocumentFinding, DocumentReport, Rules, Standard, ValidatedFile, validate,
    validate_bytes,
};
pub use write::{Document, PhaseDetail, Take, WriteError, WriteOptions};
