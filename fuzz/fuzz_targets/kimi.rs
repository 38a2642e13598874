//! Hostile text as the format `kimi`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("kimi", bytes));
