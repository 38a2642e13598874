//! Hostile text as the format `inspect`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("inspect", bytes));
