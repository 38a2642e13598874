//! Views: pure functions of a session.
//!
//! One file per view. Each gives plain data that serialises to the JSON of `docs/json.md`; how it
//! looks in a terminal is the binary's business. A view reads bodies through a [`Reading`] and
//! nothing else: same log, same result, on any machine.

mod arguments;
mod causality;
mod context;
mod delivery;
mod dialog;
mod flow;
mod hooks;
mod mermaid;
mod perspective;
mod reading;
mod resume;
mod score;
mod summary;
mod svg;
mod timeline;
mod trace;
mod transcript;
mod tree;

pub use arguments::short_arguments;
pub use causality::{Causality, LinkRow, causality};
pub use context::{Context, ContextEntry, Dropped, context};
pub use delivery::{Delivery, Form, delivery};
pub use dialog::{DialogFilter, Utterance, dialog};
pub use flow::{Flow, FlowKind, FlowRow, flow};
pub use hooks::{HookEpisode, hooks};
pub use mermaid::mermaid;
pub use perspective::{Perspective, PerspectiveKind, PerspectiveOptions, perspective};
pub use reading::{AgentNotFound, Reading};
pub use resume::{OpenCall, Point, Resume, resume};
pub use summary::{Summary, summary};
pub use svg::svg;
pub use timeline::{TimelineRow, timeline};
pub use trace::{TraceStep, trace, trace_forward};
pub use transcript::transcript;
pub use tree::{Tree, TreeNode, tree};
