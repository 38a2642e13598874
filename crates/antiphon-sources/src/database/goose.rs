//! Goose's tables `sessions` and `messages`: a document of their rows.

use antiphon_model::json::Members;
use rusqlite::{Connection, Error, OptionalExtension as _};

use super::Row;
use super::row::{Listed, column, parsed, text, value, word};

/// The column of a message that holds JSON.
const CONTENT: &str = "content_json";

pub(super) fn rows(connection: &Connection) -> Result<Vec<Row>, Error> {
    let [name, description, updated] =
        ["name", "description", "updated_at"].map(|name| column(connection, "sessions", name));
    let sql = format!(
        "SELECT id, {name}, {description}, {updated}, \
         (SELECT count(*) || ' ' || max(rowid) FROM messages WHERE session_id = sessions.id) \
         FROM sessions"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let id = text(row.get_ref(0)?).unwrap_or_default();
        let title = text(row.get_ref(1)?).filter(|name| !name.is_empty());
        let title = title.or(text(row.get_ref(2)?));
        let updated = text(row.get_ref(3)?).unwrap_or_default();
        let stamp = format!("{updated} {}", text(row.get_ref(4)?).unwrap_or_default());
        Ok(Row { id, parent: None, title, updated, stamp })
    })?;
    rows.collect()
}

/// A session; nothing, if it is too long.
pub(super) fn document(connection: &Connection, id: &str) -> Result<Option<String>, Error> {
    let mut statement = connection.prepare("SELECT * FROM sessions WHERE id = ?1")?;
    let names = names(&statement);
    let session = statement.query_row([id], |row| object(row, &names)).optional()?;
    let session = session.unwrap_or_else(|| format!("{{\"id\":{}}}", word(id)));
    let mut listed = Listed::new("session", &session, "messages");
    // In the order in which they were written: a conversation that is made shorter is written anew.
    let sql = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY rowid";
    let mut statement = connection.prepare(sql)?;
    let names = self::names(&statement);
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        if listed.push(&object(row, &names)?).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(listed.finish()))
}

fn names(statement: &rusqlite::Statement<'_>) -> Vec<String> {
    statement.column_names().iter().map(|name| (*name).to_owned()).collect()
}

/// A row, each column under its name.
fn object(row: &rusqlite::Row<'_>, names: &[String]) -> Result<String, Error> {
    let mut members = Members::default();
    for (at, name) in names.iter().enumerate() {
        let cell = row.get_ref(at)?;
        let json = if name == CONTENT { parsed(cell) } else { value(cell) };
        members.raw(name, &json);
    }
    Ok(members.object())
}
