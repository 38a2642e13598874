//! A session in the formats that other programs read.
//!
//! What a format has a place for is written there, in its own terms. What was written and is read
//! again by our own readers is written the same once more.

pub mod atif;
pub mod openai;
pub mod otlp;
mod pieces;
mod steps;

pub use pieces::{Piece, Pieces, Take, WriteError, whole};

#[cfg(test)]
mod tests;
