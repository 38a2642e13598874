//! The binary from outside, as a user meets it: output, errors and exit code together.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should say where"
)]

mod agents;
mod append;
mod bad_input;
mod blame;
mod catalogue;
mod changes;
#[cfg(unix)]
mod chat;
mod claude;
mod commands;
mod completions;
#[cfg(unix)]
mod damage;
mod databases;
mod dates;
mod diff;
mod digest;
mod documents;
mod every_agent;
mod foreign_checks;
mod fresh;
mod home;
mod hooks;
mod hostile_text;
mod interchange;
mod json;
mod kept;
mod letter;
mod library;
#[cfg(target_os = "linux")]
mod limits;
mod long_lines;
mod mcp;
mod numbers;
mod packed;
mod pages;
mod person;
mod phases;
#[cfg(unix)]
mod record;
#[cfg(unix)]
mod recorded_bursts;
#[cfg(unix)]
mod recorded_transcripts;
mod redact;
mod resume;
mod run;
mod samples;
#[cfg(unix)]
mod screens;
mod search;
#[cfg(unix)]
mod server;
mod show;
mod skeleton;
mod special_files;
mod standing;
mod stats;
mod statusline;
mod store;
mod tail;
mod transcript;
mod validate;
mod views;
