pub(crate) mod shop;

use std::fs;

use rusqlite::Connection;

use super::*;
use crate::open::open;
use crate::{Bundle, Error};
use shop::Shop;

/// Every file of a folder but the index that readers share, with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let read = |path: PathBuf| match name(&path).ends_with("-shm") {
        true => (name(&path), Vec::new()),
        false => (name(&path), fs::read(path).unwrap()),
    };
    paths.map(read).collect()
}

fn check(path: &Path) {
    let opened = open(path).unwrap();
    assert_eq!((opened.format, opened.name.as_str()), ("opencode", "ses_new"));
    assert_eq!(opened.session.info().title.as_deref(), Some("Title of ses_new"));
    assert!(opened.session.problems().is_empty(), "{:?}", opened.session.problems());
    let session = &opened.session;
    let said: Vec<&str> = session.entries().map(|entry| entry.id()).collect();
    assert!(said.contains(&"msg_1") && said.contains(&"msg_3") && !said.contains(&"msg_0"));
    let agents: Vec<_> = session.agents().map(|(ix, _)| session.agent_id(ix)).collect();
    assert_eq!(agents, ["main", "ses_kid"]);
}

#[test]
fn a_database_that_its_agent_has_open_is_read_with_its_log_and_left_alone() {
    let shop = Shop::full();
    let before = files(shop.folder.path());
    assert!(before.contains_key("opencode.db-wal"));
    check(&shop.path());
    assert_eq!(files(shop.folder.path()), before);
    let note = open(&shop.path()).unwrap().note.unwrap();
    assert!(note.contains("2 sessions") && note.contains("ses_old (Title of ses_old)"), "{note}");
}

#[test]
fn a_database_that_nobody_has_open_is_read_and_no_file_is_made_beside_it() {
    let Shop { folder, writer } = Shop::full();
    writer.close().unwrap();
    let before = files(folder.path());
    assert_eq!(before.len(), 1);
    check(&folder.path().join("opencode.db"));
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_database_into_which_somebody_begins_to_write_is_opened_anew() {
    let Shop { folder, writer } = Shop::full();
    writer.close().unwrap();
    let path = folder.path().join("opencode.db");
    let mut database = Database::open(&path).unwrap();
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("UPDATE session SET title = 'Another'").unwrap();
    let changed = database.members("ses_old").unwrap_err();
    assert!(matches!(changed, DatabaseError::Changed { .. }), "{changed}");
    database.reopen().unwrap();
    let document = database.members("ses_old").unwrap().remove(0).document.unwrap();
    assert!(document.contains("\"title\":\"Another\""), "{document}");
}

#[test]
fn what_a_crash_left_is_read_from_a_copy() {
    let shop = Shop::full();
    let folder = tempfile::tempdir().unwrap();
    for name in ["opencode.db", "opencode.db-wal"] {
        fs::copy(shop.folder.path().join(name), folder.path().join(name)).unwrap();
    }
    let before = files(folder.path());
    check(&folder.path().join("opencode.db"));
    assert_eq!(files(folder.path()), before);
    let left = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let ours = format!("antiphon-database-{}-", std::process::id());
    let left = left.filter(|it| it.file_name().to_string_lossy().starts_with(&ours)).count();
    assert_eq!(left, 0);
}

#[test]
fn a_path_below_the_database_names_a_session() {
    let shop = Shop::full();
    let opened = open(&shop.path().join("ses_old")).unwrap();
    assert_eq!((opened.name.as_str(), opened.note), ("ses_old", None));
    let kid = open(&shop.path().join("ses_kid")).unwrap();
    assert_eq!(kid.session.agents().count(), 1);
    let none = open(&shop.path().join("ses_none")).unwrap_err().to_string();
    assert!(none.contains("no session `ses_none`") && none.contains("`ses_new`"), "{none}");
}

#[test]
fn a_document_is_what_the_exporter_would_write() {
    let shop = Shop::full();
    shop.writer
        .execute_batch(
            "UPDATE session SET revert = '{\"messageID\":\"msg_2\"}', share_url = 'u',
             summary_additions = 3, summary_diffs = '[{}]', goal = 'x' WHERE id = 'ses_old';
             UPDATE part SET data = 'no JSON' WHERE session_id = 'ses_old'",
        )
        .unwrap();
    let bundle = Bundle::find(&shop.path().join("ses_old")).unwrap().unwrap();
    let text = String::from_utf8(bundle.native().unwrap()).unwrap();
    let info = concat!(
        r#"{"id":"ses_old","projectID":"p","slug":"calm","directory":"/demo","#,
        r#""title":"Title of ses_old","version":"1.3.0","share":{"url":"u"},"cost":0.5,"#,
        r#""revert":{"messageID":"msg_2"},"goal":"x","summary":{"additions":3,"diffs":[{}]},"#,
        r#""time":{"created":1,"updated":100},"tokens":{"input":4,"cache":{"read":9}}}"#
    );
    let message = concat!(
        r#"{"info":{"id":"msg_0","sessionID":"ses_old","role":"user","time":{"created":5},"#,
        r#""modelID":"m","tokens":{"input":4,"output":2}},"#,
        r#""parts":[{"id":"prt_msg_0_0","sessionID":"ses_old","messageID":"msg_0","data":"no JSON"}]}"#
    );
    assert_eq!(text, format!(r#"{{"info":{info},"messages":[{message}]}}"#));
}

#[test]
fn a_database_may_lack_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.db");
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch(
            "CREATE TABLE session (id TEXT); INSERT INTO session VALUES ('ses_1');
             CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
             INSERT INTO message VALUES ('msg_1', 'ses_1', '{\"role\":\"user\"}');",
        )
        .unwrap();
    let opened = open(&path).unwrap();
    assert_eq!(opened.session.entries().filter(|entry| entry.id() == "msg_1").count(), 1);
}

#[test]
fn messages_of_the_newer_table_are_kept_where_there_are_no_others() {
    let shop = Shop::new();
    shop.session("ses_2", None, 9);
    let add = "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER,
        time_updated INTEGER, data TEXT);
        INSERT INTO session_message VALUES ('evt_b', 'ses_2', 'assistant', 2, 1, '{\"content\":[]}');
        INSERT INTO session_message VALUES ('evt_a', 'ses_2', 'user', 1, 1, '{\"text\":\"Hi\"}');";
    let before = Database::open(&shop.path()).unwrap().stamp("ses_2");
    shop.writer.execute_batch(add).unwrap();
    assert_ne!(Database::open(&shop.path()).unwrap().stamp("ses_2"), before);
    let opened = open(&shop.path()).unwrap();
    let ids: Vec<&str> = opened.session.entries().map(|entry| entry.id()).collect();
    assert!(ids.ends_with(&["evt_a", "evt_b"]), "{ids:?}");
}

#[test]
fn a_bad_database_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.db");
    let error = |path: &Path| {
        let error = open(path).unwrap_err();
        assert!(matches!(error, Error::Database(_)), "{error:?}");
        error.to_string()
    };
    fs::write(&path, [MAGIC.as_slice(), &[7; 4000]].concat()).unwrap();
    assert!(error(&path).contains("cannot read the database"));
    let shop = Shop::full();
    let _: i64 = shop.writer.query_row("PRAGMA wal_checkpoint", [], |row| row.get(0)).unwrap();
    let whole = fs::read(shop.path()).unwrap();
    for cut in [100, 512, 1000, 4096, 5000, 9000, whole.len() - 1] {
        fs::write(&path, &whole[..cut.min(whole.len() - 1)]).unwrap();
        // Some of it may still be there; what matters is that there is an answer.
        let _ = open(&path);
    }
    fs::remove_file(&path).unwrap();
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("CREATE TABLE shelf (id TEXT)").unwrap();
    assert!(error(&path).contains("no sessions of a known agent"));
    drop(writer);
    assert!(error(&Shop::new().path()).contains("contains no sessions"));
}

#[test]
fn sessions_that_name_one_another_as_parents_are_read_once() {
    let shop = Shop::new();
    shop.session("ses_a", Some("ses_b"), 1);
    shop.session("ses_b", Some("ses_a"), 2);
    shop.session("ses_c", Some("ses_c"), 3);
    let database = Database::open(&shop.path()).unwrap();
    assert_eq!(database.members("ses_a").unwrap().len(), 2);
    assert_eq!(database.members("ses_c").unwrap().len(), 1);
    assert_eq!(database.find(None).unwrap().id, "ses_c");
}

#[test]
fn an_id_is_not_trusted_to_be_a_name() {
    let shop = Shop::new();
    shop.session("../../ses_a", None, 1);
    let database = Database::open(&shop.path()).unwrap();
    let members = database.members("../../ses_a").unwrap();
    assert!(members[0].name.starts_with("ses_") && !members[0].name.contains(".."));
}

#[test]
fn a_stamp_is_another_one_when_something_was_written() {
    let shop = Shop::full();
    let stamp = || Database::open(&shop.path()).unwrap().stamp("ses_new");
    let old = || Database::open(&shop.path()).unwrap().stamp("ses_old");
    let (first, before) = (stamp(), old());
    assert_eq!(stamp(), first);
    shop.message("ses_kid", "msg_4", "assistant", &[]);
    let second = stamp();
    assert_ne!(second, first, "a child has another message");
    shop.writer.execute_batch("UPDATE message SET time_updated = 9 WHERE id = 'msg_2'").unwrap();
    assert_ne!(stamp(), second);
    assert_eq!(old(), before);
}

#[test]
fn a_session_of_goose_is_the_rows_of_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch(
            r#"CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT,
                 updated_at TIMESTAMP, extension_data TEXT, total_tokens INTEGER);
               CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,
                 content_json TEXT, created_timestamp INTEGER, tokens INTEGER);
               INSERT INTO sessions VALUES ('20260101_1', 'Hi', '/demo', '2026-01-01', '{}', 7);
               INSERT INTO sessions VALUES ('20260102_1', 'Ho', '/demo', '2026-01-02', '{}', NULL);
               INSERT INTO messages VALUES (1, '20260101_1', 'user',
                 '[{"type": "text", "text": "Say hi"}]', 5, NULL);"#,
        )
        .unwrap();
    let database = Database::open(&path).unwrap();
    assert_eq!(database.agent(), "goose");
    assert_eq!(database.find(None).unwrap().id, "20260102_1");
    let members = database.members("20260101_1").unwrap();
    assert_eq!(
        members[0].document.as_deref(),
        Some(concat!(
            r#"{"session":{"id":"20260101_1","name":"Hi","working_dir":"/demo","#,
            r#""updated_at":"2026-01-01","extension_data":"{}","total_tokens":7},"#,
            r#""messages":[{"id":1,"session_id":"20260101_1","role":"user","#,
            r#""content_json":[{"type":"text","text":"Say hi"}],"created_timestamp":5,"#,
            r#""tokens":null}]}"#
        ))
    );
    let stamp = database.stamp("20260101_1");
    writer.execute_batch("INSERT INTO messages (session_id) VALUES ('20260101_1')").unwrap();
    assert_ne!(Database::open(&path).unwrap().stamp("20260101_1"), stamp);
}
