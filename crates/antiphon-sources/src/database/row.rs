//! Rows as JSON, whatever columns there are.

use antiphon_model::json::{self, Members};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::memory::PLAIN_BYTES_MAX;

/// Whether a table has a column. The names are ours.
pub(super) fn has(connection: &Connection, table: &str, column: &str) -> bool {
    let found = connection.query_row(
        "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2",
        [table, column],
        |row| row.get::<_, i64>(0),
    );
    found.is_ok_and(|count| count > 0)
}

/// A column, or nothing where the table has none of that name.
pub(super) fn column<'c>(connection: &Connection, table: &str, column: &'c str) -> &'c str {
    if has(connection, table, column) { column } else { "NULL" }
}

/// The value of a column, as JSON.
pub(super) fn value(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) if number.is_finite() => {
            let text = number.to_string();
            if text.contains("inf") { "null".to_owned() } else { text }
        }
        ValueRef::Real(_) => "null".to_owned(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => word(&String::from_utf8_lossy(bytes)),
    }
}

/// The same, of a column that holds JSON; what is none is a string.
pub(super) fn parsed(cell: ValueRef<'_>) -> String {
    if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = cell {
        let text = String::from_utf8_lossy(bytes);
        if json::check(&text).is_ok() {
            return json::compact(&text);
        }
    }
    value(cell)
}

/// The text of a column, if it is one or can be written as one.
pub(super) fn text(cell: ValueRef<'_>) -> Option<String> {
    match cell {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null => None,
    }
}

pub(super) fn word(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    json::push_string(&mut out, text);
    out
}

/// An object with ids, and with the members of another that has none of those.
pub(super) fn with_ids(ids: &[(&str, &str)], data: &str) -> String {
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
pub(super) struct Listed {
    text: String,
    has_any: bool,
}

impl Listed {
    pub(super) fn new(around: &str, value: &str, list: &str) -> Self {
        Self { text: format!("{{\"{around}\":{value},\"{list}\":["), has_any: false }
    }

    /// Adds a record; nothing, if that is too much.
    pub(super) fn push(&mut self, record: &str) -> Option<()> {
        if self.has_any {
            self.text.push(',');
        }
        self.has_any = true;
        self.text.push_str(record);
        (self.text.len() as u64 <= PLAIN_BYTES_MAX).then_some(())
    }

    pub(super) fn has_any(&self) -> bool {
        self.has_any
    }

    pub(super) fn finish(self) -> String {
        self.text + "]}"
    }
}
