//! Hostile text as the format `pi`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("pi", bytes));
