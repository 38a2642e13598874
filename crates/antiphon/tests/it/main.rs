//! The binary from outside, as a user meets it: output, errors and exit code together.

mod append;
mod bad_input;
mod commands;
mod hostile_text;
mod run;
mod samples;
mod tail;
mod views;
