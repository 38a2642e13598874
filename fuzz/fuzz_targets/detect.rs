//! Hostile text as the beginning of a file, up to a megabyte.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antiphon_fuzz::detects(bytes));
