//! Goose's tables `sessions` and `messages`, as a document of their rows.

use std::ops::ControlFlow;

use antiphon_model::json::Members;

use crate::database::{Listed, Record, SessionRow, column, word};
use crate::{DatabaseLayout, QueryError, Tables};

pub(super) const DATABASE: DatabaseLayout = DatabaseLayout {
    files: &["goose/sessions/sessions.db"],
    columns: &[("sessions", "id"), ("messages", CONTENT)],
    rows,
    document,
};

/// The column of a message that contains JSON.
const CONTENT: &str = "content_json";

fn rows(tables: &dyn Tables) -> Result<Vec<SessionRow>, QueryError> {
    let [name, description, updated] =
        ["name", "description", "updated_at"].map(|name| column(tables, "sessions", name));
    let sql = format!(
        "SELECT id, {name}, {description}, {updated}, \
         (SELECT count(*) || ' ' || max(rowid) FROM messages WHERE session_id = sessions.id) \
         FROM sessions"
    );
    let mut rows = Vec::new();
    tables.query(&sql, &[], &mut |row| {
        let id = row.text(0).unwrap_or_default();
        let title = row.text(1).filter(|name| !name.is_empty()).or_else(|| row.text(2));
        let updated = row.text(3).unwrap_or_default();
        let stamp = format!("{updated} {}", row.text(4).unwrap_or_default());
        rows.push(SessionRow { id, parent: None, title, updated, stamp });
        ControlFlow::Continue(())
    })?;
    Ok(rows)
}

/// A session as a document; `None` if it is too long.
fn document(tables: &dyn Tables, id: &str, bytes_max: u64) -> Result<Option<String>, QueryError> {
    let mut session = None;
    tables.query("SELECT * FROM sessions WHERE id = ?1", &[id], &mut |row| {
        session = Some(object(row));
        ControlFlow::Break(())
    })?;
    let session = session.unwrap_or_else(|| format!("{{\"id\":{}}}", word(id)));
    let mut listed = Listed::new("session", &session, "messages", bytes_max);
    // In the order of writing: a conversation that is shortened is written again.
    let sql = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY rowid";
    tables.query(sql, &[id], &mut |row| listed.push(&object(row)))?;
    Ok(listed.finish())
}

/// A row as an object with a member for each column.
fn object(row: &Record<'_>) -> String {
    let mut members = Members::default();
    for (name, cell) in row.names.iter().zip(row.cells) {
        let json = if name == CONTENT { cell.parsed() } else { cell.value() };
        members.raw(name, &json);
    }
    members.object()
}
