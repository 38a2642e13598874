//! Sessions that an agent keeps in a database.

use rusqlite::Connection;

use crate::home::Home;

const DATABASE: &str = ".local/share/opencode/opencode.db";

fn home() -> (Home, Connection) {
    let home = Home::new();
    home.write(".local/share/opencode/auth.json", "{}");
    let writer = Connection::open(home.path(DATABASE)).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer
        .execute_batch(
            r#"CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT, directory TEXT,
                 time_created INTEGER, time_updated INTEGER);
               CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
               CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
               INSERT INTO session VALUES ('ses_aaaa', NULL, 'The older', '/demo', 1, 5);
               INSERT INTO session VALUES ('ses_bbbb', NULL, 'The newer', '/demo', 1, 7);
               INSERT INTO session VALUES ('ses_cccc', 'ses_bbbb', 'A child', '/demo', 1, 9);
               INSERT INTO message VALUES ('msg_1', 'ses_aaaa', '{"role":"user"}');
               INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_aaaa', '{"type":"text","text":"Hi"}');
               INSERT INTO message VALUES ('msg_2', 'ses_bbbb', '{"role":"assistant"}');
               INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_bbbb', '{"type":"tool",
                 "callID":"c","tool":"task","state":{"status":"completed","input":{},
                 "output":"ok","metadata":{"sessionId":"ses_cccc"}}}');
               INSERT INTO message VALUES ('msg_3', 'ses_cccc', '{"role":"assistant"}');
               INSERT INTO part VALUES ('prt_3', 'msg_3', 'ses_cccc', '{"type":"text","text":"ok"}');"#,
        )
        .unwrap();
    (home, writer)
}

#[test]
fn a_database_is_shown_by_its_newest_session_or_by_the_one_that_is_named() {
    let (home, _writer) = home();
    let newest = home.run(&format!("show {DATABASE}"));
    assert_eq!(newest.exit, 0, "{newest}");
    assert!(newest.out.contains("The newer") && newest.out.contains("2 agents"), "{newest}");
    assert!(newest.err.contains("2 sessions") && newest.err.contains("ses_aaaa (The older)"));
    let older = home.run(&format!("show {DATABASE}/ses_aaaa"));
    assert!(older.out.contains("The older") && older.err.is_empty(), "{older}");
    let none = home.run(&format!("show {DATABASE}/ses_zzzz"));
    assert_eq!(none.exit, 4);
    assert!(none.err.contains("there is no session `ses_zzzz`"), "{none}");
}

#[test]
fn a_database_that_is_none_is_told_as_such() {
    let home = Home::new();
    home.write("bad.db", "SQLite format 3\0 and nothing that follows from it");
    let bad = home.run("show bad.db");
    assert_eq!(bad.exit, 4, "{bad}");
    assert!(bad.err.contains("cannot read the database `bad.db`"), "{bad}");
}

#[test]
fn what_is_kept_of_a_database_is_there_when_the_database_has_gone() {
    let (home, writer) = home();
    let document = home.run(&format!("export --as native {DATABASE}/ses_aaaa")).out;
    assert!(document.starts_with(r#"{"info":{"id":"ses_aaaa""#), "{document}");
    let synced = home.run("sync --json");
    assert!(synced.out.contains(r#""found":2,"copied":2"#), "{synced}");
    assert!(home.run("sync --json").out.contains(r#""found":2,"copied":0"#));
    drop(writer);
    std::fs::remove_dir_all(home.path(".local/share/opencode")).unwrap();
    assert_eq!(home.run("export --as native ses_aaaa").out, document);
    let shown = home.run("show ses_bbbb");
    assert!(shown.out.contains("2 agents"), "{shown}");
}
