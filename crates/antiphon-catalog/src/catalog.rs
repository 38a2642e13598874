//! What a backend answers, and in what words it is asked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use antiphon_model::Timestamp;
use antiphon_views::{Group, Prices, Stats, Totals};
use thiserror::Error;

use crate::search::{Found, Search};
use crate::{Key, Record, Row, SessionQuery, SessionSort, Stamp, Summary, Texts, list, stats};

/// A change of the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Replace(Box<Record>),
    Remove(Key),
}

/// The requests of a session that have the same day, model and agent, added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollUp {
    pub session: Key,
    /// Days since 1970, in UTC.
    pub day: Option<i64>,
    pub model: Option<String>,
    pub sub_agent: Option<String>,
    pub totals: Totals,
}

/// The first sessions of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// In order, each with what it cost.
    pub rows: Vec<(Row, Totals)>,
    /// What all sessions call themselves that are wanted, shown or not, in no order.
    pub ids: Vec<Box<str>>,
}

/// Which events are wanted; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// In small letters.
    pub tool: Option<String>,
    pub kind: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub is_error: bool,
}

#[derive(Debug, Error)]
pub enum CatalogError {
    /// It says something that cannot be, or its checksum is wrong.
    #[error("the catalogue is damaged: {0}")]
    Damaged(String),
    /// It cannot be read or written just now.
    #[error("the catalogue cannot be used: {0}")]
    Unusable(String),
    #[error("cannot write `{path}`")]
    Write { path: PathBuf, source: std::io::Error },
}

/// What a backend answers.
///
/// A request that several sessions hold counts for one of them: for the one in which it has the
/// earliest time, then for the one whose id comes first. A recording does not count beside the
/// agent's own file of the same session, and a session that another one holds among its files
/// does not count beside that one.
pub trait Catalog {
    /// Every session that it holds.
    fn rows(&self) -> Result<Vec<Row>, CatalogError>;

    /// The key and the stamp of every session.
    fn stamps(&self) -> Result<Vec<(Key, Stamp)>, CatalogError>;

    /// The first of all sessions that are wanted, in an order: those that [`list`](Self::list)
    /// would give of sessions that come as they changed, the last first. It asks neither for a tool
    /// nor for a file.
    fn page(
        &self,
        query: &SessionQuery,
        sort: SessionSort,
        limit: usize,
    ) -> Result<Page, CatalogError>;

    /// What [`set_mark`](Self::set_mark) said, if nothing was changed since.
    fn mark(&self) -> Result<Option<u64>, CatalogError>;

    /// Notes the state of what is kept that the catalogue is in step with. Every change takes the
    /// note away.
    fn set_mark(&mut self, mark: u64) -> Result<(), CatalogError>;

    /// Makes these changes, all or none, in this order.
    fn write(&mut self, changes: &[Change]) -> Result<(), CatalogError>;

    /// Puts what is now known of a session in the place of what was.
    fn replace(&mut self, record: Record) -> Result<(), CatalogError> {
        self.write(&[Change::Replace(Box::new(record))])
    }

    /// Takes a session out, if it is there.
    fn remove(&mut self, session: Key) -> Result<(), CatalogError> {
        self.write(&[Change::Remove(session)])
    }

    /// Says that nothing more is written for now: what was written, also by somebody who could not
    /// say so any more, is put in order.
    fn finish(&mut self) -> Result<(), CatalogError>;

    /// Looks for words in some sessions.
    fn search(&self, search: &Search<'_>, texts: &dyn Texts) -> Result<Found, CatalogError>;

    /// Those of some sessions that hold a word in what is searched.
    fn holding(
        &self,
        sessions: &[&Key],
        word: &str,
        texts: &dyn Texts,
    ) -> Result<BTreeSet<Key>, CatalogError>;

    /// The sessions that hold such events, with how many.
    fn events(&self, query: &EventQuery) -> Result<Vec<(Key, u64)>, CatalogError>;

    /// What every session spent: by the catalogue's own prices, or each request priced anew.
    fn sums(&self, prices: Option<&Prices>) -> Result<Vec<RollUp>, CatalogError>;

    /// Of some sessions those that are wanted, in an order, each with what it cost.
    fn list(
        &self,
        sessions: &[&Summary],
        query: &SessionQuery,
        sort: SessionSort,
        texts: &dyn Texts,
    ) -> Result<Vec<(Key, Totals)>, CatalogError> {
        list::list(self, sessions, query, sort, texts)
    }

    /// Tokens and cost of some sessions, every request counted once.
    fn stats(
        &self,
        sessions: &[&Summary],
        group: Group,
        prices: Option<&Prices>,
    ) -> Result<Stats, CatalogError> {
        stats::stats(self, sessions, group, prices)
    }
}
