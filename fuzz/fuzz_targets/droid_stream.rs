//! Hostile text as the format `droid-stream`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("droid-stream", bytes));
