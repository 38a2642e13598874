//! The examples run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "../examples/debate.rs"]
mod debate;
#[path = "../examples/tool.rs"]
mod tool;

#[test]
fn a_debate_is_held_and_recorded() {
    debate::main().unwrap();
    let log = std::env::temp_dir().join(format!("debate-{}.jsonl", std::process::id()));
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert!(text.contains("[Against]: And nobody sees what the author saw."), "{text}");
}

#[test]
fn a_tool_and_a_model_of_ones_own_are_used() {
    tool::main().unwrap();
}
