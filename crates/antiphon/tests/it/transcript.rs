//! `view transcript` and `view dialog`: a session that reads like a conversation.

use serde_json::json;

use crate::claude::Claude;
use crate::home::Home;

const TOKENS: [u64; 4] = [10, 50, 1000, 100];

fn home() -> Home {
    let home = Home::new();
    let mut session = Claude::new(1, "/w/shop", "2026-11-01T10:00:00Z");
    session.prompt("Make it two:\n\n\tfunc one() int {\n\t\treturn 1");
    session.think("Where is it?");
    let edit = json!({ "file_path": "/w/shop/main.go", "old_string": "\treturn 1\n", "new_string": "\treturn 2\n" });
    session.call("Edit", &edit, ("The file has been updated.", false), 1, TOKENS);
    let numbers: Vec<String> = (1..=300).map(|n| format!("number {n}")).collect();
    session.bash("seq 1 300", (&numbers.join("\n"), false), 3);
    session.bash("false", ("Exit code 1", true), 1);
    session.bash("pwd", ("/w/shop", false), 1);
    session.say("It returns two.", TOKENS);
    session.prompt("Thank you");
    session.say("Welcome.", TOKENS);
    session.save(&home);
    home.run("sync");
    home
}

#[test]
fn a_conversation_has_a_person_an_agent_its_thoughts_calls_and_diffs() {
    let told = home().run("view transcript latest");
    insta::assert_snapshot!(told);
}

#[test]
fn what_is_folded_can_be_unfolded_and_tools_left_out() {
    let home = home();
    let view = |words: &str| home.run(&format!("view transcript latest {words}")).out;
    assert!(view("--full").contains("number 200"));
    assert!(view("--tools full").contains("number 200"));
    let none = view("--tools none");
    assert!(none.contains("Welcome.") && none.contains("It returns two."), "{none}");
    for left_out in ["seq", "main.go", "Where is it?"] {
        assert!(!none.contains(left_out), "{none}");
    }
}

#[test]
fn it_opens_at_a_message_by_the_beginning_of_its_id() {
    let home = home();
    let late = home.run("view transcript latest --at 0011").out;
    assert!(late.starts_with("you  2026-11-01 10:00\n  Thank you\n"), "{late}");
    // A result stands with its call.
    let at_result = home.run("view transcript latest --at 0005").out;
    assert!(at_result.contains("seq 1 300") && !at_result.contains("main.go"), "{at_result}");
    assert!(home.run("view transcript latest --ids").out.contains("0011-00000001"));
}

#[test]
fn a_dialog_of_a_person_and_an_agent_has_both() {
    insta::assert_snapshot!(home().run("view dialog latest"));
}
