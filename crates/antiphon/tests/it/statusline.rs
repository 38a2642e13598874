//! `statusline`: one line, whatever comes in, and no trace.

use crate::claude::Claude;
use crate::home::Home;

#[test]
fn a_status_line_is_printed_without_a_store_and_makes_none() {
    let home = Home::new();
    let given = r#"{"model":{"display_name":"Sonnet"},"cost":{"total_cost_usd":1.25}}"#;
    let done = home.run_with("statusline", given.as_bytes());
    assert_eq!((done.exit, &*done.out), (0, "Sonnet · $1.25\n"), "{done}");
    for junk in ["", "no JSON", "{}", r#"{"model": 7}"#, "[[[", "\u{1b}[31m"] {
        let done = home.run_with("statusline", junk.as_bytes());
        assert_eq!((done.exit, &*done.out, &*done.err), (0, "", ""), "{junk}");
    }
    assert!(!home.path("store").exists() || home.list("store").is_empty());
}

#[test]
fn what_is_kept_is_said_with_what_the_session_has_spent_since() {
    let home = Home::new();
    let now = antiphon_model::Timestamp::from_millis(
        i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap() - 5_000,
    );
    let mut session = Claude::new(1, "/srv/shop", &now.to_string());
    session.prompt("Work");
    session.say("Working.", [0, 1_000_000, 0, 0]);
    session.save(&home);
    home.run("sync");
    let given = format!(r#"{{"session_id":"{}","cost":{{"total_cost_usd":16}}}}"#, session.id());
    let done = home.run_with("statusline", given.as_bytes());
    // Today may have begun a moment ago.
    assert!(done.out.starts_with("$16.00 · ") && done.out.contains("block $16.00, "), "{done}");
    let done = home.run_with("statusline", b"{}");
    assert!(done.out.contains("block $15.00, ") && done.out.ends_with(" left\n"), "{done}");
}
