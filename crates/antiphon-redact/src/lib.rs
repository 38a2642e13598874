//! Secrets, found in text and in JSON, and replaced by their names: `[redacted:github-token]`.
//!
//! One pass looks for the keywords of all rules (`ghp_`, `://`, `password`); only where one stands
//! does its rule read the neighbourhood. A *token* says by its own form what it is; a *context*
//! says that what stands in it is secret. What is replaced is never looked at again, so that
//! redacting twice is redacting once; and what a rule sees has an end, so that a stream redacted
//! piece by piece is the whole redacted at once.
//!
//! Nothing here does I/O; the values of the environment come from the caller.

mod bytes;
mod command;
mod context;
mod cookie;
mod counts;
mod document;
mod json;
mod key;
mod keywords;
mod name;
mod pair;
mod part;
mod placeholder;
mod randomness;
mod redactor;
mod rule;
mod rules;
mod search;
mod spelling;
mod sql;
mod stream;
mod token;
mod value;
mod values;

pub use counts::Counts;
pub use redactor::{Finding, Redactor};
pub use rules::names as rule_names;
pub use stream::StreamRedactor;
pub use values::{RULE as ENVIRONMENT_RULE, Secrets};
