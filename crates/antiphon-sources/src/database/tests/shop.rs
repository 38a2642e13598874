//! A database of sessions, for tests.

use std::path::PathBuf;

use rusqlite::{Connection, params};

const TABLES: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT,
        directory TEXT, title TEXT, version TEXT, share_url TEXT, summary_additions INTEGER,
        summary_diffs TEXT, cost REAL, tokens_input INTEGER, tokens_cache_read INTEGER,
        revert TEXT, goal TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
        time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);";

/// A database as OpenCode writes it, while it is being written.
pub(crate) struct Shop {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) writer: Connection,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = Connection::open(folder.path().join("opencode.db")).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        writer.execute_batch(TABLES).unwrap();
        Self { folder, writer }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("opencode.db")
    }

    pub(crate) fn session(&self, id: &str, parent: Option<&str>, updated: i64) {
        let sql = "INSERT INTO session (id, project_id, parent_id, slug, directory, title, version,
            cost, tokens_input, tokens_cache_read, time_created, time_updated)
            VALUES (?1, 'p', ?2, 'calm', '/demo', 'Title of ' || ?1, '1.3.0', 0.5, 4, 9, 1, ?3)
            ON CONFLICT DO UPDATE SET time_updated = ?3";
        self.writer.execute(sql, params![id, parent, updated]).unwrap();
    }

    pub(crate) fn message(&self, session: &str, id: &str, role: &str, parts: &[&str]) {
        let data = format!(
            r#"{{"role":"{role}","time":{{"created":5}},"modelID":"m","tokens":{{"input":4,"output":2}}}}"#
        );
        let sql = "INSERT INTO message VALUES (?1, ?2, 5, 5, ?3)";
        self.writer.execute(sql, params![id, session, data]).unwrap();
        for (at, part) in parts.iter().enumerate() {
            let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4)";
            let part_id = format!("prt_{id}_{at}");
            self.writer.execute(sql, params![part_id, id, session, part]).unwrap();
        }
    }

    /// A session with a child, and an older one.
    pub(crate) fn full() -> Self {
        let shop = Self::new();
        shop.session("ses_old", None, 100);
        shop.message("ses_old", "msg_0", "user", &[r#"{"type":"text","text":"Long ago"}"#]);
        shop.session("ses_new", None, 200);
        shop.message("ses_new", "msg_1", "user", &[r#"{"type":"text","text":"Do it"}"#]);
        let task = r#"{"type":"tool","callID":"c","tool":"task","state":{"status":"completed",
            "input":{"description":"Do"},"output":"Done","metadata":{"sessionId":"ses_kid"}}}"#;
        shop.message("ses_new", "msg_2", "assistant", &[r#"{"type":"step-start"}"#, task]);
        shop.session("ses_kid", Some("ses_new"), 300);
        shop.message("ses_kid", "msg_3", "assistant", &[r#"{"type":"text","text":"Done"}"#]);
        shop
    }
}
