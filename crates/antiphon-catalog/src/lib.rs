//! What is known about every session, in a form that answers at once: lists, sums, words.
//!
//! All of it is derived. A session is in the catalogue in the state in which it was read
//! ([`Stamp`]); one that has changed since, or that a newer reader would read differently, is read
//! again and replaced as a whole. Losing the catalogue loses nothing: it is rebuilt from the store.
//!
//! [`Catalog`] is the interface of a backend; [`Sqlite`] implements it in one file. Every backend
//! passes the same tests (`conformance.rs`).

mod blocks;
mod call_stats;
mod catalog;
mod fields;
mod filter;
mod index;
mod key;
mod list;
mod parts;
mod project;
mod row;
mod search;
mod searched;
mod sqlite;
mod stats;
mod sum;
mod summary;
mod texts;

pub use blocks::{LINE_BYTES_MAX, blocks, each_block};
pub use catalog::{Catalog, CatalogError, Change, EachCall, EventQuery, Page, RollUp};
pub use index::{Index, Subject, TITLE_WIDTH};
pub use key::Key;
pub use list::{SessionQuery, SessionSort};
pub use project::ProjectQuery;
pub(crate) use row::FileBlocks;
pub use row::{
    EventRow, LineAt, MainFile, Origin, Record, RequestId, RequestRow, Row, Stamp, ToolCallRow,
};
pub use search::{Found, Hit, Pattern, Query, Search, Sort};
pub use sqlite::Sqlite;
pub use summary::Summary;
pub use texts::{Block, Text, Texts};

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod shelf;
