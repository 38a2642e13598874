//! Hostile text as the format `opencode`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("opencode", bytes));
