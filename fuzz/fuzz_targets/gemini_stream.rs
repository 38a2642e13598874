//! Hostile text as the format `gemini-stream`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("gemini-stream", bytes));
