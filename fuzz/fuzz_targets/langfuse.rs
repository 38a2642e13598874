//! Hostile text as the format `langfuse`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("langfuse", bytes));
