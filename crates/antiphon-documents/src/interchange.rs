//! A session in the formats that other programs read.
//!
//! What a format has a place for is written there, in its own terms. What was written and is read
//! again by our own readers is written the same once more.

pub mod atif;
pub mod openai;
pub mod otlp;
mod steps;

#[cfg(test)]
mod tests;
