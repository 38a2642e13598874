//! Hostile text as the format `claude-stream`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("claude-stream", bytes));
