//! Hostile text as the format `copilot`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("copilot", bytes));
