//! Hostile text as the format `cursor`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("cursor", bytes));
