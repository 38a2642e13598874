//! The interface of a catalogue: questions and answers that every backend supports.

use std::collections::BTreeSet;
use std::path::PathBuf;

use antiphon_model::{TimeRange, Timestamp};
use antiphon_views::{CallStats, CallStatsQuery, CountedCall, Prices, Stats, StatsQuery, Totals};
use thiserror::Error;

use crate::search::{Found, Search};
use crate::{
    Key, Record, RequestId, Row, SessionQuery, SessionSort, Stamp, Summary, Texts, call_stats,
    list, stats,
};

/// A change to the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Replace(Box<Record>),
    Remove(Key),
}

/// The requests of a session that were made in the same quarter of an hour with the same model and
/// agent, added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollUp {
    pub session: Key,
    /// When the quarter began.
    pub at: Option<Timestamp>,
    pub model: Option<String>,
    pub sub_agent: Option<String>,
    pub totals: Totals,
}

/// Is given the session, the id and the facts of a call.
pub type EachCall<'e> = &'e mut dyn FnMut(&Key, RequestId, &CountedCall<'_>);

/// The first sessions of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// In order, each with its tokens and cost.
    pub rows: Vec<(Row, Totals)>,
    /// The ids of all sessions that match, on this page or not, in no order.
    pub ids: Vec<Box<str>>,
}

/// Which events match; a field that is `None` matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// In lower case.
    pub tool: Option<String>,
    pub kind: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub is_error: bool,
}

#[derive(Debug, Error)]
pub enum CatalogError {
    /// The catalogue contradicts itself, or a checksum is wrong.
    #[error("the catalogue is damaged: {0}")]
    Damaged(String),
    /// Another process is writing the catalogue.
    #[error("another process is writing the catalogue")]
    Busy,
    /// The catalogue cannot be read or written at the moment.
    #[error("the catalogue cannot be used: {0}")]
    Unusable(String),
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: std::io::Error },
}

/// What every backend does.
///
/// A request that several sessions contain counts for one of them: the one in which it has the
/// earliest time, then the one whose key comes first. A recording does not count if the agent's own
/// file of the same session is there, and a session whose files are among those of another one
/// counts only as a part of that one.
pub trait Catalog {
    /// Every session in the catalogue.
    fn rows(&self) -> Result<Vec<Row>, CatalogError>;

    /// The key and the stamp of every session.
    fn stamps(&self) -> Result<Vec<(Key, Stamp)>, CatalogError>;

    /// The first of all sessions that match, in an order: the same as [`list`](Self::list) of all
    /// sessions, the last changed first. The query must not name a tool or a file.
    fn page(
        &self,
        query: &SessionQuery,
        sort: SessionSort,
        limit: usize,
    ) -> Result<Page, CatalogError>;

    /// The mark of the last [`set_mark`](Self::set_mark), if nothing was changed since.
    fn mark(&self) -> Result<Option<u64>, CatalogError>;

    /// Stores a mark for the state of the store that the catalogue now agrees with. Every change
    /// removes it.
    fn set_mark(&mut self, mark: u64) -> Result<(), CatalogError>;

    /// Applies these changes in this order, all or none.
    fn write(&mut self, changes: &[Change]) -> Result<(), CatalogError>;

    /// Replaces all that the catalogue knows about a session.
    fn replace(&mut self, record: Record) -> Result<(), CatalogError> {
        self.write(&[Change::Replace(Box::new(record))])
    }

    /// Removes a session, if it is there.
    fn remove(&mut self, session: Key) -> Result<(), CatalogError> {
        self.write(&[Change::Remove(session)])
    }

    /// Ends a series of writes: optimises and seals what was written, including by a process that
    /// was killed before it could do so.
    fn finish(&mut self) -> Result<(), CatalogError>;

    /// Searches some sessions for words.
    fn search(&self, search: &Search<'_>, texts: &dyn Texts) -> Result<Found, CatalogError>;

    /// Words that were said and are written almost like this one, the nearest first; none if this
    /// one was said. For a person who has mistyped it, so it need not be complete.
    fn nearest(&self, word: &str, most: usize) -> Result<Vec<String>, CatalogError>;

    /// Which of some sessions contain a word in their searched text.
    fn holding(
        &self,
        sessions: &[&Key],
        word: &str,
        texts: &dyn Texts,
    ) -> Result<BTreeSet<Key>, CatalogError>;

    /// The sessions that contain such events, each with their number.
    fn events(&self, query: &EventQuery) -> Result<Vec<(Key, u64)>, CatalogError>;

    /// The usage of every session in a range of time, at the catalogue's own prices or at these.
    fn sums(&self, range: &TimeRange, prices: Option<&Prices>)
    -> Result<Vec<RollUp>, CatalogError>;

    /// Every tool call of every session, each session's in its order. A call that several sessions
    /// contain occurs in each of them.
    fn each_call(&self, each: EachCall<'_>) -> Result<(), CatalogError>;

    /// Those of some sessions that match, in an order, each with its tokens and cost.
    fn list(
        &self,
        sessions: &[&Summary],
        query: &SessionQuery,
        sort: SessionSort,
        texts: &dyn Texts,
    ) -> Result<Vec<(Key, Totals)>, CatalogError> {
        list::list(self, sessions, query, sort, texts)
    }

    /// Tokens and cost of those sessions that match, every request counted once.
    fn stats(
        &self,
        sessions: &[&Summary],
        wanted: &SessionQuery,
        query: &StatsQuery,
        prices: Option<&Prices>,
    ) -> Result<Stats, CatalogError> {
        stats::stats(self, sessions, wanted, query, prices)
    }

    /// The tool calls of those sessions that match, every call counted once.
    fn call_stats(
        &self,
        sessions: &[&Summary],
        wanted: &SessionQuery,
        query: &CallStatsQuery,
    ) -> Result<CallStats, CatalogError> {
        call_stats::call_stats(self, sessions, wanted, query)
    }
}
