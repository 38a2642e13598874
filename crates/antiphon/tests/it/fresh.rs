//! What is new in agents' folders is in every answer, without `sync`.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::claude::Claude;
use crate::home::Home;

const SHOP: &str = "/srv/shop";
const TOKENS: [u64; 4] = [10, 50, 1000, 100];

fn ids(home: &Home, arguments: &str) -> Vec<String> {
    let done = home.run(&format!("{arguments} --json"));
    let rows: Value = serde_json::from_str(&done.out).unwrap();
    let ids = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
    ids.collect()
}

fn session(number: u32, prompt: &str) -> Claude {
    let mut session = Claude::new(number, SHOP, &format!("2026-05-0{number}T10:00:00Z"));
    session.prompt(prompt);
    session.say("Yes.", TOKENS);
    session
}

#[test]
fn what_is_new_is_there_unless_somebody_says_no() {
    let home = Home::new();
    let mut first = session(1, "zebra");
    first.save(&home);
    let empty = home.run("ls");
    assert!(empty.out.contains("antiphon sync"), "an empty store is not filled silently: {empty}");
    assert!(!home.path("store").exists());
    home.run("sync");
    let second = session(2, "giraffe");
    second.save(&home);
    assert_eq!(ids(&home, "ls --no-sync"), [first.id()]);
    home.write("antiphon.toml", "[library]\nfresh = false\n");
    assert_eq!(ids(&home, "ls"), [first.id()]);
    home.write("antiphon.toml", "[library]\nfresh = true\n");
    assert_eq!(ids(&home, "ls"), [second.id(), first.id()]);
    first.prompt("quagga");
    first.save(&home);
    let shown = home.run(&format!("view transcript {}", first.id()));
    assert!(shown.out.contains("quagga") && shown.err.is_empty(), "{shown}");
    let found = home.run("search quagga");
    assert_eq!((found.exit, found.err.as_str()), (0, ""), "{found}");
    home.write("antiphon.toml", "[library]\nfersh = true\n");
    assert_eq!(home.run("ls").exit, 2, "a misspelt setting is an error");
}

#[test]
fn a_path_is_read_as_it_is_and_nothing_is_copied() {
    let home = Home::new();
    session(1, "zebra").save(&home);
    home.run("sync");
    session(2, "giraffe").save(&home);
    let path = format!(".claude/projects/-srv-shop/{}.jsonl", session(2, "").id());
    assert_eq!(home.run(&format!("show {path}")).exit, 0);
    assert_eq!(ids(&home, "ls --no-sync"), [session(1, "").id()]);
}

#[test]
fn what_could_not_be_copied_is_said_at_the_end_and_is_no_failure() {
    let home = Home::new();
    let mut long = session(1, &"zebra ".repeat(50_000));
    long.save(&home);
    home.run("sync");
    long.say("More.", TOKENS);
    long.save(&home);
    let folder = home.list("store/archive/claude-code").remove(0);
    let lock = File::open(home.path(&format!("store/archive/claude-code/{folder}"))).unwrap();
    lock.lock().unwrap();
    let done = home.run("ls");
    assert!(done.exit == 0 && done.out.contains("00000001"), "{done}");
    assert_eq!(done.err, "1 session is newer; `antiphon sync` copies everything.\n");
    drop(lock);
    assert_eq!(home.run("ls").err, "");
}

#[test]
fn two_at_once_copy_everything_once() {
    let home = Home::new();
    session(1, "zebra").save(&home);
    home.run("sync");
    (2..=9).for_each(|number| session(number, "giraffe").save(&home));
    let list = || home.command(&["ls", "--json"]).output().unwrap();
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..4).map(|_| scope.spawn(list)).collect();
        for other in others {
            let done = other.join().unwrap();
            let err = String::from_utf8(done.stderr).unwrap();
            assert!(done.status.success() && !err.contains("error"), "{err}");
        }
    });
    assert_eq!(ids(&home, "ls").len(), 9);
    assert_eq!(home.run("ls").err, "");
    let synced: Value = serde_json::from_str(&home.run("sync --json").out).unwrap();
    assert_eq!((&synced["copied"], &synced["failed"]), (&0.into(), &0.into()), "{synced}");
}

#[test]
fn what_an_agent_did_not_end_with_a_newline_is_kept_and_given_back() {
    let home = Home::new();
    let mut torn = session(1, "zebra");
    torn.prompt("the last tapir");
    torn.save(&home);
    let path = format!(".claude/projects/-srv-shop/{}.jsonl", torn.id());
    let whole = home.text(&path);
    for cut in [1, 40] {
        home.write(&path, &whole[..whole.len() - cut]);
        home.run("sync");
        let native = home.run(&format!("export {} --as native", torn.id()));
        assert_eq!(native.out, whole[..whole.len() - cut]);
    }
    home.write(&path, whole.trim_end());
    assert_eq!(home.run("search tapir").exit, 0, "a whole line counts without its newline");
    torn.say("answered, tapir", TOKENS);
    torn.save(&home);
    let hits: Value = serde_json::from_str(&home.run("search tapir --json").out).unwrap();
    assert_eq!(hits.as_array().unwrap().len(), 2, "{hits}");
}

#[test]
fn tail_follows_the_agents_own_file() {
    let home = Home::new();
    let mut running = session(1, "zebra");
    running.save(&home);
    home.run("sync");
    let mut tail = home.command(&["tail", running.id(), "--json"]).stdout(Stdio::piped()).spawn();
    let tail = tail.as_mut().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.find(|line| line.contains("Yes.")).unwrap();
    running.prompt("okapi");
    running.save(&home);
    assert!(lines.next().unwrap().contains("okapi"));
    tail.kill().unwrap();
    tail.wait().unwrap();
    std::fs::remove_file(home.path(&format!(".claude/projects/-srv-shop/{}.jsonl", running.id())))
        .unwrap();
    let copy = home.run(&format!("tail {} --once", running.id()));
    assert!(copy.out.contains("zebra"), "the copy is shown when the agent's file is gone: {copy}");
}

#[test]
fn the_configuration_in_force_is_shown_with_its_source() {
    let home = Home::new();
    home.write("antiphon.toml", "[library]\nfresh = false\n");
    let done = home.run("config");
    let row = |key: &str| done.out.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(row("library.fresh").contains("false"), "{done}");
    assert!(row("library.fresh").ends_with("antiphon.toml"), "{done}");
    assert!(row("redaction.enabled").ends_with("default"), "{done}");
    assert!(row("store").ends_with("ANTIPHON_HOME"), "{done}");
    home.write("antiphon.toml", "[library]\nfresh = 3\n");
    assert_eq!(home.run("config").exit, 2);
}
