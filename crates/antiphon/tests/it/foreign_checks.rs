//! `verify` and `salvage` of what other programs wrote, as it lies and as it is kept.

use crate::home::Home;

const SESSION: &str = "31111111-2222-4333-8444-555555555555";

fn line(id: usize, words: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u{id}","parentUuid":null,"sessionId":"{SESSION}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/work","version":"2.1.7","message":{{"role":"user","content":"{words}"}}}}"#
    )
}

fn lines(count: usize) -> String {
    (0..count).map(|id| line(id, "some words that are said") + "\n").collect()
}

/// A home with a session that is kept, packed; its file in the agent's folder.
fn kept() -> (Home, String) {
    let home = Home::new();
    let file = format!(".claude/projects/-work/{SESSION}.jsonl");
    home.write(&file, &lines(1500));
    let synced = home.run("sync");
    assert_eq!(synced.exit, 0, "{synced}");
    (home, file)
}

fn packed(home: &Home) -> std::path::PathBuf {
    let archive = home.path("store/archive/claude-code");
    let folder = std::fs::read_dir(archive).unwrap().next().unwrap().unwrap().path();
    folder.join("000001").join(format!("{SESSION}.jsonl.zst"))
}

#[test]
fn a_session_of_another_program_is_checked_as_far_as_that_goes() {
    let (home, file) = kept();
    for named in [file.as_str(), "3111"] {
        let done = home.run(&format!("verify {named}"));
        assert_eq!(done.exit, 0, "{done}");
        let wanted = format!(
            "ok      {named}  1,500 lines in claude-code format (without a chain of hashes"
        );
        assert!(done.out.starts_with(&wanted), "{done}");
    }
    let done = home.run("verify --json 3111");
    let rows: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(rows[0]["format"], "claude-code");
    assert_eq!((rows[0]["valid"].as_bool(), rows[0]["lines"].as_u64()), (Some(true), Some(1500)));
    let done = home.run("verify 3111 --head 5:0000");
    assert_eq!(done.exit, 2, "{done}");
}

#[test]
fn damage_to_it_is_found_and_named() {
    let (home, file) = kept();
    home.write(&file, &format!("{}{{\"type\":\"us\n{}", lines(3), lines(2)));
    let done = home.run(&format!("verify {file}"));
    assert_eq!(done.exit, 1, "{done}");
    assert!(done.out.starts_with("damaged "), "{done}");
    assert!(done.out.contains(&format!("{SESSION}.jsonl:4: ")), "{done}");
    let path = packed(&home);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60] ^= 0x10;
    std::fs::write(&path, bytes).unwrap();
    let done = home.run("verify 3111");
    assert_ne!(done.exit, 0, "a copy has a checksum: {done}");
}

#[test]
fn its_readable_lines_are_given_back() {
    let (home, file) = kept();
    let done = home.run("salvage 3111 -o all.jsonl");
    assert_eq!((done.exit, done.err.as_str()), (0, ""), "{done}");
    assert_eq!(home.text("all.jsonl"), lines(1500));
    home.write(&file, &format!("{}{{\"type\":\"us\n{}", lines(3), lines(2)));
    let done = home.run(&format!("salvage {file} -o some.jsonl"));
    assert_eq!(done.exit, 3, "{done}");
    assert_eq!(home.text("some.jsonl"), [lines(3), lines(2)].concat());
    assert!(done.err.contains("1 line could not be read"), "{done}");
    let again = home.run(&format!("salvage {file} -o some.jsonl"));
    assert_eq!(again.exit, 4, "what is there is not overwritten: {again}");
    home.write("chat.json", r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    let done = home.run("salvage chat.json -o chat.jsonl");
    assert_eq!(done.exit, 4, "{done}");
    assert!(done.err.contains("is a single document"), "{done}");
}
