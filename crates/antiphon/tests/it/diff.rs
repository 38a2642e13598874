//! `diff`: two runs, and where they part.

use serde_json::{Value, json};

use crate::claude::Claude;
use crate::home::Home;

fn run(number: u32, words: &str, command: Option<&str>, text: &str) -> Claude {
    let mut run = Claude::new(number, &format!("/srv/copy{number}"), "2026-10-31T10:00:00Z");
    run.prompt("Make x two");
    run.say(words, [1, 1, 0, 0]);
    let path = format!("/srv/copy{number}/x.py");
    run.call("Read", &json!({ "file_path": path }), ("x = 1", false), 1, [1, 1, 0, 0]);
    if let Some(command) = command {
        run.bash(command, ("Exit code 1", true), 1);
    }
    let new = json!({ "file_path": path, "content": text });
    run.call("Write", &new, ("created", false), 1, [1, 1, 0, 0]);
    run.say("x is two.", [1, 1, 0, 0]);
    run
}

fn compare(a: &Claude, b: &Claude) -> (Value, i32) {
    let home = Home::new();
    a.save(&home);
    b.save(&home);
    home.run("sync");
    let done = home.run(&format!("diff {} {} --steps --json", a.id(), b.id()));
    (serde_json::from_str(&done.out).unwrap(), done.exit)
}

#[test]
fn runs_part_at_what_they_did_and_not_at_what_they_said_or_where_their_copy_is() {
    let (diff, exit) = compare(
        &run(1, "I read it.", None, "x = 2\n"),
        &run(2, "Let me see.", Some("python x.py"), "x = 2\n"),
    );
    assert_eq!((exit, &diff["parts"]["step"]), (1, &json!(2)));
    assert_eq!(diff["parts"]["a"]["text"], "Write x.py");
    assert_eq!(diff["parts"]["b"]["text"], "Bash python x.py");
    let kinds = diff["steps"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds.map(|it| (it["a"].is_null(), it["b"].is_null())).collect();
    let both = (false, false);
    assert_eq!(kinds, [both, both, (true, false), both], "one step more, and the rest aligned");
    let file = &diff["files"][0];
    assert_eq!((&file["path"], &file["same"]), (&json!("x.py"), &json!(true)));
    assert_eq!((&diff["a"]["failures"], &diff["b"]["failures"]), (&json!(0), &json!(1)));
}

#[test]
fn an_edit_of_the_same_file_with_another_text_is_another_step() {
    let (diff, exit) = compare(&run(1, "So.", None, "x = 2\n"), &run(2, "Thus.", None, "x = 3\n"));
    assert_eq!(
        (exit, &diff["parts"]["step"], &diff["files"][0]["same"]),
        (1, &json!(2), &json!(false))
    );
}

#[test]
fn what_was_done_alike_does_not_differ() {
    let (diff, exit) = compare(&run(1, "So.", None, "x = 2\n"), &run(2, "Thus.", None, "x = 2\n"));
    assert_eq!((exit, &diff["parts"]), (0, &Value::Null));
}
