//! Hostile text as the format `openai-chat`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("openai-chat", bytes));
