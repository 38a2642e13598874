//! The binary from outside, as a user meets it: output, errors and exit code together.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should say where"
)]

mod agents;
mod append;
mod bad_input;
mod commands;
mod documents;
mod hostile_text;
mod phases;
mod redact;
mod run;
mod samples;
mod tail;
mod validate;
mod views;
