//! OpenCode's tables `session`, `message` and `part`, as its `export` writes a session.

use std::collections::BTreeMap;

use antiphon_model::json::Members;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, OptionalExtension as _};

use super::Row;
use super::row::{Listed, column, has, parsed, text, value, with_ids, word};

/// By column: the name that it has in a document, if that is another.
const NAMES: [(&str, &str); 4] = [
    ("project_id", "projectID"),
    ("workspace_id", "workspaceID"),
    ("parent_id", "parentID"),
    ("share_url", "share"),
];
/// Columns that are one object in a document: how their names begin, and its name.
const OBJECTS: [(&str, &str); 4] =
    [("summary_", "summary"), ("time_", "time"), ("tokens_cache_", "cache"), ("tokens_", "tokens")];
/// Where the newest versions write messages.
const NEWER: &str = "session_message";
/// Columns that hold JSON.
const PARSED: [&str; 5] = ["summary_diffs", "revert", "permission", "model", "metadata"];

pub(super) fn rows(connection: &Connection) -> Result<Vec<Row>, Error> {
    let [parent, title, updated] =
        ["parent_id", "title", "time_updated"].map(|name| column(connection, "session", name));
    let messages = counts(connection, "message", "time_updated")?;
    // The rows of parts are long, and an index has their number.
    let parts = counts(connection, "part", "")?;
    let newer = counts(connection, NEWER, "time_updated")?;
    let sql = format!("SELECT id, {parent}, {title}, {updated} FROM session");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let id = text(row.get_ref(0)?).unwrap_or_default();
        let updated = text(row.get_ref(3)?).unwrap_or_default();
        let count = |counts: &BTreeMap<String, String>| -> String {
            counts.get(&id).cloned().unwrap_or_default()
        };
        let counts = [&messages, &parts, &newer].map(count).join(" ");
        let stamp = format!("{updated} {counts}");
        let (parent, title) = (text(row.get_ref(1)?), text(row.get_ref(2)?));
        // Milliseconds, with as many digits each.
        Ok(Row { id, parent, title, updated: format!("{updated:0>20}"), stamp })
    })?;
    rows.collect()
}

/// By session: how many rows it has in a table, and when one was last written.
fn counts(
    connection: &Connection,
    table: &str,
    time: &str,
) -> Result<BTreeMap<String, String>, Error> {
    if !has(connection, table, "session_id") {
        return Ok(BTreeMap::new());
    }
    let time = if has(connection, table, time) { time } else { "0" };
    let sql = format!("SELECT session_id, count(*), max({time}) FROM {table} GROUP BY session_id");
    let mut statement = connection.prepare(&sql)?;
    let counts = statement.query_map([], |row| {
        let session = text(row.get_ref(0)?).unwrap_or_default();
        Ok((session, format!("{} {}", value(row.get_ref(1)?), value(row.get_ref(2)?))))
    })?;
    counts.collect()
}

/// A session; nothing, if it is too long.
pub(super) fn document(connection: &Connection, id: &str) -> Result<Option<String>, Error> {
    let mut parts = parts(connection, id)?;
    let mut listed = Listed::new("info", &info(connection, id)?, "messages");
    let created = column(connection, "message", "time_created");
    let sql = format!("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY {created}, id");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let message = text(row.get_ref(0)?).unwrap_or_default();
        let data = parsed(row.get_ref(1)?);
        let info = with_ids(&[("id", &message), ("sessionID", id)], &data);
        let parts = parts.remove(&message).unwrap_or_default().join(",");
        let record = format!("{{\"info\":{info},\"parts\":[{parts}]}}");
        if listed.push(&record).is_none() {
            return Ok(None);
        }
    }
    if !listed.has_any() {
        return newer(connection, id, listed);
    }
    // Parts of messages that are gone.
    for (message, parts) in parts {
        let info = with_ids(&[("id", &message), ("sessionID", id)], "{}");
        let record = format!("{{\"info\":{info},\"parts\":[{}]}}", parts.join(","));
        if listed.push(&record).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(listed.finish()))
}

/// Adds the messages of a session that has them in the newer table only. How they are to be read is
/// not known yet; they are kept, each with all that it says.
fn newer(connection: &Connection, id: &str, mut listed: Listed) -> Result<Option<String>, Error> {
    if has(connection, NEWER, "data") {
        let [seq, kind] = ["seq", "type"].map(|name| column(connection, NEWER, name));
        let sql = format!(
            "SELECT id, {kind}, data FROM {NEWER} WHERE session_id = ?1 ORDER BY {seq}, id"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let [message, kind] = [row.get_ref(0)?, row.get_ref(1)?].map(text);
            let (message, kind) = (message.unwrap_or_default(), kind.unwrap_or_default());
            let ids = [("id", message.as_str()), ("sessionID", id), ("type", &kind)];
            let info = with_ids(&ids, &parsed(row.get_ref(2)?));
            if listed.push(&format!("{{\"info\":{info}}}")).is_none() {
                return Ok(None);
            }
        }
    }
    Ok(Some(listed.finish()))
}

/// The parts of a session, by message.
fn parts(connection: &Connection, id: &str) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if !has(connection, "part", "data") {
        return Ok(parts);
    }
    let of_session = match has(connection, "part", "session_id") {
        true => "session_id = ?1",
        false => "message_id IN (SELECT id FROM message WHERE session_id = ?1)",
    };
    let sql = format!("SELECT id, message_id, data FROM part WHERE {of_session} ORDER BY id");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let part = text(row.get_ref(0)?).unwrap_or_default();
        let message = text(row.get_ref(1)?).unwrap_or_default();
        let ids = [("id", part.as_str()), ("sessionID", id), ("messageID", &message)];
        let part = with_ids(&ids, &parsed(row.get_ref(2)?));
        parts.entry(message).or_default().push(part);
    }
    Ok(parts)
}

/// What a session says of itself: every column, under the names that a document has.
fn info(connection: &Connection, id: &str) -> Result<String, Error> {
    let mut statement = connection.prepare("SELECT * FROM session WHERE id = ?1")?;
    let names: Vec<String> = statement.column_names().iter().map(|it| (*it).to_owned()).collect();
    let found = statement.query_row([id], |row| {
        let mut info = Members::default();
        let mut objects: BTreeMap<&str, Members> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            let cell = row.get_ref(at)?;
            if cell == ValueRef::Null {
                continue;
            }
            let json = if PARSED.contains(&name.as_str()) { parsed(cell) } else { value(cell) };
            let object = OBJECTS
                .iter()
                .find_map(|(begins, object)| name.strip_prefix(begins).map(|rest| (*object, rest)));
            match object {
                Some((object, rest)) => {
                    objects.entry(object).or_default().raw(rest, &json);
                }
                None => {
                    let known = NAMES.iter().find(|(column, _)| column == name);
                    let json =
                        if name == "share_url" { format!("{{\"url\":{json}}}") } else { json };
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
        Ok(info.object())
    });
    Ok(found.optional()?.unwrap_or_else(|| format!("{{\"id\":{}}}", word(id))))
}
