//! Hostile text as the format `codex-exec`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("codex-exec", bytes));
