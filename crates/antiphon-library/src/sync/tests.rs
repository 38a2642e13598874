use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use antiphon_catalog::{Key, SessionQuery, SessionSort};
use antiphon_sources::{Bundle, list, read_bytes_of};

use super::*;
use crate::List;
use crate::archive::Copies;
use crate::shop::Shop;
use crate::storage::storage;

/// A machine with agents' folders, and a store.
struct Machine {
    home: tempfile::TempDir,
    store: Store,
}

const SHOP: &str = ".claude/projects/shop";
const DATA: &str = ".local/share/opencode";

impl Machine {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path().join("store"));
        Self { home, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// As if nothing had come for ten minutes and more.
    fn age(&self, name: &str) {
        let file = File::options().write(true).open(self.path(name)).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - Duration::from_secs(700)).unwrap();
    }

    fn sync(&self) -> Synced {
        let home = Some(self.home.path().to_owned());
        let environment = Environment { home, ..Environment::default() };
        self.store.sync(&environment, None, &|_, _| {})
    }

    /// How many were found, how many were copied, and how many could not be.
    fn counts(&self) -> [usize; 3] {
        let synced = self.sync();
        [synced.found, synced.copied, synced.failed.len()]
    }

    fn folder(&self, agent: &'static str, id: &str) -> PathBuf {
        self.store.archive_folder(agent, &Key::of(agent, id))
    }

    fn main(&self, agent: &'static str, id: &str) -> PathBuf {
        Copies::at(&self.folder(agent, id)).main_file().unwrap()
    }

    /// What the newest copy of a session's main file holds.
    fn kept(&self, agent: &'static str, id: &str) -> String {
        let main = Copies::at(&self.folder(agent, id)).main().unwrap();
        self.read(agent, id, &main).unwrap()
    }

    fn generation(&self, agent: &'static str, id: &str, name: &str) -> String {
        let compressed = format!("{name}.zst");
        let text = self.read(agent, id, name).or_else(|| self.read(agent, id, &compressed));
        text.unwrap_or_default()
    }

    fn read(&self, agent: &'static str, id: &str, name: &str) -> Option<String> {
        let copies = Copies::at(&self.folder(agent, id));
        let len = copies.bytes().len(name)?;
        let bytes = read_bytes_of(Box::new(copies.bytes().open(name).unwrap()), len).unwrap();
        Some(String::from_utf8(bytes).unwrap())
    }
}

fn line(session: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","sessionId":"{session}","uuid":"{session}-{text}","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

#[test]
fn a_sub_agents_file_beside_the_main_one_may_change_alone() {
    let machine = Machine::new();
    machine.write(&format!("{SHOP}/one.jsonl"), &line("one", "a"));
    machine.write(&format!("{SHOP}/agent-b.jsonl"), &line("one", "b"));
    machine.write(&format!("{SHOP}/two.jsonl"), &line("two", "c"));
    assert_eq!(machine.counts(), [2, 2, 0]);
    assert_eq!(machine.counts(), [2, 0, 0]);
    let longer = line("one", "b") + &line("one", "bb");
    machine.write(&format!("{SHOP}/agent-b.jsonl"), &longer);
    assert_eq!(machine.counts(), [2, 1, 0]);
    assert_eq!(machine.generation("claude-code", "one", "000001/agent-b.jsonl"), longer);
    assert_eq!(machine.counts(), [2, 0, 0]);
}

#[test]
fn whatever_becomes_of_a_file_its_copy_stays_and_the_others_are_kept() {
    let machine = Machine::new();
    let file = |id: &str| format!("{SHOP}/{id}.jsonl");
    let text = |id: &str| (0..100).map(|n| line(id, &n.to_string())).collect::<String>();
    let ids = ["bare", "cut", "deleted", "folder", "grown", "locked", "rewritten", "spoilt"];
    for id in ids {
        machine.write(&file(id), &text(id));
    }
    assert_eq!(machine.counts(), [8, 8, 0]);
    machine.write(&file("bare"), "");
    machine.write(&file("cut"), &line("cut", "0"));
    fs::remove_file(machine.path(&file("deleted"))).unwrap();
    fs::remove_file(machine.path(&file("folder"))).unwrap();
    fs::create_dir(machine.path(&file("folder"))).unwrap();
    let grown = text("grown") + &line("grown", "more");
    machine.write(&file("grown"), &grown);
    machine.write(&file("rewritten"), &text("rewritten").replace("\"content\":\"", "&x"));
    // A whole line but for its end.
    machine.write(&file("spoilt"), line("spoilt", "0").trim_end());
    lock(&machine.path(&file("locked")));
    let synced = machine.sync();
    assert_eq!((synced.found, synced.failed.len()), (6, 0), "{:?}", synced.failed);
    for id in ids.iter().filter(|id| **id != "grown") {
        let first = machine.generation("claude-code", id, &format!("000001/{id}.jsonl"));
        assert!(first == text(id), "{id}");
    }
    assert!(machine.kept("claude-code", "grown") == grown);
    assert_eq!(machine.kept("claude-code", "cut"), line("cut", "0"));
    for id in ["bare", "deleted", "folder", "locked"] {
        assert!(machine.kept("claude-code", id) == text(id), "{id}");
    }
    assert_eq!(machine.kept("claude-code", "spoilt"), line("spoilt", "0").trim_end());
}

#[test]
fn a_session_is_looked_at_again_until_its_copy_is_on_the_disk() {
    let machine = Machine::new();
    let ids: Vec<String> = (0..30).map(|n| format!("s{n}")).collect();
    for id in &ids {
        machine.write(&format!("{SHOP}/{id}.jsonl"), &line(id, "a").repeat(2000));
    }
    // There is no place for this one's stamp.
    fs::create_dir_all(machine.folder("claude-code", "s7").join(STAMP_FILE).join("x")).unwrap();
    let failed: Vec<PathBuf> = machine.sync().failed.into_iter().map(|(path, _)| path).collect();
    assert_eq!(failed, [machine.path(&format!("{SHOP}/s7.jsonl"))]);
    assert_eq!(machine.counts(), [30, 1, 1]);
    fs::remove_dir_all(machine.folder("claude-code", "s7").join(STAMP_FILE)).unwrap();
    assert_eq!(machine.counts(), [30, 1, 0]);
    assert_eq!(machine.counts(), [30, 0, 0]);
    assert!(ids.iter().all(|id| machine.kept("claude-code", id) == line(id, "a").repeat(2000)));
}

#[test]
fn what_grows_stays_unpacked_until_it_is_quiet() {
    let machine = Machine::new();
    let (main, agent) =
        (format!("{SHOP}/one.jsonl"), format!("{SHOP}/one/subagents/agent-a.jsonl"));
    let text = |lines: usize| (0..lines).map(|n| line("one", &n.to_string())).collect::<String>();
    let copies = machine.folder("claude-code", "one").join("000001");
    let is_packed = |name: &str| {
        let (plain, packed) = (copies.join(name), copies.join(name.to_owned() + ".zst"));
        assert!(plain.exists() != packed.exists(), "in one form");
        packed.exists()
    };
    let are_packed = || (is_packed("one.jsonl"), is_packed("one/subagents/agent-a.jsonl"));
    machine.write(&main, &text(2000));
    machine.write(&agent, &text(2000));
    assert_eq!(machine.counts(), [1, 1, 0]);
    assert_eq!(are_packed(), (true, true), "what is new is packed, however fresh it is");
    machine.write(&main, &text(2001));
    assert_eq!(machine.counts(), [1, 1, 0]);
    assert_eq!(are_packed(), (false, true), "what has not grown is left as it is");
    assert_eq!(machine.counts(), [1, 0, 0]);
    machine.write(&main, &text(2002));
    assert_eq!(machine.counts(), [1, 1, 0]);
    machine.age(&main);
    assert_eq!(machine.counts(), [1, 1, 0], "another time may be another file");
    assert_eq!(are_packed(), (false, true), "the other one is fresh");
    machine.age(&agent);
    assert_eq!(machine.counts(), [1, 1, 0]);
    assert_eq!(are_packed(), (true, true));
    assert_eq!(machine.counts(), [1, 0, 0]);
    assert!(machine.kept("claude-code", "one") == text(2002));
}

#[test]
fn what_has_become_quiet_is_packed_though_nothing_is_new() {
    let machine = Machine::new();
    let text = |lines: usize| (0..lines).map(|n| line("one", &n.to_string())).collect::<String>();
    let main = format!("{SHOP}/one.jsonl");
    for lines in [2000, 2001] {
        machine.write(&main, &text(lines));
        assert_eq!(machine.counts(), [1, 1, 0]);
    }
    // As after some time: the stamp is what it would have been.
    machine.age(&main);
    let stamp = Stamp::default().now(&stamp::own(&machine.path(&main), true), &Default::default());
    let stamp_file = machine.folder("claude-code", "one").join(STAMP_FILE);
    assert!(Stamp::read(&Copies::at(stamp_file.parent().unwrap())).is_open);
    fs::write(&stamp_file, stamp.of_open(true).to_text()).unwrap();
    let packed = machine.folder("claude-code", "one").join("000001/one.jsonl.zst");
    assert!(!packed.exists());
    assert_eq!(machine.counts(), [1, 0, 0], "nothing is new");
    assert!(packed.exists() && !Stamp::read(&Copies::at(stamp_file.parent().unwrap())).is_open);
    assert!(machine.kept("claude-code", "one") == text(2001));
}

#[test]
fn a_stamp_that_an_older_version_wrote_says_the_same() {
    let sizes = Sizes::from([("/srv/agent/one.jsonl".into(), (7, 9))]);
    let now = Stamp::default().now(&sizes, &Sizes::new());
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"/srv/agent/one.jsonl").update(&7_u64.to_le_bytes());
    hasher.update(&9_u128.to_le_bytes());
    let whole = hasher.finalize().to_hex().to_string();
    assert_eq!(Stamp::parse(whole.as_bytes()), now);
    assert!(Stamp::parse(format!("{whole} open").as_bytes()).is_open);
    assert_ne!(Stamp::parse(whole.replace(&whole[..1], "x").as_bytes()), now);
}

#[test]
fn a_list_goes_on_beyond_what_is_shown_of_it() {
    let machine = Machine::new();
    for name in ["one", "two", "three"] {
        machine.write(&format!("{SHOP}/{name}.jsonl"), &line(name, name));
        machine.age(&format!("{SHOP}/{name}.jsonl"));
    }
    assert_eq!(machine.counts(), [3, 3, 0]);
    let list = |limit: usize, status: Option<&str>| {
        let (query, sort) = (SessionQuery::default(), SessionSort::Changed);
        let List { sessions, ids, .. } =
            machine.store.list(&query, status, sort, limit, &|_, _| {}).unwrap();
        let shown: Vec<String> = sessions.iter().map(|it| it.session.key.to_string()).collect();
        let folders =
            sessions.iter().all(|it| it.session.folder.ends_with(it.session.key.as_str()));
        assert!(folders);
        (shown, ids.len())
    };
    let (all, count) = list(9, None);
    assert_eq!((all.len(), count), (3, 3));
    assert_eq!(list(2, None), (all[..2].to_vec(), 3));
    // Whether somebody still writes is known only when all of them were looked at.
    let status = machine.store.sessions()[0].standing().status.as_str().to_owned();
    assert_eq!(list(2, Some(&status)), (all[..2].to_vec(), 3));
    // One that comes is there, and one that changes is listed as it is.
    machine.write(&format!("{SHOP}/four.jsonl"), &line("four", "four"));
    machine.write(&format!("{SHOP}/one.jsonl"), &(line("one", "one") + &line("one", "more")));
    machine.counts();
    assert_eq!(list(1, None).1, 4);
}

#[test]
fn what_a_killed_process_has_left_is_removed() {
    let machine = Machine::new();
    machine.write(&format!("{SHOP}/one.jsonl"), &line("one", "a").repeat(2000));
    machine.counts();
    let copies = machine.folder("claude-code", "one").join("000001");
    let half = copies.join("one.jsonl.zst.4711.new");
    fs::write(&half, "half").unwrap();
    machine.write(&format!("{SHOP}/one.jsonl"), &line("one", "a").repeat(2001));
    machine.age(&format!("{SHOP}/one.jsonl"));
    assert_eq!(machine.counts(), [1, 1, 0]);
    let left: Vec<PathBuf> = list(&copies);
    assert_eq!(left, [copies.join("one.jsonl.zst")]);
}

#[test]
fn a_copy_that_did_not_reach_the_disk_is_made_again() {
    let machine = Machine::new();
    let text = |id: &str| (0..2000).map(|n| line(id, &n.to_string())).collect::<String>();
    for id in ["cut", "empty", "spoilt"] {
        machine.write(&format!("{SHOP}/{id}.jsonl"), &text(id));
    }
    assert_eq!(machine.counts(), [3, 3, 0]);
    for id in ["cut", "empty", "spoilt"] {
        // As after a crash: no stamp, and not what was written.
        let folder = machine.folder("claude-code", id);
        fs::remove_file(folder.join(STAMP_FILE)).unwrap();
        let copy = folder.join(format!("000001/{id}.jsonl.zst"));
        let bytes = fs::read(&copy).unwrap();
        let bytes = match id {
            "cut" => bytes[..bytes.len() / 2].to_vec(),
            "empty" => Vec::new(),
            _ => vec![0; bytes.len()],
        };
        fs::write(&copy, bytes).unwrap();
    }
    assert_eq!(machine.counts(), [3, 3, 0]);
    for id in ["cut", "empty", "spoilt"] {
        assert!(machine.kept("claude-code", id) == text(id), "{id}");
    }
    assert_eq!(machine.counts(), [3, 0, 0]);
}

/// Puts something there that nobody can read.
fn lock(path: &Path) {
    fs::remove_file(path).unwrap();
    link(Path::new("/proc/self/mem"), path);
}

#[test]
fn a_sub_agent_that_cannot_be_read_costs_only_itself() {
    let machine = Machine::new();
    machine.write(&format!("{SHOP}/one.jsonl"), &line("one", "a"));
    for agent in ["a", "b", "c"] {
        let name = format!("{SHOP}/one/subagents/agent-{agent}.jsonl");
        machine.write(&name, &line("one", agent));
    }
    let locked = machine.path(&format!("{SHOP}/one/subagents/agent-b.jsonl"));
    lock(&locked);
    let synced = machine.sync();
    assert_eq!((synced.found, synced.copied, synced.failed.len()), (1, 1, 0));
    let why = "a link pointing outside its folder".to_owned();
    assert_eq!(synced.skipped, [(locked, why)]);
    assert_eq!(machine.kept("claude-code", "one"), line("one", "a"));
    let last = machine.generation("claude-code", "one", "000001/one/subagents/agent-c.jsonl");
    assert_eq!(last, line("one", "c"));
}

fn chat(messages: usize, text: &str) -> String {
    let message = |n| format!(r#"{{"id": "m{n}", "type": "user", "content": "{text} {n}"}}"#);
    let messages: Vec<String> = (0..messages).map(message).collect();
    format!(
        "{{\n \"sessionId\": \"chat\", \"projectHash\": \"p\", \"startTime\": \
         \"2026-01-01T00:00:00Z\",\n \"messages\": [{}]\n}}\n",
        messages.join(",\n")
    )
}

#[test]
fn a_document_is_kept_as_it_last_was_and_never_shrinks() {
    let machine = Machine::new();
    let (name, id) = (".gemini/tmp/p/chats/session-1-chat.json", "session-1-chat");
    let kept = || machine.kept("gemini", id);
    machine.write(name, &chat(2, "hello"));
    assert_eq!(machine.counts(), [1, 1, 0]);
    assert_eq!((kept(), machine.counts()), (chat(2, "hello"), [1, 0, 0]));
    let long = chat(40_000, "a document of more than a megabyte");
    assert!(long.len() > 1 << 20);
    machine.write(name, &long);
    machine.age(name);
    assert_eq!(machine.counts(), [1, 1, 0]);
    assert!(kept() == long);
    let packed = machine.main("gemini", id);
    assert!(packed.to_string_lossy().ends_with(".json.zst"));
    let bundle = Bundle::find(&packed).unwrap().unwrap();
    assert!(bundle.native().unwrap() == long.as_bytes());
    assert_eq!((bundle.format(), bundle.name()), ("gemini", id));
    machine.write(name, &long[..long.len() / 2]);
    machine.counts();
    assert!(kept() == long, "half a document");
    machine.write(name, &chat(1, "after all that"));
    assert_eq!(machine.counts(), [1, 1, 0]);
    assert_eq!(kept(), chat(1, "after all that"));
    assert!(machine.generation("gemini", id, &format!("000001/{id}.json")) == long);
    machine.write(name, &chat(2, "after all that"));
    machine.counts();
    assert_eq!(kept(), chat(2, "after all that"));
    assert!(!machine.folder("gemini", id).join("000003").exists());
}

#[test]
fn a_chat_that_was_turned_into_lines_is_one_session() {
    let machine = Machine::new();
    machine.write(".gemini/tmp/p/chats/session-1-chat.json", &chat(9, "long ago"));
    let lines =
        "{\"sessionId\":\"chat\",\"projectHash\":\"p\"}\n{\"id\":\"m\",\"type\":\"user\"}\n";
    machine.write(".gemini/tmp/p/chats/session-1-chat.jsonl", lines);
    assert_eq!((machine.counts(), machine.counts()), ([1, 1, 0], [1, 0, 0]));
    assert_eq!(machine.kept("gemini", "session-1-chat"), lines);
}

#[test]
fn copilots_sessions_are_called_by_their_folders() {
    let machine = Machine::new();
    let start = r#"{"type":"user.message","data":{"content":"hi"},"id":"e1"}"#.to_owned() + "\n";
    machine.write(".copilot/session-state/aaa/events.jsonl", &start);
    machine.write(".copilot/session-state/aaa/files/notes.jsonl", &start);
    machine.write(".copilot/session-state/bbb.jsonl", &start);
    assert_eq!((machine.counts(), machine.counts()), ([2, 2, 0], [2, 0, 0]));
    for id in ["aaa", "bbb"] {
        assert_eq!(machine.kept("copilot", id), start);
        assert_eq!(crate::open(&machine.main("copilot", id)).unwrap().name, id);
    }
}

#[test]
fn a_databases_sessions_are_kept_one_by_one() {
    let machine = Machine::new();
    let shop = Shop::full();
    fs::create_dir_all(machine.path(DATA).parent().unwrap()).unwrap();
    link(shop.folder.path(), &machine.path(DATA));
    assert_eq!((machine.counts(), machine.counts()), ([2, 2, 0], [2, 0, 0]));
    let before = machine.kept("opencode", "ses_old");
    shop.message("ses_kid", "msg_9", "user", &[r#"{"type":"text","text":"Again"}"#]);
    assert_eq!((machine.counts(), machine.counts()), ([2, 1, 0], [2, 0, 0]));
    let opened = crate::open(&machine.main("opencode", "ses_new")).unwrap();
    assert_eq!((opened.session.agents().count(), opened.name.as_str()), (2, "ses_new"));
    assert!(opened.session.find("msg_9").is_some());
    let native = Bundle::find(&shop.path().join("ses_new")).unwrap().unwrap().native().unwrap();
    assert_eq!(machine.kept("opencode", "ses_new").as_bytes(), native);
    shop.writer.execute_batch("DELETE FROM session WHERE id = 'ses_old'").unwrap();
    assert_eq!(machine.counts(), [1, 0, 0]);
    assert_eq!(machine.kept("opencode", "ses_old"), before);
    shop.writer.execute_batch("DELETE FROM part; DELETE FROM message").unwrap();
    assert_eq!(machine.counts(), [1, 1, 0]);
    let first = machine.generation("opencode", "ses_new", "000001/ses_new.json");
    assert_eq!(first.as_bytes(), native, "what is gone from the database is still kept");
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

#[test]
fn a_broken_database_is_told_and_the_others_are_kept() {
    let machine = Machine::new();
    let mut bytes = b"SQLite format 3\0".to_vec();
    bytes.extend([9; 5000]);
    fs::create_dir_all(machine.path(DATA)).unwrap();
    fs::write(machine.path(DATA).join("opencode.db"), bytes).unwrap();
    machine.write(&format!("{SHOP}/one.jsonl"), &line("one", "a"));
    assert_eq!(machine.counts(), [1, 1, 1]);
    machine.write(&format!("{DATA}/opencode.db"), "no database at all");
    assert_eq!(machine.counts(), [1, 0, 1]);
    machine.write(&format!("{DATA}/opencode.db"), "");
    assert_eq!(machine.counts(), [1, 0, 0], "there is nothing in it yet");
}

#[test]
fn opencodes_folders_are_kept_and_a_part_may_change_alone() {
    for is_old in [false, true] {
        let machine = Machine::new();
        let storage = machine.path(DATA).join("storage");
        crate::storage::storage(&storage, is_old);
        assert_eq!((machine.counts(), machine.counts()), ([2, 2, 0], [2, 0, 0]));
        let part = if is_old { "session/part/ses_main/msg_a" } else { "part/msg_a" };
        let name = format!("{part}/prt_msg_a.json");
        let longer = r#"{"type": "text", "text": "Do it at once, please"}"#;
        fs::write(storage.join(&name), longer).unwrap();
        assert_eq!((machine.counts(), machine.counts()), ([2, 1, 0], [2, 0, 0]));
        let kept = machine.generation("opencode", "ses_main", &format!("000001/{name}"));
        assert_eq!(kept, longer);
        fs::write(storage.join(part).join("prt_z.json"), longer).unwrap();
        assert_eq!((machine.counts(), machine.counts()), ([2, 1, 0], [2, 0, 0]), "another part");
        let (sessions, messages) = match is_old {
            true => ("session/info", "session/message"),
            false => ("session/shop", "message"),
        };
        let child = r#"{"id":"ses_late","projectID":"shop","parentID":"ses_main","title":"T",
            "time":{"created":1}}"#;
        fs::write(storage.join(sessions).join("ses_late.json"), child).unwrap();
        assert_eq!((machine.counts(), machine.counts()), ([2, 1, 0], [2, 0, 0]), "a child");
        fs::create_dir(storage.join(messages).join("ses_late")).unwrap();
        let said = storage.join(messages).join("ses_late/msg_l.json");
        fs::write(said, r#"{"id":"msg_l","role":"user"}"#).unwrap();
        assert_eq!((machine.counts(), machine.counts()), ([2, 1, 0], [2, 0, 0]), "what it says");
        fs::remove_dir_all(storage.join(part)).unwrap();
        machine.counts();
        let opened = crate::open(&machine.main("opencode", "ses_main")).unwrap();
        assert_eq!(opened.session.info().prompt.as_deref(), Some("Do it at once, please"));
    }
}

#[test]
fn a_session_in_the_folders_and_in_the_database_is_taken_from_the_database() {
    let machine = Machine::new();
    let shop = Shop::new();
    shop.session("ses_main", None, 9);
    shop.message("ses_main", "msg_db", "user", &[r#"{"type":"text","text":"Newer"}"#]);
    storage(&shop.folder.path().join("storage"), false);
    fs::create_dir_all(machine.path(DATA).parent().unwrap()).unwrap();
    link(shop.folder.path(), &machine.path(DATA));
    assert_eq!((machine.counts(), machine.counts()), ([3, 3, 0], [3, 0, 0]));
    assert!(machine.kept("opencode", "ses_main").contains("msg_db"));
}

#[test]
fn a_sub_agents_file_without_its_session_is_named() {
    let machine = Machine::new();
    let line = r#"{"type":"user","isSidechain":true,"sessionId":"gone","agentId":"a","uuid":"1","message":{"content":"x"}}"#;
    let name = format!("{SHOP}/gone/subagents/agent-a.jsonl");
    machine.write(&name, &format!("{line}\n"));
    machine.write(&format!("{SHOP}/gone/tool-results/1.txt"), "words");
    let synced = machine.sync();
    assert_eq!((synced.found, synced.orphans), (0, vec![machine.path(&name)]));
    // With its session it is the session's.
    let main = line.replace(r#""isSidechain":true,"#, "").replace(r#","agentId":"a""#, "");
    machine.write(&format!("{SHOP}/gone.jsonl"), &format!("{main}\n"));
    let synced = machine.sync();
    assert_eq!((synced.found, synced.copied, synced.orphans), (1, 1, Vec::new()));
}

/// Siblings another session as well, where agents before kept such files.
#[test]
fn a_sub_agents_file_beside_other_sessions_is_named_unless_one_takes_it() {
    let machine = Machine::new();
    let line = |session: &str, more: &str| {
        format!(
            "{{\"type\":\"user\",{more}\"sessionId\": \"{session}\",\"uuid\":\"{session}{}\",\"message\":{{\"content\":\"x\"}}}}\n",
            more.len()
        )
    };
    let sub = "\"isSidechain\":true,\"agentId\":\"a\",";
    machine.write(&format!("{SHOP}/here.jsonl"), &line("here", ""));
    machine.write(&format!("{SHOP}/agent-own.jsonl"), &line("here", sub));
    machine.write(&format!("{SHOP}/agent-lost.jsonl"), &line("gone", sub));
    for _ in 0..2 {
        let synced = machine.sync();
        let lost = machine.path(&format!("{SHOP}/agent-lost.jsonl"));
        assert_eq!((synced.found, synced.orphans), (1, vec![lost]));
    }
}

#[test]
fn a_session_that_went_on_in_another_folder_is_kept_in_both() {
    let machine = Machine::new();
    let line = |uuid: &str| {
        format!(
            "{{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"{uuid}\",\"message\":{{\"content\":\"x\"}}}}\n"
        )
    };
    let elsewhere = format!("{SHOP}-worktree");
    machine.write(&format!("{SHOP}/s.jsonl"), &(line("1") + &line("2")));
    machine.write(&format!("{elsewhere}/s.jsonl"), &line("1"));
    assert_eq!(machine.counts(), [1, 1, 0], "one is the beginning of the other");
    machine.write(&format!("{elsewhere}/s.jsonl"), &(line("1") + &line("3")));
    assert_eq!((machine.counts(), machine.counts()), ([2, 1, 0], [2, 0, 0]));
    let kept: Vec<String> =
        machine.store.sessions().iter().map(|it| it.session_id.clone()).collect();
    assert_eq!(kept, ["s", "s"]);
}

#[test]
fn threads_that_name_each_other_as_their_makers_are_kept() {
    let machine = Machine::new();
    let thread = |own: &str, maker: &str| {
        format!(
            "{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{own}\",\"source\":{{\"subagent\":{{\"thread_spawn\":{{\"parent_thread_id\":\"{maker}\"}}}}}}}}}}\n{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"x\"}}]}}}}\n"
        )
    };
    let ids = ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"];
    for (own, maker) in [(ids[0], ids[1]), (ids[1], ids[0])] {
        let name = format!(".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{own}.jsonl");
        machine.write(&name, &thread(own, maker));
    }
    assert_eq!(machine.counts(), [1, 1, 0]);
}

#[test]
fn what_is_linked_from_elsewhere_is_named_and_not_copied() {
    let machine = Machine::new();
    let line = r#"{"type":"user","sessionId":"s","uuid":"1","message":{"content":"x"}}"#;
    machine.write("elsewhere/s.jsonl", &format!("{line}\n"));
    machine.write(&format!("{SHOP}/t.jsonl"), &format!("{line}\n"));
    link(&machine.path("elsewhere"), &machine.path(".claude/projects/away"));
    link(&machine.path(SHOP), &machine.path(".claude/projects/other-name"));
    let shop = Shop::new();
    shop.session("ses_main", None, 9);
    fs::create_dir_all(machine.path(DATA)).unwrap();
    link(&shop.folder.path().join("opencode.db"), &machine.path(DATA).join("opencode.db"));
    let synced = machine.sync();
    assert_eq!((synced.found, synced.failed.len()), (1, 1), "the database leads out");
    let skipped: Vec<PathBuf> = synced.skipped.into_iter().map(|(path, _)| path).collect();
    assert_eq!(skipped, [machine.path(".claude/projects/away")]);
}
