//! Answers questions about kept sessions over the Model Context Protocol: an agent asks what was
//! said, what changed, who wrote a line and what it cost.
//!
//! Answers are the same values as those of the commands. Whoever asks is a model, so an answer is
//! marked as untrusted, has no secrets, and is never longer than [`ANSWER_BYTES_MAX`]. What is
//! outside the project of the working folder cannot be asked for, unless that was allowed.

mod answer;
mod arguments;
mod scope;
mod server;
mod tools;

pub use answer::ANSWER_BYTES_MAX;
pub use scope::Library;
pub use server::{ServeError, serve};
