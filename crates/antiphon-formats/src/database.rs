//! Databases in which agents keep their sessions: which tables are whose, and how a session's rows
//! become a document.
//!
//! A format asks [`Tables`] and opens nothing; whoever opens a database implements it. Columns come
//! and go with an agent's versions, so what is there is asked first.

use std::error::Error;
use std::ops::ControlFlow;

use antiphon_model::json::{self, Members};

/// How an agent keeps sessions in a database.
#[derive(Debug)]
pub struct DatabaseLayout {
    /// Where it lies below the agent's folder.
    pub files: &'static [&'static str],
    /// Tables, each with a column, that no other agent's database has together.
    pub columns: &'static [(&'static str, &'static str)],
    /// Every session, in any order.
    pub rows: fn(&dyn Tables) -> Result<Vec<SessionRow>, QueryError>,
    pub document: ReadDocument,
}

/// Gives a session as the document that its format reads; nothing, if that is longer than allowed.
pub type ReadDocument =
    fn(&dyn Tables, id: &str, bytes_max: u64) -> Result<Option<String>, QueryError>;

impl DatabaseLayout {
    /// Whether a database is laid out like this.
    pub fn is_of(&self, tables: &dyn Tables) -> bool {
        self.columns.iter().all(|(table, column)| tables.has(table, column))
    }
}

/// Why a question was not answered.
pub type QueryError = Box<dyn Error + Send + Sync>;

/// An open database.
pub trait Tables {
    /// Whether a table has a column.
    fn has(&self, table: &str, column: &str) -> bool;

    /// Asks a question in SQL, and passes on each row until that is enough.
    fn query(
        &self,
        sql: &str,
        parameters: &[&str],
        each: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError>;
}

/// A row of an answer.
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
    /// As JSON.
    pub(crate) fn value(self) -> String {
        match self {
            Cell::Integer(number) => number.to_string(),
            Cell::Real(number) if number.is_finite() => number.to_string(),
            Cell::Null | Cell::Real(_) => "null".to_owned(),
            Cell::Bytes(bytes) => word(&String::from_utf8_lossy(bytes)),
        }
    }

    /// The same, of a column that holds JSON; what is none is a string.
    pub(crate) fn parsed(self) -> String {
        if let Cell::Bytes(bytes) = self {
            let text = String::from_utf8_lossy(bytes);
            if json::check(&text).is_ok() {
                return json::compact(&text);
            }
        }
        self.value()
    }

    /// As text, if it is one or can be written as one.
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Cell::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Cell::Integer(number) => Some(number.to_string()),
            Cell::Real(number) => Some(number.to_string()),
            Cell::Null => None,
        }
    }
}

/// A session of a database, before anything was read that was said in it.
#[derive(Debug, Clone)]
pub struct SessionRow {
    pub id: String,
    /// The session that made it.
    pub parent: Option<String>,
    pub title: Option<String>,
    /// When it last changed; later ones are greater.
    pub updated: String,
    /// What is another one when the session has changed.
    pub stamp: String,
}

/// A column, or nothing where the table has none of that name.
pub(crate) fn column<'c>(tables: &dyn Tables, table: &str, column: &'c str) -> &'c str {
    if tables.has(table, column) { column } else { "NULL" }
}

pub(crate) fn word(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    json::push_string(&mut out, text);
    out
}

/// An object with ids, and with the members of another that has none of those.
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

/// A document of records that lie in a list, as long as it does not get too long.
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

    /// Adds a record, and says whether there may be another.
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

    /// The document; nothing, if it got too long.
    pub(crate) fn finish(self) -> Option<String> {
        (!self.is_too_long()).then(|| self.text + "]}")
    }

    fn is_too_long(&self) -> bool {
        self.text.len() as u64 > self.bytes_max
    }
}

#[cfg(test)]
mod tests;
