//! The journal through its front door: whatever happens to a log, what was acknowledged is read.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test says what it expects by failing"
)]

mod checkpoint;
mod concurrency;
mod damage;
mod events;
mod faults;
mod faulty_disk;
mod follow;
mod kill;
mod power_cuts;
mod properties;
mod recovered;
mod salvage;
mod segments;
mod story;
mod tokens;
mod welds;
