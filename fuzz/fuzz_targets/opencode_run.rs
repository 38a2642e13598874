//! Hostile text as the format `opencode-run`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("opencode-run", bytes));
