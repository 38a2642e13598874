//! Hostile text as the format `transcript`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("transcript", bytes));
