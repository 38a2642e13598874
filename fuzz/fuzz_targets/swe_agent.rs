//! Hostile text as the format `swe-agent`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("swe-agent", bytes));
