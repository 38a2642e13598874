//! Databases in which agents keep their sessions: which tables belong to which agent, and how a
//! session's rows become a document.
//!
//! A format queries [`Tables`] and opens nothing; the caller that opens a database implements it.
//! Columns come and go with an agent's versions, so a format first asks which exist.

use std::error::Error;
use std::ops::ControlFlow;

use antiphon_model::json::{self, Members};

/// How an agent keeps sessions in a database.
#[derive(Debug)]
pub struct DatabaseLayout {
    /// The database's possible paths below the agent's folder.
    pub files: &'static [&'static str],
    /// Tables, each with a column, that together occur in no other agent's database.
    pub columns: &'static [(&'static str, &'static str)],
    /// Lists every session, in any order.
    pub rows: fn(&dyn Tables) -> Result<Vec<SessionRow>, QueryError>,
    pub document: ReadDocument,
}

/// Reads a session as the document that its format reads; `None` if it is longer than allowed.
pub type ReadDocument =
    fn(&dyn Tables, id: &str, bytes_max: u64) -> Result<Option<String>, QueryError>;

impl DatabaseLayout {
    /// Whether a database has this layout.
    pub fn is_of(&self, tables: &dyn Tables) -> bool {
        self.columns.iter().all(|(table, column)| tables.has(table, column))
    }
}

/// Why a query failed.
pub type QueryError = Box<dyn Error + Send + Sync>;

/// An open database.
pub trait Tables {
    /// Whether a table has a column.
    fn has(&self, table: &str, column: &str) -> bool;

    /// Runs a SQL query, and passes on each row until the callback stops it.
    fn query(
        &self,
        sql: &str,
        parameters: &[&str],
        each: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError>;
}

/// A row of a query's result.
#[derive(Debug)]
pub struct Record<'a> {
    /// The names of its columns.
    pub names: &'a [String],
    pub cells: &'a [Cell<'a>],
}

impl Record<'_> {
    pub(crate) fn cell(&self, at: usize) -> Cell<'_> {
        self.cells.get(at).copied().unwrap_or(Cell::Null)
    }

    pub(crate) fn text(&self, at: usize) -> Option<String> {
        self.cell(at).text()
    }
}

/// The value of a column in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    /// A text or a blob. Which of them it is says nothing about whether it is UTF-8.
    Bytes(&'a [u8]),
}

impl Cell<'_> {
    /// The value as JSON.
    pub(crate) fn value(self) -> String {
        match self {
            Cell::Integer(number) => number.to_string(),
            Cell::Real(number) if number.is_finite() => number.to_string(),
            Cell::Null | Cell::Real(_) => "null".to_owned(),
            Cell::Bytes(bytes) => word(&String::from_utf8_lossy(bytes)),
        }
    }

    /// The value of a column that contains JSON; text that is not JSON becomes a string.
    pub(crate) fn parsed(self) -> String {
        if let Cell::Bytes(bytes) = self {
            let text = String::from_utf8_lossy(bytes);
            if json::check(&text).is_ok() {
                return json::compact(&text);
            }
        }
        self.value()
    }

    /// The value as text, if it is text or a number.
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Cell::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Cell::Integer(number) => Some(number.to_string()),
            Cell::Real(number) => Some(number.to_string()),
            Cell::Null => None,
        }
    }
}

/// A session in a database, without what was said in it.
#[derive(Debug, Clone)]
pub struct SessionRow {
    pub id: String,
    /// The session that created it.
    pub parent: Option<String>,
    pub title: Option<String>,
    /// When it last changed, in a form that sorts by time.
    pub updated: String,
    /// Changes whenever the session changes.
    pub stamp: String,
}

/// The column, or `NULL` if the table has no column of that name.
pub(crate) fn column<'c>(tables: &dyn Tables, table: &str, column: &'c str) -> &'c str {
    if tables.has(table, column) { column } else { "NULL" }
}

pub(crate) fn word(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    json::push_string(&mut out, text);
    out
}

/// Makes an object of ids and the members of another object that it does not override.
pub(crate) fn with_ids(ids: &[(&str, &str)], data: &str) -> String {
    let mut out = Members::default();
    for (name, id) in ids {
        out.word(name, id);
    }
    let mut is_object = data.trim_start().starts_with('{');
    is_object &= json::members(data, |key, value| {
        if !ids.iter().any(|(name, _)| *name == key) {
            out.raw(key, value);
        }
    })
    .is_ok();
    if !is_object {
        out.raw("data", data);
    }
    out.object()
}

/// A document with a list of records, up to a limit of length.
#[derive(Debug)]
pub(crate) struct Listed {
    text: String,
    has_any: bool,
    bytes_max: u64,
}

impl Listed {
    pub(crate) fn new(around: &str, value: &str, list: &str, bytes_max: u64) -> Self {
        let text = format!("{{\"{around}\":{value},\"{list}\":[");
        Self { text, has_any: false, bytes_max }
    }

    /// Adds a record, and says whether there is room for another.
    pub(crate) fn push(&mut self, record: &str) -> ControlFlow<()> {
        if !self.is_too_long() {
            self.text.push_str(if self.has_any { "," } else { "" });
            self.text.push_str(record);
            self.has_any = true;
        }
        if self.is_too_long() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(crate) fn has_any(&self) -> bool {
        self.has_any
    }

    /// The document; nothing, if it became too long.
    pub(crate) fn finish(self) -> Option<String> {
        (!self.is_too_long()).then(|| self.text + "]}")
    }

    fn is_too_long(&self) -> bool {
        self.text.len() as u64 > self.bytes_max
    }
}

#[cfg(test)]
mod tests;
