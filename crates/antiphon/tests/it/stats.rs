//! `stats` by time, by block, by tool, command and error, from what is kept and from paths.

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::home::Home;

/// Asks in a zone 5:30 east of Greenwich.
fn ask(home: &Home, words: &str) -> Value {
    let words: Vec<&str> = words.split_whitespace().chain(["--json"]).collect();
    let done = home.command(&words).env("TZ", "IST-5:30").output().unwrap();
    assert!(!done.stdout.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The value of a member in each row, with the requests or calls of the row.
fn rows(document: &Value, member: &str, number: &str) -> Vec<(String, u64)> {
    let rows = document["rows"].as_array().unwrap().iter();
    rows.map(|row| (row[member].as_str().unwrap().to_owned(), row[number].as_u64().unwrap()))
        .collect()
}

fn own(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|(key, number)| ((*key).to_owned(), *number)).collect()
}

/// Two sessions in two projects. In the zone: 22:30 and 23:00 on Saturday 31 October; 00:15 on
/// Sunday, and 08:45 on Monday 2 November.
fn kept() -> Home {
    let home = Home::new();
    let mut shop = Claude::new(1, "/srv/shop", "2026-10-31T16:59:58Z");
    shop.prompt("Fix it");
    shop.bash("cd /srv/shop && cargo test", ("Exit code 101\nerror: no `x` at 12:3", true), 1800);
    shop.bash("cargo test", ("Exit code 101\nerror: no `x` at 14:9", true), 9);
    shop.say("It does not compile.", [1, 2, 3, 4]);
    shop.save(&home);
    let mut blog = Claude::new(2, "/srv/blog", "2026-10-31T18:44:58Z");
    blog.prompt("Write");
    let path = json!({ "file_path": "/srv/blog/a" });
    blog.call("Read", &path, ("File does not exist.", true), 1, [5, 6, 7, 8]);
    blog.wait(116_997);
    blog.bash("ls -la", ("a b c", false), 2);
    blog.save(&home);
    home.run("sync");
    home
}

#[test]
fn every_grouping_adds_up_to_the_same_totals_from_the_store_and_from_paths() {
    let home = kept();
    let totals = ask(&home, "stats")["totals"].clone();
    assert_eq!(totals["requests"], 5);
    let by = "model agent sub-agent project session hour day week month block";
    for by in by.split(' ') {
        let asked = ask(&home, &format!("stats --by {by}"));
        assert_eq!(asked["totals"], totals, "--by {by}");
        let sum: u64 =
            asked["rows"].as_array().unwrap().iter().map(|it| it["output"].as_u64().unwrap()).sum();
        assert_eq!(totals["output"], sum, "--by {by}");
        let paths = home.path(".claude/projects");
        let at = ask(&home, &format!("stats {} --by {by}", paths.display()));
        assert_eq!((&at["rows"], &at["totals"]), (&asked["rows"], &asked["totals"]), "--by {by}");
    }
    for by in ["tool", "command", "error"] {
        let asked = ask(&home, &format!("stats --by {by}"));
        let paths = home.path(".claude/projects");
        assert_eq!(ask(&home, &format!("stats {} --by {by}", paths.display())), asked, "--by {by}");
    }
}

#[test]
fn days_and_weeks_are_those_of_the_person() {
    let home = kept();
    let by = |by: &str, more: &str| {
        rows(&ask(&home, &format!("stats --by {by} {more}")), by, "requests")
    };
    let days = [("2026-10-31", 3), ("2026-11-01", 1), ("2026-11-02", 1)];
    assert_eq!(by("day", ""), own(&days));
    assert_eq!(by("day", "--utc"), own(&[("2026-10-31", 4), ("2026-11-02", 1)]));
    assert_eq!(by("week", ""), own(&[("2026-W44", 4), ("2026-W45", 1)]));
    assert_eq!(by("month", ""), own(&[("2026-10", 3), ("2026-11", 2)]));
    assert_eq!(by("day", "--since 2026-11-01"), own(&days[1..]));
    assert_eq!(by("day", "--until 2026-11-01"), own(&days[..1]));
}

#[test]
fn a_block_is_that_of_the_account_whatever_is_asked_for() {
    let home = kept();
    let blocks =
        |more: &str| rows(&ask(&home, &format!("stats --by block {more}")), "block", "requests");
    let first = "2026-10-31T17:00:00.000Z";
    assert_eq!(blocks(""), own(&[(first, 4), ("2026-11-02T03:00:00.000Z", 1)]));
    assert_eq!(blocks("--project blog --until 2026-11-01T12:00:00Z"), own(&[(first, 1)]));
    let row = &ask(&home, "stats --by block")["rows"][0];
    assert_eq!(
        (&row["until"], &row["running"], &row["left_ms"]),
        (&json!("2026-10-31T22:00:00.000Z"), &json!(false), &Value::Null)
    );
}

#[test]
fn filters_narrow_what_is_counted_and_nothing_is_a_negative_result() {
    let home = kept();
    let requests = |words: &str| ask(&home, words)["totals"]["requests"].as_u64().unwrap();
    assert_eq!(requests("stats --project shop"), 3);
    assert_eq!(requests("stats --agent claude --model sonnet"), 5);
    assert_eq!(requests("stats --since 2026-10-31T17:00:00Z --until 2026-10-31T17:00:00.001Z"), 1);
    assert_eq!(requests("stats --since 2026-10-31T17:00:00.001Z --until 2026-10-31T17:30:01Z"), 0);
    let calls = |words: &str| ask(&home, words)["totals"]["calls"].as_u64().unwrap();
    assert_eq!(calls("stats --by tool --project blog"), 2);
    assert_eq!(calls("stats --by tool --model sonnet --since 2026-11-02"), 1);
    for words in ["stats --agent codex", "stats --by tool --model gpt"] {
        let done = home.run(words);
        assert_eq!((done.exit, &*done.out), (1, ""), "{done}");
        assert!(done.err.contains("nothing matches"), "{done}");
    }
    assert_eq!(home.run("stats --by day --since someday").exit, 2);
}

#[test]
fn calls_are_counted_by_tool_by_command_and_by_what_they_say() {
    let home = kept();
    let tools = ask(&home, "stats --by tool");
    assert_eq!(rows(&tools, "tool", "calls"), own(&[("Bash", 3), ("Read", 1)]));
    let bash = &tools["rows"][0];
    assert_eq!(
        (&bash["failed"], &bash["median_ms"], &bash["p95_ms"]),
        (&json!(2), &json!(9000), &json!(1_800_000))
    );
    assert_eq!(tools["totals"]["failed"], 3);
    let commands = ask(&home, "stats --by command");
    assert_eq!(rows(&commands, "command", "calls"), own(&[("cargo test", 2), ("ls", 1)]));
    let errors = ask(&home, "stats --by error");
    let said = [("error: no `x` at <n>:<n>", 2), ("File does not exist.", 1)];
    assert_eq!(rows(&errors, "error", "calls"), own(&said));
    assert_eq!(errors["rows"][0]["tools"], json!(["Bash"]));
    let text = home.run("stats --by tool").out;
    assert!(text.lines().next().unwrap().starts_with("tool"), "{text}");
}

#[test]
fn what_has_no_price_is_said_in_every_sum_that_contains_it() {
    let home = kept();
    let mut other = Claude::new(3, "/srv/shop", "2026-11-05T00:00:00Z").with_model("nobody-1");
    other.prompt("Now");
    other.say("Yes.", [1, 1, 0, 0]);
    other.save(&home);
    home.run("sync");
    let days = ask(&home, "stats --by day");
    let last = days["rows"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["cost_usd"], &last["partial"]), (&Value::Null, &json!(true)));
    assert_eq!(days["totals"]["partial"], true);
    assert_eq!(days["unpriced"], json!(["nobody-1"]));
    let text = home.run("stats --by day").out;
    assert!(text.contains("unpriced") && text.contains("≥ $"), "{text}");
    assert!(text.contains("unknown price: nobody-1 (1 request not in the cost)"), "{text}");
}
