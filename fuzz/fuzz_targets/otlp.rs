//! Hostile text as the format `otlp`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("otlp", bytes));
