//! `antiphon ls`, and sessions that are named by an id.

use crate::home::Home;

/// Records a session in the store, as a recorder would, under a key of its own.
fn record(home: &Home, key: char, id: &str, more: &str) {
    let folder = format!("store/sessions/{}", key.to_string().repeat(32));
    std::fs::create_dir_all(home.path(&folder)).unwrap();
    let events = format!(
        "{{\"event_type\":\"session_started\",\"session_id\":\"{id}\"{more},\"timestamp\":\"2026-05-01T10:00:00Z\"}}\n\
         {{\"agent_id\":\"root\",\"role\":\"user\",\"content\":\"Hello {id}\",\"source\":\"external\",\"timestamp\":\"2026-05-01T10:00:01Z\"}}\n\
         {{\"event_type\":\"session_ended\",\"outcome\":\"completed\",\"timestamp\":\"2026-05-01T10:00:02Z\"}}\n"
    );
    let done = home.run_with(&format!("append {folder}"), events.as_bytes());
    assert_eq!(done.exit, 0, "{done}");
    // The greater the letter the later it was written.
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 + key as u64);
    let log = home.path(&folder).join("000001.jsonl");
    std::fs::File::options().append(true).open(log).unwrap().set_modified(time).unwrap();
}

fn three() -> Home {
    let home = Home::new();
    record(&home, 'a', "alpha-one", ",\"title\":\"Paint the gate\",\"program\":\"codex\"");
    record(
        &home,
        'b',
        "alpha-two",
        ",\"prompt\":\"Count the bees\",\"role\":\"reviewer\",\"issue\":\"7\"",
    );
    record(&home, 'c', "beta", "");
    home
}

#[test]
fn an_empty_store_says_what_to_do_and_stays_unmade() {
    let home = Home::new();
    insta::assert_snapshot!(home.run("ls"), @"No sessions have been kept yet; `antiphon sync` copies your agents' sessions.");
    assert_eq!(home.run("ls --json").out, "[]\n");
    let latest = home.run("show latest");
    insta::assert_snapshot!(latest, @r"
    --- stderr
    error: no sessions have been kept yet
    hint: `antiphon sync` copies your agents' sessions
    --- exit 1
    ");
    assert!(!home.path("store").exists());
}

#[test]
fn a_list_begins_with_the_last_to_change() {
    let home = three();
    let done = home.run("ls");
    assert_eq!((done.exit, done.err.as_str()), (0, ""), "{done}");
    let without_time = done.out.lines().map(|line| line.split_once("  ").unwrap().1.trim());
    insta::assert_snapshot!(without_time.collect::<Vec<_>>().join("\n"), @r"
    ID        AGENT                     STATUS     TITLE
    beta      antiphon append           completed  (no title)
    alpha-tw  antiphon append/reviewer  completed  Count the bees
    alpha-on  codex                     completed  Paint the gate
    ");
    let one = home.run("ls --limit 1");
    assert!(one.out.contains("beta") && !one.out.contains("alpha"), "{one}");
    assert!(one.out.contains("… and 2 sessions more: `antiphon ls --limit 3`"), "{one}");
}

#[test]
fn a_list_as_json_has_the_fixed_names() {
    let home = three();
    let done = home.run("ls --json --limit 2");
    let mut rows: Vec<serde_json::Value> = serde_json::from_str(&done.out).unwrap();
    let row = rows.pop().unwrap();
    assert_eq!(rows.len(), 1);
    let path = home.path(&format!("store/sessions/{}", "b".repeat(32)));
    assert_eq!(row["path"], path.to_str().unwrap());
    assert_eq!(row["changed_at"], "2023-11-14T22:14:58.000Z");
    let mut row = row.as_object().unwrap().clone();
    row.remove("path");
    insta::assert_json_snapshot!(row, @r#"
    {
      "agent": "antiphon append",
      "agents": 1,
      "calls": 0,
      "changed_at": "2023-11-14T22:14:58.000Z",
      "cost_usd": null,
      "damaged": false,
      "ended": true,
      "events": 3,
      "format": "antiphon",
      "id": "alpha-two",
      "issue": "7",
      "key": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
      "last_event_at": "2026-05-01T10:00:02.000Z",
      "origin": "recorded",
      "outcome": "completed",
      "project": null,
      "role": "reviewer",
      "run_id": null,
      "started_at": "2026-05-01T10:00:00.000Z",
      "status": "completed",
      "status_rule": "recorded-end",
      "title": "Count the bees"
    }
    "#);
}

#[test]
fn every_command_takes_an_id_a_prefix_or_latest() {
    let home = three();
    let said = |arguments: &str| {
        let done = home.run(arguments);
        assert_eq!(done.exit, 0, "{arguments}: {done}");
        done.out
    };
    assert!(said("show latest").contains("beta"));
    assert!(said("show alpha-t").contains("alpha-two"));
    assert!(said("view dialog alpha-one --json").contains("[]"));
    assert!(said("view transcript aaaaa --agent root").contains("Hello alpha-one"));
    assert!(said("tail --once --json alpha-two").contains("Hello alpha-two"));
    assert!(said("resume beta --json").contains("\"ended\":true"));
    assert!(said("verify latest alpha-one").contains("ok"));
    assert!(said("export latest --as antiphon").contains("Hello beta"));
    assert!(said("view trace beta msg_002 --json").contains("Hello beta"));
    said("annotate beta --note nice");
    // A file of that name comes first.
    let log = home.text(&format!("store/sessions/{}/000001.jsonl", "a".repeat(32)));
    home.write("latest", &log);
    assert!(said("show latest").contains("alpha-one"));
}

#[test]
fn what_names_several_or_none_is_told_apart() {
    let home = three();
    insta::assert_snapshot!(home.run("show alpha"), @r"
    --- stderr
    error: `alpha` matches 2 sessions
    hint: type more characters of one of these ids: alpha-two, alpha-one
    --- exit 2
    ");
    insta::assert_snapshot!(home.run("view tree gamma"), @r"
    --- stderr
    error: there is no file or session `gamma`
    hint: `antiphon ls` lists the sessions; the first few characters of an id are enough
    --- exit 4
    ");
    insta::assert_snapshot!(home.run("show gamma.jsonl"), @r"
    --- stderr
    error: there is no file `gamma.jsonl`
    hint: pass the path of a session; `antiphon demo` shows examples
    --- exit 4
    ");
}
