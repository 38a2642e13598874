//! Hostile text as the format `iflow`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("iflow", bytes));
