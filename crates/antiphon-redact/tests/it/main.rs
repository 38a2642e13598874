//! The redactor from outside: its corpus, its properties, and its false alarms.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should say where"
)]

mod corpus;
mod false_alarms;
mod kinds;
mod left_alone;
mod named;
mod private_keys;
mod properties;
