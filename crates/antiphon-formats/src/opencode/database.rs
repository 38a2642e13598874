//! OpenCode's tables `session`, `message` and `part`, in the form in which `export` writes a
//! session.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use antiphon_model::json::Members;

use crate::database::{Cell, Listed, Record, SessionRow, column, with_ids, word};
use crate::{DatabaseLayout, QueryError, Tables};

pub(super) const DATABASE: DatabaseLayout = DatabaseLayout {
    files: &["opencode/opencode.db"],
    columns: &[("session", "id"), ("message", "data")],
    rows,
    document,
};

/// For each column: its name in a document, if that differs.
const NAMES: [(&str, &str); 4] = [
    ("project_id", "projectID"),
    ("workspace_id", "workspaceID"),
    ("parent_id", "parentID"),
    ("share_url", "share"),
];
/// Columns that are one object in a document: their prefix, and the object's name.
const OBJECTS: [(&str, &str); 4] =
    [("summary_", "summary"), ("time_", "time"), ("tokens_cache_", "cache"), ("tokens_", "tokens")];
/// The table in which the newest versions store messages.
const NEWER: &str = "session_message";
/// Columns that contain JSON.
const PARSED: [&str; 5] = ["summary_diffs", "revert", "permission", "model", "metadata"];

fn rows(tables: &dyn Tables) -> Result<Vec<SessionRow>, QueryError> {
    let [parent, title, updated] =
        ["parent_id", "title", "time_updated"].map(|name| column(tables, "session", name));
    let messages = counts(tables, "message", "time_updated")?;
    // The rows of parts are long, so they are counted by an index.
    let parts = counts(tables, "part", "")?;
    let newer = counts(tables, NEWER, "time_updated")?;
    let sql = format!("SELECT id, {parent}, {title}, {updated} FROM session");
    let mut rows = Vec::new();
    tables.query(&sql, &[], &mut |row| {
        let id = row.text(0).unwrap_or_default();
        let updated = row.text(3).unwrap_or_default();
        let count = |counts: &BTreeMap<String, String>| -> String {
            counts.get(&id).cloned().unwrap_or_default()
        };
        let counts = [&messages, &parts, &newer].map(count).join(" ");
        let stamp = format!("{updated} {counts}");
        let (parent, title) = (row.text(1), row.text(2));
        // Milliseconds, padded so that they sort as text.
        rows.push(SessionRow { id, parent, title, updated: format!("{updated:0>20}"), stamp });
        ControlFlow::Continue(())
    })?;
    Ok(rows)
}

/// For each session: how many rows it has in a table, and when one was last written.
fn counts(
    tables: &dyn Tables,
    table: &str,
    time: &str,
) -> Result<BTreeMap<String, String>, QueryError> {
    let mut counts = BTreeMap::new();
    if !tables.has(table, "session_id") {
        return Ok(counts);
    }
    let time = if tables.has(table, time) { time } else { "0" };
    let sql = format!("SELECT session_id, count(*), max({time}) FROM {table} GROUP BY session_id");
    tables.query(&sql, &[], &mut |row| {
        let count = format!("{} {}", row.cell(1).value(), row.cell(2).value());
        counts.insert(row.text(0).unwrap_or_default(), count);
        ControlFlow::Continue(())
    })?;
    Ok(counts)
}

/// A session as a document; `None` if it is too long.
fn document(tables: &dyn Tables, id: &str, bytes_max: u64) -> Result<Option<String>, QueryError> {
    let mut parts = parts(tables, id)?;
    let mut listed = Listed::new("info", &info(tables, id)?, "messages", bytes_max);
    let created = column(tables, "message", "time_created");
    let sql = format!("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY {created}, id");
    tables.query(&sql, &[id], &mut |row| {
        let message = row.text(0).unwrap_or_default();
        let info = with_ids(&[("id", &message), ("sessionID", id)], &row.cell(1).parsed());
        let parts = parts.remove(&message).unwrap_or_default().join(",");
        listed.push(&format!("{{\"info\":{info},\"parts\":[{parts}]}}"))
    })?;
    if !listed.has_any() {
        newer(tables, id, &mut listed)?;
        return Ok(listed.finish());
    }
    // Parts whose message was deleted.
    for (message, parts) in parts {
        let info = with_ids(&[("id", &message), ("sessionID", id)], "{}");
        let record = format!("{{\"info\":{info},\"parts\":[{}]}}", parts.join(","));
        if listed.push(&record).is_break() {
            break;
        }
    }
    Ok(listed.finish())
}

/// Adds the messages of a session that are only in the newer table. Their form is not known yet, so
/// they are kept as they are.
fn newer(tables: &dyn Tables, id: &str, listed: &mut Listed) -> Result<(), QueryError> {
    if !tables.has(NEWER, "data") {
        return Ok(());
    }
    let [seq, kind] = ["seq", "type"].map(|name| column(tables, NEWER, name));
    let sql =
        format!("SELECT id, {kind}, data FROM {NEWER} WHERE session_id = ?1 ORDER BY {seq}, id");
    tables.query(&sql, &[id], &mut |row| {
        let [message, kind] = [0, 1].map(|at| row.text(at).unwrap_or_default());
        let ids = [("id", message.as_str()), ("sessionID", id), ("type", &kind)];
        let info = with_ids(&ids, &row.cell(2).parsed());
        listed.push(&format!("{{\"info\":{info}}}"))
    })
}

/// The parts of a session, by message.
fn parts(tables: &dyn Tables, id: &str) -> Result<BTreeMap<String, Vec<String>>, QueryError> {
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if !tables.has("part", "data") {
        return Ok(parts);
    }
    let of_session = match tables.has("part", "session_id") {
        true => "session_id = ?1",
        false => "message_id IN (SELECT id FROM message WHERE session_id = ?1)",
    };
    let sql = format!("SELECT id, message_id, data FROM part WHERE {of_session} ORDER BY id");
    tables.query(&sql, &[id], &mut |row| {
        let [part, message] = [0, 1].map(|at| row.text(at).unwrap_or_default());
        let ids = [("id", part.as_str()), ("sessionID", id), ("messageID", &message)];
        let part = with_ids(&ids, &row.cell(2).parsed());
        parts.entry(message).or_default().push(part);
        ControlFlow::Continue(())
    })?;
    Ok(parts)
}

/// The facts of a session.
fn info(tables: &dyn Tables, id: &str) -> Result<String, QueryError> {
    let mut info = None;
    tables.query("SELECT * FROM session WHERE id = ?1", &[id], &mut |row| {
        info = Some(facts(row));
        ControlFlow::Break(())
    })?;
    Ok(info.unwrap_or_else(|| format!("{{\"id\":{}}}", word(id))))
}

/// Every column of a session's row, under its name in a document.
fn facts(row: &Record<'_>) -> String {
    let mut info = Members::default();
    let mut objects: BTreeMap<&str, Members> = BTreeMap::new();
    for (name, cell) in row.names.iter().zip(row.cells) {
        if *cell == Cell::Null {
            continue;
        }
        let is_json = PARSED.contains(&name.as_str());
        let json = if is_json { cell.parsed() } else { cell.value() };
        let object = OBJECTS
            .iter()
            .find_map(|(begins, object)| name.strip_prefix(begins).map(|rest| (*object, rest)));
        match object {
            Some((object, rest)) => {
                objects.entry(object).or_default().raw(rest, &json);
            }
            None => {
                let known = NAMES.iter().find(|(column, _)| column == name);
                let json = if name == "share_url" { format!("{{\"url\":{json}}}") } else { json };
                info.raw(known.map_or(name.as_str(), |(_, known)| known), &json);
            }
        }
    }
    if let Some(cache) = objects.remove("cache") {
        objects.entry("tokens").or_default().raw("cache", &cache.object());
    }
    for (name, members) in objects {
        info.raw(name, &members.object());
    }
    info.object()
}
