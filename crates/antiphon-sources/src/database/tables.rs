//! The tables of an open database, as formats ask for them.

use std::ops::ControlFlow;

use antiphon_formats::{Cell, QueryError, Record, Tables};
use rusqlite::params_from_iter;
use rusqlite::types::ValueRef;

use super::source::Connected;

impl Tables for Connected {
    fn has(&self, table: &str, column: &str) -> bool {
        let found = self.connection.query_row(
            "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2",
            [table, column],
            |row| row.get::<_, i64>(0),
        );
        found.is_ok_and(|count| count > 0)
    }

    fn query(
        &self,
        sql: &str,
        parameters: &[&str],
        each: &mut dyn FnMut(&Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let mut statement = self.connection.prepare(sql)?;
        let names: Vec<String> =
            statement.column_names().iter().map(|&name| name.to_owned()).collect();
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            let cells = (0..names.len()).map(|at| row.get_ref(at).map(cell));
            let cells: Vec<Cell<'_>> = cells.collect::<Result<_, _>>()?;
            if each(&Record { names: &names, cells: &cells }).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn cell(value: ValueRef<'_>) -> Cell<'_> {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cell::Bytes(bytes),
    }
}
