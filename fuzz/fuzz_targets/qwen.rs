//! Hostile text as the format `qwen`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("qwen", bytes));
