//! Hostile text as the format `std-session`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::reads("std-session", bytes));
