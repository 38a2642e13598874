//! Hostile text as the format `atif`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("atif", bytes));
