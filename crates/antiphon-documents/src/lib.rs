//! The two session-document standards: their types, their rules and how a session becomes one.
//!
//! STD-001 is the session of one agent, STD-008 that of several; the second extends the first. The
//! types are what a document is when all is well. [`validate()`] looks at what a document is in
//! fact: it works on the JSON itself, so that one broken member hides nothing of the rest.
//!
//! Every type keeps the members it does not know (`extra`), and every list of words is open: the
//! standards' own lists were outgrown within days. The words stand in the schemas
//! (`docs/schema/`), which are made from the types and which the validator reads.

mod letter;
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
