//! Finds secrets in text and in JSON, and replaces them by names: `[redacted:github-token]`.
//!
//! One pass looks for the keywords of all rules (`ghp_`, `://`, `password`); only around a keyword
//! does its rule read the text. A *token* is recognised by its own form; a *context* says that the
//! value in it is secret. What was replaced is never looked at again, so redacting twice is
//! redacting once. A rule sees a limited part of the text, so a stream that is redacted piece by
//! piece gives the same result as the whole text.
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
