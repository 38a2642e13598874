//! `digest`: what sessions did in a time.

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::home::Home;

const SECRET: &str = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z0Q";

/// A session over two days, and one in another project.
fn kept() -> Home {
    let home = Home::new();
    let mut shop = Claude::new(1, "/srv/shop", "2026-10-31T10:00:00Z");
    shop.prompt("Look around");
    shop.bash("ls", ("ls: no such file", true), 1);
    shop.say("I looked.", [1, 1, 0, 0]);
    shop.wait(86_400);
    shop.prompt("Fix the *login*");
    let new = json!({ "file_path": "/srv/shop/a.py", "content": "a = 1\nb = 2\n" });
    shop.call("Write", &new, ("created", false), 1, [1, 1, 0, 0]);
    shop.bash(&format!("curl -H {SECRET}"), ("error: refused", true), 1);
    shop.bash("git commit -am x", ("[main 1a2b3c4] Fix login\n 1 file changed", false), 1);
    shop.say("Done.\nAll of it.", [1, 1, 0, 0]);
    shop.save(&home);
    let mut blog = Claude::new(2, "/srv/blog", "2026-11-01T12:00:00Z");
    blog.prompt("Write");
    blog.say("Written.", [1, 1, 0, 0]);
    blog.save(&home);
    home.run("sync");
    home
}

fn ask(home: &Home, words: &str) -> Value {
    let done = home.run(&format!("digest {words} --utc --json"));
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn a_digest_has_what_was_done_in_the_time_and_nothing_from_before() {
    let home = kept();
    let day = ask(&home, "--since 2026-11-01 --until 2026-11-02 --project shop");
    let session = &day["projects"][0]["sessions"][0];
    assert_eq!((&session["prompt"], &session["prompts"]), (&json!("Fix the *login*"), &json!(1)));
    let file = &session["files"][0];
    assert_eq!((&file["path"], &file["added"]), (&json!("a.py"), &json!(2)));
    assert_eq!(session["commits"][0]["sha"], "1a2b3c4");
    assert_eq!(
        session["failures"].as_array().unwrap().len(),
        1,
        "that of the day before is not in it"
    );
    assert_eq!(session["last_answer"]["text"], "Done.\nAll of it.");
    let both = ask(&home, "--since 2026-10-01");
    let totals = &both["totals"];
    let counts =
        ["sessions", "files", "added", "commits", "failures"].map(|it| totals[it].as_u64());
    assert_eq!(counts, [2, 1, 2, 1, 2].map(Some));
    let cost: f64 =
        ask(&home, "--since 2026-10-01 --until 2026-11-01")["totals"]["cost_usd"].as_f64().unwrap()
            + ask(&home, "--since 2026-11-01")["totals"]["cost_usd"].as_f64().unwrap();
    assert!((cost - totals["cost_usd"].as_f64().unwrap()).abs() < 1e-9, "days add up");
}

#[test]
fn markdown_is_redacted_and_what_was_said_is_no_markup() {
    let home = kept();
    let text = home.run("digest --since 2026-11-01 --utc --markdown").out;
    assert!(!text.contains(SECRET) && text.contains("curl"), "{text}");
    assert!(text.contains("# Digest since 2026-11-01") && text.contains("## shop"), "{text}");
    assert!(text.contains("- **Fix the \\*login\\*** (completed"), "{text}");
    assert!(
        text.contains("  - `a.py` +2 -0") && text.contains("commit `1a2b3c4` Fix login"),
        "{text}"
    );
    assert!(
        text.contains("“Done.”") && text.contains("Total: 2 sessions, 1 file (+2 -0)"),
        "{text}"
    );
}

#[test]
fn nothing_in_that_time_is_a_negative_result() {
    let home = kept();
    let done = home.run("digest --since 2026-11-05");
    assert_eq!((done.exit, &*done.out), (1, ""), "{done}");
    assert!(done.err.contains("no session did anything in that time"), "{done}");
}
